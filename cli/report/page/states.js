// How each item stood when a call was made.

const GLYPHS = {
  seen: ["●", "seen as it came"],
  changed: ["◐", "seen in another form"],
  summarised: ["Σ", "summarised: a summary stood for it"],
  gone: ["✕", "gone: the model did not see it"],
  missing: ["○", "not in the context"],
  later: ["·", "came later"],
};

/** Of the call n of a lane: for each item the row that stood for it, or -1. */
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
  if (call && session.row(number, lane).position > call.position) return { state: "later", row: null, decided: null };
  if (!decided) return { state: "missing", row: null, decided: null };
  return { state: decided[1].kind === "summarised" ? "summarised" : "gone", row: null, decided };
}

function lastDecision(session, number, n, lane) {
  const all = session.decisions(lane).get(number) || [];
  let found = null;
  for (const each of all) if (each[0] <= n) found = each;
  return found;
}
