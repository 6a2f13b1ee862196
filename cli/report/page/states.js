// How each item stood when a call was made.

/** Signs as `ctxlog log` has them; those of an answer and of what came later are the page's own. */
const GLYPHS = {
  seen: ["●", "seen as it came"],
  changed: ["✂", "seen in another form"],
  summarised: ["Σ", "not seen: a summary stood for it"],
  gone: ["○", "not seen: it had left"],
  missing: ["–", "not seen: never in the context"],
  answer: ["◂", "the answer of this call: it came of it"],
  later: ["·", "came later"],
};

/** What they mean of the context as it stands now, where no call was recorded. */
const NOW = {
  seen: "in the context as it came",
  changed: "in the context in another form",
  summarised: "left: a summary stands for it",
  gone: "left: nothing stands for it",
  missing: "never in the context",
};

/** The sign of a state, and what it means. */
function signOf(state, isNow) {
  const [glyph, meaning] = GLYPHS[state];
  return [glyph, isNow ? NOW[state] || meaning : meaning];
}

/** The states in which the model saw something of an item, and those in which it did not see it as it came. */
const SEEN = new Set(["seen", "changed"]);
const LACKED = new Set(["changed", "summarised", "gone", "missing"]);

/** Of the call n of a lane: for each item the row that stood for it. */
function standingAt(session, n, lane) {
  const stands = new Map();
  for (const number of session.context(n, lane)) stands.set(session.originalOf(number, lane), number);
  return stands;
}

/** The state of an item, the row that stood for it, and the decision that explains it. */
function stateOf(session, number, n, lane, stands) {
  const shown = stands.get(number);
  const decided = lastDecision(session, number, n, lane);
  if (shown !== undefined) return { state: shown === number ? "seen" : "changed", row: shown, decided: shown === number ? null : decided };
  const call = session.calls[n - 1];
  const row = session.row(number, lane);
  if (call && row.position > call.position) return { state: row.call === n ? "answer" : "later", row: null, decided: null };
  if (!decided) return { state: "missing", row: null, decided: null };
  return { state: decided[1].kind === "summarised" ? "summarised" : "gone", row: null, decided };
}

function lastDecision(session, number, n, lane) {
  const all = session.decisions(lane).get(number);
  if (!all) return null;
  let found = null;
  for (const each of all) if (each[0] <= n) found = each;
  return found;
}

/** Of items by their state: how many, their tokens as they stood, and the decisions that explain it. */
function tally(session, numbers, n, lane, stands) {
  const found = Object.fromEntries(Object.keys(GLYPHS).map((state) => [state, { count: 0, tokens: 0, by: new Set() }]));
  for (const number of numbers) {
    const { state, row, decided } = stateOf(session, number, n, lane, stands);
    const of = found[state];
    of.count += 1;
    of.tokens += session.row(row === null ? number : row, lane).tokens || 0;
    if (decided) of.by.add(decided[1].by);
  }
  return found;
}

/** What the signs of the gutter mean; folded until somebody asks. */
function gutterLegend(session) {
  const states = Object.keys(session.now ? NOW : GLYPHS);
  const node = el("details", { class: "signs", onfocusout: (event) => { if (!node.contains(event.relatedTarget)) node.open = false; } },
    el("summary", { "aria-label": "what the signs mean", title: "what the signs mean" }, "?"),
    el("ul", {}, states.map((state) => [state, ...signOf(state, session.now)]).map(([state, glyph, meaning]) =>
      el("li", { class: state }, el("span", { class: "gutter", "aria-hidden": "true" }, glyph), el("span", {}, meaning)))));
  return node;
}
