// Search: what stands on the rows at once, then all texts, chunk by chunk, until somebody stops it.

const MOST_HITS = 300;
const BEFORE = 28;
const BEHIND = 160;

class Search {
  constructor() {
    this.run = 0;
    this.field = el("input", { type: "search", placeholder: "in all texts of this session, as typed", "aria-label": "search for", autocomplete: "off", spellcheck: "false", "aria-controls": "hits", oninput: () => this.begin() });
    this.told = el("p", { class: "dim", role: "status" });
    this.stop = el("button", { type: "button", class: "none", onclick: () => this.end("stopped; ") }, "stop");
    this.list = el("ol", { id: "hits", class: "hits" });
    this.note = el("p", { class: "dim" });
    this.node = el("dialog", { class: "search", "aria-label": "search" },
      el("div", { class: "ask" }, this.field, this.stop, el("button", { type: "button", onclick: () => this.node.close() }, "close")), this.told, this.list, this.note);
    this.node.addEventListener("close", () => { this.run += 1; });
    this.node.addEventListener("keydown", (event) => this.key(event));
    document.body.append(this.node);
  }

  open(session) {
    const view = shownView();
    const [n, lane] = view?.slider && view.session === session && view.n ? [view.n, view.lane] : [session.calls.length, 0];
    if (this.data !== session.data || this.n !== n || this.lane !== lane) {  // another session or call, or this one has moved on
      Object.assign(this, { session, data: session.data, n, lane, stands: n ? standingAt(session, n, lane) : null });
      this.query = null;
      this.rowsOf = null;
      clear(this.list);
    }
    const missing = Object.keys(session.data.texts.cut || {}).length;
    put(clear(this.note), n ? `The signs say how each item stood at c${n}${lane ? ` under ${session.lanes[lane].name.slice(0, 80)}` : ""}. ` : "", missing ? `${plural(missing, "long text")} ${missing === 1 ? "is" : "are"} here only with head and tail: what stands between cannot be found (ctxlog search looks at all of it).` : "");
    if (!this.node.open) this.node.showModal();
    this.field.focus();
    this.field.select();
    if (this.field.value.trim()) this.begin();
  }

  /** Enter and the arrows go through the hits. */
  key(event) {
    const links = [...this.list.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const next = event.key === "ArrowDown" ? Math.min(links.length - 1, at + 1) : at - 1;
      (next < 0 ? this.field : links[next])?.focus();
    } else if (event.key === "Enter" && event.target === this.field && links.length) {
      event.preventDefault();
      links[0].click();
    }
  }

  begin() {
    const query = this.field.value.trim();
    if (query === this.query && this.isDone) return;
    this.run += 1;
    this.query = query;
    this.isDone = false;
    clear(this.list);
    this.hits = 0;
    this.items = new Set();
    clearTimeout(this.timer);
    this.stop.classList.add("none");
    if (!query) return put(clear(this.told), "");
    const pattern = literally(query);
    this.rows(pattern);
    // Texts are decoded only when somebody has stopped typing.
    this.timer = setTimeout(() => this.texts(pattern, this.run), 200);
    this.tell("looking on …");
  }

  /** Names, people and the short texts that stand on the rows themselves. */
  rows(pattern) {
    this.session.rows.forEach((row, number) => {
      const named = `${row.r} ${row.who || ""} ${row.label || ""} ${row.prompt || ""}`;
      const texts = (row.parts || []).map(([, name, text]) => `${name || ""} ${typeof text === "string" ? text : ""}`);
      for (const text of [named, ...texts]) if (this.found(number, text, pattern)) break;
    });
    for (const event of this.session.data.events || []) this.found(null, `${event.ref} ${event.type.replaceAll("_", " ")} ${event.preview || ""}`, pattern, event);
  }

  found(number, text, pattern, event = null) {
    pattern.lastIndex = 0;
    const hit = pattern.exec(text);
    if (!hit) return false;
    this.hits += 1;
    const row = event || this.session.rows[number];
    const name = row.r || row.ref;
    if (this.items.has(name)) return true;
    this.items.add(name);
    if (this.items.size > MOST_HITS) return true;
    const line = marked(el("span", { class: "say" }), around(text, hit.index, hit[0].length), this.query);
    this.place(el("li", { class: row.category || "", "data-at": event ? event.position : row.position }, el("a", { href: `#${address(this.session, name)}`, onclick: (click) => this.go(click, name) },
      this.sign(number), el("span", { class: "id" }, name), el("span", { class: "who" }, row.who || (event ? "event" : "")), line)));
    return true;
  }

  /** How an item stood at the call that is shown. */
  sign(number) {
    if (number === null || !this.n) return el("span", {});
    const { state } = stateOf(this.session, this.session.originalOf(number), this.n, this.lane, this.stands);
    const [glyph, meaning] = GLYPHS[state];
    return el("span", { class: `sign ${state}` }, el("span", { class: "gutter", title: meaning, role: "img", "aria-label": meaning }, glyph));
  }

  /** Hits stand in the order of the log, whenever they are found. */
  place(hit) {
    let before = this.list.lastElementChild;
    while (before && Number(before.dataset.at) > Number(hit.dataset.at)) before = before.previousElementSibling;
    if (before) before.after(hit);
    else this.list.prepend(hit);
  }

  /** Which rows hold each text of the table. */
  holders() {
    const found = new Map();
    this.session.rows.forEach((row, number) => {
      for (const [, , text] of row.parts || []) {
        if (typeof text !== "number") continue;
        if (!found.has(text)) found.set(text, []);
        found.get(text).push(number);
      }
    });
    return found;
  }

  async texts(pattern, run) {
    const { session } = this;
    this.rowsOf ||= this.holders();
    const { chunks } = session.data.texts;
    if (chunks.length > 1) this.stop.classList.remove("none");
    let unread = 0;
    for (let chunk = 0; chunk < chunks.length; chunk += 1) {
      // What nobody has looked at before is not kept: all of it may be large.
      const name = session.chunkName("texts", chunk);
      const texts = await (session.chunks.get(name) || session.source.chunk(name, session)).catch(() => null);
      if (run !== this.run) return;
      if (!texts) unread += 1;
      (texts || []).forEach((text, at) => {
        const holders = this.rowsOf.get(chunks[chunk] + at);
        if (!holders) return;
        for (const number of holders) if (!this.found(number, text, pattern)) break;
      });
      this.tell(`${percent(chunk + 1, chunks.length)} of the texts looked at`);
      await new Promise((done) => setTimeout(done));
      if (run !== this.run) return;
    }
    this.end(unread ? `${percent(unread, chunks.length)} of the texts cannot be read, since this ${HOST} is damaged: ` : "");
  }

  end(how) {
    this.run += 1;
    clearTimeout(this.timer);
    this.isDone = !how;
    this.stop.classList.add("none");
    this.tell(how ? `${how}not all texts were looked at` : "");
  }

  tell(more) {
    const shown = this.items.size > MOST_HITS ? `, the first ${MOST_HITS} here` : "";
    put(clear(this.told), this.items.size ? `in ${plural(this.items.size, "place")}${shown}` : more ? "" : "nowhere", this.items.size && more ? " · " : "", more);
  }

  go(click, name) {
    if (click.ctrlKey || click.metaKey || click.shiftKey) return;
    click.preventDefault();
    this.session.find = this.query;
    this.node.close();
    visit(address(this.session, name));
  }
}

/** A hit with a little before it, which begins with a word and holds no drawn lines, and more behind it. */
function around(text, at, length) {
  const plain = (piece) => piece.replace(DRAWN, " ").replace(/\s+/g, " ");
  const start = between(text, Math.max(0, at - 4 * BEFORE));
  let before = plain(text.slice(start, at)).replace(/^[\s\u2502|]+|(?<=[\u2502|])[\s\u2502|]+/g, "");
  let isCut = start > 0;
  if (before.length > BEFORE) {
    // A word that is not too long stands there whole, else from within.
    const from = before.length - BEFORE;
    const space = before.lastIndexOf(" ", from);
    before = before.slice(space >= 0 && from - space < 14 ? space + 1 : between(before, from));
    isCut = true;
  }
  const to = between(text, Math.min(text.length, at + length + BEHIND));
  return `${isCut ? "…" : ""}${before.replace(/^[\s\u2502|]+/, "")}${text.slice(at, at + length)}${plain(text.slice(at + length, to))}${to < text.length ? "…" : ""}`;
}

let searching = null;

function openSearch() {
  if (!current.session) return;
  searching ||= new Search();
  searching.open(current.session);
}
