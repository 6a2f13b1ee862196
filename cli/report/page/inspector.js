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
const FIRST_ROWS = 80;
const LEAVING = new Set(["summarised", "dropped", "rewound"]);

/** Which sections are open; that stays so from call to call. */
const folds = { system: false, tools: false, messages: true, left: true };

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
  const kind = call.kind === "as_sent" ? "as it was sent" : "as the events fold";
  put(root,
    el("h2", {}, link(address(session, `c${n}${lane ? `~${lane}` : ""}`), `Call c${n}`), lane ? el("span", { class: "verdict" }, session.lanes[lane].name) : badge(call.verdict)),
    el("p", { class: "dim clamp" }, [call.model, call.at ? clock(call.at) : "", kind].filter(Boolean).join(" · ")),
    lane ? el("p", { class: "dim" }, "What this strategy would have given it; the call itself was never made so. ", link(address(session, "compare"), "all strategies"))
      : el("p", { class: "verdictline" }, `${VERDICTS[call.verdict] || call.verdict}${call.detail ? `: ${call.detail}` : ""}.`),
    call.outcome !== "answered" ? el("p", { class: "bad clamp" }, call.outcome === "failed" ? `✖ failed: ${call.error || "nobody said why"}` : "? nobody knows whether it was answered") : null,
    categoryBar(session, tokens),
    legend(session, n, lane),
    facts(session, call, n, lane),
    el("h3", {}, n > 1 ? ["Since ", link(address(session, `c${n - 1}${lane ? `~${lane}` : ""}`), `c${n - 1}`)] : "At the beginning"),
    changes(session, call, n, lane),
    el("h3", {}, "What stood in it"),
    contents(session, n, lane),
    lane ? null : answers(session, n),
    typeof requestSection === "function" && !lane ? requestSection(session, n) : null,
  );
}

function facts(session, call, n, lane) {
  const rows = [["estimated", `~${whole(session.total(n, lane))} tokens`]];
  if (call.billed && !lane) {
    const { input, cached, cache_write: written, output } = call.billed;
    const sum = [input, cached, written].filter((each) => typeof each === "number");
    if (sum.length) rows.push(["billed input", `${whole(sum.reduce((all, each) => all + each, 0))} tokens`]);
    if (typeof cached === "number") rows.push(["read from cache", whole(cached)]);
    if (typeof written === "number" && written) rows.push(["written to cache", whole(written)]);
    if (typeof output === "number") rows.push(["output", whole(output)]);
  }
  if (!lane && call.outcome === "answered") rows.push(["cost", typeof call.cost === "number" ? money(call.cost, session.data.cost?.currency) : "price unknown"]);
  const { curves } = session.lanes[lane];
  if (lane && curves) rows.push(["a cache could serve", `~${percent(curves.cached[n - 1], curves.tokens[n - 1] + (curves.unrecorded || 0))}`]);
  return el("dl", { class: "facts" }, rows.filter(([, value]) => value).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** The name of a decision, as a link where there is a place for it. */
function decision(session, name) {
  return /^k\d+$/.test(name) || eventOf(session, name) || session.byName.has(name) ? link(address(session, name), name) : name;
}

/** What came, what left and by which decision, and where the prefix broke. */
function changes(session, call, n, lane) {
  const lines = [];
  const moves = session.lanes[lane].moves?.[n - 1] || [];
  if (!lane && call.came) lines.push(el("li", {}, el("b", {}, "+ "), `${plural(call.came, "item")} came, ${short(call.came_tokens || 0)} tokens`, newOnes(session, n)));
  for (const move of moves) {
    lines.push(el("li", { class: "move clamp" }, el("b", {}, LEAVING.has(move.kind) ? "− " : "~ "), `${plural(move.count, "item")} ${move.kind} by `, decision(session, move.by),
      ` (${short(move.before)} → ${short(move.after)} tokens)`, move.reason ? ` ${move.reason}` : ""));
  }
  if (lane) return el("ul", { class: "changes" }, lines.length ? lines : el("li", { class: "dim" }, "the strategy decided nothing"));
  for (const memory of call.memories || []) {
    lines.push(el("li", {}, "memory ", el("code", {}, memory.memory), ` of ${memory.of} in `, link(address(session, memory.item), memory.item),
      memory.standing === "stands" ? "" : ` – ${memory.standing} when it was shown`));
  }
  const prefix = call.prefix || {};
  if (prefix.cause) {
    lines.push(el("li", { class: "bad" }, `▾ the prefix of c${prefix.against || n - 1} broke: ${prefix.cause.replaceAll("_", " ")}`,
      prefix.break_at ? [" at ", link(address(session, prefix.break_at), prefix.break_at)] : "",
      (prefix.by || []).length ? [" by ", prefix.by.slice(0, 5).map((name, at) => [at ? ", " : "", decision(session, name)])] : "",
      `; ${short(prefix.rewritten || 0)} tokens sent again as new`));
  } else if (prefix.against) {
    lines.push(el("li", { class: "good" }, "= begins with all of ", link(address(session, `c${prefix.against}`), `c${prefix.against}`), `: ${percent(prefix.reusable || 0, session.total(n))} could come from a cache`));
  }
  return el("ul", { class: "changes" }, lines.length ? lines : el("li", { class: "dim" }, "nothing"));
}

/** Links to what came in since the call before, the last ones. */
function newOnes(session, n) {
  if (n < 2) return "";
  const { signs } = sinceBefore(session, n, 0);
  const found = [...signs].filter(([, sign]) => sign === "+").map(([number]) => number);
  if (!found.length) return "";
  return [": ", found.length > 6 ? "… " : "", found.slice(-6).map((number) => [" ", link(address(session, session.rows[number].r), session.rows[number].r)])];
}

/** Beside each row of a call's context: new, or in another form than at the call before; and what left. */
function sinceBefore(session, n, lane) {
  const before = n > 1 ? standingAt(session, n - 1, lane) : new Map();
  const signs = new Map();
  const now = new Set();
  for (const number of session.context(n, lane)) {
    const original = session.originalOf(number, lane);
    now.add(original);
    if (n > 1) signs.set(number, before.get(original) === number ? "" : before.has(original) ? "~" : "+");
  }
  return { signs, left: [...before.keys()].filter((original) => !now.has(original)) };
}

/** The items of the context, by section, with their tokens. */
function contents(session, n, lane) {
  const rows = session.context(n, lane);
  const { signs, left } = sinceBefore(session, n, lane);
  const all = Math.max(1, session.total(n, lane));
  const system = rows.filter((number) => session.row(number, lane).category === "system");
  const messages = rows.filter((number) => session.row(number, lane).category !== "system");
  const tools = session.tokens(n, lane)[session.categories.indexOf("tools")];
  const summed = (list) => list.reduce((sum, number) => sum + (session.row(number, lane).tokens || 0), 0);
  const shares = (list) => session.categories.map((category) => [category, summed(list.filter((number) => session.row(number, lane).category === category)) / all]).filter(([, share]) => share);
  const node = el("div", { class: "contents" });
  const rowsOf = (list) => listed(list, (number) => contextRow(session, number, lane, signs.get(number)));
  node.append(
    system.length ? folding("system", `system (${system.length})`, summed(system), shares(system), () => rowsOf(system)) : el("p", { class: "dim section" }, "system: not recorded"),
    tools ? folding("tools", "tools", tools, [["tools", tools / all]], () => el("p", { class: "dim" }, "The definitions stand in the exact request.")) : el("p", { class: "dim section" }, "tools: not recorded"),
    folding("messages", `messages (${whole(messages.length)})`, summed(messages), shares(messages), () => rowsOf(messages)));
  if (left.length) {
    node.append(folding("left", `left since c${n - 1} (${whole(left.length)})`, summed(left), [], () => listed(left, (number) => contextRow(session, number, lane, "−"))));
  }
  return node;
}

/** A section that makes its rows when it is opened. */
function folding(name, title, tokens, shares, make) {
  const node = el("details", { class: "fold" },
    el("summary", {}, el("span", {}, title), el("span", { class: "bar small", "aria-hidden": "true" }, shares.map(([category, share]) => el("span", { class: category, style: { width: `${100 * share}%` } }))), el("span", { class: "tok" }, short(tokens))));
  const filled_ = () => { if (node.open && node.childElementCount === 1) node.append(make()); };
  node.open = folds[name];
  filled_();
  node.addEventListener("toggle", () => { folds[name] = node.open; filled_(); });
  return node;
}

/** A list of which the rest comes when it is asked for: of a long one the end matters most. */
function listed(all, make) {
  const list = el("ol", { class: "inside" });
  const rest = all.length > FIRST_ROWS ? all.length - FIRST_ROWS : 0;
  if (rest) {
    const more = el("li", { class: "more-rows" }, el("button", { type: "button", onclick: () => more.replaceWith(...all.slice(0, rest).map(make)) }, `show ${plural(rest, "earlier one")}`));
    list.append(more);
  }
  put(list, all.slice(rest).map(make));
  return list;
}

const SIGNS_SAID = { "+": "new", "~": "in another form", "−": "left", "": "" };

function contextRow(session, number, lane, sign = "") {
  const row = session.row(number, lane);
  return el("li", { class: row.category },
    el("span", { class: `since ${sign === "+" ? "plus" : sign ? "minus" : ""}`, title: SIGNS_SAID[sign], role: sign ? "img" : null, "aria-label": sign ? SIGNS_SAID[sign] : null }, sign),
    link(address(session, inLane(row.r, lane)), row.r, { class: "id" }), el("span", { class: "who" }, row.who || "nobody"), el("span", { class: "say" }, row.prompt ? el("em", { class: "tag" }, row.prompt) : null, row.preview || "(empty)"), el("span", { class: "tok" }, short(row.tokens || 0)));
}

/** What came of a call. */
function answers(session, n) {
  if (!session.answers) {
    session.answers = new Map();
    session.items.forEach((number) => {
      const { call } = session.rows[number];
      if (call) session.answers.set(call, [...(session.answers.get(call) || []), number]);
    });
  }
  const found = session.answers.get(n);
  return found ? el("div", { class: "contents" }, el("h3", {}, "What it answered"), listed(found, (number) => contextRow(session, number, 0))) : null;
}
