// How each item stood when a call was made.

const GLYPHS = {
  seen: ["●", "seen as it came"],
  changed: ["◐", "seen in another form"],
  summarised: ["Σ", "not seen: a summary stood for it"],
  gone: ["✕", "not seen: it had left"],
  missing: ["○", "not seen: never in the context"],
  answer: ["◂", "the answer of this call: it came of it"],
  later: ["·", "came later"],
};

/** The states in which the model saw something of an item. */
const SEEN = new Set(["seen", "changed"]);

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

/** What the signs of the gutter mean; folded until somebody asks. */
function gutterLegend() {
  return el("details", { class: "signs" },
    el("summary", {}, "what the signs mean"),
    el("ul", {}, Object.entries(GLYPHS).map(([state, [glyph, meaning]]) =>
      el("li", { class: state }, el("span", { class: "gutter", "aria-hidden": "true" }, glyph), el("span", {}, meaning)))));
}
