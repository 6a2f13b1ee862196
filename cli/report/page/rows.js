// The rows of the transcript: an item on one line, opened with all that it says; what else happened as a line across.

/** An item, as it stood at the call that a view shows. */
function itemRow(view, number, { isOpen, isCursor, isTarget }, ontoggle) {
  const { session, n, lane } = view;
  const row = session.row(number, lane);
  const { state, row: shown, decided } = n ? stateOf(session, number, n, lane, view.stands) : { state: "seen", row: number };
  const seen = shown === null ? row : session.row(shown, lane);
  const [glyph, meaning] = GLYPHS[state];
  const why = decided ? `${decided[1].kind} by ${decided[1].by}${decided[1].reason ? `: ${decided[1].reason}` : ""}` : "";
  const said = why ? `${meaning} (${why})` : meaning;
  const classes = ["row", row.category, state, isOpen && "open", isCursor && "cursor", isTarget && "target"].filter(Boolean).join(" ");
  const node = el("div", { class: classes },
    el("div", { class: "line" },
      el("span", { class: "gutter", title: said, role: "img", "aria-label": said }, glyph),
      link(address(session, inLane(row.r, lane)), row.r, { class: "id", "aria-label": `link to item ${row.r}`, tabindex: -1 }),
      el("button", { type: "button", class: "item", "aria-expanded": String(isOpen), "data-lead": true, tabindex: -1, onclick: ontoggle },
        el("span", { class: "who" }, row.who || "nobody"),
        el("span", { class: "say" }, tags(row, seen, state, decided), row.preview ? seen.preview || row.preview : "(empty)"),
        row.at ? el("span", { class: "time" }, clock(row.at, row.at)) : null,
        (row.agents || []).length ? el("span", { class: "agents" }, `↳ ${row.agents.join(", ")}`) : null,
        el("span", { class: "tok" }, seen === row ? short(row.tokens || 0) : [el("s", {}, short(row.tokens || 0)), ` ${short(seen.tokens || 0)}`]))));
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
    link(address(session, event.ref), event.ref, { class: "name", tabindex: -1 }),
    el("span", { class: "say" }, isCompaction ? `compaction${event.preview ? `: ${event.preview}` : ""}` : [what, event.preview && event.preview !== what ? `: ${event.preview}` : "", event.outcome ? ` (${event.outcome})` : ""].join("")),
    isCompaction ? el("span", { class: "tok" }, `${beforeAfter(event)} · ${plural(event.items || 0, "item")} left`)
      : event.items ? el("span", { class: "tok" }, plural(event.items, "item")) : null);
}
