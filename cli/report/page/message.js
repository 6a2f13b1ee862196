// What an item says: its parts, as prose, code, differences or JSON; long texts as head and tail.

const END = 4096;
const MOST_MARKS = 500;
const AROUND = 1500;

/** The parts of a row. */
function message(session, row) {
  const isProse = row.category !== "result";
  return el("div", { class: "message" }, (row.parts || []).map(([kind, name, named, isError]) => part(session, kind, name, named, isError, isProse)));
}

function part(session, kind, name, named, isError, isProse) {
  const isCall = kind === "call";
  const holder = el("div", { class: "holds" });
  const draw = (how) => clear(holder).append(textBlock(session, named, { how }));
  const plain = kind === "text" && isProse ? "prose" : "code";
  draw(plain);
  const title = el("span", { class: "kind" }, [isCall ? "→" : kind === "text" && !name ? "" : kind, name].filter(Boolean).join(" "), isError ? el("em", { class: "tag error" }, "error") : null);
  const acts = el("span", { class: "acts" });
  if (isCall) {
    let isIndented = false;
    const button = el("button", { type: "button", "aria-pressed": "false" }, "indent");
    button.addEventListener("click", () => {
      isIndented = !isIndented;
      button.setAttribute("aria-pressed", String(isIndented));
      draw(isIndented ? "json" : plain);
    });
    acts.append(button);
  }
  acts.append(copyButton("copy", () => session.text(named), session.size(named)[1] ? `what is in this ${HOST} of it` : "all of it"));
  return el("div", { class: `part ${kind}${isError ? " error" : ""}` }, el("div", { class: `partline${title.textContent ? "" : " bare"}` }, title, acts), holder);
}

/**
 * A text: a short one whole, a long one as head and tail, and what is looked for with what stands around it;
 * the rest when it is asked for. `how`: code, prose or json (indented, where it is JSON).
 */
function textBlock(session, named, { how = "code" } = {}) {
  const node = el("pre", { class: how === "prose" ? "prose" : "" });
  const [size, missing] = session.size(named);
  if (typeof named === "string") {
    drawText(node, named, [[0, named.length]], { how, missing: 0, find: session.find });
    return node;
  }
  node.classList.add("loading");
  put(node, "…");
  session.text(named).then((text) => {
    node.classList.remove("loading");
    // Characters are counted whole, which a browser's own offsets do not do.
    const half = missing ? offsetOf(text, (size - missing) / 2) : -1;
    const all = () => { drawText(clear(node), text, [[0, text.length]], { how, missing, half, find: session.find }); };
    if (text.length <= 2 * END + 200) return all();
    const hits = hitsOf(text, session.find, 40);
    if (how === "json") return all();
    drawText(clear(node), text, windows(text.length, hits).map((range) => range.map((at) => between(text, at))), { how, missing, half, find: session.find, all, size });
  }).catch(() => { put(clear(node), "this text could not be read"); });
  return node;
}

/** Head, tail and what stands around hits, as ranges that do not touch. */
function windows(length, hits) {
  const ranges = [[0, END], ...hits.map(([from, to]) => [Math.max(0, from - AROUND), Math.min(length, to + AROUND)]), [length - END, length]];
  ranges.sort((one, other) => one[0] - other[0]);
  const found = [ranges[0].slice()];
  for (const [from, to] of ranges.slice(1)) {
    const last = found.at(-1);
    if (from <= last[1] + 200) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

/** The offset behind so many characters. */
function offsetOf(text, count) {
  let at = 0;
  for (let left = count; left > 0 && at < text.length; left -= 1) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
}

/** An offset that does not lie inside of a character. */
function between(text, at) {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff && at > 0 ? at - 1 : at;
}

function drawText(node, text, ranges, { how, missing, half = -1, find, all, size }) {
  if (!text) return put(node, "(empty)");
  const shown = how === "json" ? indented(text) : text;
  if (shown !== text) ranges = [[0, shown.length]];
  ranges.forEach(([from, to], index) => {
    if (index) {
      node.append(el("button", { type: "button", class: "more", onclick: all },
        `… ${whole(from - ranges[index - 1][1])} more characters: show all ${whole(size - missing)} …`));
    }
    // What was cut out of a text when the file was made lies in its middle.
    const cuts = half > from && half < to && shown === text ? [[from, half], [half, to]] : [[from, to]];
    cuts.forEach(([start, end], at) => {
      if (at) node.append(gap(missing));
      styled(node, shown.slice(start, end), how, find);
    });
  });
  return node;
}

function gap(count) {
  return el("span", { class: "gap" }, `\n… ${plural(count, "character")} not in this ${HOST} (${KEEPS} keeps them) …\n`);
}

const DIFF = /^(diff --git |@@ -\d|--- \S.*\n\+\+\+ )/m;

/** Prose with its fenced code, differences line by line, all else as it is. */
function styled(node, text, how, find) {
  if (how === "prose" && text.includes("```")) {
    text.split(/(^```[^\n]*\n[\s\S]*?^```[ \t]*$)/m).forEach((piece, index) => {
      if (piece) node.append(index % 2 ? marked(el("code", { class: "block" }), piece, find) : marked(document.createDocumentFragment(), piece, find));
    });
  } else if (how === "code" && DIFF.test(text)) {
    for (const line of text.split(/(?<=\n)/).slice(0, 1500)) {
      const sign = /^\+(?!\+\+ )/.test(line) ? "plus" : /^-(?!-- )/.test(line) ? "minus" : /^@@ /.test(line) ? "place" : "";
      node.append(marked(sign ? el("span", { class: sign }) : document.createDocumentFragment(), line, find));
    }
    const rest = text.split(/(?<=\n)/).slice(1500).join("");
    if (rest) marked(node, rest, find);
  } else marked(node, text, find);
}

/** A pattern for a text as it is, in any case; null for none. */
function literally(find) {
  return find ? new RegExp(find.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu") : null;
}

/** Where a text holds what is looked for, the first ones. */
function hitsOf(text, find, most) {
  const found = [];
  const pattern = literally(find);
  if (!pattern) return found;
  for (const hit of text.matchAll(pattern)) {
    found.push([hit.index, hit.index + hit[0].length]);
    if (found.length >= most) break;
  }
  return found;
}

/** A text into a node, with what is looked for marked. */
function marked(node, text, find) {
  let at = 0;
  for (const [from, to] of hitsOf(text, find, MOST_MARKS)) {
    put(node, text.slice(at, from), el("mark", {}, text.slice(from, to)));
    at = to;
  }
  return put(node, text.slice(at));
}

/** JSON with a line for each value, its literals as they were written; any other text as it is. */
function indented(text) {
  try {
    JSON.parse(text);
  } catch {
    return text;
  }
  const out = [];
  let depth = 0;
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) || [];
  tokens.forEach((token, index) => {
    const opens = token === "{" || token === "[", closes = token === "}" || token === "]";
    const before = tokens[index - 1];
    if (closes) depth -= 1;
    if (closes && before !== "{" && before !== "[") out.push("\n", "  ".repeat(depth));
    out.push(token);
    if (opens) depth += 1;
    const next = tokens[index + 1];
    if ((opens && next !== "}" && next !== "]") || token === ",") out.push("\n", "  ".repeat(depth));
    if (token === ":") out.push(" ");
  });
  return out.join("");
}
