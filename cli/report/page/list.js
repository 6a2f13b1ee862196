// A long list of which only what can be seen is in the document.

const OVERSCAN = 12;

/** A list of `count` entries; `make(index)` gives the element of one, `guess(index)` its height. */
class LongList {
  constructor(count, make, guess, label) {
    this.make = make;
    this.guess = guess;
    this.made = new Map();
    this.node = el("div", { class: "long", role: "list", "aria-label": label });
    this.space = el("div", { class: "space" });
    this.node.append(this.space);
    this.resized = new ResizeObserver(() => this.measure());
    this.onscroll = () => this.draw();
    this.count(count);
  }

  /** So many entries from now on; all of them may be other ones. */
  count(count) {
    this.length = count;
    this.heights = new Float64Array(count);
    for (let index = 0; index < count; index += 1) this.heights[index] = this.guess(index);
    this.offsets = new Float64Array(count + 1);
    this.place();
    this.refresh();
  }

  place() {
    for (let index = 0; index < this.length; index += 1) this.offsets[index + 1] = this.offsets[index] + this.heights[index];
    this.space.style.setProperty("height", `${this.offsets[this.length]}px`);
  }

  /** In the document; the window is what scrolls. */
  attach() {
    window.addEventListener("scroll", this.onscroll, { passive: true });
    window.addEventListener("resize", this.onscroll, { passive: true });
    this.draw();
  }

  detach() {
    window.removeEventListener("scroll", this.onscroll);
    window.removeEventListener("resize", this.onscroll);
    this.resized.disconnect();
  }

  /** All entries anew, where they stand. */
  refresh() {
    this.resized.disconnect();
    this.made.clear();
    this.space.replaceChildren();
    if (this.node.isConnected) this.draw();
  }

  /** One entry anew. */
  again(index) {
    const old = this.made.get(index);
    if (!old) return;
    this.resized.unobserve(old);
    old.remove();
    this.made.delete(index);
    this.draw();
  }

  draw() {
    if (this.everything) return;
    const top = -this.node.getBoundingClientRect().top;
    const first = Math.max(0, firstAtLeast(this.offsets, (offset) => offset, top) - 1 - OVERSCAN);
    const last = Math.min(this.length, firstAtLeast(this.offsets, (offset) => offset, top + window.innerHeight) + OVERSCAN);
    for (const [index, node] of this.made) {
      if (index < first || index >= last) {
        if (node.contains(document.activeElement)) continue;
        this.resized.unobserve(node);
        node.remove();
        this.made.delete(index);
      }
    }
    for (let index = first; index < last; index += 1) if (!this.made.has(index)) this.put(index);
  }

  put(index) {
    const node = this.make(index);
    node.setAttribute("role", "listitem");
    node.setAttribute("aria-setsize", this.length);
    node.setAttribute("aria-posinset", index + 1);
    node.style.setProperty("top", `${this.offsets[index]}px`);
    node.dataset.index = index;
    this.made.set(index, node);
    let behind = null;
    for (let next = node, other = this.space.firstElementChild; other; other = other.nextElementSibling) {
      if (Number(other.dataset.index) > index) { behind = other; break; }
    }
    this.space.insertBefore(node, behind);
    this.resized.observe(node);
  }

  measure() {
    let first = -1;
    for (const [index, node] of this.made) {
      const height = node.offsetHeight;
      if (height && Math.abs(height - this.heights[index]) > 0.5) {
        this.heights[index] = height;
        first = first < 0 ? index : Math.min(first, index);
      }
    }
    if (first < 0) return;
    this.place();
    for (const [index, node] of this.made) node.style.setProperty("top", `${this.offsets[index]}px`);
    this.draw();
  }

  /** Scroll so that an entry can be seen; its element. */
  show(index, { center = true } = {}) {
    const at = this.node.getBoundingClientRect().top + window.scrollY + this.offsets[index];
    const head = pageHead();
    const [top, bottom] = [window.scrollY + head, window.scrollY + window.innerHeight - this.heights[index]];
    if (center || at < top || at > bottom) {
      window.scrollTo({ top: Math.max(0, center ? at - head - (window.innerHeight - head) / 3 : at < top ? at - head - 4 : at - window.innerHeight + this.heights[index] + 8) });
    }
    this.draw();
    return this.made.get(index);
  }

  /** For paper: all of it, up to so many. */
  all(most) {
    this.everything = true;
    this.space.classList.add("flowing");
    const last = Math.min(this.length, most);
    for (let index = 0; index < last; index += 1) if (!this.made.has(index)) this.put(index);
    return this.length - last;
  }

  some() {
    this.everything = false;
    this.space.classList.remove("flowing");
    this.draw();
  }
}

/** How much of the window the sticky head takes. */
function pageHead() {
  const heads = document.querySelectorAll(".sticky");
  return [...heads].reduce((sum, head) => Math.max(sum, head.getBoundingClientRect().bottom), 0);
}
