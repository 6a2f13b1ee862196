// The keyboard.

const KEYS = [
  ["j k", "the next, the last item"],
  ["Enter", "open it, close it"],
  ["[ ]", "the call before, the next call"],
  ["{ }", "the compaction before, the next one"],
  ["1 … 7", "the views"],
  ["?", "this help"],
  ["Esc", "close"],
];

function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = event.target.closest("input:not([type=range]), textarea, select");
    if (inField) return;
    const view = document.getElementById("view").view;
    const act = {
      j: () => view?.move?.(1),
      k: () => view?.move?.(-1),
      "[": () => view?.slider && view.choose(Math.max(1, view.n - 1)),
      "]": () => view?.slider && view.choose(Math.min(view.last, view.n + 1)),
      "{": () => toCompaction(-1),
      "}": () => toCompaction(1),
      "?": () => help(),
    }[event.key];
    if (act) {
      event.preventDefault();
      act();
    } else if (current.session && /^[1-7]$/.test(event.key) && TABS[event.key - 1] in VIEWS) {
      location.hash = address(current.session, TABS[event.key - 1]);
    }
  });
}

function toCompaction(step) {
  const { session } = current;
  if (!session) return;
  const view = document.getElementById("view").view;
  const all = session.compactions;
  if (!all.length) return say("there is no compaction");
  if (view?.slider && view.n) {
    const position = session.calls[view.n - 1].position;
    const at = firstAtLeast(all, (row) => row.position, position + (step > 0 ? 0 : 0));
    const chosen = all[step > 0 ? at : at - 2] || (step < 0 && at > 0 && at === 1 ? null : null);
    if (!chosen) return say(step > 0 ? "no compaction follows" : "no compaction before");
    const next = firstAtLeast(session.calls, (call) => call.position, chosen.position) + 1;
    if (next <= view.last) view.choose(next);
    const index = view.at.get(chosen.ref);
    if (index !== undefined) view.focus(index);
    return;
  }
  location.hash = address(session, all[step > 0 ? 0 : all.length - 1].ref);
}

function help() {
  const box = document.getElementById("help");
  if (box.open) return box.close();
  put(clear(box), el("h2", {}, "Keys"),
    el("dl", {}, KEYS.map(([keys, what]) => [el("dt", {}, keys.split(" ").map((key) => el("kbd", {}, key))), el("dd", {}, what)])),
    el("form", { method: "dialog" }, el("button", {}, "close")));
  box.showModal();
}
