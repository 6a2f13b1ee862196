// A long list of which only what can be seen is in the document.

const OVERSCAN = 8;

/**
 * A list of `count` entries; `make(index)` gives the element of one, `guess(index)` its height until it is
 * known, `key(index)` what its height is remembered by. The window is what scrolls.
 */
class LongList {
  constructor(count, { make, guess, key = (index) => index, label, ondraw = null }) {
    Object.assign(this, { make, guess, key, ondraw });
    this.made = new Map();
    this.known = new Map();
    this.node = el("div", { class: "long", role: "list", "aria-label": label });
    this.space = el("div", { class: "space" });
    this.node.append(this.space);
    this.resized = new ResizeObserver(() => this.measure());
    this.onscroll = () => this.draw();
    this.onresize = () => { this.known.clear(); this.draw(); };
    this.count(count);
  }

  /** So many entries from now on; all of them may be other ones. What is seen of them keeps its place. */
  count(count, keep = null) {
    const seen = keep === null ? null : this.offsetIn(keep.before);
    this.length = count;
    this.heights = new Float64Array(count);
    for (let index = 0; index < count; index += 1) this.heights[index] = this.known.get(this.key(index)) || this.guess(index);
    this.offsets = new Float64Array(count + 1);
    this.place();
    if (keep !== null && keep.after >= 0) window.scrollBy({ top: this.offsetIn(keep.after) - seen, behavior: "instant" });
    this.refresh();
  }

  offsetIn(index) {
    return this.offsets ? this.offsets[Math.min(index, this.length)] : 0;
  }

  place() {
    for (let index = 0; index < this.length; index += 1) this.offsets[index + 1] = this.offsets[index] + this.heights[index];
    this.space.style.setProperty("height", `${this.offsets[this.length]}px`);
  }

  /** In the document from now on. */
  attach() {
    window.addEventListener("scroll", this.onscroll, { passive: true });
    window.addEventListener("resize", this.onresize, { passive: true });
    this.draw();
  }

  detach() {
    window.removeEventListener("scroll", this.onscroll);
    window.removeEventListener("resize", this.onresize);
    this.resized.disconnect();
  }

  /** All entries anew, where they stand. */
  refresh() {
    const back = this.focused();
    this.resized.disconnect();
    this.made.clear();
    this.space.replaceChildren();
    if (this.node.isConnected) this.draw();
    this.refocus(back);
  }

  /** One entry anew, in its place; who had the focus in it keeps it. */
  again(index) {
    return this.renew([index])[0] || null;
  }

  /** Some entries anew, at once. */
  renew(indices) {
    const back = this.focused();
    const nodes = [];
    for (const index of indices) {
      const old = this.made.get(index);
      if (!old) continue;
      this.resized.unobserve(old);
      const node = this.node_(index);
      old.replaceWith(node);
      this.resized.observe(node);
      nodes.push(node);
    }
    if (nodes.length && this.ondraw) this.ondraw();
    if (back && indices.includes(back.index)) this.refocus(back);
    return nodes;
  }

  /** The entry that holds the focus, and which of its controls has it. */
  focused() {
    const active = document.activeElement;
    const entry = active && this.space.contains(active) ? active.closest("[data-index]") : null;
    if (!entry) return null;
    return { index: Number(entry.dataset.index), at: [...entry.querySelectorAll("a, button, summary")].indexOf(active) };
  }

  refocus(back) {
    const entry = back && this.made.get(back.index);
    if (!entry || entry.contains(document.activeElement)) return;
    const all = entry.querySelectorAll("a, button, summary");
    (all[back.at] || all[0])?.focus({ preventScroll: true });
  }

  /** The first entry of which something can be seen below the head of the page. */
  first() {
    const top = pageHead() - this.node.getBoundingClientRect().top;
    return Math.max(0, Math.min(this.length - 1, firstAtLeast(this.offsets, (offset) => offset, top + 1) - 1));
  }

  draw() {
    if (this.everything || !this.node.isConnected) return;
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
    if (this.ondraw) this.ondraw();
  }

  node_(index) {
    const node = this.make(index);
    node.setAttribute("role", "listitem");
    node.setAttribute("aria-setsize", this.length);
    node.setAttribute("aria-posinset", index + 1);
    node.style.setProperty("top", `${this.offsets[index]}px`);
    node.dataset.index = index;
    this.made.set(index, node);
    return node;
  }

  put(index) {
    const node = this.node_(index);
    let behind = null;
    for (let other = this.space.lastElementChild; other; other = other.previousElementSibling) {
      if (Number(other.dataset.index) < index) break;
      behind = other;
    }
    this.space.insertBefore(node, behind);
    this.resized.observe(node);
  }

  /** Heights as they came out. What stands above the window moves nothing that can be seen. */
  measure() {
    if (this.everything) return;
    const anchor = this.first();
    const before = this.offsets[anchor];
    let isNew = false;
    for (const [index, node] of this.made) {
      const height = node.offsetHeight;
      if (height && Math.abs(height - this.heights[index]) > 0.5) {
        this.heights[index] = height;
        this.known.set(this.key(index), height);
        isNew = true;
      }
    }
    if (!isNew) return;
    this.place();
    for (const [index, node] of this.made) node.style.setProperty("top", `${this.offsets[index]}px`);
    const moved = this.offsets[anchor] - before;
    if (Math.abs(moved) > 0.5 && this.node.getBoundingClientRect().top < 0) window.scrollBy({ top: moved, behavior: "instant" });
    this.draw();
  }

  /** Scroll so that an entry can be seen; its element. */
  show(index, { center = true } = {}) {
    const aim = () => {
      const at = this.node.getBoundingClientRect().top + window.scrollY + this.offsets[index];
      const head = pageHead(), tall = Math.min(this.heights[index], window.innerHeight - head);
      const [top, bottom] = [window.scrollY + head, window.scrollY + window.innerHeight - tall];
      if (!center && at >= top && at <= bottom) return;
      const to = center ? at - head - Math.max(8, (window.innerHeight - head - tall) / 4) : at < top ? at - head - 4 : at - window.innerHeight + tall + 8;
      window.scrollTo({ top: Math.max(0, to), behavior: "instant" });
    };
    aim();
    this.draw();
    // What was guessed is known now, and the sticky head stands where it stays.
    this.measure();
    aim();
    this.draw();
    return this.made.get(index);
  }

  /** For paper: all of it, up to so many; how many are left out. */
  all(most) {
    const first = this.first();
    this.stood = { first, top: this.node.getBoundingClientRect().top + this.offsets[first] };
    this.everything = true;
    this.space.classList.add("flowing");
    const last = Math.min(this.length, most);
    for (const [index, node] of this.made) if (index >= last) { node.remove(); this.made.delete(index); }
    const before = document.createDocumentFragment();
    for (let index = 0; index < last; index += 1) before.append(this.made.get(index) || this.node_(index));
    this.space.replaceChildren(before);
    return this.length - last;
  }

  /** For the window again, where it stood. */
  some() {
    this.everything = false;
    this.space.classList.remove("flowing");
    window.scrollBy({ top: this.node.getBoundingClientRect().top + this.offsets[this.stood.first] - this.stood.top, behavior: "instant" });
    this.refresh();
  }
}

/** How much of the window the sticky head takes. */
function pageHead() {
  const heads = document.querySelectorAll(".sticky");
  return [...heads].reduce((most, head) => Math.max(most, head.getBoundingClientRect().bottom), 0);
}
