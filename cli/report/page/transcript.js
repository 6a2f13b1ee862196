// The transcript: everything that happened, and beside each item how it stood at the chosen call.

const END = 4096;

VIEWS.transcript = {
  title: "Transcript",
  show(root, session, place) {
    const view = new Transcript(root, session, place);
    root.view = view;
    return view;
  },
};

class Transcript {
  constructor(root, session, place) {
    this.session = session;
    this.lane = Math.min(place.lane || 0, session.lanes.length - 1);
    this.last = session.lanes[this.lane].contexts.length;
    this.open = new Set();
    this.entries = entriesOf(session);
    this.at = new Map();
    this.entries.forEach((entry, index) => this.at.set(entry.event ? entry.event.ref : entry.row, index));
    this.cursor = -1;
    this.filter = "";
    this.build(root);
    this.go(place, true);
  }

  build(root) {
    const { session } = this;
    this.slider = new Slider(session, this.lane, (n) => this.choose(n), (lane) => this.change(lane));
    this.list = new LongList(this.entries.length, (index) => this.entry(index), (index) => this.guess(index), "transcript");
    this.inspector = el("aside", { class: "inspector", "aria-label": "the chosen call" });
    this.prompts = el("nav", { class: "prompts", "aria-label": "what people asked, and compactions" });
    put(root, 
      el("div", { class: "sticky slider-bar" }, this.slider.node),
      el("div", { class: "panes" }, this.prompts, this.list.node, this.inspector),
    );
    this.list.attach();
    this.index();
  }

  leave() {
    this.list.detach();
  }

  guess(index) {
    return this.open.has(index) ? 120 : this.entries[index].event ? 30 : 27;
  }

  /** To a place of the address. */
  go(place, first = false) {
    if (place.lane !== undefined && place.lane !== this.lane && place.lane < this.session.lanes.length) this.lane = place.lane;
    const n = place.call ? Math.min(Math.max(1, place.call), this.last) : first || !this.n ? this.last : this.n;
    this.choose(n, { quiet: true });
    if (place.item) {
      const number = this.session.byName.get(place.item);
      if (number === undefined) return say(`there is no item ${place.item} here`);
      const index = this.at.get(this.session.originalOf(number));
      if (index !== undefined) this.focus(index, { expand: true });
    } else if (place.call) {
      if (place.call > this.last) say(`there is no call c${place.call}: the last one is c${this.last}`);
      const index = firstAtLeast(this.entries, (entry) => entry.position, this.session.calls[n - 1] ? this.session.calls[n - 1].position : 0);
      if (this.entries.length) this.list.show(Math.min(index, this.entries.length - 1));
    }
  }

  change(lane) {
    this.lane = lane;
    location.hash = address(this.session, `c${this.n}${lane ? `~${lane}` : ""}`);
  }

  /** As seen at call n. */
  choose(n, { quiet = false } = {}) {
    this.n = n;
    this.stands = standingAt(this.session, n, this.lane);
    this.slider.set(n, this.lane);
    this.list.refresh();
    showCall(clear(this.inspector), this.session, n, this.lane);
    if (!quiet) remember(this.session, `c${n}${this.lane ? `~${this.lane}` : ""}`);
  }

  entry(index) {
    const entry = this.entries[index];
    return entry.event ? this.divider(entry.event, index) : this.item(entry.row, index);
  }

  item(number, index) {
    const { session, n, lane } = this;
    const row = session.row(number, lane);
    const { state, row: shown, decided } = n ? stateOf(session, number, n, lane, this.stands) : { state: "seen", row: number };
    const seen = shown === null ? row : session.row(shown, lane);
    const [glyph, meaning] = GLYPHS[state];
    const why = decided ? `${decided[1].kind} by ${decided[1].by}${decided[1].reason ? `: ${decided[1].reason}` : ""}` : "";
    const isOpen = this.open.has(index);
    const opened = isOpen ? el("div", { class: "full" }) : null;
    const node = el("div", { class: `row ${row.category} ${state}${isOpen ? " open" : ""}${index === this.cursor ? " cursor" : ""}` },
      el("button", { type: "button", class: "line", "aria-expanded": String(isOpen), onclick: () => this.toggle(index) },
        el("span", { class: "gutter", title: why ? `${meaning} (${why})` : meaning, "aria-label": meaning }, glyph),
        el("span", { class: "id" }, row.r),
        el("span", { class: "who" }, row.who),
        el("span", { class: "say" },
          row.is_error ? el("em", { class: "tag error" }, "error") : null,
          row.pinned ? el("em", { class: "tag" }, "pinned") : null,
          state === "changed" ? el("em", { class: "tag changed" }, seen.form) : null,
          state === "gone" && decided ? el("em", { class: "tag gone" }, decided[1].kind) : null,
          row.erased ? el("em", { class: "tag gone" }, "erased") : null,
          row.preview ? seen.preview || row.preview : "(empty)"),
        (row.agents || []).length ? el("span", { class: "agents" }, `↳ ${row.agents.join(", ")}`) : null,
        el("span", { class: "tok" }, seen === row ? short(row.tokens || 0) : [el("s", {}, short(row.tokens || 0)), ` ${short(seen.tokens || 0)}`]),
      ), opened);
    if (opened) fill(opened, session, lane, number, shown, why);
    return node;
  }

  divider(event, index) {
    const isCompaction = event.type === "context_compacted";
    const from = event.before_tokens, to = event.after_tokens;
    return el("div", { class: `divider ${isCompaction ? "compaction" : ""}${index === this.cursor ? " cursor" : ""}` },
      isCompaction ? link(address(this.session, event.ref), event.ref, { class: "name" }) : el("span", { class: "name" }, event.ref),
      el("span", { class: "say" }, event.preview || event.type.replaceAll("_", " ")),
      isCompaction ? el("span", { class: "tok" }, `${event.before_estimated ? "~" : ""}${short(from || 0)} → ${event.after_estimated ? "~" : ""}${short(to || 0)} · ${plural(event.items || 0, "item")} left`) : null,
    );
  }

  toggle(index) {
    if (this.open.has(index)) this.open.delete(index);
    else this.open.add(index);
    this.cursor = index;
    this.list.again(index);
    const line = this.list.made.get(index)?.querySelector(".line");
    if (line) line.focus({ preventScroll: true });
  }

  /** The cursor to an entry. */
  focus(index, { expand = false } = {}) {
    const before = this.cursor;
    this.cursor = index;
    if (expand && !this.entries[index].event) this.open.add(index);
    if (before >= 0) this.list.again(before);
    this.list.again(index);
    const node = this.list.show(index, { center: expand });
    const line = node?.querySelector(".line, a");
    if (line) line.focus({ preventScroll: true });
  }

  move(step) {
    const start = this.cursor < 0 ? firstAtLeast(this.list.offsets, (offset) => offset, pageHead() - this.list.node.getBoundingClientRect().top) : this.cursor + step;
    this.focus(Math.min(this.entries.length - 1, Math.max(0, start)));
  }

  /** What people asked, and the compactions between. */
  index() {
    const links = [];
    this.entries.forEach((entry, index) => {
      if (entry.event ? entry.event.type === "context_compacted" : this.session.row(entry.row).category === "user") {
        const row = entry.event || this.session.row(entry.row);
        links.push(el("li", { class: entry.event ? "compaction" : "" },
          el("button", { type: "button", onclick: () => this.focus(index) }, el("span", { class: "id" }, entry.event ? row.ref : row.r), entry.event ? `${short(row.before_tokens || 0)} → ${short(row.after_tokens || 0)}` : row.preview)));
      }
    });
    this.prompts.append(el("h2", {}, "Prompts"), el("ol", {}, links.slice(0, 500)));
    if (links.length > 500) this.prompts.append(el("p", { class: "dim" }, `and ${whole(links.length - 500)} more`));
  }
}

/** Items as they came and what else happened, in the order of the log. */
function entriesOf(session) {
  const items = session.items.map((row) => ({ row, position: session.rows[row].position }));
  const events = (session.data.events || []).map((event) => ({ event, position: event.position }));
  const all = [...events, ...items];
  all.sort((one, other) => one.position - other.position || (one.event ? -1 : 0) - (other.event ? -1 : 0));
  return all;
}

/** All that an item says: as it was seen, and as it came. */
function fill(node, session, lane, number, shown, why) {
  const row = session.row(number, lane);
  const facts = [row.at ? clock(row.at) : "", row.call ? `answer of c${row.call}` : "", row.label || "", why].filter(Boolean);
  node.append(el("p", { class: "dim" }, facts.join(" · ")));
  if (shown !== null && shown !== number) {
    node.append(el("h4", {}, `as the model saw it (${session.row(shown, lane).r})`));
    node.append(message(session, session.row(shown, lane)));
    node.append(el("h4", {}, "as it came"));
  }
  node.append(message(session, row));
}

/** The parts of a row. */
function message(session, row) {
  return el("div", { class: "message" }, (row.parts || []).map(([kind, name, named, isError]) =>
    el("div", { class: `part ${kind}${isError ? " error" : ""}` },
      kind === "text" && !name ? null : el("span", { class: "kind" }, [kind === "call" ? "→" : kind, name].filter(Boolean).join(" ")),
      textBlock(session, named))));
}

/** A text: short ones whole, long ones as head and tail, the rest when it is asked for. */
function textBlock(session, named) {
  const [size, missing] = session.size(named);
  if (typeof named === "string") return el("pre", {}, named || "(empty)");
  const node = el("pre", { class: "loading" }, "…");
  session.text(named).then((text) => {
    node.classList.remove("loading");
    const whole_ = () => {
      clear(node);
      if (!missing) return node.append(visible(text));
      const half = text.length / 2;
      node.append(visible(text.slice(0, half)), gap(missing, true), visible(text.slice(half)));
    };
    if (size - missing <= 2 * END + 200) return whole_();
    put(clear(node), visible(text.slice(0, END)),
      el("button", { type: "button", class: "more", onclick: whole_ }, `… ${whole(size - 2 * END)} more characters: show all …`),
      visible(text.slice(-END)));
  }).catch(() => { put(clear(node), "this text could not be read"); });
  return node;
}

function gap(count) {
  return el("span", { class: "gap" }, `\n… ${plural(count, "character")} not in this file (ctxlog report --full keeps them) …\n`);
}
