// What decisions took: single items on their lines, the literals that stand nowhere since, and who
// wrote what stands instead.

const FEW_ITEMS = 8;
const MOST_LITERALS = 30;

/** The first few and the last ones of many; the rest when it is asked for. */
function fewFirst(nodes) {
  if (nodes.length <= FEW_ITEMS + 4) return nodes;
  const button = el("button", { type: "button", class: "more", onclick: () => button.replaceWith(...nodes.slice(FEW_ITEMS, -2)) }, `show ${whole(nodes.length - FEW_ITEMS - 2)} more`);
  return [nodes.slice(0, FEW_ITEMS), button, nodes.slice(-2)];
}

function numbersOf(runs) {
  return (runs || []).flatMap(([first, count]) => Array.from({ length: count }, (_, at) => first + at));
}

/** An item on one line; its text opens below. */
function takenRow(session, number, { sign, meaning, tag = "", kind = "", tokens = null, full = null, isOpen = false }) {
  const row = session.row(number);
  const node = el("div", { class: `krow ${row.category} ${kind}` });
  const toggle = () => {
    const opens = node.childElementCount === 1;
    line.setAttribute("aria-expanded", String(opens));
    if (!opens) node.lastElementChild.remove();
    else node.append(el("div", { class: "full" }, full ? full() : message(session, row), el("p", { class: "dim" }, itemLink(session, number), " in the transcript")));
  };
  const line = el("button", { type: "button", class: "line", "aria-expanded": "false", onclick: toggle },
    el("span", { class: "gutter", title: meaning, "aria-label": meaning }, sign),
    el("span", { class: "id" }, row.r.split("@")[0]), el("span", { class: "who" }, row.who),
    el("span", { class: "say" }, tag ? el("em", { class: `tag ${tag.startsWith("not") ? "error" : "changed"}` }, tag) : null, row.preview || "(empty)"),
    el("span", { class: "tok" }, tokens || short(row.tokens || 0)));
  node.append(line);
  if (isOpen) toggle();
  return node;
}

function lostHeading(each) {
  return each.is_opaque ? "nobody knows" : each.is_erased ? "not known any more" : plural(each.lostCount, "literal");
}

function lostOf(session, each) {
  if (each.is_opaque) return el("p", {}, "The provider keeps the summary encrypted: nobody can say what it holds.");
  if (each.is_erased) return el("p", {}, "The summary was erased: nobody can say any more what it held.");
  const erased = each.rows.before.filter((number) => session.row(number).erased).length;
  const note = erased ? el("p", { class: "dim" }, `${plural(erased, "item")} of what stood before it ${erased === 1 ? "was" : "were"} erased since: what was said there is not counted.`) : null;
  if (each.lost.length) return [literalsTable(session, each.lost), note];
  if (isParents(session, each)) return el("p", { class: "dim" }, "This lies before the fork: the report of its parent tells it.");
  return [el("p", { class: "dim" }, "Every literal of what left stands in what stays."), note];
}

const CAME_UP = { model: "the model used it", person: "a person said it", tool: "found again" };

/** The literals of some findings, those that came up again in front. */
function literalsTable(session, findings, of = [], most = MOST_LITERALS) {
  const all = findings.flatMap((finding) => finding.anchors);
  const rank = { model: 0, person: 1, tool: 2 };
  const sorted = all.slice().sort((one, other) => (rank[one.by] ?? 3) - (rank[other.by] ?? 3));
  const count = findings.reduce((sum, finding) => sum + finding.count, 0);
  const kinds = new Map();
  for (const finding of findings) for (const one of finding.anchors) kinds.set(one.kind, (kinds.get(one.kind) || 0) + 1);
  const again = all.filter((one) => one.by).length;
  const missed = all.some((one) => one.by === "model" || one.by === "person");
  const more = findings.map((finding) => finding.message.split("; ").slice(1).filter((part) => / in other words: | had been cleared or cut before$/.test(part))).flat();
  const body = el("tbody", {});
  const rows = (list) => list.map((one) => el("tr", {},
    el("td", { class: "dim" }, one.kind), el("td", {}, el("code", {}, one.text), one.is_named ? el("em", { class: "tag named" }, "its name stands there") : null),
    el("td", {}, link(address(session, one.item), one.item, { class: "id" })),
    el("td", {}, one.by ? [el("span", { class: one.by === "tool" ? "" : "bad" }, CAME_UP[one.by], " in "), (one.used || []).map((used, at) => [at ? ", " : "", link(address(session, used), used, { class: "id" })])] : el("span", { class: "dim" }, "never again"))));
  put(body, rows(sorted.slice(0, most)));
  const rest = sorted.slice(most);
  const button = rest.length ? el("button", { type: "button", class: "more", onclick: () => { put(body, rows(rest)); button.remove(); } }, `show ${whole(rest.length)} more`) : null;
  const command = (name) => `ctxlog ${findings[0].next.replace(/ --lost \S+( --all)?$/, ` --lost ${name || findings[0].next.match(/ --lost (\S+)/)[1]} --all`)}`;
  const every = of.length > 1 ? of.map(command) : [command(of[0])];
  return el("div", { class: "literals" },
    el("p", {}, [...kinds].map(([kind, number]) => plural(number, kind === "url" ? "URL" : kind)).join(", "), again ? [": ", el("b", { class: missed ? "bad" : null }, `${whole(again)} came up again`)] : ": none came up again"),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ["kind", "literal", "stood in", "later"].map((name) => el("th", { scope: "col" }, name)))), body)), button,
    count > all.length ? el("p", { class: "dim" }, `and ${whole(count - all.length)} more that are not listed here`) : null,
    more.map((part) => el("p", { class: "dim" }, part)),
    el("p", { class: "dim" }, "All of them, in their sentences: ", every.map((text) => el("span", { class: "command" }, el("code", {}, text), copyButton("copy", async () => text, "copy the command")))));
}

/** What else an audit finds of a decision, rule by rule. */
function auditSays(session, findings) {
  return groupedBy(findings, (each) => `${each.severity} ${each.rule}`).map((group) => ruleGroup(session, group));
}

/** What is alike together, in the order of the first ones. */
function groupedBy(list, key) {
  const found = new Map();
  for (const each of list) {
    if (!found.has(key(each))) found.set(key(each), []);
    found.get(key(each)).push(each);
  }
  return [...found.values()];
}

function summarizer(session, each) {
  const of = each.summarizer;
  if (!of) return el("p", { class: "dim" }, "Not recorded: neither which model wrote it, nor what that was shown, nor what it cost.");
  const shown = numbersOf(of.shown), unseen = numbersOf(each.not_shown);
  const usage = of.usage || {};
  const counts = [["input", "uncached"], ["cached", "from a cache"], ["cache_write", "written to a cache"], ["output", "output"], ["reasoning", "of it reasoning"]]
    .filter(([name]) => typeof usage[name] === "number").map(([name, words]) => `${whole(usage[name])} ${words}`);
  const rows = [
    ["model", of.model || "not told"],
    ["was shown", of.shown_count ? `${plural(of.shown_count, "item")}, ~${whole(shown.reduce((sum, number) => sum + (session.row(number).tokens || 0), 0))} tokens` : "not recorded"],
    ["not shown", of.shown_count ? (unseen.length ? el("b", { class: "bad" }, `${plural(unseen.length, "item")} of what left`) : "nothing of what left") : "not known"],
    ["usage", counts.length ? `${counts.join(", ")} (billed tokens)` : "not told"],
    ["cost", of.usage ? priceOf(of) : "not known: it told no usage"],
    of.prompt_digest ? ["prompt", el("code", { title: "the digest of its instructions" }, of.prompt_digest)] : null,
  ].filter(Boolean);
  const list = (title, numbers, sign) => numbers.length ? el("details", {}, el("summary", {}, `${title} (${whole(numbers.length)})`),
    fewFirst(numbers.map((number) => takenRow(session, number, { sign, meaning: title })))) : null;
  return [el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])), list("what it was shown", shown, "●"), list("what it was not shown", unseen, "✕")];
}

function priceOf(of) {
  if (typeof of.cost !== "number") return "price unknown";
  const amount = of.cost < 0.01 ? of.cost.toPrecision(2) : of.cost.toFixed(2);
  return `${[of.currency, amount].filter(Boolean).join(" ")}${of.prices ? ` (prices of ${of.prices})` : ""}`;
}
