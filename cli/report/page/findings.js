// What an audit found, rule by rule, the worst first.

const SIGNS = { error: "✖", warning: "▲", info: "ℹ" };
const SEVERITY = ["error", "warning", "info"];
const FEW = 3;
const MORE = 100;
const ANCHORS = "anchors";

function findings(session) {
  const found = session.data.findings || [];
  const rank = (each) => SEVERITY.indexOf(each.severity);
  // Literals that were lost are told a decision at a time, whatever their weight.
  const sorted = groupedBy(found, (each) => each.rule === ANCHORS ? ANCHORS : `${each.severity} ${each.rule}`).map((group) => group.slice().sort((one, other) => rank(one) - rank(other)));
  sorted.sort((one, other) => rank(one[0]) - rank(other[0]) || (one[0].rule === ANCHORS) - (other[0].rule === ANCHORS));
  const told = [...counted(found.map((each) => each.severity))].sort((one, other) => SEVERITY.indexOf(one[0]) - SEVERITY.indexOf(other[0]));
  return el("section", { class: "card" },
    el("h2", {}, `What an audit finds (${whole(found.length)})`),
    found.length ? el("p", { class: "dim" }, told.map(([severity, count]) => `${SIGNS[severity]} ${plural(count, severity === "info" ? "note" : severity)}`).join(" · ")) : el("p", { class: "dim" }, "nothing"),
    sorted.map((group) => ruleGroup(session, group)));
}

function ruleGroup(session, group) {
  const [{ rule, severity }] = group;
  if (rule === ANCHORS) {
    const decisions = groupedBy(group, decisionOf);
    if (decisions.some((some) => some.length > 1)) return el("div", { class: "rule" }, ruleHeading(rule, severity, group.length), decisions.map((some) => lostOnes(session, some)));
  }
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
  const node = el("div", { class: "rule" }, ruleHeading(rule, severity, group.length), list, more);
  node.unfold = () => { const before = shown; add(group.length); return () => { while (list.childElementCount > before) list.lastElementChild.remove(); shown = before; add(0); }; };
  return node;
}

function ruleHeading(rule, severity, count) {
  return el("h3", { class: severity }, el("span", { class: "sign", role: "img", "aria-label": severity }, SIGNS[severity]), ` ${rule.replaceAll("_", " ")} `, el("span", { class: "count" }, whole(count)));
}

/** The decisions that a finding of lost literals tells of: k1, or 77, 117. */
function decisionOf(each) {
  return each.message.match(/ of what (k\d+|\d+(?:, \d+)*) /)?.[1] || (each.refs || [])[0] || "";
}

/** What one decision lost, on one line; every kind of it when that is opened. */
function lostOnes(session, group) {
  const names = decisionOf(group[0]).split(", ");
  const count = group.reduce((sum, each) => sum + (each.count || 0), 0);
  const again = group.reduce((sum, each) => sum + (each.anchors || []).filter((one) => one.by).length, 0);
  const folded = el("details", { class: "fold-finding" },
    el("summary", {}, plural(count, "literal"), " lost by ", names.map((name, at) => [at ? ", " : "", refLink(session, name)]), ": ", again ? el("b", {}, `${whole(again)} came up again`) : "none came up again"));
  put(folded, el("ul", { class: "findings" }, group.map((each) => finding(session, each))));
  return folded;
}

/** What a finding is about, as a link where it is here; a run of items leads to its first one. */
function refLink(session, ref) {
  const place = /^\d+-\d+$/.test(ref) ? ref.slice(0, ref.indexOf("-")) : ref;
  return lacking(session, placeOf(`#${place}`)) ? ref : link(address(session, place), ref);
}

/** A name in a sentence: that of a call or a compaction, or an item where a sentence names one. */
const NAMED = /\b[ck]\d+\b|(?<=\(|\bin |\bby |\bof what |: |, )(?:\d+(?:\.\d+)?(?:@\d+)?(?:-\d+)?)(?=[,.;:)]|$| (?:cleared|cut|and \d+ more))/g;

/** The sentence of a finding; what it names is a link where it stands. Quoted text stays as it is. */
function linkedSentence(session, message, refs) {
  const nodes = [], named = new Set();
  message.split(/(“[^”]*”)/).forEach((part, index) => {
    if (index % 2) return void nodes.push(part);
    let from = 0;
    for (const found of part.matchAll(NAMED)) {
      const [ref] = found;
      const isUse = /(?:used it|said it|found again) in $/.test(part.slice(0, found.index));
      if (!/^[ck]/.test(ref) && !refs.has(ref) && !isUse) continue;
      nodes.push(part.slice(from, found.index), refLink(session, ref));
      named.add(ref);
      from = found.index + ref.length;
    }
    nodes.push(part.slice(from));
  });
  return [nodes, named];
}

const MOST_REFS = 12;

function finding(session, each) {
  const refs = each.refs || [];
  const [sentence, named] = linkedSentence(session, each.message, new Set(refs));
  // What the sentence names needs no second link.
  const apart = named.size ? [] : refs;
  return el("li", { class: each.severity },
    el("span", {}, sentence), " ",
    each.heuristic ? el("em", { class: "tag", title: "it was inferred, and may be wrong" }, "heuristic") : null,
    apart.length ? el("span", { class: "refs" }, apart.slice(0, MOST_REFS).map((ref) => [" ", refLink(session, ref)]), apart.length > MOST_REFS ? ` and ${whole(apart.length - MOST_REFS)} more` : "") : null,
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
  for (const node of root.querySelectorAll(".rule")) if (node.unfold) root.folded.push(node.unfold());
  for (const node of root.querySelectorAll("details:not([open])")) {
    node.open = true;
    root.folded.push(() => { node.open = false; });
  }
}
