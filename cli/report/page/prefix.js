// Prefix and cache: what of each request was the same as in one before, what broke it, and what was billed.

const PREFIX_ROW = 27;
const ON_PAPER = 1000;
const LOOKS = {
  held: "the same as in the request that it is held against: a cache could serve it",
  again: "stood in that request too, behind the break: sent again as new",
  changed: "stood there in another form",
  fresh: "new",
};
const LOOK_NAMES = { held: "the same", again: "sent again", changed: "in another form", fresh: "new" };

VIEWS.prefix = {
  title: "Prefix and cache",
  show(root, session) {
    if (!session.calls.length) {
      put(root, el("p", { class: "dim" }, "No call of a model was recorded, so nothing could be cached."));
      return null;
    }
    const view = new PrefixView(session);
    view.build(root);
    return view;
  },
};

class PrefixView {
  constructor(session) {
    this.session = session;
    this.widest = Math.max(1, ...session.calls.map((call) => session.total(call.n)));
    this.billed = session.calls.some((call) => call.billed);
    this.wide = 320;
    this.shown = session.calls;
  }

  build(root) {
    const { session } = this;
    this.strip = el("div", { class: "picture" });
    this.list = new LongList(this.shown.length, {
      make: (index) => this.row(this.shown[index]),
      guess: () => (window.innerWidth <= 820 ? 74 : PREFIX_ROW),
      key: (index) => this.shown[index].n,
      label: "calls and their prefixes",
    });
    this.count = el("span", { class: "dim", role: "status" });
    put(root, hatches(), prefixSums(session),
      el("section", { class: "card" }, el("h2", {}, "Share of each request that could be reused"), this.strip),
      el("div", { class: `sticky prefix-head${this.billed ? " billed" : ""}` },
        el("div", { class: "head" }, el("div", { class: "control" }, this.filter(), this.count), looksOf(session)),
        this.heads()),
      this.list.node);
    this.choose("");
    this.list.attach();
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.strip);
  }

  leave() {
    this.watch.disconnect();
    this.list.detach();
  }

  /** On paper there is no window: all rows, up to a number. */
  print(isOver) {
    if (isOver) {
      this.left?.remove();
      return this.list.some();
    }
    const left = this.list.all(ON_PAPER);
    if (left) this.list.node.after(this.left = el("p", { class: "dim" }, `${plural(left, "more call")} ${left === 1 ? "is" : "are"} not printed.`));
  }

  filter() {
    const { calls } = this.session;
    const causes = new Map();
    for (const { prefix } of calls) if (prefix.cause) causes.set(prefix.cause, (causes.get(prefix.cause) || 0) + 1);
    const broken = [...causes.values()].reduce((sum, each) => sum + each, 0);
    const doubted = calls.filter((call) => call.prefix.contradicts).length;
    const choices = [["", "all calls", calls.length], ["broken", "only breaks", broken]];
    if (doubted) choices.push(["doubted", "where the bill says that more broke", doubted]);
    for (const [cause, count] of [...causes].sort((one, other) => other[1] - one[1])) choices.push([`by ${cause}`, `broken by ${cause.replaceAll("_", " ")}`, count]);
    const select = el("select", { onchange: () => this.choose(select.value) },
      choices.map(([value, name, count]) => el("option", { value }, `${name} (${whole(count)})`)));
    this.select = select;
    return el("label", {}, "show ", select);
  }

  choose(value) {
    const wanted = {
      "": () => true,
      broken: (prefix) => prefix.cause,
      doubted: (prefix) => prefix.contradicts,
    }[value] || ((prefix) => `by ${prefix.cause}` === value);
    this.select.value = value;
    this.shown = this.session.calls.filter((call) => wanted(call.prefix));
    this.list.count(this.shown.length);
    this.count.textContent = this.shown.length ? "" : "there are none";
  }

  draw() {
    const width = Math.floor(this.strip.clientWidth);
    if (!width || this.drawn === width) return;
    this.drawn = width;
    this.wide = Math.max(60, Math.floor(this.place.clientWidth || this.list.node.clientWidth - 160));
    this.list.refresh();
    put(clear(this.strip), shares(this.session, width, (n) => {
      if (!this.shown.includes(this.session.calls[n - 1])) this.choose("");
      const node = this.list.show(this.shown.indexOf(this.session.calls[n - 1]));
      node?.querySelector("a")?.focus({ preventScroll: true });
    }));
  }

  heads() {
    const names = [["call", ""], ["request", ""], ["≈tokens", "tok"], ["≈reusable", "tok"], ["≈sent again", "tok"]];
    if (this.billed) names.push(["billed read", "tok billedcell"], ["billed written", "tok billedcell"], ["billed otherwise", "tok billedcell"]);
    names.push(["since", "tok"], ["what broke it", ""]);
    const cells = names.map(([name, kind]) => el("span", { class: kind }, name));
    this.place = cells[1];
    return el("div", { class: "prefix-row heads", "aria-hidden": "true" }, cells);
  }

  row(call) {
    const { session } = this;
    const { prefix } = call;
    const total = session.total(call.n);
    const reusable = prefix.reusable || 0;
    const cell = (name, text, title, kind = "") => el("span", { class: `tok ${kind}`, "data-name": name, title }, text);
    const bill = call.billed || {};
    const told = (value) => (typeof value === "number" ? short(value) : "–");
    return el("div", { class: `prefix-row${prefix.cause ? " broken" : ""}${prefix.contradicts ? " doubted" : ""}${this.billed ? " billed" : ""}` },
      link(address(session, `c${call.n}`), `c${call.n}`, { class: "id" }),
      requestBar(session, call, this.widest, this.wide),
      cell("tokens", `≈${short(total)}`, `${whole(total)} tokens, estimated`),
      cell("reusable", prefix.against ? `${percent(reusable, total)}${reusable ? ` ${short(reusable)}` : ""}` : "–", prefix.against ? `${whole(reusable)} of ${whole(total)} tokens, estimated` : "the first call: there was nothing to reuse"),
      cell("sent again", prefix.rewritten ? short(prefix.rewritten) : "–", prefix.rewritten ? `${whole(prefix.rewritten)} tokens, estimated` : null),
      this.billed ? [
        cell("billed read", told(bill.cached), typeof bill.cached === "number" ? `${whole(bill.cached)} billed tokens read from a cache${prefix.held ? `; c${prefix.against} was billed ${whole(prefix.held)} in all` : ""}` : "not told", "billedcell"),
        cell("written", told(bill.cache_write), "billed tokens written to a cache", "billedcell"),
        cell("otherwise", told(bill.input), "billed tokens of input, neither read from a cache nor known to be written to one", "billedcell"),
      ] : null,
      cell("since", timeSince(prefix.seconds), prefix.against ? `since c${prefix.against}` : null),
      el("span", { class: "why" }, whatBroke(session, call)));
  }
}

/** What broke a prefix, in words; or what the bill says. */
function whatBroke(session, call) {
  const { prefix } = call;
  const said = [];
  if (prefix.contradicts) said.push(el("b", { class: "sign" }, "! "), `not read: ${short(prefix.missed || 0)} of ${short(prefix.held || 0)} billed for c${prefix.against}`);
  if (prefix.cause) {
    said.push(el("b", { class: "sign" }, { compaction: "Σ ", substitution: "✂ ", revision: "✂ " }[prefix.cause] || "! "), causeSaid(session, call));
    if (prefix.break_at) said.push(" at ", nameLink(session, prefix.break_at), " → ", prefix.now_at ? nameLink(session, prefix.now_at) : "end");
  }
  if (prefix.against && prefix.against !== call.n - 1) said.push(el("span", { class: "dim" }, said.length ? " · held against " : "held against ", link(address(session, `c${prefix.against}`), `c${prefix.against}`), ", not the one before"));
  return said;
}

function nameLink(session, name) {
  return session.byName.has(name) || /^k\d+$/.test(name) ? link(address(session, name), name, { class: "id" }) : el("code", {}, name);
}

function causeSaid(session, { model, prefix }) {
  const by = (prefix.by || []).map((name, at) => [at ? ", " : "", nameLink(session, name)]);
  switch (prefix.cause) {
    case "ttl": return "time ran out";
    case "model": return `another model, ${model}`;
    case "tools": return by.length ? ["other tools, ", by] : "no tools any more";
    case "compaction": return [by, " (compaction)"];
    case "field_order": return "fields of a tool's input in another order";
    case "unexplained": return "no decision explains it";
    default: return [`${prefix.cause} `, by];
  }
}

function timeSince(seconds) {
  if (seconds === undefined || seconds === null) return "–";
  if (seconds < 99.5) return `${Math.round(seconds)} s`;
  return seconds < 5_940 ? `${Math.round(seconds / 60)} min` : `${whole(Math.round(seconds / 360) / 10)} h`;
}

/** What a request is made of, in its order: [look, category, tokens], held against the one of `against`. */
function piecesOf(session, call) {
  const { prefix, n } = call;
  const rows = session.context(n);
  const own = session.calls[n - 1].context;
  const follows = prefix.against === n - 1;
  const before = prefix.against && (prefix.cause || !follows) ? session.context(prefix.against) : null;
  const tools = session.tokens(n)[session.categories.indexOf("tools")];
  const isFront = ["ttl", "model", "tools"].includes(prefix.cause);
  let same = 0;
  if (prefix.against && !isFront) {
    if (!before) same = own.keep || 0;
    else while (same < before.length && same < rows.length && before[same] === rows[same]) same += 1;
    if (prefix.break_at) {
      const at = before.indexOf(session.byName.get(prefix.break_at));
      if (at >= 0) same = Math.min(same, at);
    }
  }
  const behind = new Set(before ? before.slice(same) : []);
  const forms = new Set([...behind].map((number) => session.originalOf(number)));
  const pieces = [];
  const add = (look, category, tokens) => {
    const last = pieces.at(-1);
    if (last && last[0] === look && last[1] === category) last[2] += tokens;
    else if (tokens) pieces.push([look, category, tokens]);
  };
  // As the log counts it: only items are sent again, definitions are new to another model.
  add(prefix.against && !isFront ? "held" : "fresh", "tools", tools);
  rows.forEach((number, at) => {
    const row = session.row(number);
    const look = at < same ? "held" : behind.has(number) ? "again" : forms.has(session.originalOf(number)) ? "changed" : "fresh";
    add(look, row.category, row.tokens || 0);
  });
  return pieces;
}

/** A request as one bar: colours are categories, hatches and outlines say what a cache could not have had. */
function requestBar(session, call, widest, wide) {
  const paths = new Map();
  const into = (key, x, w) => paths.set(key, `${paths.get(key) || ""}M${x.toFixed(2)} 2h${w.toFixed(2)}v14h-${w.toFixed(2)}z`);
  const sums = { held: 0, again: 0, changed: 0, fresh: 0 };
  const outlines = [];
  let x = 0;
  for (const [look, category, tokens] of piecesOf(session, call)) {
    const w = (wide * tokens) / widest;
    into(`${look === "held" ? "part" : `part ${look}`} band ${category}`, x, w);
    if (look === "again" || look === "changed") into(`over ${look}`, x, w);
    const edge = { held: "", again: "edge", changed: "edge", fresh: "edge fresh" }[look];
    if (outlines.length && outlines.at(-1)[0] === edge) outlines.at(-1)[2] += w;
    else outlines.push([edge, x, w]);
    sums[look] += tokens;
    x += w;
  }
  for (const [edge, from, w] of outlines) if (edge) into(edge, from + 0.5, Math.max(0, w - 1));
  const said = `estimated tokens: ${Object.entries(sums).filter(([, tokens]) => tokens).map(([look, tokens]) => `${whole(tokens)} ${LOOK_NAMES[look]}`).join(", ") || "none"}`;
  const drawing = svg("svg", { class: "request", viewBox: `0 0 ${wide} 18`, preserveAspectRatio: "none", role: "img", "aria-label": `c${call.n}, ${said}` },
    svg("title", {}, said),
    ["part", "over", "edge"].map((layer) => [...paths].filter(([kind]) => kind.startsWith(layer)).map(([kind, d]) => svg("path", { class: kind, d }))));
  if (call.prefix.cause) {
    const at = (wide * (call.prefix.reusable || 0)) / widest;
    drawing.append(svg("path", { class: "broke", d: `M${Math.max(1.25, at).toFixed(1)} 0v18` }));
  }
  return drawing;
}

/** The patterns of the hatches, once for all bars. */
function hatches() {
  const lines = (id, d, size) => svg("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, svg("path", { class: "hatch", d }));
  return svg("svg", { class: "patterns", width: 0, height: 0, "aria-hidden": "true" },
    svg("defs", {}, lines("hatch-again", "M-1 1l2 -2M0 6l6 -6M5 7l2 -2", 6), lines("hatch-changed", "M1.5 0v4M0 2h4", 4)));
}

/** What the looks of a bar mean. */
function looksOf(session) {
  const some = new Set();
  for (const { prefix, n } of session.calls) {
    if (prefix.against) some.add("held");
    if (prefix.rewritten) some.add("again");
    if (prefix.now_at && session.byName.has(prefix.now_at) && session.rows[session.byName.get(prefix.now_at)].original !== undefined) some.add("changed");
    if (n) some.add("fresh");
  }
  const used = session.categories.filter((_, at) => session.calls.some((call) => session.tokens(call.n)[at]));
  return el("ul", { class: "legend" },
    Object.keys(LOOKS).filter((look) => some.has(look)).map((look) => el("li", { title: LOOKS[look] },
      svg("svg", { class: "request key", viewBox: "0 0 22 18", width: 22, height: 14, "aria-hidden": "true" },
        // Of two colours: what the look says holds of any.
        svg("path", { class: `part ${look} band assistant`, d: "M0 2h11v14h-11z" }), svg("path", { class: `part ${look} band result`, d: "M11 2h11v14h-11z" }), look === "held" ? null : [svg("path", { class: `over ${look}`, d: "M0 2h22v14h-22z" }), svg("path", { class: `edge ${look}`, d: "M.5 2h21v14h-21z" })]), ` ${LOOK_NAMES[look]}`)),
    used.map((category) => el("li", {}, el("i", { class: `swatch ${category}` }), SHOWN[category])));
}

/** The sums, as diff --prefix says them. */
function prefixSums(session) {
  const sum = session.data.prefix;
  if (!sum) return null;
  const { billed } = sum;
  const figures = [
    [percent(sum.reusable, sum.tokens), "could be reused", `≈${short(sum.reusable)} of ≈${short(sum.tokens)} tokens of all requests`],
    [whole(sum.broken), sum.broken === 1 ? "call broke" : "calls broke", `of ${plural(sum.calls, "call")}`],
    [`≈${short(sum.rewritten)}`, "sent again as new", "tokens in which nothing is new"],
    [`≈${short(sum.lost)}`, "lost", "tokens of calls before that a cache held"],
  ];
  if (billed && typeof billed.cached === "number") figures.push([percent(billed.cached, sum.cached_of), "billed as read from a cache", `${short(billed.cached)} of ${short(sum.cached_of)} tokens${sum.cached_calls < sum.billed_calls ? ` in ${plural(sum.cached_calls, "call")}` : ""}${typeof billed.cache_write === "number" ? `, ${short(billed.cache_write)} written` : ""}${typeof billed.input === "number" ? `, ${short(billed.input)} ${typeof billed.cache_write === "number" ? "neither" : "not"}` : ""}`]);
  const lines = [];
  if (sum.broken) lines.push([`What it cost: of ≈${short(sum.lost)} tokens that a cache held behind the breaks, ${sum.rewritten ? `≈${short(sum.rewritten)} were sent again as new; the rest was` : "none were sent again as new: all of it was"} not sent again, or in another form.`]);
  if (!billed) lines.push("No bill was recorded.");
  else if (typeof billed.cached !== "number") lines.push(`Billed: ${short((billed.input || 0) + (billed.cache_write || 0))} tokens, and not how many of them were read from a cache.`);
  if (sum.held) lines.push(`Where nothing broke ${((100 * sum.read) / sum.held).toFixed(1)} % of what was billed before was read.`);
  const doubts = sum.contradicted.length ? el("p", { class: "doubts" }, el("b", {}, `▲ The bill of ${plural(sum.contradicted.length, "call")} says that more broke than the log knows of: `), sum.contradicted.slice(0, 8).map((n) => [link(address(session, `c${n}`), `c${n}`, { class: "id" }), " "]), sum.contradicted.length > 8 ? `and ${whole(sum.contradicted.length - 8)} more` : null) : null;
  return el("section", { class: "prefix-sums" },
    el("div", { class: "figures" }, figures.map(([value, name, note]) => el("div", {}, el("b", {}, value), el("span", {}, name), el("small", { class: "dim" }, note)))),
    sum.by_cause.length ? el("ul", { class: "causes" }, sum.by_cause.map((one) => el("li", {}, el("b", {}, one.cause.replaceAll("_", " ")), ` broke ${plural(one.calls, "call")}: ${one.rewritten ? `≈${short(one.rewritten)} tokens` : "nothing"} sent again, ≈${short(one.lost)} of the calls before lost`))) : null,
    lines.map((line) => el("p", { class: "dim" }, line)), doubts);
}

/** The share of each request that could be reused, over the calls; the lowest of each stretch where they are many. */
function shares(session, width, onchoose) {
  const left = 46, right = 8, top = 18, tall = 52, bottom = 18;
  const { calls } = session;
  const inner = Math.max(60, width - left - right);
  const x = (n) => left + ((n - 0.5) * inner) / calls.length;
  const y = (share) => top + tall * (1 - share);
  const of = (call) => { const all = session.total(call.n); return all ? (call.prefix.reusable || 0) / all : 0; };
  const most = Math.max(1, Math.min(calls.length, Math.floor(inner / 2)));
  const upper = [];
  for (let at = 0; at < most; at += 1) {
    const some = calls.slice(Math.floor((at * calls.length) / most), Math.floor(((at + 1) * calls.length) / most));
    const least = some.reduce((low, call) => Math.min(low, of(call)), 1);
    const edge = inner / calls.length / 2;
    upper.push(`${(x(some[0].n) - edge).toFixed(1)},${y(least).toFixed(1)}`, `${(x(some.at(-1).n) + edge).toFixed(1)},${y(least).toFixed(1)}`);
  }
  const drawing = svg("svg", { class: "river choosing shares", viewBox: `0 0 ${width} ${top + tall + bottom}`, width, height: top + tall + bottom, role: "img", "aria-label": `Share of each of ${plural(calls.length, "request")} that could be reused; ${whole(calls.filter((call) => call.prefix.cause).length)} broke` });
  for (const share of [0, 0.5, 1]) {
    drawing.append(svg("line", { class: "grid", x1: left, x2: left + inner, y1: y(share), y2: y(share) }),
      svg("text", { class: "axis", x: left - 6, y: y(share) + 3.5, "text-anchor": "end" }, `${100 * share} %`));
  }
  drawing.append(svg("path", { class: "share", d: `M${left},${y(0)}L${upper.join("L")}L${left + inner},${y(0)}Z` }));
  for (const call of calls) {
    if (!call.prefix.cause) continue;
    drawing.append(svg("path", { class: "snap", d: `M${(x(call.n) - 3).toFixed(1)} ${y(0)}l3 -6l3 6z` }, svg("title", {}, `c${call.n}: ${call.prefix.cause}`)));
  }
  drawing.append(...cliffs(session, x, top, tall, inner / calls.length, width));
  for (const n of callTicks(calls.length, inner)) drawing.append(svg("text", { class: "axis", x: x(n), y: top + tall + bottom - 4, "text-anchor": "middle" }, `c${n}`));
  drawing.addEventListener("click", (event) => {
    if (event.target.closest("a")) return;
    const box = drawing.getBoundingClientRect();
    const scaled = ((event.clientX - box.left) * width) / box.width;
    onchoose(Math.min(calls.length, Math.max(1, Math.ceil(((scaled - left) * calls.length) / inner))));
  });
  return drawing;
}
