// The keyboard. No key is taken from a field, nor one that is held with another key.

const KEYS = [
  ["j k", "the next item, the one before"],
  ["Enter", "open it, close it"],
  ["[ ]", "the call before, the next call"],
  ["{ }", "the compaction or clearing before, the next one"],
  ["d", "what the last compaction before this call did"],
  ["Home End", "the first item, the last one"],
  ["/", "search, also Ctrl K"],
  ["1 … 7", "the views"],
  ["g", "then the letter of a view:"],
  ["← →", "on the river of the overview: from call to call"],
  ["?", "this help"],
  ["Esc", "close"],
];

function shownView() {
  return document.getElementById("view").view;
}

function listenToKeys() {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
      event.preventDefault();
      return openSearch();
    }
    // Some keyboards have [ and { behind AltGr.
    if ((event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph")) return;
    if (event.isComposing || event.target.closest("input:not([type=range]), textarea, select, [contenteditable]")) return;
    if (document.querySelector("dialog[open]")) {
      if (event.key === "?" && document.getElementById("help").open) document.getElementById("help").close();
      return;
    }
    if (event.target.matches("input[type=range]") && ["Home", "End"].includes(event.key)) return;
    const going = isGoing;
    isGoing = event.key === "g";
    if (going && Object.hasOwn(LETTERS, event.key)) return toView(LETTERS[event.key], event);
    const view = shownView();
    const act = {
      j: view?.move && (() => view.move(1)),
      k: view?.move && (() => view.move(-1)),
      "[": view?.slider?.last && (() => stepCall(view, -1)),
      "]": view?.slider?.last && (() => stepCall(view, 1)),
      "{": () => toCompaction(-1),
      "}": () => toCompaction(1),
      d: () => toDifference(),
      Home: view?.toEnd && (() => view.toEnd(false)),
      End: view?.toEnd && (() => view.toEnd(true)),
      "/": () => openSearch(),
      "?": () => help(),
      Escape: view?.close && (() => view.close()),
    };
    if (Object.hasOwn(act, event.key) && act[event.key]) {
      event.preventDefault();
      act[event.key]();
    } else if (/^[1-7]$/.test(event.key)) toView(TABS[event.key - 1], event);
  });
}

/** A call on; said too, since the focus may be anywhere. */
function stepCall(view, by) {
  view.choose(Math.min(view.last, Math.max(1, view.n + by)));
  announce(`call c${view.n}`);
}

function toView(name, event) {
  if (!current.session || !Object.hasOwn(VIEWS, name)) return;
  event.preventDefault();
  visit(address(current.session, name));
}

/** The position in the log at which a view stands: that of its call, or the end. */
function positionShown() {
  const view = shownView();
  const { session, place } = current;
  if (view?.slider && view.n) return session.calls[view.n - 1].position;
  const named = place.compaction !== undefined && session.compactions[place.compaction - 1];
  return named ? named.position : session.data.version + 1;
}

/** The compaction before the place that is shown, or behind it. */
function toCompaction(step) {
  const { session } = current;
  if (!session) return;
  const view = shownView();
  if (view?.nextCompaction) return view.nextCompaction(step);
  const isCall = Boolean(view?.slider && view.n);
  // In the transcript also where results were cleared.
  const cleared = isCall ? cliffsOf(session).filter((each) => each.isClearing).map(({ row, place }) => ({ ref: place, position: row.position })) : [];
  const all = [...session.compactions, ...cleared].sort((one, other) => one.position - other.position);
  if (!all.length) return say("there is no compaction");
  // The call right behind a compaction is where one stands after having gone to it.
  const position = positionShown();
  let at = firstAtLeast(all, (row) => row.position, position);
  if (step < 0) {
    at -= 1;
    while (isCall && at >= 0 && callAfter(session, all[at]) === view.n) at -= 1;
    if (!isCall && all[at]?.position === position) at -= 1;
  } else if (!isCall) at = all[at]?.position === position ? at + 1 : at >= all.length ? 0 : at;
  const chosen = all[at];
  if (!chosen) return say(step > 0 ? "no compaction follows" : "no compaction before");
  if (!isCall) return visit(address(session, chosen.ref));
  const next = callAfter(session, chosen);
  if (next <= view.last) view.choose(next);
  view.toEvent(chosen.ref);
}

/** The number of the first call behind a compaction. */
function callAfter(session, row) {
  return firstAtLeast(session.calls, (call) => call.position, row.position) + 1;
}

/** To what the last compaction before the shown call did. */
function toDifference() {
  const { session } = current;
  if (!session) return;
  const at = firstAtLeast(session.compactions, (row) => row.position, positionShown()) - 1;
  if (at < 0) return say(session.compactions.length ? "no compaction before this call" : "there is no compaction");
  visit(address(session, session.compactions[at].ref));
}

function help() {
  const box = document.getElementById("help");
  const letters = Object.entries(LETTERS).filter(([, name]) => Object.hasOwn(VIEWS, name)).map(([letter, name]) => `${letter} ${VIEWS[name].title.toLowerCase()}`).join(", ");
  put(clear(box), el("h2", {}, "Keys"),
    el("dl", {}, KEYS.map(([keys, what]) => [el("dt", {}, keys.split(" ").map((key) => el("kbd", {}, key))), el("dd", {}, keys === "g" ? `${what} ${letters}` : what)])),
    el("form", { method: "dialog" }, el("button", {}, "close")));
  box.showModal();
}
