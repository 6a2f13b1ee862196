// The transcript: everything that happened, and beside each item how it stood at the chosen call.

VIEWS.transcript = {
  title: "Transcript",
  show(root, session, place) {
    const view = new Transcript(root, session, place);
    root.view = view;
    return view;
  },
};

const NARROW = matchMedia("(max-width: 820px)");
const MOST_PRINTED = 2000;

class Transcript {
  constructor(root, session, place) {
    this.session = session;
    this.lane = Math.min(place.lane || 0, session.lanes.length - 1);
    this.last = session.lanes[this.lane].contexts.length;
    this.n = this.last;
    this.open = new Set();
    this.entries = entriesOf(session, this.lane);
    this.at = new Map();
    this.entries.forEach((entry, index) => this.at.set(entry.event ? entry.event.ref : entry.row, index));
    this.cursor = -1;
    this.target = -1;
    this.stands = standingAt(session, this.n, this.lane);
    this.build(root);
    this.go(place, true);
  }

  build(root) {
    const { session } = this;
    this.filter = new Filter(() => this.sift({ isNew: true }));
    this.slider = new Slider(session, this.lane, {
      choose: (n) => this.choose(n), lane: (lane) => this.change(lane), call: () => this.toggleInspector(), there: () => this.toCall(),
      pick: (state) => this.filter.pick(state), chip: this.filter.chip,
    });
    this.shown = this.entries.map((_, index) => index);
    this.list = new LongList(this.shown.length, {
      make: (index) => this.entry(this.shown[index]), guess: (index) => this.guess(this.shown[index]), key: (index) => this.shown[index],
      label: "what happened, in order", ondraw: () => this.drawn(),
    });
    this.called = el("div", {});
    this.inspector = el("aside", { class: "inspector", "aria-label": "the chosen call" },
      el("button", { type: "button", class: "shut", "aria-label": "close", onclick: () => { this.showInspector(false); this.slider.name.focus(); } }, "✕"), this.called);
    this.prompts = new Prompts(session, this.lane, this.entries, (index) => this.focus(index, { center: true }));
    this.bar = el("section", { class: "sticky slider-bar", "aria-label": "as seen at a call" }, this.slider.node);
    this.panes = el("div", { class: "panes" }, this.prompts.node,
      el("section", { class: "middle" }, el("h2", { class: "offscreen" }, "Transcript"), this.filter.node, this.list.node, this.nothing = el("p", { class: "dim none" }, "nothing passes the filter")));
    const longest = session.rows.reduce((most, row) => Math.max(most, row.r.length), 4);
    document.documentElement.style.setProperty("--id", `${Math.min(14, longest)}ch`);
    put(root, this.bar, this.panes);
    this.measured = new ResizeObserver(() => document.documentElement.style.setProperty("--head", `${this.bar.offsetHeight}px`));
    this.measured.observe(this.bar);
    document.documentElement.style.setProperty("--head", `${this.bar.offsetHeight}px`);
    this.settle = () => this.settleInspector();
    NARROW.addEventListener("change", this.settle);
    this.settle();
    this.onscroll = () => this.passing();
    window.addEventListener("scroll", this.onscroll, { passive: true });
    this.list.node.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!by || event.ctrlKey || event.metaKey || event.altKey || !event.target.closest(".line, .divider")) return;
      event.preventDefault();
      this.move(by);
    });
    this.list.attach();
    this.passing();
  }

  leave() {
    this.list.detach();
    this.measured.disconnect();
    this.slider.leave();
    NARROW.removeEventListener("change", this.settle);
    window.removeEventListener("scroll", this.onscroll);
  }

  /** Beside the transcript where there is room; else a panel that opens below the slider. */
  settleInspector() {
    if (this.beforePrint) return;
    if (NARROW.matches) this.bar.append(this.inspector);
    else this.panes.append(this.inspector);
    this.showInspector(!NARROW.matches);
  }

  showInspector(isShown) {
    this.isInspected = isShown;
    this.inspector.classList.toggle("none", !isShown);
    this.panes.classList.toggle("alone", !isShown);
    this.slider.name.setAttribute("aria-expanded", String(isShown));
    if (isShown) this.inspect();
    // On a phone it fills what is below the bar, which is then at the top.
    const above = this.bar.getBoundingClientRect().top;
    if (isShown && NARROW.matches && above > 0) window.scrollBy({ top: above, behavior: "instant" });
    this.fit();
  }

  /** What is beside the list ends where the list does; on a phone the river is thin once the head has gone. */
  fit() {
    const bar = this.bar.getBoundingClientRect();
    const below = Math.max(0, window.innerHeight - this.panes.getBoundingClientRect().bottom);
    this.panes.style.setProperty("--below", `${Math.round(below)}px`);
    this.bar.style.setProperty("--bottom", `${Math.round(bar.bottom)}px`);
    const isThin = NARROW.matches && bar.top <= 0 && window.scrollY > 0;
    if (isThin === this.isThin) return;
    this.isThin = isThin;
    this.bar.classList.toggle("thin", isThin);
    this.slider.thin(isThin);
  }

  toggleInspector() {
    this.showInspector(!this.isInspected);
  }

  guess(index) {
    return this.open.has(index) ? 120 : this.entries[index].event ? 31 : NARROW.matches ? 50 : 27;
  }

  /** To a place of the address. */
  go(place, first = false) {
    if (place.call !== undefined) {
      this.choose(place.call, { quiet: true });
      if (NARROW.matches) this.showInspector(false);
      return this.toCall();
    }
    if (first || !this.n) this.choose(this.last, { quiet: true });
    if (place.compaction !== undefined) return this.toEvent(this.session.compactions[place.compaction - 1].ref);
    if (place.item === undefined) return;
    const number = this.session.numberOf(place.item, this.lane);
    if (number === undefined) return this.toEvent(place.item);
    const index = this.at.get(this.session.originalOf(number, this.lane));
    if (index === undefined) return say(`${place.item} is not an item of its own here`);
    this.aim(index);
    this.focus(index, { expand: true });
  }

  toEvent(ref) {
    const index = this.at.get(ref);
    if (index === undefined) return;
    this.aim(index);
    this.focus(index, { center: true });
  }

  /** What the address names is marked, until it names something else. */
  aim(index) {
    const before = this.target;
    this.target = index;
    if (before >= 0) this.again(before);
  }

  change(lane) {
    location.hash = address(this.session, `c${this.n}${lane ? `~${lane}` : ""}`);
  }

  /** As seen at call n. Where the list stands does not change. */
  choose(n, { quiet = false } = {}) {
    this.n = n;
    this.stands = standingAt(this.session, n, this.lane);
    this.slider.set(n, this.lane);
    this.count();
    if (this.filter.followsCall) this.sift();
    else {
      const other = [...this.list.made].filter(([index, node]) => !this.entries[this.shown[index]].event && node.stood !== this.standing(this.shown[index]));
      const made = this.list.renew(other.map(([index]) => index));
      if (!quiet) for (const node of made) node.classList.add("flash");
    }
    if (this.isInspected) this.inspect();
    const call = this.session.calls[n - 1];
    if (!quiet && call) this.stand(firstAtLeast(this.entries, (each) => each.position, call.position));
    if (!quiet) remember(this.session, `c${n}${this.lane ? `~${this.lane}` : ""}`);
  }

  /** How many items stand in which way at the chosen call. */
  count() {
    const isNow = this.session.isNow(this.n, this.lane);
    if (!this.n && !isNow) return;
    this.numbers ||= this.entries.filter((entry) => !entry.event).map((entry) => entry.row);
    this.slider.strip.set(tally(this.session, this.numbers, this.n, this.lane, this.stands), this.filter.what, isNow);
  }

  inspect() {
    keepingFocus(this.called, () => showCall(clear(this.called), this.session, this.n, this.lane));
  }

  /** How an entry stands, as one word: it is drawn anew when that changes. */
  standing(index) {
    const { row } = this.entries[index];
    if (!this.n && !this.session.isNow(this.n, this.lane)) return "seen";
    const found = stateOf(this.session, row, this.n, this.lane, this.stands);
    return `${found.state} ${found.row} ${found.decided ? found.decided[0] : ""}`;
  }

  /** What passes the filter: the first entry that can be seen in its place, or the first that passes a new one. */
  sift({ isNew = false } = {}) {
    const anchor = this.shown[this.list.first()];
    const before = this.list.first();
    this.shown = this.filter.passed(this.entries, this.session, this.n, this.lane, this.stands);
    const after = anchor === undefined ? -1 : Math.min(this.shown.length - 1, firstAtLeast(this.shown, (index) => index, anchor));
    const isBelow = this.list.node.getBoundingClientRect().top < pageHead();
    const toFirst = isNew && this.filter.isOn;
    this.list.count(this.shown.length, isBelow && !toFirst ? { before, after } : null);
    const from = this.filter.node.getBoundingClientRect().top - pageHead() - 4;
    if (toFirst && from < 0) window.scrollBy({ top: from, behavior: "instant" });
    if (isNew) this.count();
    this.nothing.classList.toggle("none", this.shown.length > 0);
  }

  /** Where an entry stands in the list; what is filtered out comes back. */
  placeOfEntry(index) {
    let place = firstAtLeast(this.shown, (each) => each, index);
    if (this.shown[place] !== index) {
      this.filter.reset();
      this.sift();
      place = index;
      say("the filter was taken off");
    }
    return place;
  }

  entry(index) {
    const { event, row } = this.entries[index];
    const how = { isOpen: this.open.has(index), isCursor: index === this.cursor, isTarget: index === this.target };
    if (event) return divider(this.session, event, how);
    const node = itemRow(this, row, how, () => this.toggle(index));
    node.stood = this.standing(index);
    return node;
  }

  again(index) {
    const place = firstAtLeast(this.shown, (each) => each, index);
    return this.shown[place] === index ? this.list.again(place) : null;
  }

  toggle(index) {
    const before = this.cursor;
    if (this.open.has(index)) this.open.delete(index);
    else this.open.add(index);
    this.cursor = index;
    if (before >= 0 && before !== index) this.again(before);
    this.again(index);
  }

  /** Esc: what is open under the cursor closes. */
  close() {
    if (this.cursor >= 0 && this.open.has(this.cursor)) this.toggle(this.cursor);
    else if (this.bar.querySelector(".signs[open]")) this.bar.querySelector(".signs").open = false;
    else if (NARROW.matches && this.isInspected) this.showInspector(false);
  }

  /** The cursor to an entry, which is then in view. */
  focus(index, { expand = false, center = expand } = {}) {
    const place = this.placeOfEntry(index);
    const before = this.cursor;
    this.cursor = index;
    if (expand && !this.entries[index].event) this.open.add(index);
    if (before >= 0 && before !== index) this.again(before);
    this.list.show(place, { center });
    this.stand(index);
    const node = this.list.again(place);
    (node?.matches("[data-lead]") ? node : node?.querySelector("[data-lead]"))?.focus({ preventScroll: true });
  }

  /** To where the chosen call was made. */
  toCall() {
    const call = this.session.calls[this.n - 1];
    if (!call || !this.shown.length) return;
    const index = firstAtLeast(this.shown, (each) => this.entries[each].position, call.position);
    const place = Math.min(index, this.shown.length - 1);
    this.list.show(place);
    this.stand(this.shown[place]);
  }

  /** Where somebody has gone to: the current one, until the page is scrolled on. */
  stand(index) {
    this.gone = { index, scroll: window.scrollY };
    this.prompts.mark(index);
  }

  move(step) {
    if (!this.shown.length) return;
    const at = this.cursor < 0 ? -1 : firstAtLeast(this.shown, (each) => each, this.cursor);
    const next = at < 0 ? this.list.first() : at + step;
    this.focus(this.shown[Math.min(this.shown.length - 1, Math.max(0, next))]);
  }

  /** The first entry, or the last one. */
  toEnd(isLast) {
    if (this.shown.length) this.focus(this.shown[isLast ? this.shown.length - 1 : 0]);
  }

  /** One stop of the keyboard in the whole list: the cursor, or the first entry in view. */
  drawn() {
    const place = this.cursor < 0 ? -1 : firstAtLeast(this.shown, (each) => each, this.cursor);
    const stop = this.list.made.get(place) && this.shown[place] === this.cursor ? place : this.list.first();
    for (const [index, node] of this.list.made) {
      for (const each of node.querySelectorAll(".line a, .line button, .name")) each.tabIndex = index === stop ? 0 : -1;
    }
  }

  /** The prompt that is being read is the current one. */
  passing() {
    if (this.isPassing) return;
    this.isPassing = true;
    requestAnimationFrame(() => {
      this.isPassing = false;
      this.fit();
      if (this.gone && Math.abs(window.scrollY - this.gone.scroll) > 40) this.gone = null;
      const first = this.gone ? this.gone.index : this.shown[this.list.first()];
      if (first !== undefined && this.prompts.node.isConnected) this.prompts.mark(first);
    });
  }

  /** On paper there is no window: the call that is shown, what the signs mean, and all rows, up to a number. */
  print(isOver) {
    if (isOver) {
      this.left?.remove();
      const { isInspected, isLegend } = this.beforePrint || {};
      this.beforePrint = null;
      this.settleInspector();
      this.showInspector(Boolean(isInspected));
      this.slider.legend.open = Boolean(isLegend);
      return this.list.some();
    }
    // A page of paper is narrow, but has room for the call.
    this.beforePrint ||= { isInspected: this.isInspected, isLegend: this.slider.legend.open };
    this.panes.append(this.inspector);
    this.showInspector(true);
    this.slider.legend.open = true;
    const left = this.list.all(MOST_PRINTED);
    if (left) this.list.node.after(this.left = el("p", { class: "left-out" }, `${plural(left, "more entry", "more entries")} of the transcript ${left === 1 ? "is" : "are"} not printed.`));
  }
}

/** Items as they came and what else happened, in the order of the log. */
function entriesOf(session, lane) {
  // What the agent decided did not happen to a strategy, which has decisions and messages of its own.
  const own = lane ? session.plain : session.items;
  const items = own.map((row) => ({ row, position: session.rows[row].position }));
  (session.lanes[lane].rows || []).forEach((row, index) => {
    if (row.original === undefined) items.push({ row: session.rows.length + index, position: row.position });
  });
  const events = lane ? laneEvents(session, lane) : (session.data.events || []).map((event) => ({ event, position: event.position }));
  const all = [...events, ...items];
  all.sort((one, other) => one.position - other.position || (one.event ? -1 : 0) - (other.event ? -1 : 0));
  return all;
}

const DECIDED = new Set(["context_compacted", "placeholder_substituted", "decision_undone", "repair_applied", "message_revised"]);

/** Of a strategy: what happened in the conversation, and what it took out, each before the call that first lacked it. */
function laneEvents(session, lane) {
  const found = (session.data.events || []).filter((event) => !DECIDED.has(event.type)).map((event) => ({ event, position: event.position }));
  session.lanes[lane].moves.forEach((moves, index) => {
    for (const move of moves) {
      if (!LEAVING.has(move.kind)) continue;
      const preview = `by ${move.by}${move.reason ? `: ${move.reason}` : ""} (${short(move.before)} → ${short(move.after)} tokens)`;
      found.push({ event: { ref: inLane(`c${index + 1}`, lane), type: move.kind, preview, items: move.count }, position: session.calls[index].position - 0.5 });
    }
  });
  return found;
}
