// What an audit found, rule by rule, the worst first.

const SIGNS = { error: "✖", warning: "▲", info: "ℹ" };
const SEVERITY = ["error", "warning", "info"];
const FEW = 3;
const MORE = 100;

function findings(session) {
  const found = session.data.findings || [];
  const groups = new Map();
  for (const each of found) {
    const name = `${each.severity} ${each.rule}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(each);
  }
  const sorted = [...groups.values()].sort((one, other) => SEVERITY.indexOf(one[0].severity) - SEVERITY.indexOf(other[0].severity));
  const told = [...counted(found.map((each) => each.severity))].sort((one, other) => SEVERITY.indexOf(one[0]) - SEVERITY.indexOf(other[0]));
  return el("section", { class: "card" },
    el("h2", {}, `What an audit finds (${whole(found.length)})`),
    found.length ? el("p", { class: "dim" }, told.map(([severity, count]) => `${SIGNS[severity]} ${plural(count, severity === "info" ? "note" : severity)}`).join(" · ")) : el("p", { class: "dim" }, "nothing"),
    sorted.map((group) => ruleGroup(session, group)));
}

function ruleGroup(session, group) {
  const [{ rule, severity }] = group;
  const list = el("ul", { class: "findings" });
  let shown = 0;
  const more = el("button", { type: "button", class: "more" });
  const add = (count) => {
    put(list, group.slice(shown, shown + count).map((each) => finding(session, each)));
    shown = Math.min(group.length, shown + count);
    const left = group.length - shown;
    more.classList.toggle("none", !left);
    more.textContent = left > MORE ? `show ${MORE} more of ${whole(left)}` : `show ${whole(left)} more`;
  };
  more.addEventListener("click", () => add(MORE));
  add(FEW);
  const node = el("div", { class: "rule" },
    el("h3", { class: severity }, el("span", { class: "sign", role: "img", "aria-label": severity }, SIGNS[severity]), ` ${rule.replaceAll("_", " ")} `, el("span", { class: "count" }, whole(group.length))), list, more);
  node.unfold = () => { const before = shown; add(group.length); return () => { while (list.childElementCount > before) list.lastElementChild.remove(); shown = before; add(0); }; };
  return node;
}

/** What a finding is about, as a link where it is here; a run of items leads to its first one. */
function refLink(session, ref) {
  const place = /^\d+-\d+$/.test(ref) ? ref.slice(0, ref.indexOf("-")) : ref;
  return lacking(session, placeOf(`#${place}`)) ? ref : link(address(session, place), ref);
}

function finding(session, each) {
  return el("li", { class: each.severity },
    el("span", {}, each.message), " ",
    each.heuristic ? el("em", { class: "tag", title: "it was inferred, and may be wrong" }, "heuristic") : null,
    el("span", { class: "refs" }, (each.refs || []).slice(0, 12).map((ref) => [" ", refLink(session, ref)])),
    each.next ? el("span", { class: "next" }, el("code", {}, `ctxlog ${each.next}`), " ", copyButton("copy", async () => `ctxlog ${each.next}`, "copy the command")) : null);
}

/** For paper: everything that is folded; and back. */
function unfolded(root, isOver) {
  if (isOver) {
    for (const back of (root.folded || []).reverse()) back();
    root.folded = [];
    return;
  }
  root.folded = [];
  for (const node of root.querySelectorAll(".rule")) root.folded.push(node.unfold());
  for (const node of root.querySelectorAll("details:not([open])")) {
    node.open = true;
    root.folded.push(() => { node.open = false; });
  }
}
