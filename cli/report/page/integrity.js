// Integrity: how well each call is known, where the session came from, what was erased, and how
// anybody can check all of it without this page.

VIEWS.integrity = {
  title: "Integrity",
  show(root, session) {
    const data = session.data.integrity || {};
    put(root,
      provenance(session),
      el("div", { class: "columns even" },
        el("div", {}, whetherItHolds(session, data), notFollowed(session, data)),
        el("div", {}, cameFrom(session, data), erasedAndMasked(session, data), eventTypes(data))));
  },
};

const LETTER = { exact: "E", erased: "X", rebuilt: "R", partial: "P", opaque: "O", drift: "D", broken: "B" };
const WEAKNESS = ["exact", "erased", "rebuilt", "partial", "opaque", "drift", "broken"];
const MEANS = {
  exact: "What was recorded of the request is built again, and its digest proves it.",
  erased: "So it was, and a part was redacted since.",
  rebuilt: "No request was recorded: folded from everything that was, with nothing to compare.",
  partial: "A part was never recorded: the system prompt, or the definitions of tools that were called.",
  opaque: "A part is encrypted by the provider.",
  drift: "The request is proved, and what is folded differs from it without a decision that says why.",
  broken: "The digest does not fit.",
};
const MOST_CELLS = 1200;
const MOST_CELLS_NARROW = 420;
const MOST_RUNS = 24;

function provenance(session) {
  const box = el("section", { class: "card" }, el("h2", {}, "How well each call is known"));
  if (!session.calls.length) return put(box, el("p", { class: "dim" }, "No call of a model was recorded."));
  const known = WEAKNESS.filter((name) => session.calls.some((call) => call.verdict === name));
  const answered = session.calls.filter((call) => call.outcome === "answered");
  const weakest = session.data.facts.provenance;
  return put(box,
    weakest ? el("p", {}, "The session is known as ", badge(weakest), ", by the weakest of its answered calls.") : null,
    el("table", { class: "verdict-table" }, el("tbody", {}, known.map((name) => el("tr", {},
      el("td", {}, el("span", { class: `cell ${name}`, "aria-hidden": "true" }, LETTER[name])),
      el("td", {}, badge(name)), el("td", { class: "tok" }, plural(session.calls.filter((call) => call.verdict === name).length, "call")),
      el("td", {}, MEANS[name]))))),
    verdictStrip(session),
    answered.length < session.calls.length ? unanswered(session) : el("p", { class: "dim" }, "Every call was answered."),
    verdictDetails(session));
}

/** A cell for each call, or for a few of them where they are very many: then the weakest counts. */
function verdictStrip(session) {
  const { calls } = session;
  const each = Math.ceil(calls.length / (window.innerWidth < 600 ? MOST_CELLS_NARROW : MOST_CELLS));
  const cells = [];
  for (let from = 0; from < calls.length; from += each) {
    const some = calls.slice(from, from + each);
    const worst = some.reduce((one, other) => (WEAKNESS.indexOf(other.verdict) > WEAKNESS.indexOf(one.verdict) ? other : one));
    const failed = some.find((call) => call.outcome !== "answered");
    const names = some.length === 1 ? `c${worst.n}` : `c${some[0].n}–c${some.at(-1).n}`;
    cells.push(el("a", { href: `#${address(session, `c${(failed || worst).n}`)}`, tabindex: -1, class: `cell ${worst.verdict}${failed ? " unanswered" : ""}`, title: `${names}: ${worst.verdict}${failed ? `, ${failed.outcome}` : ""}` }, failed ? "!" : LETTER[worst.verdict]));
  }
  const runs = runsOf(calls, (call) => call.verdict);
  return [
    el("div", { class: `strip${cells.length > 300 ? " many" : ""}`, "aria-hidden": "true" }, cells),
    each > 1 ? el("p", { class: "dim" }, `A cell stands for ${each} calls, and shows the weakest verdict of them.`) : null,
    runs.length < 2 ? null : el("p", { class: "dim" }, runs.slice(0, MOST_RUNS).map((run, at) => [at ? ", " : "", callRun(session, run), ` ${run[0].verdict}`]), runs.length > MOST_RUNS ? `, and ${whole(runs.length - MOST_RUNS)} more runs` : ""),
  ];
}

/** Calls that follow each other and are alike. */
function runsOf(calls, key) {
  const runs = [];
  for (const call of calls) {
    const last = runs.at(-1);
    if (last && last.at(-1).n === call.n - 1 && key(last[0]) === key(call)) last.push(call);
    else runs.push([call]);
  }
  return runs;
}

function callRun(session, run) {
  const first = link(address(session, `c${run[0].n}`), `c${run[0].n}`);
  return run.length === 1 ? first : [first, "–", link(address(session, `c${run.at(-1).n}`), `c${run.at(-1).n}`)];
}

function runList(session, calls) {
  const runs = runsOf(calls, () => "");
  return [runs.slice(0, 12).map((run, at) => [at ? ", " : "", callRun(session, run)]), runs.length > 12 ? ` and ${whole(runs.slice(12).reduce((sum, run) => sum + run.length, 0))} more` : ""];
}

/** Calls that are not exact, by what is said of them. */
function verdictDetails(session) {
  const groups = groupedBy(session.calls.filter((call) => call.verdict !== "exact" && call.detail), (call) => `${call.verdict}\n${call.detail}`);
  if (!groups.length) return null;
  return [el("h3", {}, "What is said of those that are not exact"),
    el("table", { class: "groups" }, el("tbody", {}, groups.slice(0, 50).map((group) => el("tr", {},
      el("td", {}, badge(group[0].verdict)), el("td", { class: "tok" }, plural(group.length, "call")), el("td", {}, group[0].detail), el("td", {}, runList(session, group)))))),
    groups.length > 50 ? el("p", { class: "dim" }, `and ${whole(groups.length - 50)} more details`) : null];
}

function unanswered(session) {
  const groups = groupedBy(session.calls.filter((call) => call.outcome !== "answered"), (call) => `${call.outcome}\n${call.error || ""}`);
  return [el("h3", {}, "Calls without an answer"),
    el("table", { class: "groups" }, el("tbody", {}, groups.slice(0, 50).map((group) => el("tr", {},
      el("td", { class: "bad" }, group[0].outcome === "failed" ? "✖ failed" : "? unknown"), el("td", { class: "tok" }, plural(group.length, "call")),
      el("td", {}, group[0].outcome === "failed" ? group[0].error || "no reason was told" : "Nobody knows whether it was answered."), el("td", {}, runList(session, group))))))];
}

// -- whether it holds -----------------------------------------------------------------------------------

function whetherItHolds(session, data) {
  const { verified } = data;
  const problems = verified?.problems || [];
  const { name, head: digest, version } = session.data;
  const commands = [
    [`ctxlog verify ${name} --head ${digest}`, "recomputes every digest of it from the stored bytes, and compares this head"],
    [`ctxlog head ${name}`, "prints the head that the log has now"],
    [`ctxlog replay ${name} --check`, "builds every request again, and compares it with what was recorded"],
    [`ctxlog audit ${name}`, "says what is known of each call, and what is wrong"],
  ];
  return el("section", { class: "card" }, el("h2", {}, "Whether it holds"),
    verified ? el("p", {}, el("b", { class: problems.length ? "bad" : "good" }, problems.length ? "✖ It does not hold. " : "✓ It holds. "),
      `When this page was made, ${plural(verified.events || 0, "event")}${session.data.parent ? " with those of its parents" : ""} ${verified.events === 1 ? "was" : "were"} recomputed from the stored bytes: ${problems.length ? plural(problems.length, "problem") : "no problem"}${verified.redactions ? `, ${whole(verified.redactions)} erased` : ""}.`) : null,
    problems.length ? el("ul", { class: "problems" }, problems.slice(0, 50).map((problem) => el("li", {}, `${SIGNS.error} ${problem.position === undefined || problem.position === null ? "the log" : `event ${problem.position}`} does not hold (${problem.kind}): ${problem.message}`))) : null,
    el("dl", { class: "facts" },
      el("dt", {}, "head ", copyButton("copy", async () => digest, "copy the head")), el("dd", {}, el("code", { class: "head-digest" }, digest)),
      el("dt", {}, "at version"), el("dd", {}, whole(version)),
      el("dt", {}, "key"), el("dd", {}, el("code", {}, session.data.key))),
    el("p", { class: "dim" }, "The head covers the session's key, its events and all that it was forked from. Kept outside of the log, it makes every later change of these visible. It stays good while the session grows."),
    el("h3", {}, "To check it without this page"),
    el("ul", { class: "commands" }, commands.map(([command, what]) => el("li", {}, el("code", {}, command), copyButton("copy", async () => command, "copy the command"), el("span", { class: "dim" }, what)))));
}

function erasedAndMasked(session, data) {
  const all = data.redactions || [];
  const masked = session.data.masked;
  const counts = Object.entries(masked.counts || {});
  return el("section", { class: "card" }, el("h2", {}, "What was erased, and what is masked"),
    all.length ? [el("p", {}, `${plural(data.erased || 0, "event")} of this log ${data.erased === 1 ? "has" : "have"} no text any more. The log still says what stood there, and when.`),
      el("table", {}, el("thead", {}, el("tr", {}, ["event", "when", "erased", "by", "reason"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, all.map((each) => el("tr", {},
        el("td", { class: "id" }, each.position), el("td", {}, clock(each.at)),
        el("td", {}, each.item ? ["item ", link(address(session, each.item), each.item, { class: "id" })] : (each.events || []).slice(0, 12).map((at, index) => [index ? ", " : "", session.byName.has(String(at)) || session.byName.has(`${at}@redacted`) ? link(address(session, String(at)), String(at), { class: "id" }) : el("span", { class: "id" }, at)]),
          !each.item && (each.events || []).length > 12 ? ` and ${whole(each.events.length - 12)} more` : "", each.elsewhere ? `; ${plural(each.elsewhere, "event")} of other sessions` : ""),
        el("td", {}, each.by || "not told"), el("td", {}, each.reason || "not told")))))]
      : el("p", { class: "dim" }, data.erased ? `${plural(data.erased, "event")} that it inherited ${data.erased === 1 ? "has" : "have"} no text any more.` : "Nothing was erased from this session."),
    el("p", {}, masked.is_on ? [el("b", {}, "Masked in this page: "), counts.length ? counts.map(([rule, count], at) => `${at ? ", " : ""}${whole(count)} by ${rule}`) : "no secret of a known shape was found", ". The log itself is as it was."] : [el("b", {}, "Secrets are not masked in this page."), " Look before you give it to anybody."]));
}

function notFollowed(session, data) {
  const [notes, gaps, records] = [data.notes || [], data.gaps || [], data.unrecognized || []];
  const count = data.unrecognized_count || 0;
  if (!notes.length && !gaps.length && !count) return null;
  const list = (title, lines) => lines.length ? [el("h3", {}, title), el("ul", { class: "oddities" }, lines.map((line) => el("li", {}, line)))] : null;
  return el("section", { class: "card" }, el("h2", {}, "What could not be followed"),
    list("Decisions that the fold passes over", notes.map((each) => [el("span", { class: "id" }, `event ${each.position}`), " ", each.message])),
    list("Gaps in the recording", gaps.map((each) => [el("span", { class: "id" }, `event ${each.position}`), ` ${plural(each.calls_missed || 0, "call")} missed${each.reason ? `: ${each.reason}` : ""}`])),
    list(`Records that were not understood (${whole(count)})`, records.slice(0, 20).map((each) => [el("span", { class: "id" }, `event ${each.position}`), ` ${each.kind}: line ${each.line} of ${each.file}`])),
    count > Math.min(20, records.length) ? el("p", { class: "dim" }, `and ${whole(count - Math.min(20, records.length))} more`) : null);
}

// -- where it came from -----------------------------------------------------------------------------------

function cameFrom(session, data) {
  const { facts: told } = session.data;
  const of = told.source;
  const rows = [
    ["written by", data.is_observed ? ["another program", el("span", { class: "dim" }, " (observed: only that changes its context)")] : "ctxlog, as it happened"],
    data.format ? ["format", [data.format, data.importer_version ? el("span", { class: "dim" }, ` importer version ${data.importer_version}`) : null]] : null,
    (data.files || []).length ? [data.files.length === 1 ? "file" : "files", data.files.map((name) => el("code", { class: "file" }, name))] : null,
    data.foreign_id ? ["its own id", el("code", {}, data.foreign_id)] : null,
    of ? ["in the file", [`${plural(of.records || 0, "record")}, ${plural(of.assistant_messages || 0, "assistant message")}, ${plural(of.tool_calls || 0, "tool call")}, ${plural(of.tool_results || 0, "tool result")}, ${plural(of.compactions || 0, "compaction")}`]] : null,
    [data.format ? "imported" : "recorded", data.first_recorded && data.first_recorded.slice(0, 19) !== (data.last_recorded || "").slice(0, 19) ? `${clock(data.first_recorded)} to ${clock(data.last_recorded, data.first_recorded)}` : clock(data.first_recorded)],
    told.happened_at ? ["last went on", clock(told.happened_at)] : null,
    told.parent_session ? ["started by", el("code", {}, told.parent_session)] : null,
    data.parent ? ["forked from", [el("code", {}, data.parent.name), ` at event ${data.parent.at}`]] : null,
    (data.forks || []).length ? ["forks", data.forks.map((each) => el("span", { class: "file" }, el("code", {}, each.name), ` from event ${each.at}`))] : null,
  ].filter((row) => row && row[1]);
  return el("section", { class: "card" }, el("h2", {}, "Where it came from"), el("dl", { class: "facts" }, rows.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
}

function eventTypes(data) {
  const types = Object.entries(data.types || {}).sort((one, other) => other[1] - one[1]);
  const most = Math.max(1, ...types.map(([, count]) => count));
  return el("section", { class: "card" }, el("h2", {}, `${plural(data.events || 0, "event")} of its own`),
    el("table", { class: "types" }, el("tbody", {}, types.map(([type, count]) => el("tr", {},
      el("td", {}, type.replaceAll("_", " ")), el("td", { class: "tok" }, whole(count)),
      el("td", { class: "length", "aria-hidden": "true" }, el("span", { style: { width: `${(100 * count) / most}%` } })))))));
}
