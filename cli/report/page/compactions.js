// What was taken out of sight: compactions, each as the context before it and behind it, and what was
// put in the place of single items. What is lost is what the audit says.

const FEW = 8;
const MOST_LITERALS = 30;

VIEWS.compactions = {
  title: "Compactions",
  show(root, session, place) {
    const all = takingsOf(session);
    const chosen = all.compactions.findIndex((each) => each.name === `k${place.compaction}`);
    if (place.compaction && chosen < 0) say(`there is no compaction k${place.compaction} here`);
    if (chosen >= 0) put(root, compaction(session, all.compactions, chosen));
    else put(root, compactionsTable(session, all.compactions), clearings(session, all.others));
    return {
      nextCompaction(step) {
        const next = all.compactions[chosen < 0 ? (step > 0 ? 0 : all.compactions.length - 1) : chosen + step];
        if (next) location.hash = address(session, next.name);
        else say(step > 0 ? "no compaction follows" : "no compaction before");
      },
    };
  },
};

/** All of them with what the audit says of each, and the contexts of compactions as rows. */
function takingsOf(session) {
  if (session.takings) return session.takings;
  const all = session.data.compactions || [];
  const others = all.filter((each) => each.kind !== "compaction");
  const names = new Set(others.map((each) => each.name));
  let stood = [];
  const laidOut = (from, { keep = 0, add = [] }) => {
    const found = from.slice(0, keep);
    for (const [first, count] of add) for (let at = 0; at < count; at += 1) found.push(first + at);
    return found;
  };
  const compactions = all.filter((each) => each.kind === "compaction").map((each) => {
    const before = laidOut(stood, each.before || {});
    const after = laidOut(before, each.after || {});
    stood = after;
    return { ...each, ...lossesOf(session, each.name, names), rows: { before, after } };
  });
  session.takings = { compactions, others: others.map((each) => ({ ...each, ...lossesOf(session, each.name, names) })) };
  return session.takings;
}

/** Of one decision the findings, those of lost literals apart, and what these add up to. */
function lossesOf(session, name, names) {
  const about = (session.data.findings || []).filter((each) => each.refs.includes(name) && (each.rule !== "anchors" || !names.has(name) || names.has(each.refs[0])));
  const lost = about.filter((each) => each.rule === "anchors" && each.anchors.length);
  const own = lost.filter((each) => !names.has(each.refs[1]));
  return {
    lost: own,
    shared: lost.filter((each) => names.has(each.refs[1])),
    findings: about.filter((each) => !lost.includes(each)),
    lostCount: own.reduce((sum, each) => sum + each.count, 0),
    again: own.reduce((sum, each) => sum + each.anchors.filter((one) => one.by).length, 0),
  };
}

/** The calls between which something happened: [the one before or 0, the one behind or 0]. */
function callsAround(session, position) {
  const before = firstAtLeast(session.calls, (call) => call.position, position);
  return [before, before < session.calls.length ? before + 1 : 0];
}

const CALL = (session, n) => link(address(session, `c${n}`), `c${n}`);

function between(session, position) {
  const [before, behind] = callsAround(session, position);
  if (!before && !behind) return "no call";
  if (!before) return ["before ", CALL(session, behind)];
  return behind ? [CALL(session, before), " → ", CALL(session, behind)] : ["after ", CALL(session, before)];
}

// -- all of them ------------------------------------------------------------------------------------

function compactionsTable(session, all) {
  const box = el("section", { class: "card" }, el("h2", {}, `Compactions (${whole(all.length)})`));
  if (!all.length) return put(box, el("p", { class: "dim" }, "The context was never compacted."));
  const most = Math.max(...all.map((each) => each.before_recorded || 0), 1);
  return put(box, sortable([
    { title: "", key: (each) => each.position, cell: (each) => link(address(session, each.name), each.name, { class: "id" }) },
    { title: "between", key: (each) => each.position, cell: (each) => between(session, each.position), plain: true },
    { title: "why", key: (each) => each.trigger || each.by || "", cell: (each) => [each.trigger || each.by || "not told", ...signs(each)] },
    { title: "before → after, estimated", key: (each) => each.before_recorded || 0, cell: (each) => shrinking(each, most), wide: true },
    { title: "agent's count", key: (each) => (each.before_estimated === false ? each.before_tokens : -1), cell: (each) => (each.before_estimated === false ? short(each.before_tokens) : "–"), number: true },
    { title: "left", key: (each) => each.count || 0, cell: (each) => whole(each.count || 0), number: true },
    { title: "literals lost", key: (each) => each.lostCount, cell: (each) => lostTold(each), number: true },
    { title: "came up again", key: (each) => each.again, cell: (each) => (each.again ? el("b", { class: "bad" }, whole(each.again)) : "–"), number: true },
  ], all, { label: "compactions" }));
}

function lostTold(each) {
  if (each.is_opaque) return "encrypted";
  if (each.is_erased) return "erased";
  return each.lostCount ? whole(each.lostCount) : each.shared.length ? "with others" : "–";
}

function signs(each) {
  return [
    each.undone_by ? el("em", { class: "tag gone" }, "undone") : each.undone ? el("em", { class: "tag" }, "partly undone") : null,
    each.is_inferred ? el("em", { class: "tag" }, "inferred") : null,
    each.owner === "log" ? el("em", { class: "tag" }, "ours") : null,
  ].filter(Boolean).map((sign) => [" ", sign]);
}

/** How large it was and what is left of it, to one scale, with both numbers. */
function shrinking(each, most) {
  const [before, after] = [each.before_recorded || 0, each.after_recorded || 0];
  return el("span", { class: "shrinking" },
    el("span", { class: "lengths", "aria-hidden": "true" },
      el("span", { class: "was", style: { width: `${(100 * before) / most}%` } }), el("span", { class: "is", style: { width: `${(100 * after) / most}%` } })),
    el("span", { class: "tok" }, `~${short(before)} → ~${short(after)}`));
}

/** A table that is ordered by a column; `detail` gives what opens below a row. */
function sortable(columns, entries, { label, detail = null }) {
  const body = el("tbody", {});
  const heads = columns.map((column, index) => el("th", { class: column.number ? "tok" : column.wide ? "wide" : null, scope: "col" },
    column.title && !column.plain ? el("button", { type: "button", class: "order", onclick: () => order(index) }, column.title) : column.title));
  let [by, down] = [0, false];
  const open = new Set();
  const draw = () => {
    const { key } = columns[by];
    const sorted = entries.slice().sort((one, other) => {
      const [a, b] = [key(one), key(other)];
      return (a < b ? -1 : a > b ? 1 : one.position - other.position) * (down && a !== b ? -1 : 1);
    });
    heads.forEach((head, index) => {
      if (index === by && columns[by].title) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    put(clear(body), sorted.map((each) => [
      el("tr", { class: each.undone_by ? "undone" : null }, columns.map((column) => el("td", { class: column.number ? "tok" : null, "data-title": column.title }, column.cell(each)))),
      detail && open.has(each) ? el("tr", { class: "detail" }, el("td", { colspan: columns.length }, detail(each))) : null,
    ]));
  };
  const order = (index) => {
    down = index === by ? !down : Boolean(columns[index].number || columns[index].wide);
    by = index;
    draw();
  };
  if (detail) {
    columns[0].cell = (each) => el("button", { type: "button", class: "opener", "aria-expanded": String(open.has(each)), onclick: (event) => {
      if (!open.delete(each)) open.add(each);
      draw();
      body.querySelector(`[data-of="${each.position}"]`)?.focus();
      event.preventDefault();
    }, "data-of": each.position }, `${open.has(each) ? "▾" : "▸"} ${each.name}`);
  }
  draw();
  return el("div", { class: "scroll" }, el("table", { class: "sortable", "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body));
}

// -- what was put in the place of single items --------------------------------------------------------

function clearings(session, all) {
  if (!all.length) return null;
  const most = Math.max(...all.map((each) => each.before_recorded || 0), 1);
  const shared = [...new Set(all.flatMap((each) => each.shared))];
  return el("section", { class: "card" },
    el("h2", {}, `Cleared, cut or revised (${whole(all.length)})`),
    el("p", { class: "dim" }, "What was changed between two calls is one decision. The items still stand, as a placeholder or in other words."),
    sortable([
      { title: "", key: (each) => each.position, cell: () => null },
      { title: "between", key: (each) => each.position, cell: (each) => between(session, each.position), plain: true },
      { title: "what", key: (each) => each.did, cell: (each) => [[each.did, each.trigger].filter(Boolean).join(", "), ...signs(each)] },
      { title: "before → after, estimated", key: (each) => each.before_recorded || 0, cell: (each) => shrinking(each, most), wide: true },
      { title: "items", key: (each) => each.count || 0, cell: (each) => whole(each.count || 0), number: true },
      { title: "literals lost", key: (each) => each.lostCount, cell: (each) => lostTold(each), number: true },
      { title: "came up again", key: (each) => each.again, cell: (each) => (each.again ? el("b", { class: "bad" }, whole(each.again)) : "–"), number: true },
    ], all, { label: "clearings", detail: (each) => clearing(session, each) }),
    shared.map((finding) => el("div", { class: "together" }, el("h3", {}, "Lost with several of these, and needed by nobody"), literals(session, [finding]))));
}

function clearing(session, each) {
  return el("div", { class: "clearing" },
    decided(session, each),
    el("h3", {}, `What it changed (${plural(each.count || 0, "item")})`),
    folded((each.changed || []).map(([from, to]) => changedRow(session, from, to))),
    each.lost.length ? [el("h3", {}, `What stands nowhere since (${whole(each.lostCount)})`), literals(session, each.lost)] : null,
    said(session, each.findings));
}

function changedRow(session, from, to) {
  const [was, is] = [session.row(from), session.row(to)];
  return itemRow(session, from, { sign: "◐", meaning: "stands in another form", tag: is.form, tokens: `${short(was.tokens || 0)} → ${short(is.tokens || 0)}`, full: () => [
    el("h4", {}, "as it stood"), message(session, was), el("h4", {}, `as it stands since (${is.r})`), message(session, is)] });
}

// -- one compaction -----------------------------------------------------------------------------------

function compaction(session, all, index) {
  const each = all[index];
  const lines = aligned(session, each.rows.before, each.rows.after);
  const came = lines.filter((line) => line.left === null).map((line) => line.right);
  return [
    steps_(session, all, index),
    head_(session, each, came),
    el("section", { class: "card" }, el("h2", {}, "Before and after"), sides(session, each, lines)),
    el("div", { class: "columns" },
      el("section", { class: "card" }, el("h2", {}, `What was lost (${lostHeading(each)})`), lostOf(session, each), said(session, each.findings)),
      el("div", {},
        el("section", { class: "card" }, el("h2", {}, came.length === 1 ? "The summary" : "What took its place"), summaryOf(session, each, came)),
        el("section", { class: "card" }, el("h2", {}, "Who wrote it"), summarizer(session, each)))),
  ];
}

function steps_(session, all, index) {
  const to = (at, text) => (all[at] ? link(address(session, all[at].name), text(all[at].name)) : null);
  return el("nav", { class: "steps", "aria-label": "compactions" },
    link(address(session, "compactions"), "all compactions"),
    el("span", {}, to(index - 1, (name) => `◀ ${name}`), el("b", {}, `${all[index].name} of ${whole(all.length)}`), to(index + 1, (name) => `${name} ▶`)));
}

/** By category, of rows. */
function tokensOf(session, rows) {
  const found = session.categories.map(() => 0);
  for (const number of rows) found[session.categories.indexOf(session.row(number).category)] += session.row(number).tokens || 0;
  return found;
}

function head_(session, each, came) {
  const most = Math.max(each.before_recorded || 0, each.after_recorded || 0, 1);
  const side = (name, rows, tokens) => el("div", { class: "side" },
    el("span", { class: "dim" }, name), el("b", {}, `~${short(tokens)}`), el("span", { class: "dim" }, plural(rows.length, "item")),
    el("div", { class: "scaled", style: { width: `${Math.max(0.4, (100 * tokens) / most)}%` } }, categoryBar(session, tokensOf(session, rows))));
  return el("section", { class: "card compaction-head" },
    el("h2", {}, each.name, " ", el("span", { class: each.undone_by ? "verdict broken" : "verdict exact" }, each.undone_by ? "✕ undone" : "✓ in force")),
    el("div", { class: "sizes" }, side("before", each.rows.before, each.before_recorded || 0), side("after", each.rows.after, each.after_recorded || 0)),
    decided(session, each, came));
}

/** Who decided it, when and why, and the counts, each called what it is. */
function decided(session, each, came = []) {
  const isCompaction = each.kind === "compaction";
  const [before, after] = [each.before_estimated === false, each.after_estimated === false];
  const own = before || after ? `${before ? whole(each.before_tokens) : "not told"} → ${after ? whole(each.after_tokens) : "not told"}` : "not told";
  const rows = [
    ["between", between(session, each.position)],
    ["when", clock(each.at)],
    ["why", each.trigger || "not told"],
    ["by", [each.by || (isCompaction ? "not told" : ""), el("span", { class: "dim" }, each.owner === "log" ? " decided here" : " the agent's own decision"), each.is_inferred ? el("em", { class: "tag" }, "inferred from two requests") : null]],
    each.fell_back_from ? ["in place of", each.fell_back_from] : null,
    ["estimated", `~${whole(each.before_recorded || 0)} → ~${whole(each.after_recorded || 0)} tokens of what is recorded here`],
    isCompaction ? ["agent's own count", own === "not told" ? own : `${own} tokens of its whole request`] : null,
    isCompaction ? ["left", plural(each.count || 0, "item")] : null,
    isCompaction ? ["brought", came.length ? came.map((number, at) => [at ? ", " : "", ITEM(session, number)]) : "nothing: what left was dropped"] : null,
    each.undone_by ? ["taken back", `by event ${each.undone_by}`] : each.undone ? ["taken back", `${whole(each.undone)} of ${whole(each.events || 1)}`] : null,
  ].filter((row) => row && (Array.isArray(row[1]) || row[1]));
  return el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

const ITEM = (session, number) => link(address(session, session.row(number).r), session.row(number).r, { class: "id" });

/** Both contexts as lines: {left, right}, a side is null where the item does not stand there. */
function aligned(session, before, after) {
  const places = new Map(after.map((number, at) => [session.originalOf(number), at]));
  const stays = new Set(before.map((number) => session.originalOf(number)));
  const lines = [];
  let at = 0;
  const flush = (to) => {
    for (; at < to; at += 1) if (!stays.has(session.originalOf(after[at]))) lines.push({ left: null, right: after[at] });
  };
  for (const number of before) {
    const there = places.get(session.originalOf(number));
    if (there === undefined) lines.push({ left: number, right: null });
    else {
      flush(there);
      lines.push({ left: number, right: after[there], moved: there < at });
      at = Math.max(at, there + 1);
    }
  }
  flush(after.length);
  return lines;
}

/** The two sides, in blocks: what stays stands on one line, what left stands beside what came. */
function sides(session, each, lines) {
  const unseen = new Set(laid(each.not_shown));
  const blocks = [];
  for (const line of lines) {
    const stays = line.left !== null && line.right !== null;
    if (!blocks.length || blocks.at(-1).stays !== stays) blocks.push({ stays, lines: [] });
    blocks.at(-1).lines.push(line);
  }
  const hasSummary = lines.some((line) => line.left === null);
  const node = el("div", { class: "sides" }, el("h3", { class: "of-before" }, `before ${each.name}`), el("h3", { class: "of-after" }, `after ${each.name}`));
  for (const block of blocks) put(node, block.stays ? stayed(session, block.lines) : [
    el("div", { class: "left-out" }, folded(block.lines.filter((line) => line.left !== null).map(({ left }) => itemRow(session, left, {
      ...(hasSummary ? { sign: "Σ", meaning: "summarised", kind: "summarised" } : { sign: "✕", meaning: "dropped", kind: "gone" }),
      tag: unseen.has(left) ? "not shown to its summarizer" : session.row(left).form === "original" ? "" : session.row(left).form })))),
    el("div", { class: "came" }, block.lines.filter((line) => line.right !== null).map(({ right }) => itemRow(session, right, { sign: "+", meaning: "came", kind: "new" }))),
  ]);
  return node;
}

function stayed(session, lines) {
  const tokens = lines.reduce((sum, line) => sum + (session.row(line.right).tokens || 0), 0);
  const rows = () => lines.map(({ left, right, moved }) => {
    const other = left !== right;
    return el("div", { class: "pair" },
      itemRow(session, left, { sign: "=", meaning: other ? "stays, in another form" : "stays", tag: moved ? "at another place" : "" }),
      el("div", { class: other ? "" : "twin" }, itemRow(session, right, { sign: other ? "◐" : "=", meaning: other ? "stays, in another form" : "stays", tag: other ? session.row(right).form : "" })));
  });
  if (lines.length < 4) return el("div", { class: "stay" }, rows());
  const box = el("details", { class: "stay" }, el("summary", {}, `= ${plural(lines.length, "item")} stay, ~${short(tokens)} tokens`));
  box.addEventListener("toggle", () => { if (box.open && box.childElementCount === 1) put(box, rows()); });
  return box;
}

/** The first few and the last ones of many; the rest when it is asked for. */
function folded(nodes) {
  if (nodes.length <= FEW + 4) return nodes;
  const button = el("button", { type: "button", class: "more", onclick: () => button.replaceWith(...nodes.slice(FEW, -2)) }, `show ${whole(nodes.length - FEW - 2)} more`);
  return [nodes.slice(0, FEW), button, nodes.slice(-2)];
}

function laid(runs) {
  return (runs || []).flatMap(([first, count]) => Array.from({ length: count }, (_, at) => first + at));
}

/** An item on one line; its text opens below. */
function itemRow(session, number, { sign, meaning, tag = "", kind = "", tokens = null, full = null }) {
  const row = session.row(number);
  const node = el("div", { class: `krow ${row.category} ${kind}` });
  const line = el("button", { type: "button", class: "line", "aria-expanded": "false", onclick: () => {
    const isOpen = node.childElementCount > 1;
    line.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) node.lastElementChild.remove();
    else node.append(el("div", { class: "full" }, el("p", {}, ITEM(session, number), el("span", { class: "dim" }, " in the transcript")), full ? full() : message(session, row)));
  } },
    el("span", { class: "gutter", title: meaning, "aria-label": meaning }, sign),
    el("span", { class: "id" }, row.r.split("@")[0]), el("span", { class: "who" }, row.who),
    el("span", { class: "say" }, tag ? el("em", { class: `tag ${tag.startsWith("not") ? "error" : "changed"}` }, tag) : null, row.preview || "(empty)"),
    el("span", { class: "tok" }, tokens || short(row.tokens || 0)));
  node.append(line);
  return node;
}

// -- what was lost, and who wrote the summary -----------------------------------------------------------

function lostHeading(each) {
  return each.is_opaque ? "nobody knows" : each.is_erased ? "not known any more" : plural(each.lostCount, "literal");
}

function lostOf(session, each) {
  if (each.is_opaque) return el("p", {}, "The provider keeps the summary encrypted: nobody can say what it holds.");
  if (each.is_erased) return el("p", {}, "The summary was erased: nobody can say any more what it held.");
  if (!each.lost.length) return el("p", { class: "dim" }, each.position <= (session.data.base || 0) ? "This lies before the fork: its parent's report tells it." : "Every literal of what left stands in what stays.");
  return literals(session, each.lost);
}

const AGAIN = { model: "the model used it", person: "a person said it", tool: "found again" };

/** The literals of some findings, those that came up again in front. */
function literals(session, findings) {
  const all = findings.flatMap((finding) => finding.anchors);
  const rank = { model: 0, person: 1, tool: 2 };
  const sorted = all.slice().sort((one, other) => (rank[one.by] ?? 3) - (rank[other.by] ?? 3));
  const count = findings.reduce((sum, finding) => sum + finding.count, 0);
  const kinds = new Map();
  for (const finding of findings) for (const one of finding.anchors) kinds.set(one.kind, (kinds.get(one.kind) || 0) + 1);
  const again = all.filter((one) => one.by).length;
  const more = findings.map((finding) => finding.message.split("; ").slice(1).filter((part) => / in other words: | had been cleared or cut before$/.test(part))).flat();
  const body = el("tbody", {});
  const rows = (list) => list.map((one) => el("tr", {},
    el("td", { class: "dim" }, one.kind), el("td", {}, el("code", {}, one.text), one.is_named ? el("em", { class: "tag named" }, "its name stands there") : null),
    el("td", {}, link(address(session, one.item), one.item, { class: "id" })),
    el("td", {}, one.by ? [el("span", { class: one.by === "tool" ? "" : "bad" }, AGAIN[one.by], " in "), (one.used || []).map((used, at) => [at ? ", " : "", link(address(session, used), used, { class: "id" })])] : el("span", { class: "dim" }, "never again"))));
  put(body, rows(sorted.slice(0, MOST_LITERALS)));
  const rest = sorted.slice(MOST_LITERALS);
  const button = rest.length ? el("button", { type: "button", class: "more", onclick: () => { put(body, rows(rest)); button.remove(); } }, `show ${whole(rest.length)} more`) : null;
  const commands = [...new Set(findings.map((finding) => finding.next))];
  const every = commands.find((text) => text.endsWith("--all")) || (again < count ? `${commands[0]} --all` : commands[0]);
  return el("div", { class: "literals" },
    el("p", {}, [...kinds].map(([kind, number]) => plural(number, kind)).join(", "), again ? [": ", el("b", { class: "bad" }, `${whole(again)} came up again`)] : ": none came up again"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["kind", "literal", "stood in", "later"].map((name) => el("th", { scope: "col" }, name)))), body)), button,
    count > all.length ? el("p", { class: "dim" }, `and ${whole(count - all.length)} more that are not listed here`) : null,
    more.map((part) => el("p", { class: "dim" }, part)),
    el("p", { class: "dim" }, "All of them, in their sentences: ", el("code", {}, `ctxlog ${every}`), copyButton("copy", async () => `ctxlog ${every}`, "copy the command")));
}

function said(session, findings) {
  return findings.length ? [el("h3", {}, "What else an audit finds of it"), el("ul", { class: "findings" }, findings.map((each) => el("li", { class: each.severity },
    el("span", { class: "sign", "aria-label": each.severity }, SIGNS[each.severity]), each.message, each.heuristic ? [" ", el("em", { class: "tag" }, "heuristic")] : null,
    each.next ? el("code", { class: "next" }, `ctxlog ${each.next}`) : null)))] : null;
}

function summaryOf(session, each, came) {
  if (!came.length) return el("p", { class: "dim" }, "Nothing: what left was dropped.");
  return came.map((number) => el("div", { class: "summary-text" },
    el("p", { class: "dim" }, ITEM(session, number), ` ${session.row(number).who}, ~${whole(session.row(number).tokens || 0)} tokens`), message(session, session.row(number))));
}

function summarizer(session, each) {
  const of = each.summarizer;
  if (!of) return el("p", { class: "dim" }, "Not recorded: neither which model wrote it, nor what that was shown, nor what it cost.");
  const shown = laid(of.shown), unseen = laid(each.not_shown);
  const usage = of.usage || {};
  const counts = [["input", "uncached"], ["cached", "from a cache"], ["cache_write", "written to a cache"], ["output", "output"], ["reasoning", "of it reasoning"]]
    .filter(([name]) => typeof usage[name] === "number").map(([name, words]) => `${whole(usage[name])} ${words}`);
  const rows = [
    ["model", of.model || "not told"],
    ["was shown", of.shown_count ? `${plural(of.shown_count, "item")}, ~${whole(shown.reduce((sum, number) => sum + (session.row(number).tokens || 0), 0))} tokens` : "not recorded"],
    ["not shown", of.shown_count ? (unseen.length ? el("b", { class: "bad" }, `${plural(unseen.length, "item")} of what left`) : "nothing of what left") : "not known"],
    ["usage", counts.length ? `${counts.join(", ")} (billed tokens)` : "not told"],
    ["cost", of.usage ? price(of) : "not known: it told no usage"],
    of.prompt_digest ? ["prompt", el("code", { title: "the digest of its instructions" }, of.prompt_digest)] : null,
  ].filter(Boolean);
  const list = (title, numbers, sign) => numbers.length ? el("details", {}, el("summary", {}, `${title} (${whole(numbers.length)})`),
    folded(numbers.map((number) => itemRow(session, number, { sign, meaning: title })))) : null;
  return [el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])), list("what it was shown", shown, "●"), list("what it was not shown", unseen, "✕")];
}

function price(of) {
  if (typeof of.cost !== "number") return "price unknown";
  const amount = of.cost < 0.01 ? of.cost.toPrecision(2) : of.cost.toFixed(2);
  return `${[of.currency, amount].filter(Boolean).join(" ")}${of.prices ? ` (prices of ${of.prices})` : ""}`;
}
