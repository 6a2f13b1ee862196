// The river: the context of every call as a stack of what its tokens go to, with the cliffs of compaction.

const SHOWN = { system: "system", tools: "tools", user: "user", injected: "injected", summary: "summary", assistant: "assistant", result: "tool results" };
const MOST_COLUMNS = 900;

/** The calls as columns: where there are more of them than room, the fullest one of each stretch. */
function columnsOf(session, lane, width) {
  const count = session.lanes[lane].contexts.length;
  const most = Math.max(1, Math.min(count, Math.floor(width), MOST_COLUMNS));
  const columns = [];
  const full = (n) => session.total(n, lane) + (unrecorded(session, n, lane) || 0);
  for (let at = 0; at < most; at += 1) {
    const [from, to] = [Math.floor((at * count) / most) + 1, Math.floor(((at + 1) * count) / most)];
    let best = from;
    for (let n = from + 1; n <= to; n += 1) if (full(n) > full(best)) best = n;
    columns.push({ from, to, n: best });
  }
  return columns;
}

const UNRECORDED = "billed, not recorded";
const UNRECORDED_MEANS = "billed input without what is estimated of the recorded request: a system prompt or tools that nobody wrote down, and what the provider counts otherwise";

/** Tokens of input as the provider counted them; null where it told none. */
function billedInput(call) {
  const told = ["input", "cached", "cache_write"].map((name) => call?.billed?.[name]).filter((each) => typeof each === "number");
  return told.length ? told.reduce((sum, each) => sum + each, 0) : null;
}

/** What a call was billed beyond what is estimated of it; null where no bill tells, where all of the request is recorded, and of a strategy. */
function unrecorded(session, n, lane = 0) {
  const call = session.calls[n - 1];
  const billed = lane ? null : billedInput(call);
  return billed === null || call.verdict === "exact" ? null : Math.max(0, billed - session.total(n));
}

/** Lines across, as a pattern of a drawing; each has its own name. */
function hatched() {
  hatched.count = (hatched.count || 0) + 1;
  const id = `unrecorded-${hatched.count}`;
  return { fill: `url(#${id})`, pattern: svg("pattern", { id, width: 5, height: 5, patternUnits: "userSpaceOnUse" }, svg("path", { class: "hatch-line", d: "M-1 1l2 -2M0 5l5 -5M4 6l2 -2" })) };
}

/** Its sign in a legend. */
function unrecordedSwatch() {
  return svg("svg", { class: "swatch", width: 10, height: 10, viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("path", { class: "hatch-line", d: "M0 5l5 -5M0 10l10 -10M5 10l5 -5" }), svg("path", { class: "unrecorded-edge", d: "M.5 .5h9v9h-9z" }));
}

const LEAST_USER = 2;

/**
 * The drawing. `onchoose` hears of each call that the pointer is dragged over, `onpoint` of each that it
 * merely points at (null: of none), `onpick` of one that was clicked. `most`: the tokens at its top. `bills`: what was billed and not recorded,
 * above the stack. `marks`: failed calls and breaks of the prefix below the axis. Its `place(n)` moves the line, its `columns` tell how many calls share one.
 */
function river(session, { lane = 0, width, height, chosen = null, onchoose = null, onpoint = null, onpick = null, marks = false, bills = true, most = 0, label }) {
  const count = session.lanes[lane].contexts.length;
  const left = 46, bottom = marks ? 34 : 20, top = 20;
  const inner = Math.max(60, width - left - 8);
  const tall = height - bottom - top;
  const columns = columnsOf(session, lane, inner);
  const missing = columns.map((column) => (bills && unrecorded(session, column.n, lane)) || 0);
  const largest = Math.max(0, ...columns.map((column) => session.total(column.n, lane)));
  const peak = Math.max(1, ...columns.map((column, at) => session.total(column.n, lane) + missing[at]));
  const limit = session.data.window || 0;
  const highest = most || (limit && peak > limit / 3 ? Math.max(peak, limit) : peak);
  const x = (n) => left + ((n - 0.5) * inner) / count;
  const y = (tokens) => top + tall - (tokens * tall) / (highest * 1.06);
  const wide = inner / count;
  const drawing = svg("svg", {
    class: columns.length * 3 > inner ? "river fine" : "river", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": label || `Tokens of the context at each of ${plural(count, "call")}; the largest has ${whole(largest)}${peak > largest && missing.some(Boolean) ? `, and ${whole(peak)} with what was billed and not recorded` : ""}`,
  });
  for (const tick of ticks(highest)) {
    drawing.append(
      svg("line", { class: "grid", x1: left, x2: left + inner, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "axis", x: left - 6, y: y(tick) + 3.5, "text-anchor": "end" }, tickName(tick)),
    );
  }
  const below = new Array(columns.length).fill(0);
  session.categories.forEach((category, index) => {
    // What people said is a hairline in most contexts, and what is looked for.
    const least = category === "user" ? (LEAST_USER * highest * 1.06) / tall : 0;
    const upper = columns.map((column, at) => { const tokens = session.tokens(column.n, lane)[index]; return below[at] + (tokens && Math.max(tokens, least)); });
    if (upper.some((value, at) => value > below[at])) {
      drawing.append(svg("path", { class: `band ${category}`, d: steps(columns, below, upper, x, y, wide) }));
    }
    upper.forEach((value, at) => { below[at] = value; });
  });
  if (missing.some(Boolean)) {
    const { fill, pattern } = hatched();
    drawing.append(svg("defs", {}, pattern), svg("path", { class: "unrecorded", fill, d: steps(columns, below, below.map((value, at) => value + missing[at]), x, y, wide) }, svg("title", {}, `${UNRECORDED}: ${UNRECORDED_MEANS}`)));
  }
  if (limit && highest >= limit) {
    drawing.append(svg("line", { class: "limit", x1: left, x2: left + inner, y1: y(limit), y2: y(limit) }),
      svg("text", { class: "axis", x: left + inner, y: y(limit) - 4, "text-anchor": "end" }, `window ${short(limit)}`));
  }
  if (lane === 0) drawing.append(...cliffs(session, x, top, tall, wide, width, { isTold: marks, highest: Math.max(1, largest) }));
  else drawing.append(...laneCliffs(session, lane, x, top, tall, wide, width));
  if (lane === 0 && marks) drawing.append(...faults(session, columns, x, top + tall));
  for (const n of callTicks(count, inner)) {
    drawing.append(svg("text", { class: "axis", x: x(n), y: height - 5, "text-anchor": "middle" }, `c${n}`));
  }
  const hover = svg("rect", { class: "hover", y: top - 4, height: tall + 4, width: Math.max(1, wide), visibility: "hidden" });
  const marker = svg("line", { class: "chosen", y1: top - 4, y2: top + tall });
  drawing.append(hover, marker);
  const place = (n) => {
    marker.setAttribute("x1", x(n || 1));
    marker.setAttribute("x2", x(n || 1));
    marker.classList.toggle("none", !n);
  };
  place(chosen);
  Object.assign(drawing, { place, columns: columns.length, calls: count });
  if (!count) return drawing;
  const at = (event) => {
    const box = drawing.getBoundingClientRect();
    const scaled = ((event.clientX - box.left) * width) / box.width;
    return Math.min(count, Math.max(1, Math.ceil(((scaled - left) * count) / inner)));
  };
  if (onchoose || onpick) drawing.classList.add("choosing");
  if (onchoose) {
    drawing.addEventListener("pointerdown", (event) => {
      if (event.button || event.target.closest("a")) return;
      drawing.setPointerCapture(event.pointerId);
      onchoose(at(event));
    });
  }
  if (onpick) drawing.addEventListener("click", (event) => { if (!event.target.closest("a")) onpick(at(event)); });
  drawing.addEventListener("pointermove", (event) => {
    const n = at(event);
    if (onchoose && event.buttons & 1 && drawing.hasPointerCapture(event.pointerId)) onchoose(n);
    hover.setAttribute("x", x(n) - wide / 2);
    hover.setAttribute("visibility", "visible");
    if (onpoint) onpoint(n);
  });
  drawing.addEventListener("pointerleave", () => {
    hover.setAttribute("visibility", "hidden");
    if (onpoint) onpoint(null);
  });
  return drawing;
}

/** What a river cannot show of very many calls, in words; empty where each has its own column. */
function crowded(drawing) {
  return drawing.columns < drawing.calls
    ? `${whole(drawing.calls)} calls in ${whole(drawing.columns)} columns: each column shows the fullest of its calls.` : "";
}

/** Below the axis: calls that failed, and calls that broke the prefix of one before. One of a kind in a column. */
function faults(session, columns, x, base) {
  const found = [];
  for (const { from, to } of columns) {
    let failed = 0, broke = 0;
    for (let n = from; n <= to; n += 1) {
      if (!failed && session.calls[n - 1].outcome === "failed") failed = n;
      if (!broke && session.calls[n - 1].prefix?.cause) broke = n;
    }
    if (broke) found.push(svg("path", { class: "broke", d: `M${(x(broke) - 3).toFixed(1)},${base + 2}h6l-3,5z` }));
    if (failed) {
      const [at, y] = [x(failed), base + 12];
      found.push(svg("path", { class: "failed", d: `M${at - 2.5},${y - 2.5}l5,5m0,-5l-5,5` }));
    }
  }
  return found;
}

/** A band as steps: what one call was given does not slide into what the next one was. */
function steps(columns, lower, upper, x, y, wide) {
  const up = [], down = [];
  columns.forEach((column, at) => {
    const from = x(column.from) - wide / 2, to = x(column.to) + wide / 2;
    up.push(`${from.toFixed(1)},${y(upper[at]).toFixed(1)}`, `${to.toFixed(1)},${y(upper[at]).toFixed(1)}`);
    down.push(`${from.toFixed(1)},${y(lower[at]).toFixed(1)}`, `${to.toFixed(1)},${y(lower[at]).toFixed(1)}`);
  });
  const back = [];
  for (let at = down.length - 2; at >= 0; at -= 2) back.push(down[at + 1], down[at]);
  return `M${up.join("L")}L${back.join("L")}Z`;
}

function* ticks(highest) {
  const raw = highest / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((each) => each * power).find((each) => each >= raw);
  for (let tick = 0; tick <= highest * 1.02; tick += step) yield tick;
}

function* callTicks(count, inner) {
  const most = Math.max(1, Math.floor(inner / 60));
  const raw = count / most;
  const power = 10 ** Math.floor(Math.log10(Math.max(raw, 1)));
  const step = Math.max(1, [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw));
  for (let n = step === 1 ? 1 : step; n <= count; n += step) yield n;
}

/** Compactions and clearings that stand between two calls: what each took of the recorded context, by call. */
function cliffsOf(session) {
  const behind = (position) => firstAtLeast(session.calls, (call) => call.position, position) + 1;
  const took = (row) => Math.max(0, (row.before_recorded || 0) - (row.after_recorded || 0));
  return [
    ...session.compactions.map((row) => ({ row, n: behind(row.position), took: took(row), name: row.ref, said: `${row.ref} ${beforeAfter(row)}`, place: row.ref, what: `compaction ${row.ref}` })),
    ...(session.data.compactions || []).filter((each) => each.kind !== "compaction").map((row) => ({ row, n: behind(row.position), took: took(row), name: "✂", said: `✂ ${whole(row.count || 0)} ${row.did}`, place: eventOf(session, row.name) ? row.name : "compactions", what: whatChanged(row), isClearing: true })),
  ].filter((each) => each.n <= session.calls.length).sort((one, other) => one.n - other.n);
}

/** Of the largest context: what took less is no cliff that anybody looks for. */
const SLIGHT = 1 / 20;

/** A line at each compaction and clearing, with its name where there is room: the one that took most has it first. */
function cliffs(session, x, top, tall, wide, width, { isTold = false, highest = 1 } = {}) {
  const all = cliffsOf(session);
  const isDense = all.length * 14 > width;
  const isSlight = (each) => each.took < highest * SLIGHT;
  const lines = new Map();
  for (const each of all) {
    const at = x(each.n) - wide / 2;
    // Of very many one a pixel, the largest.
    const key = isDense ? Math.round(at) : `${at} ${each.name}`;
    if (!lines.has(key) || lines.get(key).took < each.took) lines.set(key, { ...each, at });
  }
  const found = [...lines.values()].filter((each) => !each.isClearing || !isSlight(each)).map((each) =>
    svg("line", { class: `cliff${each.isClearing ? " clearing" : ""}${isSlight(each) ? " slight" : ""}`, x1: each.at, x2: each.at, y1: top - 4, y2: isDense ? top + 3 : top + tall }));
  const spans = [];
  const named = [...lines.values()].filter((each) => !(each.isClearing && (isSlight(each) || !isTold))).sort((one, other) => other.took - one.took || one.n - other.n);
  for (const each of named) {
    for (const name of new Set(isTold ? [each.said, each.name] : [each.name])) {
      const room = 12 + 6.3 * name.length;
      const turned = each.at + room > width;
      const span = turned ? [each.at - room, each.at] : [each.at, each.at + room];
      if (spans.some(([from, to]) => from < span[1] && span[0] < to)) continue;
      spans.push(span);
      found.push(svg("a", { href: `#${address(session, each.place)}`, tabindex: -1, "aria-label": each.what },
        svg("text", { class: `cliffname${each.isClearing ? " clearing" : ""}${isSlight(each) ? " slight" : ""}`, x: turned ? each.at - 3 : each.at + 3, y: top - 6, "text-anchor": turned ? "end" : "start" }, name)));
      break;
    }
  }
  return found;
}

/** What a compaction did to how many items, in the words of the log: 71 items folded, 1 item dropped. */
function whatLeft(row) {
  if (row.reordered) return "items in another order";
  return `${plural(row.items || 0, "item")} ${row.brought || row.summary_erased ? "folded" : "dropped"}`;
}

/** And what was put in the place of single items: 8 items cleared. */
function whatChanged(row) {
  return `${plural(row.count || 0, "item")} ${row.did}`;
}

/** The same of a strategy: where it summarised or dropped something; short ones where they are many. */
function laneCliffs(session, lane, x, top, tall, wide, width) {
  const calls = [];
  session.lanes[lane].moves.forEach((moves, index) => { if (moves.some((move) => LEAVING.has(move.kind))) calls.push(index + 1); });
  if (calls.length * 6 > width) return [svg("text", { class: "cliffname", x: width - 8, y: top - 6, "text-anchor": "end" }, `something left before ${plural(calls.length, "call")}`)];
  const isDense = calls.length * 14 > width;
  return calls.map((n) => svg("line", { class: "cliff", x1: x(n) - wide / 2, x2: x(n) - wide / 2, y1: top - 4, y2: isDense ? top + 3 : top + tall }));
}

/** What a compaction made of the context, estimated of what is recorded: ≈14.5k → ≈924. Never between unlike counts. */
function beforeAfter(row) {
  return `≈${short(row.before_recorded || 0)} → ≈${short(row.after_recorded || 0)}`;
}

/** The agent's own count beside it, of its whole request: 35.1k, or 35.1k → 20.0k; empty where it told none. */
function agentsCount(row) {
  return [row.before_estimated ? "" : short(row.before_tokens || 0), row.after_estimated ? "" : `→ ${short(row.after_tokens || 0)}`].filter(Boolean).join(" ");
}

/** What the colours mean, with the tokens of a call; of call 0 those that any call has. */
function legend(session, n, lane = 0, { bills = true } = {}) {
  const tokens = n ? session.tokens(n, lane) : null;
  const isThere = (index) => tokens ? tokens[index] : session.lanes.some((each) => each.contexts.some((context) => context.tokens[index]));
  return el("ul", { class: "legend" }, session.categories.map((category, index) => {
    if (!isThere(index)) return null;
    return el("li", {}, el("i", { class: `swatch ${category}` }), SHOWN[category], tokens ? el("b", {}, ` ${short(tokens[index])}`) : null);
  }), bills ? unrecordedKey(session, n, lane) : null);
}

/** The same of what was billed and is not recorded. */
function unrecordedKey(session, n, lane) {
  const missing = n ? unrecorded(session, n, lane) : !lane && session.calls.some((call) => unrecorded(session, call.n));
  return missing ? el("li", { title: UNRECORDED_MEANS }, unrecordedSwatch(), UNRECORDED, n ? el("b", {}, ` ${short(missing)}`) : null) : null;
}

/** One context as a bar of its categories. */
function categoryBar(session, tokens, label) {
  const total = tokens.reduce((sum, each) => sum + each, 0);
  return el("div", { class: "bar", role: "img", "aria-label": label || session.categories.map((name, at) => `${SHOWN[name]} ${tokens[at]}`).join(", ") },
    session.categories.map((category, index) => tokens[index]
      ? el("span", { class: category, style: { width: `${(100 * tokens[index]) / total}%` }, title: `${SHOWN[category]}: ${whole(tokens[index])} tokens` }) : null));
}
