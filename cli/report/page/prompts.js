// What people asked, and the compactions between: the short way through a long transcript.

const MOST_PROMPTS = 3000;

class Prompts {
  constructor(session, lane, entries, onpick) {
    this.buttons = [];
    this.places = [];
    const list = el("ol", {});
    let left = 0;
    entries.forEach((entry, index) => {
      const isCompaction = entry.event?.type === "context_compacted";
      if (!isCompaction && (entry.event || session.row(entry.row, lane).category !== "user")) return;
      if (this.places.length >= MOST_PROMPTS) { left += 1; return; }
      const row = entry.event || session.row(entry.row, lane);
      const button = el("button", { type: "button", tabindex: this.places.length ? -1 : 0, onclick: () => onpick(index) },
        el("span", { class: "id" }, row.r || row.ref), el("span", { class: "say" }, isCompaction ? beforeAfter(row) : row.preview || "(empty)"));
      list.append(el("li", { class: isCompaction ? "compaction" : "" }, button));
      this.buttons.push(button);
      this.places.push(index);
    });
    const count = this.places.filter((index) => !entries[index].event).length;
    this.node = el("nav", { class: "prompts", "aria-label": "what people asked, and compactions" },
      el("h2", {}, "Prompts ", el("small", { class: "dim" }, whole(count))), list,
      left ? el("p", { class: "dim" }, `and ${whole(left)} more`) : null);
    list.addEventListener("keydown", (event) => this.step(event));
    this.now = -1;
  }

  /** One stop of the keyboard for all of them; arrows go from one to the next. */
  step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[event.key];
    const at = this.buttons.indexOf(event.target.closest("button"));
    if (!by || at < 0) return;
    event.preventDefault();
    event.stopPropagation();
    const next = Math.min(this.buttons.length - 1, Math.max(0, at + by));
    this.buttons[at].tabIndex = -1;
    this.buttons[next].tabIndex = 0;
    this.buttons[next].focus();
  }

  /** The one that an entry belongs to is the current one. */
  mark(index) {
    const now = firstAtLeast(this.places, (place) => place, index + 1) - 1;
    if (now === this.now) return;
    this.buttons[this.now]?.removeAttribute("aria-current");
    this.now = now;
    const button = this.buttons[now];
    if (!button) return;
    button.setAttribute("aria-current", "true");
    if (!this.node.contains(document.activeElement)) {
      for (const each of this.buttons) if (each.tabIndex === 0) each.tabIndex = -1;
      button.tabIndex = 0;
    }
    const [top, tall] = [button.offsetTop, this.node.clientHeight];
    if (tall && (top < this.node.scrollTop + 24 || top > this.node.scrollTop + tall - 40)) this.node.scrollTop = top - tall / 2;
  }
}
