// One call: what it was given, how well that is known, and what changed since the one before.

const VERDICTS = {
  exact: "the request is proved to be what was sent",
  rebuilt: "rebuilt from the events: no request was recorded",
  partial: "a part of the request was never recorded",
  opaque: "an encrypted part stands inside that only the provider can read",
  erased: "something of it was erased since",
  drift: "the bytes hold, but a difference has no decision behind it",
  broken: "what is stored is not what was sent",
};

function badge(verdict) {
  return el("span", { class: `verdict ${verdict}`, title: VERDICTS[verdict] || "" }, verdict.replaceAll("_", " "));
}

function showCall(root, session, n, lane = 0) {
  const call = session.calls[n - 1];
  if (!call) {
    put(root, el("p", { class: "dim" }, "no call"));
    return;
  }
  const tokens = session.tokens(n, lane);
  put(root, 
    el("h2", {}, `Call c${n} `, lane ? el("span", { class: "verdict" }, session.lanes[lane].name) : badge(call.verdict)),
    el("p", { class: "dim" }, [call.model, clock(call.at), call.kind === "as_sent" ? "as sent" : "as folded"].filter(Boolean).join(" · ")),
    call.detail && !lane ? el("p", { class: "dim" }, call.detail) : null,
    call.outcome !== "answered" ? el("p", { class: "bad" }, call.outcome === "failed" ? `failed: ${call.error || ""}` : "nobody knows whether it was answered") : null,
    categoryBar(session, tokens),
    legend(session, n, lane),
    facts(session, call, n, lane),
    el("h3", {}, n > 1 ? `Since c${n - 1}` : "At the beginning"),
    lane ? null : changes(session, call),
    el("h3", {}, "What stood in it"),
    contents(session, n, lane),
  );
}

function facts(session, call, n, lane) {
  const rows = [["estimated", `${whole(session.total(n, lane))} tokens`]];
  if (call.billed && !lane) {
    const { input, cached, cache_write: written, output } = call.billed;
    const sum = [input, cached, written].filter((each) => each !== undefined && each !== null);
    if (sum.length) rows.push(["billed input", `${whole(sum.reduce((all, each) => all + each, 0))} tokens`]);
    if (cached !== undefined && cached !== null) rows.push(["read from cache", whole(cached)]);
    if (output !== undefined && output !== null) rows.push(["output", whole(output)]);
  }
  return el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** What came, what left and by which decision, and where the prefix broke. */
function changes(session, call) {
  const lines = [];
  if (call.came) lines.push(el("li", {}, `+ ${plural(call.came, "item")} came, ${short(call.came_tokens || 0)} tokens`));
  for (const move of call.moves || []) {
    const named = /^k\d+$/.test(move.by) ? link(address(session, move.by), move.by) : move.by;
    lines.push(el("li", { class: "move" }, `− ${plural(move.count, "item")} ${move.kind} by `, named, ` (${short(move.before)} → ${short(move.after)} tokens)`, move.reason ? ` ${move.reason}` : ""));
  }
  for (const memory of call.memories || []) lines.push(el("li", {}, `memory ${memory.memory} of ${memory.of} in ${memory.item}${memory.standing === "stands" ? "" : ` (${memory.standing})`}`));
  const { prefix } = call;
  if (prefix.against || prefix.cause) {
    const whole_ = session.total(call.n);
    lines.push(el("li", { class: prefix.cause ? "bad" : "good" }, prefix.cause
      ? [`the prefix of c${prefix.against || call.n - 1} broke: ${prefix.cause}`, prefix.break_at ? [" at ", link(address(session, prefix.break_at), prefix.break_at)] : "", `, ${short(prefix.rewritten || 0)} tokens sent again as new`]
      : `begins with all of c${prefix.against}: ${percent(prefix.reusable || 0, whole_)} could come from a cache`));
  }
  return el("ul", { class: "changes" }, lines.length ? lines : el("li", { class: "dim" }, "nothing"));
}

/** The items of the context, by section, with their tokens. */
function contents(session, n, lane) {
  const rows = session.context(n, lane);
  const sections = [];
  for (const number of rows) {
    const row = session.row(number, lane);
    const name = row.category === "system" ? "system" : "messages";
    if (!sections.length || sections.at(-1).name !== name) sections.push({ name, rows: [], tokens: 0 });
    sections.at(-1).rows.push(number);
    sections.at(-1).tokens += row.tokens || 0;
  }
  const tools = session.tokens(n, lane)[session.categories.indexOf("tools")];
  const node = el("div", { class: "contents" });
  if (!sections.some((section) => section.name === "system")) node.append(el("p", { class: "dim section" }, "system: not recorded"));
  node.append(el("p", { class: "dim section" }, tools ? ["tools ", el("span", { class: "tok" }, short(tools))] : "tools: not recorded"));
  for (const section of sections) {
    node.append(el("details", { open: section.rows.length <= 60 },
      el("summary", {}, `${section.name} (${section.rows.length}) `, el("span", { class: "tok" }, short(section.tokens))),
      el("ol", { class: "inside" }, section.rows.map((number) => {
        const row = session.row(number, lane);
        return el("li", { class: row.category }, link(address(session, row.r), row.r, { class: "id" }), el("span", { class: "who" }, row.who), el("span", { class: "say" }, row.preview || "(empty)"), el("span", { class: "tok" }, short(row.tokens || 0)));
      }))));
  }
  return node;
}
