// Strategies side by side: what each would have sent, cost, kept and lost, and the way into each at any call.

VIEWS.compare = {
  title: "Compare",
  show(root, session) {
    if (session.lanes.length < 2) {
      put(root, howToCompare(session));
      return {};
    }
    const view = new Comparison(root, session);
    view.begin();
    return view;
  },
};

function howToCompare(session) {
  const command = `ctxlog ${session.source.isServed ? "serve" : "report"} ${session.data.name} --compare truncate:turns=5 --compare clear:keep=3 --compare compact`;
  return el("section", { class: "card" }, el("h2", {}, "Compare strategies"),
    el("p", {}, "This page was made without any. It can show what others would have made of the session, call by call: the tokens and the cost, what each keeps, and what it would have lost that an answer needed."),
    el("pre", { class: "command" }, command), copyButton("copy", async () => command, "copy the command"),
    el("p", { class: "dim" }, "ctxlog strategies lists all there are; --preset adds what known agents do, --prices real prices."));
}

/** A share as ctxlog compare says it: 37%, with its interval where there is one. */
function share(one) {
  if (typeof one.value !== "number") return "–";
  const interval = typeof one.low === "number" && typeof one.high === "number" ? ` (${(100 * one.low).toFixed(0)}-${(100 * one.high).toFixed(0)})` : "";
  return `${(100 * one.value).toFixed(0)}%${interval}`;
}

const ofFew = (one) => typeof one.value === "number" ? `${share(one)} of ${one.of.toFixed(0)}` : "–";

/** What all calls of a lane would have been billed, as the percents are worked out; null where nothing tells, or of several sessions. */
function billedAlike(session, data, lane) {
  const [held] = data.calibration;
  if (data.sessions.length > 1 || !session.lanes[lane]?.curves) return null;
  return session.lanes[lane].curves.tokens.reduce((sum, tokens) => sum + (tokens + held.unrecorded) * held.factor, 0);
}

/** The columns: what is shown of a row, by what it is sorted, which way is better, how long its bar is. */
function columnsFor(session, data) {
  const shares = (name, title, said, better, write = share) => ({ title, said, better, show: (row) => write(row[name]), by: (row) => row[name].value, bar: (row) => row[name].value });
  const count = (name, title, said, better = "") => ({ title, said, better, show: (row) => whole(row[name] || 0), by: (row) => row[name] || 0 });
  const least = Math.max(0, data.distances.indexOf(5));
  return [
    { ...shares("tokens", "tokens", "input over all calls as the provider would have billed it, and as a part of what really was sent", "lower"), note: (row) => { const all = billedAlike(session, data, data.strategies.indexOf(row)); return all === null ? "" : `≈${short(all)}`; }, winner: "tokens", isMain: true },
    { title: "peak", isMain: true, said: "the largest context, as the provider would have billed it", better: "lower", show: (row) => short(row.peak), by: (row) => row.peak, bar: (row, most) => row.peak / most },
    shares("hit_share", "cache hit", "tokens that a cache of the provider could have read", "higher"),
    { title: "breaks a call", said: "how often the prefix of the request before did not stand", better: "lower", show: (row) => typeof row.breaks.value === "number" ? row.breaks.value.toFixed(2) : "–", by: (row) => row.breaks.value, bar: (row) => row.breaks.value },
    ...data.prices.map((table, at) => priceColumn(data, table, at)),
    { title: "recall far", isMain: true, said: `of what answers used, what was still there; at least ${data.distances[least]} calls back. The small bars: ${data.distances.join(", ")} calls back or more`, better: "higher", winner: "recall", show: (row) => ofFew(row.far_recall), by: (row) => row.far_recall.value, small: (row) => recallBars(row, data) },
    shares("argument_recall", "recall in arguments", "the same, of what tools were called with", "higher", ofFew),
    shares("pinned", "pinned", "of what must not get lost, what stands verbatim at the end", "higher"),
    shares("written_files", "written files", "of the files that were written, those that the last context names", "higher"),
    { ...count("lost", "lost", "references that an answer used and its context no longer held", "lower"), isMain: true },
    shares("valid", "valid", "calls that the provider takes as the strategy left them", "higher"),
    { ...count("compactions", "compactions", "how often it took something out, and the summaries that were written for it"), note: (row) => row.summaries ? `, ${plural(row.summaries, "summary", "summaries")}` : "" },
    ...(data.window ? [count("overflow_calls", "over window", "calls whose context is larger than the window", "lower")] : []),
  ];
}

function priceColumn(data, table, at) {
  const title = table.relative ? `cost ${table.name}` : `cost ${table.name}${table.currency ? `, ${table.currency}` : ""}`;
  const said = table.relative ? "as a part of what really was; prices relative to the input's: cache reads and writes as named" : pricedAt(table);
  return {
    title, said, isMain: at === 0, better: "lower", winner: `cost ${table.name}`, by: (row) => row.costs[at]?.value, bar: (row) => row.costs[at]?.value,
    show: (row) => row.costs[at] === null || row.costs[at] === undefined ? "incomplete" : table.relative ? share(row.costs[at]) : money(row.totals[at], table.currency),
    note: (row) => !table.relative && row.costs[at] ? share(row.costs[at]) : "",
  };
}

/** cost 0.1/1.25: what the numbers of its name are. */
function relativePrice(table) {
  if (!table.rates) return "";
  const { input, cache_read: read, cache_write: write, output } = table.rates;
  return `cost ${table.name}: held against the input's price of ${input}, a cache read costs ${read}, a cache write ${write}, output ${output}`;
}

function pricedAt(table) {
  if (!table.rates) return "its prices are unknown, so nothing is said";
  const { input, cache_read: read, cache_write: write, output } = table.rates;
  return [`in ${input}, cached ${read}, write ${write}, out ${output}${table.currency ? ` ${table.currency}` : ""} per million tokens`, table.source && `from ${table.source}`, (table.tiers || []).length ? "more for long prompts" : "", (table.periods || []).length ? "by the time of each call" : ""].filter(Boolean).join("; ");
}

function recallBars(row, data) {
  const told = data.distances.map((distance, at) => `${distance} or more back: ${ofFew(row.recall[at])}`).join("\n");
  return svg("svg", { class: "recall", width: 8 * data.distances.length, height: 16, role: "img", "aria-label": told },
    svg("title", {}, told), data.distances.map((_, at) => {
      const { value } = row.recall[at];
      return [svg("rect", { class: "all", x: 8 * at, y: 0, width: 6, height: 16 }), typeof value === "number" ? svg("rect", { class: "kept", x: 8 * at, y: 16 - 16 * value, width: 6, height: 16 * value }) : null];
    }));
}

class Comparison {
  constructor(root, session) {
    Object.assign(this, { root, session, n: null, hidden: new Set(), sorted: null, table: 0, unit: "estimated" });
    this.last = session.calls.length;
    this.body = el("div", { class: "compared" }, el("p", { class: "dim" }, "…"));
    put(root, this.body);
    this.watch = new ResizeObserver(() => this.draw());
  }

  leave() {
    this.isLeft = true;
    this.watch.disconnect();
  }

  async begin() {
    this.data = await this.session.source.json("compare", this.session);
    if (this.isLeft) return;
    if (!this.data) return void put(clear(this.body), howToCompare(this.session));
    this.at = this.session.index < this.data.sessions.length ? this.session.index : 0;
    this.held = this.data.calibration[this.at];
    this.columns = columnsFor(this.session, this.data);
    if (this.held?.samples) this.unit = "billed";
    this.matrix = el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "all strategies and what was measured" });
    this.legend = el("div", { class: "scroll" });
    this.pictures = { tokens: el("div", { class: "picture" }), cost: el("div", { class: "picture" }) };
    this.rivers = el("div", { class: "rivers" });
    put(clear(this.body),
      el("section", { class: "card" }, el("h2", {}, this.title()), forced(this.data), this.matrix, this.notes()),
      el("section", { class: "card" }, el("h2", {}, `Call by call${this.data.sessions.length > 1 ? `, in ${this.session.data.name}` : ""}`), this.controls(), this.legend,
        el("div", { class: "curves" },
          el("figure", {}, this.tokensCaption = el("figcaption"), this.pictures.tokens),
          el("figure", {}, this.costCaption = el("figcaption", {}, "cost so far"), this.pictures.cost))),
      el("section", { class: "card" }, el("h2", {}, "The context under each strategy"), el("p", { class: "dim" }, "All on one scale, tokens estimated of what is recorded. A click shows what the model would have seen then."), this.rivers),
      this.needed());
    this.fillMatrix();
    this.watch.observe(this.body);
    this.point(this.last);
    this.draw();
  }

  title() {
    const { sessions, strategies } = this.data;
    return `${plural(strategies.length - 1, "strategy", "strategies")} on ${sessions.length > 1 ? `${plural(sessions.length, "session")}, ` : ""}${plural(strategies[0].calls, "call")}`;
  }

  // -- the matrix ---------------------------------------------------------------------------------

  fillMatrix() {
    const { data, columns, sorted } = this;
    const rows = data.strategies.map((row, lane) => ({ row, lane }));
    if (sorted) {
      const column = columns[sorted.at];
      rows.sort((one, other) => {
        const [a, b] = [column.by(one.row), column.by(other.row)];
        if (typeof a !== "number" || typeof b !== "number") return (typeof b === "number") - (typeof a === "number") || one.lane - other.lane;
        return sorted.way * (a - b) || one.lane - other.lane;
      });
    }
    const most = columns.map((column) => Math.max(...data.strategies.map((row) => row.peak), 1));
    const widest = columns.map((column, at) => column.bar ? Math.max(1, ...data.strategies.map((row) => column.bar(row, most[at]) || 0)) : 1);
    const best = columns.map((column) => column.winner ? data.winners.find((each) => each.by === column.winner)?.strategy : null);
    const heads = columns.map((column, at) => el("th", { scope: "col", class: column.isMain ? "main" : null, "aria-sort": sorted?.at === at ? (sorted.way > 0 ? "ascending" : "descending") : null },
      el("button", { type: "button", class: column.title.length > 20 ? "long" : null, title: column.said, onclick: () => this.sort(at) }, column.title, el("span", { class: "way", "aria-hidden": "true" }, sorted?.at === at ? (sorted.way > 0 ? " ▲" : " ▼") : ""))));
    const lines = rows.map(({ row, lane }) => el("tr", { class: lane ? "" : "observed" },
      el("th", { scope: "row" }, sample(lane), link(address(this.session, inLane(`c${this.n || this.last}`, lane)), row.strategy, { title: "its transcript" })),
      columns.map((column, at) => this.cell(column, row, most[at], widest[at], best[at] === row.spec))));
    const body = el("table", { class: "matrix" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, el("button", { type: "button", title: "in the order in which they were typed", onclick: () => this.sort(null) }, "strategy")), heads)), el("tbody", {}, lines));
    keepingFocus(this.matrix, () => put(clear(this.matrix), body));
  }

  cell(column, row, most, widest, isBest) {
    const bar = column.bar ? column.bar(row, most) : null;
    const [value, interval = ""] = column.show(row).split(/(?= \()/, 2);
    return el("td", { "data-title": column.title, class: column.isMain ? "main" : null },
      el("span", { class: "value" }, isBest ? el("b", { class: "best", title: "the best: its interval is apart from the next one's" }, "★ ") : null, value, interval ? el("small", { class: "dim" }, interval) : null),
      column.note?.(row) ? el("small", { class: "dim" }, column.note(row).startsWith(",") ? "" : " ", column.note(row)) : null,
      column.small ? column.small(row) : null,
      typeof bar === "number" ? el("span", { class: `share ${column.better}`, "aria-hidden": "true" }, el("i", { style: { width: `${Math.min(100, (100 * bar) / widest)}%` } })) : null);
  }

  sort(at) {
    const first = at === null ? 1 : this.columns[at].better === "higher" ? -1 : 1;
    this.sorted = at === null ? null : this.sorted?.at === at ? { at, way: -this.sorted.way } : { at, way: first };
    this.fillMatrix();
    announce(at === null ? "in the order in which they were typed" : `sorted by ${this.columns[at].title}, ${this.sorted.way > 0 ? "the lowest" : "the highest"} first`);
  }

  /** Who wins or why nobody does, prices, and what to beware of. */
  notes() {
    const { data } = this;
    const nobody = new Map();
    for (const each of data.winners) if (!each.strategy) nobody.set(each.why, [...(nobody.get(each.why) || []), each.by]);
    const lines = [
      ...data.winners.filter((each) => each.strategy).map((each) => `★ ${each.by}: ${each.strategy}, ${each.why}`),
      ...[...nobody].map(([why, by]) => `no winner by ${by.join(", ")}: ${why}`),
      ...data.prices.map((table) => table.relative ? relativePrice(table) : `${table.name}: ${pricedAt(table)}`),
      this.onBase(),
      this.billed(),
    ].filter(Boolean);
    return [
      el("ul", { class: "notes dim" }, lines.map((line) => el("li", {}, line))),
      el("details", { class: "meanings" }, el("summary", {}, "what the columns mean"), el("dl", { class: "facts" }, this.columns.map((column) => [el("dt", {}, column.title), el("dd", {}, column.said, column.better ? ` (${column.better} is better)` : "")]))),
      el("ul", { class: "notes" }, data.warnings.slice(1).map((line) => el("li", {}, el("span", { class: "warn", "aria-label": "beware" }, "▲ "), line))),
    ];
  }

  /** On which base tokens stand, and how it is got: the one number of what is not recorded. */
  onBase() {
    const { held, data } = this;
    if (!held?.samples || data.sessions.length > 1) return "";
    const every = Math.round(held.factor * held.unrecorded);
    return `tokens and peak are as billed: estimated tokens × ${held.factor.toFixed(2)}${every ? `, and ${whole(every)} a call for what is not recorded` : ""}; both from the line through what was estimated and what was billed of ${plural(held.samples, "call")} (the median of slopes, so that no single bill moves it)`;
  }

  /** Why observed costs something else here than in the overview. */
  billed() {
    const { cost } = this.session.data;
    if (!cost || typeof cost.total !== "number" || this.data.prices.every((table) => table.relative)) return "";
    return `the calls as they were billed cost ${money(cost.total, cost.currency)}; here all rows, observed too, are worked out alike, from what a cache could have read, so that they can be compared`;
  }

  // -- curves ---------------------------------------------------------------------------------------

  controls() {
    const { data, held } = this;
    const choose = (label, options, chosen, onchange) => el("label", {}, `${label} `, el("select", { onchange: (event) => { onchange(event.target.value); this.drawn = 0; this.draw(); } },
      options.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));
    return el("p", { class: "controls" },
      held?.samples ? choose("tokens", [["estimated", "estimated, of what is recorded"], ["billed", "as billed, like the table"]], this.unit, (value) => { this.unit = value; }) : null,
      data.prices.length > 1 ? choose("prices", data.prices.map((table, at) => [String(at), table.name]), "0", (value) => { this.table = Number(value); }) : null,
      el("span", { class: "dim" }, "Point, or use ← → on a picture; a click goes there."));
  }

  /** Tokens of a call: as counted, or as the provider would have billed them. */
  tokens(lane, index) {
    const counted = this.session.lanes[lane].curves.tokens[index];
    return this.unit === "billed" ? (counted + this.held.unrecorded) * this.held.factor : counted;
  }

  series(values) {
    return this.session.lanes.map((lane, number) => ({ lane: number, name: lane.name, values: values(number) })).filter((each) => each.values && !this.hidden.has(each.lane));
  }

  costSaid(value) {
    const table = this.data.prices[this.table];
    return table.relative ? tickName(value * 1e6) : money(value, table.currency);
  }

  /** What all calls up to each one cost; null where that is unknown. */
  spent(lane) {
    this.sums ||= new Map();
    const key = `${lane} ${this.table}`;
    if (!this.sums.has(key)) {
      const each = this.session.lanes[lane].curves.spent[this.table];
      let sum = 0;
      this.sums.set(key, each ? each.map((one) => { sum += one; return sum; }) : null);
    }
    return this.sums.get(key);
  }

  draw() {
    const width = Math.floor(this.pictures?.tokens.clientWidth || 0);
    if (!width || width === this.drawn) return;
    this.drawn = width;
    const height = width < 600 ? 170 : 220;
    const how = { width, height, chosen: this.n, onpoint: (n) => this.point(n), onpick: (n) => this.go(n, 0) };
    const counted = this.session.lanes.map((lane, number) => lane.curves.tokens.map((_, index) => this.tokens(number, index)));
    this.place("tokens", linesChart({ ...how, series: this.series((lane) => counted[lane]), said: tickName, label: "tokens of each call under each strategy" }));
    this.tokensCaption.textContent = ["tokens of each call", this.drawings.tokens.crowd].filter(Boolean).join(" · ");
    const table = this.data.prices[this.table];
    this.costCaption.textContent = visible(table.relative ? `cost so far at ${table.name}, as much as so many input tokens without a cache` : `cost so far at ${table.name}${table.currency ? `, ${table.currency}` : ""}`);
    if (this.spent(0)) this.place("cost", linesChart({ ...how, series: this.series((lane) => this.spent(lane)), said: (value) => this.costSaid(value), label: "cost up to each call under each strategy" }));
    else put(clear(this.pictures.cost), el("p", { class: "dim" }, `The prices of ${table.name} are unknown, so no cost is drawn. Give them with --prices in=…,out=….`));
    this.drawRivers();
    this.fillLegend();
  }

  /** One picture, as a control of the keyboard. */
  place(name, drawing) {
    for (const [key, value] of Object.entries({ tabindex: 0, role: "slider", "aria-valuemin": 1, "aria-valuemax": this.last })) drawing.setAttribute(key, value);
    drawing.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const page = Math.max(10, Math.round(this.last / 20));
      const to = { ArrowLeft: this.n - 1, ArrowRight: this.n + 1, PageDown: this.n - page, PageUp: this.n + page, Home: 1, End: this.last }[event.key];
      if (event.key === "Enter") this.go(this.n, 0);
      else if (to === undefined) return;
      else this.point(Math.min(this.last, Math.max(1, to)));
      event.preventDefault();
      event.stopPropagation();
    });
    const wasFocused = this.pictures[name].contains(document.activeElement);
    put(clear(this.pictures[name]), drawing);
    this.drawings = { ...this.drawings, [name]: drawing };
    if (wasFocused) drawing.focus({ preventScroll: true });
    this.told(drawing);
  }

  told(drawing) {
    drawing.setAttribute("aria-valuenow", this.n || this.last);
    drawing.setAttribute("aria-valuetext", `c${this.n || this.last}: ${this.session.lanes.map((lane, number) => `${lane.name} ${short(this.tokens(number, (this.n || this.last) - 1))}`).join(", ")}`);
  }

  drawRivers() {
    const { session } = this;
    const width = Math.floor(this.rivers.clientWidth);
    let most = 1;
    session.lanes.forEach((lane, number) => lane.contexts.forEach((_, index) => { most = Math.max(most, session.total(index + 1, number)); }));
    this.drawnRivers = session.lanes.map((lane, number) => river(session, {
      lane: number, bills: false, width, height: width < 600 ? 92 : 104, most, chosen: this.n, onpoint: (n) => n && this.point(n), onpick: (n) => this.go(n, number),
      label: `${lane.name}: tokens of the context at each call`,
    }));
    put(clear(this.rivers), legend(session, 0, 0, { bills: false }), session.lanes.map((lane, number) => el("figure", {},
      el("figcaption", {}, sample(number), link(address(session, inLane(`c${this.last}`, number)), lane.name), el("span", { class: "dim" }, ` ≈${short(lane.contexts.reduce((sum, _, index) => sum + session.total(index + 1, number), 0))} tokens over all calls`)),
      this.drawnRivers[number])));
  }

  /** To a call: what stands there is said of every lane. */
  point(n) {
    if (!n || n === this.n) return;
    this.n = n;
    for (const drawing of Object.values(this.drawings || {})) { drawing.place(n); this.told(drawing); }
    for (const drawing of this.drawnRivers || []) drawing.place(n);
    this.fillLegend();
  }

  go(n, lane) {
    location.hash = address(this.session, inLane(`c${n}`, lane));
  }

  /** The legend says the figures of the chosen call; each line can be taken out of the pictures. */
  fillLegend() {
    const n = this.n || this.last;
    const table = this.data.prices[this.table];
    const rows = this.session.lanes.map((lane, number) => {
      const all = lane.curves.tokens[n - 1] + (lane.curves.unrecorded || 0);
      const spent = this.spent(number);
      return el("tr", { class: this.hidden.has(number) ? "hidden" : "" },
        el("th", { scope: "row" }, el("button", { type: "button", "aria-pressed": String(!this.hidden.has(number)), title: "show it, or take it out", onclick: () => this.toggle(number) }, sample(number), el("span", { class: "number dim" }, number), lane.name)),
        el("td", { class: "tok" }, `≈${whole(Math.round(this.tokens(number, n - 1)))}`),
        el("td", { class: "tok" }, percent(lane.curves.cached[n - 1], all)),
        el("td", { class: "tok" }, spent ? this.costSaid(spent[n - 1]) : "unknown"),
        el("td", {}, link(address(this.session, inLane(`c${n}`, number)), `see c${n}`)));
    });
    const heads = [`at c${n}`, "tokens", "cacheable", table.relative ? "cost so far, input tokens" : "cost so far", "what it saw"];
    keepingFocus(this.legend, () => put(clear(this.legend), el("table", { class: "readings" },
      el("thead", {}, el("tr", {}, heads.map((text, at) => el("th", { scope: "col", class: at && at < 4 ? "tok" : "" }, text)))), el("tbody", {}, rows))));
  }

  toggle(lane) {
    if (this.hidden.has(lane)) this.hidden.delete(lane);
    else if (this.hidden.size < this.session.lanes.length - 1) this.hidden.add(lane);
    this.drawn = 0;
    this.draw();
  }

  /** Rules of people are no references of answers: where they can be held against each other. */
  rulesSaid() {
    const { name } = this.session.data;
    const command = `ctxlog diff ${name}@c${this.last} --left observed --right ${this.data.strategies.at(-1).strategy} --anchors`;
    return el("p", { class: "dim" }, "Rules that people gave are not counted here; which of them a strategy keeps: ", el("code", {}, command), " ", copyButton("copy", async () => command, "copy the command"));
  }

  // -- what was lost and needed later ---------------------------------------------------------------

  needed() {
    const names = this.data.strategies.map((row) => row.strategy);
    const key = this.data.sessions[this.at];
    const all = this.data.needed.filter((each) => each.session === key);
    const title = `Lost, and needed by an answer (${whole(all.length)})`;
    if (!all.length) return el("section", { class: "card" }, el("h2", {}, title), el("p", { class: "dim" }, "Nothing was lost that an answer needed."), this.rulesSaid());
    const inArguments = all.filter((each) => each.in_arguments).length;
    const row = (each) => el("tr", {},
      el("td", {}, link(address(this.session, each.item), each.item, { title: "in which it stood last" }), " → ", link(address(this.session, `c${each.call}`), `c${each.call}`)),
      el("td", { class: "dim kind" }, each.kind),
      el("td", { class: "tok" }, each.distance),
      names.map((name, lane) => el("td", { class: "dot" }, each.lost_by.includes(name)
        ? link(address(this.session, inLane(`c${each.call}`, lane)), "✕", { "aria-label": `lost by ${name}: see c${each.call} there`, title: `${name} had lost it` })
        : el("span", { class: "dim", role: "img", "aria-label": `kept by ${name}`, title: `${name} still had it` }, " "))),
      el("td", { class: "literal" }, el("code", {}, each.text), each.in_arguments ? el("em", { class: "tag" }, "in a tool's arguments") : null));
    const body = el("tbody", {}, all.slice(0, FEW_NEEDED).map(row));
    const rest = all.slice(FEW_NEEDED);
    const more = rest.length ? el("button", { type: "button", class: "more", onclick: () => { body.append(...rest.map(row)); more.remove(); } }, `show ${whole(rest.length)} more`) : null;
    return el("section", { class: "card" }, el("h2", {}, title),
      el("p", { class: "dim" }, `${whole(inArguments)} of them in what a tool was given. ✕ the strategy had lost it by then; blank: it still had it.`), this.rulesSaid(),
      el("div", { class: "scroll" }, el("table", { class: "needed" }, el("thead", {}, el("tr", {}, [["last in → used by", ""], ["kind", "kind"], ["calls back", "tok back"]].map(([text, name]) => el("th", { scope: "col", class: name }, text)),
        names.map((name, lane) => el("th", { scope: "col", class: "dot", title: name }, el("span", { class: "turned" }, sample(lane), shortened(name, 30)))), el("th", { scope: "col" }, "literal"))), body)), more);
  }
}

const FEW_NEEDED = 40;

/** The first thing to know of what-ifs. */
function forced(data) {
  const said = data.warnings[0] || "";
  return el("p", { class: "forced" }, said.slice(0, 1).toUpperCase(), said.slice(1));
}
