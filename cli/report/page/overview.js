// The overview: the session as a river, what an audit found, and what became of everything.

VIEWS.overview = {
  title: "Overview",
  show(root, session) {
    const picture = el("div", { class: "picture big" });
    const readout = el("p", { class: "readout", id: "readout" });
    const crowd = el("p", { class: "dim" });
    const box = el("section", { class: "card wide" },
      el("h2", {}, "The context, call by call"), legend(session, 0), picture, readout, crowd);
    put(root, figures(session), box, el("div", { class: "columns" },
      el("div", {}, findings(session)), el("div", {}, about(session), fate(session), cliffsTable(session), largest(session))));
    const told = new Readout(session, picture, readout);
    const draw = () => {
      const width = Math.floor(picture.clientWidth);
      if (!session.calls.length) put(clear(readout), "No call of a model was recorded.");
      if (!width || !session.calls.length || picture.drawn === width) return;
      picture.drawn = width;
      told.take(river(session, {
        width, height: width < 600 ? 230 : 320, marks: true, chosen: told.n,
        onpoint: (n) => told.tell(n || told.n), onpick: (n) => { location.hash = address(session, `c${n}`); },
      }));
      crowd.textContent = crowded(told.river);
    };
    const watch = new ResizeObserver(draw);
    watch.observe(picture);
    draw();
    return { leave: () => watch.disconnect(), print: (isOver) => unfolded(root, isOver) };
  },
};

/** The river as one control: arrows move along its calls, Enter opens one, and a line says what stands there. */
class Readout {
  constructor(session, picture, node) {
    Object.assign(this, { session, picture, node, n: null, river: null });
    this.tell(null);
  }

  take(drawing) {
    this.river = drawing;
    const last = this.session.calls.length;
    for (const [name, value] of Object.entries({ tabindex: 0, role: "slider", "aria-valuemin": 1, "aria-valuemax": last, "aria-valuenow": this.n || last })) drawing.setAttribute(name, value);
    drawing.setAttribute("aria-label", `${drawing.getAttribute("aria-label")}. Arrow keys go from call to call, Enter opens one`);
    drawing.addEventListener("keydown", (event) => this.key(event));
    drawing.addEventListener("focus", () => { if (drawing.matches(":focus-visible")) this.to(this.n || last); });
    put(clear(this.picture), drawing);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.session.calls.length, page = Math.max(10, Math.round(last / 20));
    const now = this.n || last;
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, ArrowDown: now - 1, ArrowUp: now + 1, PageDown: now - page, PageUp: now + page, Home: 1, End: last }[event.key];
    if (event.key === "Enter") location.hash = address(this.session, `c${now}`);
    else if (to === undefined) return;
    else this.to(Math.min(last, Math.max(1, to)));
    event.preventDefault();
    event.stopPropagation();
  }

  to(n) {
    this.n = n;
    this.river.place(n);
    this.river.setAttribute("aria-valuenow", n);
    this.river.setAttribute("aria-valuetext", this.words(n));
    this.tell(n);
  }

  words(n) {
    const { session } = this;
    const call = session.calls[n - 1];
    const missing = unrecorded(session, n);
    const parts = [`c${n}: ${plural(session.context(n).length, "item")}, ≈${whole(session.total(n))} tokens`];
    if (missing) parts.push(`${whole(missing)} ${UNRECORDED}`);
    for (const each of cliffsOf(session)) if (each.n === n) parts.push(each.isClearing ? `✂ ${whatChanged(each.row)} here` : `${each.name}: ${whatLeft(each.row)} here`);
    if (call.outcome === "failed") parts.push("✖ failed");
    if (call.prefix?.cause) parts.push(`▾ prefix broke: ${call.prefix.cause.replaceAll("_", " ")}`);
    return parts.join(" · ");
  }

  /** What the signs in the picture mean, of those that are there. */
  signs() {
    const { session } = this;
    return [
      cliffsOf(session).some((each) => each.isClearing) ? "✂ cleared, cut or revised" : "",
      session.calls.some((call) => call.outcome === "failed") ? "✖ a call failed" : "",
      session.calls.some((call) => call.prefix?.cause) ? "▾ a call broke the prefix of one before" : "",
      session.data.window ? "" : "the limit of the model is unknown",
    ].filter(Boolean);
  }

  tell(n) {
    clear(this.node);
    const { session } = this;
    if (!n) return put(this.node, session.calls.length ? "Point at a call, or move with the arrow keys; a click or Enter shows what the model saw then. " : "", el("span", { class: "dim" }, this.signs().join(" · ")));
    const tokens = session.tokens(n);
    put(this.node, el("b", {}, this.words(n)), " ", session.categories.map((category, at) => tokens[at] ? el("span", { class: "part-of" }, el("i", { class: `swatch ${category}` }), `${SHOWN[category]} ${short(tokens[at])}`) : null));
  }
}

function figures(session) {
  const { facts } = session.data;
  const peak = Math.max(0, ...session.calls.map((call) => session.total(call.n)));
  const most = Math.max(0, ...session.calls.map((call) => billedInput(call) || 0));
  const failed = session.calls.filter((call) => call.outcome === "failed").length;
  const breaks = session.calls.filter((call) => call.prefix?.cause).length;
  const doubted = session.calls.filter((call) => call.prefix?.contradicts).length;
  const verdicts = [...counted(session.calls.map((call) => call.verdict))];
  const amount = (count, noun, note) => [count === 1 ? noun : `${noun}s`, whole(count), note];
  const list = [
    amount(session.calls.length, "call", verdicts.length === 1 ? `${session.calls.length > 1 ? "all " : ""}${verdicts[0][0]}` : verdicts.map(([name, count]) => `${whole(count)} ${name}`).join(", ")),
    amount(session.items.length, "item", plural(facts.tool_calls || 0, "tool call")),
    ["largest context", `≈${short(peak)}`, `tokens, estimated${most ? `; billed ${short(most)}` : ""}`],
    amount(session.compactions.length, "compaction", facts.placeholders ? plural(facts.placeholders, "placeholder") : ""),
    amount(breaks, "prefix break", [failed ? `${plural(failed, "call")} failed` : "no call failed", doubted ? `the bill tells of ${whole(doubted)} more` : ""].filter(Boolean).join("; ")),
  ];
  list.push(billedFigure(session), costFigure(session));
  return el("section", { class: "figures", "aria-label": "figures" }, list.filter(Boolean).map(([name, value, note]) => el("div", {}, el("b", {}, value), el("span", {}, name), el("small", { class: "dim" }, note))));
}

/** Some agents write the output of an answer before it is complete: then it is a lower bound, as stats says. */
function leastOf(session) {
  return session.data.facts.output_is_partial ? "≥ " : "";
}

function billedFigure(session) {
  const usage = session.data.facts.usage || {};
  const told = ["input", "cached", "cache_write"].map((name) => usage[name]).filter((each) => typeof each === "number");
  if (!told.length) return null;
  const { prefix } = session.data;
  const of = prefix?.cached_of || told.reduce((all, each) => all + each, 0);
  return ["billed input", short(told.reduce((all, each) => all + each, 0)), [
    typeof usage.cached === "number" ? `${percent(prefix?.billed?.cached ?? usage.cached, of)} from cache` : "",
    typeof usage.output === "number" ? `output ${leastOf(session)}${short(usage.output)}` : "",
  ].filter(Boolean).join("; ")];
}

/** What the calls cost as far as that is known; what is not known is never nothing. */
function costFigure(session) {
  const { cost } = session.data;
  if (!cost) return null;
  const unknown = cost.unknown ? `${plural(cost.unknown, "call")} without ${cost.models?.length ? "a known price" : "a bill"}` : "";
  if (typeof cost.total !== "number") return ["cost", "unknown", cost.known ? "in several currencies" : cost.models?.length ? `no price of ${cost.models.slice(0, 3).join(", ")}` : "no bill was recorded"];
  return ["cost", `${leastOf(session)}${money(cost.total, cost.currency)}`, ["as billed, at list prices", unknown && `and ${unknown}`].filter(Boolean).join("; ")];
}

/** How often each value is there, the most frequent first. */
function counted(values) {
  const found = new Map();
  for (const value of values) found.set(value, (found.get(value) || 0) + 1);
  return new Map([...found].sort((one, other) => other[1] - one[1]));
}

function about(session) {
  const { data } = session;
  const { facts } = data;
  const times = session.rows.map((row) => row.at).filter(Boolean).sort();
  const models = [...counted(session.calls.map((call) => call.model).filter(Boolean))];
  const agents = session.rows.flatMap((row) => row.agents || []);
  const rows = [
    ["agent", data.key.split("/")[1] || ""],
    [models.length > 1 ? "models" : "model", models.slice(0, 8).map(([name, count]) => models.length > 1 ? `${name} (${whole(count)})` : name).join(", ")],
    ["started", times.length ? clock(times[0]) : "at an unknown time"],
    ["ended", times.length ? `${clock(times.at(-1), times[0])}, after ${lasting(times[0], times.at(-1))}` : ""],
    ["from file", facts.file || ""],
    ["goes on from", data.parent ? [data.parent, data.base ? ` at event ${whole(data.base)}` : "", " ", sessionLink(data.parent)] : ""],
    ["sub-agents", agents.length ? agents.slice(0, 20).map((name, at) => [at ? ", " : "", name, " ", sessionLink(name)]) : ""],
    ["events", `${whole(data.version)} in ${data.key}`],
    ["erased", facts.erased_items ? plural(facts.erased_items, "item") : ""],
  ];
  return el("section", { class: "card" }, el("h2", {}, "About this session"),
    el("dl", { class: "facts" }, rows.filter(([, value]) => value && value.length).map(([name, value]) => [el("dt", {}, name), el("dd", { class: "clamp" }, value)])));
}

/** How long it took, in the two largest units. */
function lasting(from, to) {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  const [days, hours, minutes] = [Math.floor(seconds / 86400), Math.floor((seconds % 86400) / 3600), Math.floor((seconds % 3600) / 60)];
  if (days) return `${plural(days, "day")} ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

/** How items ended, with the signs of the transcript. */
const FATES = { kept: "●", edited: "✂", summarised: "Σ", dropped: "○", unaccounted: "?" };

/** What became of everything that ever came in; what no call was given is told with what took it, as the audit tells it. */
function fate(session) {
  const { coverage } = session.data;
  if (!coverage) return null;
  const sums = new Map();
  for (const each of coverage.states) {
    const isUnseen = each.state === "never_visible";
    const state = isUnseen ? each.reason.split(": ")[0] || "dropped" : each.state;
    const row = isUnseen ? { ...each, reason: each.reason.split(": ").slice(1).join(": ") } : each;
    const sum = sums.get(state) || { items: 0, tokens: 0, left: 0, unseen: 0, rows: [] };
    sum.items += each.items;
    sum.tokens += each.tokens;
    sum.left += each.tokens_left;
    sum.unseen += isUnseen ? each.items : 0;
    const alike = sum.rows.find((one) => one.by === row.by && one.reason === row.reason);
    if (alike) Object.assign(alike, { items: alike.items + row.items, tokens: alike.tokens + row.tokens });
    else sum.rows.push({ ...row });
    sums.set(state, sum);
  }
  const all = Math.max(1, coverage.tokens);
  const named = (state) => state.replaceAll("_", " ");
  const words = [...sums].map(([state, sum]) => `${named(state)} ${percent(sum.tokens, all)}`).join(", ");
  const unseen = (sum) => sum.unseen ? `${sum.rows.length ? "; " : ""}${whole(sum.unseen)} of them given to no call` : "";
  const why = (rows) => rows.length === 1 ? [rows[0].by ? ["by ", decision(session, rows[0].by)] : "", rows[0].reason ? `${rows[0].by ? " (" : ""}${rows[0].reason}${rows[0].by ? ")" : ""}` : ""]
    : el("details", {}, el("summary", {}, plural(rows.length, "decision")), el("ul", {}, rows.map((row) => el("li", {}, row.by ? ["by ", decision(session, row.by)] : "", row.reason ? ` ${row.reason}` : "", `: ${plural(row.items, "item")}, ≈${short(row.tokens)}`))));
  const shade = (state) => FATES[state] ? state : "dropped";
  return el("section", { class: "card" }, el("h2", {}, "What became of everything"),
    el("div", { class: "bar fates", role: "img", "aria-label": `of all tokens: ${words}` }, [...sums].map(([state, sum]) => el("span", { class: `fate ${shade(state)}`, style: { width: `${(100 * sum.tokens) / all}%` }, title: `${named(state)}: ${percent(sum.tokens, all)}` }))),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, [["state", "what became of them"], ["items", ""], ["came", "tokens as they came, estimated"], ["still in", "tokens of these in the context now, as they stand"], ["by", ""]].map(([name, title], at) => el("th", { scope: "col", title: title || null, class: at && at < 4 ? "tok" : "" }, name)))),
      el("tbody", {}, [...sums].map(([state, sum]) => el("tr", {},
        el("th", { scope: "row" }, el("i", { class: `swatch fate ${shade(state)}` }), el("span", { class: "gutter", "aria-hidden": "true" }, `${FATES[state] || "○"} `), named(state)), el("td", { class: "tok" }, whole(sum.items)), el("td", { class: "tok" }, `≈${short(sum.tokens)}`), el("td", { class: "tok" }, sum.left ? `≈${short(sum.left)}` : "–"), el("td", { class: "dim" }, why(sum.rows), unseen(sum))))))),
    el("p", { class: "dim" }, `Of ≈${whole(coverage.tokens)} tokens that came in, ≈${whole(coverage.context_tokens)} stand in the context now.`));
}

const FEW_CLIFFS = 8;

/** Compactions, and what was put in the place of single items, in their order. */
function cliffsTable(session) {
  const others = (session.data.compactions || []).filter((each) => each.kind !== "compaction");
  const all = [...session.compactions.map((row) => ({ row, isClearing: false })), ...others.map((row) => ({ row, isClearing: true }))].sort((one, other) => one.row.position - other.row.position);
  if (!all.length) return null;
  const rows = all.map(({ row, isClearing }) => el("tr", {},
    el("th", { scope: "row" }, isClearing ? ["✂ ", decision(session, row.name)] : link(address(session, row.ref), row.ref)),
    el("td", {}, (isClearing ? row.trigger : row.preview) || ""),
    el("td", { class: "tok" }, beforeAfter(row), !isClearing && agentsCount(row) ? el("small", {}, `agent's count: ${agentsCount(row)}`) : null),
    el("td", { class: "tok" }, isClearing ? whatChanged(row) : whatLeft(row))));
  const table = (some) => el("table", { class: "cliffs" }, el("thead", { class: "offscreen" }, el("tr", {}, ["name", "why", "tokens before and after, estimated", "what it did"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, some));
  const title = [session.compactions.length ? `Compactions (${whole(session.compactions.length)})` : "", others.length ? `${session.compactions.length ? "c" : "C"}learings (${whole(others.length)})` : ""].filter(Boolean).join(" and ");
  return el("section", { class: "card" }, el("h2", {}, title), table(rows.slice(0, FEW_CLIFFS)),
    rows.length > FEW_CLIFFS ? el("details", {}, el("summary", {}, `the other ${whole(rows.length - FEW_CLIFFS)}`), table(rows.slice(FEW_CLIFFS))) : null,
    others.length && VIEWS.compactions ? el("p", {}, link(address(session, "compactions"), "what each took, and what was lost")) : null);
}

/** The items that weigh most. */
function largest(session) {
  const found = session.items.filter((number) => session.rows[number].tokens).sort((one, other) => session.rows[other].tokens - session.rows[one].tokens).slice(0, 5);
  if (!found.length) return null;
  return el("section", { class: "card" }, el("h2", {}, "Largest items"),
    el("ol", { class: "inside" }, found.map((number) => contextRow(session, number, 0))),
    VIEWS.tokens ? el("p", {}, link(address(session, "tokens"), "all contributors")) : null);
}
