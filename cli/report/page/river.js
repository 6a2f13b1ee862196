// The river: the context of every call as a stack of what its tokens go to, with the cliffs of compaction.

const SHOWN = { system: "system", tools: "tools", user: "user", injected: "injected", summary: "summary", assistant: "assistant", result: "tool results" };
const MOST_COLUMNS = 900;

/** The calls as columns: where there are more of them than room, the fullest one of each stretch. */
function columnsOf(session, lane, width) {
  const count = session.lanes[lane].contexts.length;
  const most = Math.max(1, Math.min(count, Math.floor(width), MOST_COLUMNS));
  const columns = [];
  for (let at = 0; at < most; at += 1) {
    const [from, to] = [Math.floor((at * count) / most) + 1, Math.floor(((at + 1) * count) / most)];
    let best = from;
    for (let n = from + 1; n <= to; n += 1) if (session.total(n, lane) > session.total(best, lane)) best = n;
    columns.push({ from, to, n: best });
  }
  return columns;
}

/**
 * The drawing. `onchoose` hears of each call that the pointer is dragged over, `onpoint` of each that it
 * merely points at (null: of none), `onpick` of one that was clicked. `most`: the tokens at its top. `marks`: failed calls and breaks of
 * the prefix below the axis. Its `place(n)` moves the line, its `columns` tell how many calls share one.
 */
function river(session, { lane = 0, width, height, chosen = null, onchoose = null, onpoint = null, onpick = null, marks = false, most = 0, label }) {
  const count = session.lanes[lane].contexts.length;
  const left = 46, bottom = marks ? 34 : 20, top = 20;
  const inner = Math.max(60, width - left - 8);
  const tall = height - bottom - top;
  const columns = columnsOf(session, lane, inner);
  const peak = Math.max(1, ...columns.map((column) => session.total(column.n, lane)));
  const limit = session.data.window || 0;
  const highest = most || (limit && peak > limit / 3 ? Math.max(peak, limit) : peak);
  const x = (n) => left + ((n - 0.5) * inner) / count;
  const y = (tokens) => top + tall - (tokens * tall) / (highest * 1.06);
  const wide = inner / count;
  const drawing = svg("svg", {
    class: columns.length * 3 > inner ? "river fine" : "river", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": label || `Tokens of the context at each of ${plural(count, "call")}; the largest has ${whole(peak)}`,
  });
  for (const tick of ticks(highest)) {
    drawing.append(
      svg("line", { class: "grid", x1: left, x2: left + inner, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "axis", x: left - 6, y: y(tick) + 3.5, "text-anchor": "end" }, short(tick)),
    );
  }
  const below = new Array(columns.length).fill(0);
  session.categories.forEach((category, index) => {
    const upper = columns.map((column, at) => below[at] + session.tokens(column.n, lane)[index]);
    if (upper.some((value, at) => value > below[at])) {
      drawing.append(svg("path", { class: `band ${category}`, d: steps(columns, below, upper, x, y, wide) }));
    }
    upper.forEach((value, at) => { below[at] = value; });
  });
  if (limit && highest >= limit) {
    drawing.append(svg("line", { class: "limit", x1: left, x2: left + inner, y1: y(limit), y2: y(limit) }),
      svg("text", { class: "axis", x: left + inner, y: y(limit) - 4, "text-anchor": "end" }, `window ${short(limit)}`));
  }
  if (lane === 0) drawing.append(...cliffs(session, x, top, tall, wide, width, marks));
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

/** A line at each compaction, with its name and, where there is room, its tokens; a short one where they are many. */
function cliffs(session, x, top, tall, wide, width, isTold) {
  const found = [];
  const isDense = session.compactions.length * 14 > width;
  const isSaid = isTold && session.compactions.length * 130 < width;
  let free = 0;
  for (const row of session.compactions) {
    const next = firstAtLeast(session.calls, (call) => call.position, row.position) + 1;
    if (next > session.calls.length) continue;
    const at = x(next) - wide / 2;
    found.push(svg("line", { class: "cliff", x1: at, x2: at, y1: top - 4, y2: isDense ? top + 3 : top + tall }));
    const name = isSaid ? `${row.ref} ${beforeAfter(row)}` : row.ref;
    const room = isSaid ? 110 : 30;
    const turned = at > width - room;
    if ((turned ? at - room : at) < free) continue;
    free = at + (isDense ? 60 : room);
    found.push(svg("a", { href: `#${address(session, row.ref)}`, tabindex: -1, "aria-label": `compaction ${row.ref}` },
      svg("text", { class: "cliffname", x: turned ? at - 3 : at + 3, y: top - 6, "text-anchor": turned ? "end" : "start" }, name)));
  }
  return found;
}

/** The same of a strategy: where it summarised or dropped something; short ones where they are many. */
function laneCliffs(session, lane, x, top, tall, wide, width) {
  const calls = [];
  session.lanes[lane].moves.forEach((moves, index) => { if (moves.some((move) => LEAVING.has(move.kind))) calls.push(index + 1); });
  if (calls.length * 6 > width) return [svg("text", { class: "cliffname", x: width - 8, y: top - 6, "text-anchor": "end" }, `something left before ${plural(calls.length, "call")}`)];
  const isDense = calls.length * 14 > width;
  return calls.map((n) => svg("line", { class: "cliff", x1: x(n) - wide / 2, x2: x(n) - wide / 2, y1: top - 4, y2: isDense ? top + 3 : top + tall }));
}

/** The tokens of a compaction as 35k → ~924: ~ where nobody told and they are estimated. */
function beforeAfter(row) {
  return `${row.before_estimated ? "~" : ""}${short(row.before_tokens || 0)} → ${row.after_estimated ? "~" : ""}${short(row.after_tokens || 0)}`;
}

/** What the colours mean, with the tokens of a call. */
function legend(session, n, lane = 0) {
  const tokens = n ? session.tokens(n, lane) : null;
  return el("ul", { class: "legend" }, session.categories.map((category, index) => {
    if (tokens && !tokens[index]) return null;
    return el("li", {}, el("i", { class: `swatch ${category}` }), SHOWN[category], tokens ? el("b", {}, ` ${short(tokens[index])}`) : null);
  }));
}

/** One context as a bar of its categories. */
function categoryBar(session, tokens, label) {
  const total = tokens.reduce((sum, each) => sum + each, 0);
  return el("div", { class: "bar", role: "img", "aria-label": label || session.categories.map((name, at) => `${SHOWN[name]} ${tokens[at]}`).join(", ") },
    session.categories.map((category, index) => tokens[index]
      ? el("span", { class: category, style: { width: `${(100 * tokens[index]) / total}%` }, title: `${SHOWN[category]}: ${whole(tokens[index])} tokens` }) : null));
}
