// Lines over the calls of a session, one a lane: tokens, or what they cost.

const DASHES = ["", "7 3", "2 3", "10 3 2 3", "5 2", "12 4", "1 2", "8 2 2 2 2 2", "4 4", "14 3"];
const TONES = 8;

/** How the line of a lane looks: observed in ink, each strategy in its tone and dashes. */
function lineOf(lane) {
  return { class: `series ${lane ? `tone${(lane - 1) % TONES}` : "observed"}`, "stroke-dasharray": lane ? DASHES[(lane - 1) % DASHES.length] : null };
}

/** A piece of that line, for a legend. */
function sample(lane) {
  return svg("svg", { class: "sample", width: 26, height: 10, viewBox: "0 0 26 10", "aria-hidden": "true" }, svg("line", { ...lineOf(lane), x1: 1, x2: 25, y1: 5, y2: 5 }));
}

/**
 * The drawing. `series` are {lane, name, values}; `said` writes a value of the axis. `onpoint` hears of the call
 * that is pointed at, `onpick` of one that was clicked; its `place(n)` moves the line that marks a call.
 */
function linesChart({ series, width, height, said, label, chosen, onpoint, onpick }) {
  const count = Math.max(...series.map((each) => each.values.length), 1);
  const wide = width >= 480;
  const left = 46, bottom = 20, top = 10, right = wide ? Math.min(200, 24 + 6 * Math.max(...series.map((each) => Math.min(each.name.length, MOST_NAME)))) : 26;
  const inner = Math.max(60, width - left - right), tall = height - bottom - top;
  const highest = Math.max(...series.map((each) => each.values.reduce((most, value) => Math.max(most, value), 0)), Number.MIN_VALUE) || 1;
  const x = (n) => left + ((n - 0.5) * inner) / count;
  const y = (value) => top + tall - (value * tall) / (highest * 1.04);
  const drawing = svg("svg", { class: count > inner ? "lines choosing dense" : "lines choosing", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label });
  for (const tick of ticks(highest)) {
    drawing.append(svg("line", { class: "grid", x1: left, x2: left + inner, y1: y(tick), y2: y(tick) }),
      svg("text", { class: "axis", x: left - 6, y: y(tick) + 3.5, "text-anchor": "end" }, said(tick)));
  }
  for (const n of callTicks(count, inner)) drawing.append(svg("text", { class: "axis", x: x(n), y: height - 5, "text-anchor": "middle" }, `c${n}`));
  // What really was lies below, so that no strategy hides behind it.
  for (const { lane, values } of series) drawing.append(svg("path", { ...lineOf(lane), d: traced(values, x, y, inner) }));
  drawing.append(...namesAt(series, y, top, tall, left + inner, wide));
  const marker = svg("line", { class: "chosen", y1: top, y2: top + tall });
  const dots = series.map(({ lane }) => svg("circle", { class: lineOf(lane).class, r: 3 }));
  drawing.append(marker, ...dots);
  drawing.crowd = count > inner ? `${whole(count)} calls in ${whole(Math.ceil(count / Math.ceil(count / Math.floor(inner))))} columns: of each the lowest and the highest` : "";
  drawing.place = (n) => {
    for (const node of [marker, ...dots]) node.classList.toggle("none", !n);
    if (!n) return;
    marker.setAttribute("x1", x(n));
    marker.setAttribute("x2", x(n));
    series.forEach(({ values }, at) => {
      dots[at].setAttribute("cx", x(n));
      dots[at].setAttribute("cy", y(values[n - 1] || 0));
    });
  };
  drawing.place(chosen);
  const at = (event) => {
    const box = drawing.getBoundingClientRect();
    const scaled = ((event.clientX - box.left) * width) / box.width;
    return Math.min(count, Math.max(1, Math.ceil(((scaled - left) * count) / inner)));
  };
  drawing.addEventListener("pointermove", (event) => onpoint(at(event)));
  drawing.addEventListener("click", (event) => onpick(at(event)));
  return drawing;
}

/** A line; of more calls than there are columns the lowest and the highest of each column. */
function traced(values, x, y, inner) {
  const each = Math.max(1, Math.ceil(values.length / Math.max(1, Math.floor(inner))));
  const points = [];
  for (let from = 0; from < values.length; from += each) {
    const part = values.slice(from, from + each);
    const low = part.indexOf(Math.min(...part)), high = part.indexOf(Math.max(...part));
    for (const place of [...new Set([low, high])].sort((one, other) => one - other)) points.push(`${x(from + place + 1).toFixed(1)},${y(part[place]).toFixed(1)}`);
  }
  return points.length ? `M${points.join("L")}` : "";
}

const LINE = 13;
const MOST_NAME = 28;

/** The names at the ends of the lines, pushed apart where they would lie on each other; numbers where it is narrow. */
function namesAt(series, y, top, tall, right, wide) {
  const ends = series.filter((each) => each.values.length).map((each) => ({ ...each, at: y(each.values.at(-1)), end: y(each.values.at(-1)) })).sort((one, other) => one.at - other.at);
  ends.forEach((each, at) => { if (at) each.at = Math.max(each.at, ends[at - 1].at + LINE); });
  const over = ends.length ? ends.at(-1).at - (top + tall) : 0;
  if (over > 0) {
    ends.at(-1).at -= over;
    for (let at = ends.length - 2; at >= 0; at -= 1) ends[at].at = Math.min(ends[at].at, ends[at + 1].at - LINE);
  }
  return ends.flatMap(({ lane, name, at, end }) => [
    svg("path", { class: `${lineOf(lane).class} leader`, d: `M${right},${end.toFixed(1)}L${right + 8},${at.toFixed(1)}` }),
    svg("text", { class: `endname ${lane ? `tone${(lane - 1) % TONES}` : ""}`, x: right + 11, y: at + 4 }, wide ? shortened(name, MOST_NAME) : String(lane)),
  ]);
}

function shortened(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
