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

/** The drawing. Clicking, or dragging, chooses a call. */
function river(session, { lane = 0, width, height, chosen = null, onchoose = null, label }) {
  const count = session.lanes[lane].contexts.length;
  const left = 46, bottom = 20, top = 20;
  const inner = Math.max(60, width - left - 8);
  const tall = height - bottom - top;
  const columns = columnsOf(session, lane, inner);
  const peak = Math.max(1, ...columns.map((column) => session.total(column.n, lane)));
  const limit = session.data.window || 0;
  const highest = limit && peak > limit / 3 ? Math.max(peak, limit) : peak;
  const x = (n) => left + ((n - 0.5) * inner) / count;
  const y = (tokens) => top + tall - (tokens * tall) / (highest * 1.06);
  const drawing = svg("svg", {
    class: "river", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
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
      drawing.append(svg("path", { class: `band ${category}`, d: steps(columns, below, upper, x, y, inner / count) }));
    }
    upper.forEach((value, at) => { below[at] = value; });
  });
  if (limit && highest >= limit) {
    drawing.append(svg("line", { class: "limit", x1: left, x2: left + inner, y1: y(limit), y2: y(limit) }),
      svg("text", { class: "axis", x: left + inner, y: y(limit) - 4, "text-anchor": "end" }, `window ${short(limit)}`));
  }
  if (lane === 0) drawing.append(...cliffs(session, x, top, tall, inner / count, width));
  for (const n of callTicks(count, inner)) {
    drawing.append(svg("text", { class: "axis", x: x(n), y: height - 5, "text-anchor": "middle" }, `c${n}`));
  }
  const marker = svg("line", { class: "chosen", y1: top - 4, y2: top + tall });
  drawing.append(marker);
  const place = (n) => {
    marker.setAttribute("x1", x(n || 1));
    marker.setAttribute("x2", x(n || 1));
    marker.classList.toggle("none", !n);
  };
  place(chosen);
  drawing.place = place;
  if (onchoose && count) {
    const at = (event) => {
      const box = drawing.getBoundingClientRect();
      const scaled = ((event.clientX - box.left) * width) / box.width;
      return Math.min(count, Math.max(1, Math.ceil(((scaled - left) * count) / inner)));
    };
    drawing.classList.add("choosing");
    drawing.addEventListener("pointerdown", (event) => {
      if (event.target.closest("a")) return;
      drawing.setPointerCapture(event.pointerId);
      onchoose(at(event));
    });
    drawing.addEventListener("pointermove", (event) => { if (event.buttons) onchoose(at(event)); });
  }
  return drawing;
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

/** A line at each compaction, and its name as far as there is room; a short one where they are many. */
function cliffs(session, x, top, tall, wide, width) {
  const found = [];
  const isDense = session.compactions.length * 14 > width;
  let free = 0;
  for (const row of session.compactions) {
    const next = firstAtLeast(session.calls, (call) => call.position, row.position) + 1;
    if (next > session.calls.length) continue;
    const at = x(next) - wide / 2;
    found.push(svg("line", { class: "cliff", x1: at, x2: at, y1: top - 4, y2: isDense ? top + 3 : top + tall }));
    if (at < free || at > width - 22) continue;
    free = at + (isDense ? 60 : 30);
    found.push(svg("a", { href: `#${address(session, row.ref)}`, "aria-label": `compaction ${row.ref}` },
      svg("text", { class: "cliffname", x: at + 3, y: top - 4 }, row.ref)));
  }
  return found;
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
