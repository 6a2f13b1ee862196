// What was taken out of sight: compactions, each as the context before it and behind it, and what was
// put in the place of single items. What is lost is what the audit says.

VIEWS.compactions = {
  title: "Compactions",
  show(root, session, place) {
    const all = takingsOf(session);
    const chosen = all.compactions.findIndex((each) => each.name === `k${place.compaction}`);
    if (place.compaction !== undefined && chosen < 0) say(`there is no compaction k${place.compaction} here`);
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

const callLink = (session, n) => link(address(session, `c${n}`), `c${n}`);

function betweenCalls(session, position) {
  const [before, behind] = callsAround(session, position);
  if (!before && !behind) return "no call";
  if (!before) return ["before ", callLink(session, behind)];
  return behind ? [callLink(session, before), " → ", callLink(session, behind)] : ["after ", callLink(session, before)];
}

// -- all of them ------------------------------------------------------------------------------------

function compactionsTable(session, all) {
  const box = el("section", { class: "card" }, el("h2", {}, `Compactions (${whole(all.length)})`));
  if (!all.length) return put(box, el("p", { class: "dim" }, "The context was never compacted."));
  const most = Math.max(...all.map((each) => each.before_recorded || 0), 1);
  return put(box, sortable([
    { title: "", key: (each) => each.position, cell: (each) => link(address(session, each.name), each.name, { class: "id" }) },
    { title: "between", key: (each) => each.position, cell: (each) => betweenCalls(session, each.position), plain: true },
    { title: "why", key: (each) => each.trigger || each.by || "", cell: (each) => [each.trigger || each.by || "not told", ...takingSigns(each)] },
    { title: "before → after, estimated", key: (each) => each.before_recorded || 0, cell: (each) => shrinkingBar(each, most), wide: true },
    { title: "agent's count", key: (each) => (each.before_estimated === false ? each.before_tokens : -1), cell: (each) => (each.before_estimated === false ? short(each.before_tokens) : "–"), number: true },
    { title: "left", key: (each) => each.count || 0, cell: (each) => whole(each.count || 0), number: true },
    { title: "literals lost", brief: "lost", key: (each) => each.lostCount, cell: (each) => lostTold(session, each), number: true },
    { title: "came up again", brief: "again", key: (each) => each.again, cell: (each) => (each.again ? el("b", { class: "bad" }, whole(each.again)) : "–"), number: true },
  ], all, { label: "compactions" }));
}

function lostTold(session, each) {
  if (each.is_opaque) return "encrypted";
  if (each.is_erased) return "erased";
  if (each.lostCount) return whole(each.lostCount);
  if (each.shared.length) return "with others";
  return isParents(session, each) ? el("span", { title: "it lies before the fork: the report of its parent tells what it lost" }, "parent's") : "–";
}

/** Whether a decision is one that the session shares with what it was forked from. */
function isParents(session, each) {
  return each.position <= (session.data.base || 0);
}

function takingSigns(each) {
  return [
    each.undone_by ? el("em", { class: "tag gone" }, "undone") : each.undone ? el("em", { class: "tag" }, "partly undone") : null,
    each.is_inferred ? el("em", { class: "tag" }, "inferred") : null,
    each.owner === "log" ? el("em", { class: "tag" }, "ours") : null,
  ].filter(Boolean).map((sign) => [" ", sign]);
}

/** How large it was and what is left of it, to one scale, with both numbers. */
function shrinkingBar(each, most) {
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
      el("tr", { class: each.undone_by ? "undone" : null }, columns.map((column) => el("td", { class: column.number ? "tok" : column.wide ? "wide" : null, "data-title": column.brief || column.title }, column.cell(each)))),
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
      { title: "between", key: (each) => each.position, cell: (each) => betweenCalls(session, each.position), plain: true },
      { title: "what", key: (each) => each.did, cell: (each) => [[each.did, each.trigger].filter(Boolean).join(", "), ...takingSigns(each)] },
      { title: "before → after, estimated", key: (each) => each.before_recorded || 0, cell: (each) => shrinkingBar(each, most), wide: true },
      { title: "items", key: (each) => each.count || 0, cell: (each) => whole(each.count || 0), number: true },
      { title: "literals lost", brief: "lost", key: (each) => each.lostCount, cell: (each) => lostTold(session, each), number: true },
      { title: "came up again", brief: "again", key: (each) => each.again, cell: (each) => (each.again ? el("b", { class: "bad" }, whole(each.again)) : "–"), number: true },
    ], all, { label: "clearings", detail: (each) => clearing(session, each) }),
    shared.map((finding) => takenTogether(session, all, finding)));
}

/** What several of them took that neither the model nor a person used again: the audit tells it as one. */
function takenTogether(session, all, finding) {
  const names = finding.refs.filter((ref) => all.some((each) => each.name === ref));
  return el("div", { class: "together" }, el("h3", {}, `Stands nowhere since ${names.join(", ")}; neither the model nor a person used it`), literalsTable(session, [finding], names, FEW_ITEMS));
}

function clearing(session, each) {
  return el("div", { class: "clearing" },
    decidedFacts(session, each),
    el("h3", {}, `What it changed (${plural(each.count || 0, "item")})`),
    fewFirst((each.changed || []).map(([from, to]) => changedRow(session, from, to))),
    each.lost.length ? [el("h3", {}, `What stands nowhere since (${whole(each.lostCount)})`), literalsTable(session, each.lost)] : null,
    each.findings.length ? [el("h3", {}, "What else an audit finds of it"), auditSays(session, each.findings)] : null);
}

function changedRow(session, from, to) {
  const [was, is] = [session.row(from), session.row(to)];
  return takenRow(session, from, { sign: "◐", meaning: "stands in another form", tag: is.form, tokens: `${short(was.tokens || 0)} → ${short(is.tokens || 0)}`, full: () => [
    el("h4", {}, "as it stood"), message(session, was), el("h4", {}, `as it stands since (${is.r})`), message(session, is)] });
}

// -- one compaction -----------------------------------------------------------------------------------

function compaction(session, all, index) {
  const each = all[index];
  const lines = alignedLines(session, each.rows.before, each.rows.after);
  const came = lines.filter((line) => line.left === null).map((line) => line.right);
  return [
    compactionSteps(session, all, index),
    compactionHead(session, each, came),
    el("section", { class: "card" }, el("h2", {}, "Before and after"), beforeAndAfter(session, each, lines)),
    el("div", { class: "columns" },
      el("section", { class: "card" }, el("h2", {}, `What was lost (${lostHeading(each)})`), lostOf(session, each)),
      el("div", {},
        came.length ? el("section", { class: "card" }, el("h2", {}, "Who wrote the summary"), summarizer(session, each)) : null,
        each.findings.length ? el("section", { class: "card" }, el("h2", {}, "What else an audit finds of it"), auditSays(session, each.findings)) : null)),
  ];
}

function compactionSteps(session, all, index) {
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

function compactionHead(session, each, came) {
  const most = Math.max(each.before_recorded || 0, each.after_recorded || 0, 1);
  const side = (name, rows, tokens) => el("div", { class: "side" },
    el("span", { class: "dim" }, name), el("b", {}, `~${short(tokens)}`), el("span", { class: "dim" }, plural(rows.length, "item")),
    el("div", { class: "scaled", style: { width: `${Math.max(0.4, (100 * tokens) / most)}%` } }, categoryBar(session, tokensOf(session, rows))));
  return el("section", { class: "card compaction-head" },
    el("h2", {}, each.name, " ", el("span", { class: each.undone_by ? "verdict broken" : "verdict exact" }, each.undone_by ? "✕ undone" : "✓ in force")),
    el("div", { class: "sizes" }, side("before", each.rows.before, each.before_recorded || 0), side("after", each.rows.after, each.after_recorded || 0)),
    decidedFacts(session, each, came));
}

/** Who decided it, when and why, and the counts, each called what it is. */
function decidedFacts(session, each, came = []) {
  const isCompaction = each.kind === "compaction";
  const [before, after] = [each.before_estimated === false, each.after_estimated === false];
  const own = before && after ? `${whole(each.before_tokens)} → ${whole(each.after_tokens)}` : before ? `${whole(each.before_tokens)} before it` : after ? `${whole(each.after_tokens)} after it` : "";
  const rows = [
    ["between", betweenCalls(session, each.position)],
    ["when", clock(each.at)],
    ["why", each.trigger || "not told"],
    ["by", [each.by || (isCompaction ? "not told" : ""), el("span", { class: "dim" }, each.owner === "log" ? " decided here" : " the agent's own decision"), each.is_inferred ? el("em", { class: "tag" }, "inferred from two requests") : null]],
    each.fell_back_from ? ["in place of", each.fell_back_from] : null,
    ["estimated", `~${whole(each.before_recorded || 0)} → ~${whole(each.after_recorded || 0)} tokens of what is recorded here`],
    isCompaction ? ["agent's own count", own ? `${own}, of its whole request` : "not told"] : null,
    isCompaction ? ["left", plural(each.count || 0, "item")] : null,
    isCompaction ? ["brought", came.length ? came.map((number, at) => [at ? ", " : "", itemLink(session, number)]) : "nothing: what left was dropped"] : null,
    each.undone_by ? ["taken back", `by event ${each.undone_by}`] : each.undone ? ["taken back", `${whole(each.undone)} of ${whole(each.events || 1)}`] : null,
  ].filter((row) => row && (Array.isArray(row[1]) || row[1]));
  return el("dl", { class: "facts decided" }, rows.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

const itemLink = (session, number) => link(address(session, session.row(number).r), session.row(number).r, { class: "id" });

/** Both contexts as lines: {left, right}, a side is null where the item does not stand there. */
function alignedLines(session, before, after) {
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
function beforeAndAfter(session, each, lines) {
  const unseen = new Set(numbersOf(each.not_shown));
  const blocks = [];
  for (const line of lines) {
    const stays = line.left !== null && line.right !== null;
    if (!blocks.length || blocks.at(-1).stays !== stays) blocks.push({ stays, lines: [] });
    blocks.at(-1).lines.push(line);
  }
  const hasSummary = lines.some((line) => line.left === null);
  const node = el("div", { class: "sides" }, el("h3", { class: "of-before" }, `before ${each.name}`), el("h3", { class: "of-after" }, `after ${each.name}`));
  for (const block of blocks) put(node, block.stays ? stayedBlock(session, block.lines) : [
    el("div", { class: "left-out" }, fewFirst(block.lines.filter((line) => line.left !== null).map(({ left }) => takenRow(session, left, {
      ...(hasSummary ? { sign: "Σ", meaning: "summarised", kind: "summarised" } : { sign: "✕", meaning: "dropped", kind: "gone" }),
      tag: unseen.has(left) ? "not shown to its summarizer" : session.row(left).form === "original" ? "" : session.row(left).form })))),
    el("div", { class: "came" }, block.lines.filter((line) => line.right !== null).map(({ right }) => takenRow(session, right, { sign: "+", meaning: "came", kind: "new", isOpen: session.row(right).category === "summary" }))),
  ]);
  return node;
}

function stayedBlock(session, lines) {
  const tokens = lines.reduce((sum, line) => sum + (session.row(line.right).tokens || 0), 0);
  const rows = () => lines.map(({ left, right, moved }) => {
    const other = left !== right;
    return el("div", { class: "pair" },
      takenRow(session, left, { sign: "=", meaning: other ? "stays, in another form" : "stays", tag: moved ? "at another place" : "" }),
      el("div", { class: other ? "" : "twin" }, takenRow(session, right, { sign: other ? "◐" : "=", meaning: other ? "stays, in another form" : "stays", tag: other ? session.row(right).form : "" })));
  });
  if (lines.length < 4) return el("div", { class: "stay" }, rows());
  const box = el("details", { class: "stay" }, el("summary", {}, `= ${plural(lines.length, "item")} stay, ~${short(tokens)} tokens`));
  box.addEventListener("toggle", () => { if (box.open && box.childElementCount === 1) put(box, rows()); });
  return box;
}
