// The rows of the transcript: an item on one line, opened with all that it says; what else happened as a line across.

/** An item, as it stood at the call that a view shows. */
function itemRow(view, number, { isOpen, isCursor, isTarget }, ontoggle) {
  const { session, n, lane } = view;
  const row = session.row(number, lane);
  const { state, row: shown, decided } = n || session.isNow(n, lane) ? stateOf(session, number, n, lane, view.stands) : { state: "seen", row: number };
  const seen = shown === null ? row : session.row(shown, lane);
  const [glyph, meaning] = signOf(state, session.isNow(n, lane));
  const why = decided ? `${decided[1].kind} by ${decided[1].by}${decided[1].reason ? `: ${decided[1].reason}` : ""}` : "";
  const said = why ? `${meaning} (${why})` : meaning;
  const classes = ["row", row.category, state, isOpen && "open", isCursor && "cursor", isTarget && "target"].filter(Boolean).join(" ");
  const node = el("div", { class: classes },
    el("div", { class: "line" },
      el("span", { class: "gutter", title: said, role: "img", "aria-label": said }, glyph),
      link(address(session, inLane(row.r, lane)), row.r, { class: "id", "aria-label": `link to item ${row.r}`, tabindex: -1 }),
      el("button", { type: "button", class: "item", "aria-expanded": String(isOpen), "data-lead": true, tabindex: -1, onclick: ontoggle },
        el("span", { class: "who" }, row.who || "nobody"),
        el("span", { class: "say" }, tags(row, seen, state, decided), pathTag(session, row), row.preview ? peek(seen.preview ? seen : row) : "(empty)"),
        row.at ? el("span", { class: "time" }, clock(row.at, row.at)) : null,
        (row.agents || []).length ? el("span", { class: "agents" }, `↳ ${row.agents.join(", ")}`) : null,
        el("span", { class: "tok", title: seen === row ? null : `${short(row.tokens || 0)} tokens as it came, ${short(seen.tokens || 0)} as it was seen` }, seen === row ? short(row.tokens || 0) : [el("s", {}, short(row.tokens || 0)), ` ${short(seen.tokens || 0)}`]))));
  if (isOpen) node.append(full(session, lane, number, shown, said));
  return node;
}

function tags(row, seen, state, decided) {
  return [
    row.is_error ? el("em", { class: "tag error" }, "error") : null,
    row.pinned ? el("em", { class: "tag" }, "pinned") : null,
    row.prompt ? el("em", { class: "tag" }, row.prompt) : null,
    state === "changed" ? el("em", { class: "tag changed" }, seen.form || "changed") : null,
    state === "gone" && decided ? el("em", { class: "tag gone" }, decided[1].kind) : null,
    state === "answer" ? el("em", { class: "tag" }, "answer") : null,
    row.erased ? el("em", { class: "tag gone" }, "erased") : null,
  ];
}

/** Lines and frames that are drawn, and rulers. */
const DRAWN = /[\u2500\u2501\u2503-\u259f]+|([=_*#~.-])\1{4,}/g;

/** The beginning of what an item says; of a tool's result without line numbers, frames and rulers, where that leaves something. */
function peek(row) {
  const said = row.preview || "";
  if (row.category !== "result") return said;
  const found = unnumbered(said).replace(/^[=_*~-]{3,}\s/, "").replace(DRAWN, " ").replace(/\s+/g, " ").replace(/^[\s\u2502|]+/, "").trim();
  return found || said;
}

/** Without the numbers in front of lines: 1→, or 386- and 386: where the next line has the next number. */
function unnumbered(text) {
  if (/^\d+→/.test(text)) return text.replace(/(^|\s)\d+→/g, " ");
  const [, first, sign] = /^(\d{1,7})([:-])(?!\d)/.exec(text) || [];
  if (!first) return text;
  let [rest, found] = [text.slice(first.length + 1), ""];
  for (let next = Number(first) + 1; ; next += 1) {
    const at = rest.search(new RegExp(`\\s${next}[:-](?!\\d)`));
    if (at < 0) return next === Number(first) + 1 && sign ? text : found + rest;
    found += `${rest.slice(0, at)} `;
    rest = rest.slice(at + 2 + String(next).length);
  }
}

const READS = /read|view|open_?file|cat$/i;
const PATHS = ["file_path", "path", "filename", "notebook_path", "target_file"];

/** Of the result of a tool that reads a file: its path, where the call that it answers names one; the end of it says most. */
function pathTag(session, row) {
  if (!row.of || !READS.test(row.who || "")) return null;
  const path = pathIn((session.rows[row.of[0]]?.parts || [])[row.of[1]]?.[2]);
  if (!path) return null;
  const steps = path.split("/");
  return el("code", { class: "path", title: path }, steps.length > 3 ? `…/${steps.slice(-2).join("/")}` : path);
}

/** The path among the arguments of a call; empty where there is none. */
function pathIn(text) {
  if (typeof text !== "string" || !text.startsWith("{")) return "";
  try {
    const given = JSON.parse(text);
    const found = PATHS.map((name) => given[name]).find((each) => typeof each === "string" && each);
    return found || "";
  } catch {
    return "";
  }
}

/** All that an item says: as it was seen, and as it came. */
function full(session, lane, number, shown, state) {
  const row = session.row(number, lane);
  const facts = [row.at ? clock(row.at) : "", row.label || "", `${whole(row.tokens || 0)} tokens (estimated)`].filter(Boolean).join(" · ");
  const node = el("div", { class: "full" }, el("p", { class: "dim clamp" }, facts, row.call ? [" · answer of ", link(address(session, inLane(`c${row.call}`, lane)), `c${row.call}`)] : null, ` · ${state}`));
  for (const agent of row.agents || []) node.append(el("p", { class: "agents" }, `↳ sub-agent ${agent} `, sessionLink(agent)));
  if (shown !== null && shown !== number) {
    const seen = session.row(shown, lane);
    node.append(el("h3", {}, `as the model saw it (${seen.r}, ${short(seen.tokens || 0)} tokens)`), message(session, seen), el("h3", {}, "as it came"));
  }
  node.append(message(session, row));
  return node;
}

/** A link to a session where it is one of this page, else nothing. */
function sessionLink(name) {
  const index = head.sessions.findIndex((each) => each.name === name || each.key === name);
  return index < 0 ? null : el("a", { href: `#${index + 1}/overview` }, "open it");
}

/** What happened beside items. */
function divider(session, event, { isCursor, isTarget }) {
  const isCompaction = event.type === "context_compacted";
  const what = event.type.replaceAll("_", " ");
  return el("div", { class: `divider ${isCompaction ? "compaction" : ""}${isCursor ? " cursor" : ""}${isTarget ? " target" : ""}`, "data-lead": true, tabindex: -1 },
    link(address(session, event.ref), event.ref.replace(/~\d+$/, ""), { class: "name", tabindex: -1 }),
    el("span", { class: "say" }, isCompaction ? `compaction${event.preview ? `: ${event.preview}` : ""}` : [what, event.preview && event.preview !== what ? `: ${event.preview}` : "", event.outcome ? ` (${event.outcome})` : ""].join("")),
    isCompaction ? el("span", { class: "tok" }, `${beforeAfter(event)}${agentsCount(event) ? ` (agent's count: ${agentsCount(event)})` : ""} · ${whatLeft(event)}`)
      : event.items ? el("span", { class: "tok" }, plural(event.items, "item")) : null);
}
