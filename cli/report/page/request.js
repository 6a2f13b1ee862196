// The exact request of a call: what it is known by, and the request to look at and to copy.

const LARGE_REQUEST = 200_000;

/** The request of call n: folded; it is put together when somebody opens it. */
function requestSection(session, n) {
  const { bodies, ways, left_out: leftOut, faults } = session.data.requests;
  const body = bodies[n];
  const title = el("summary", {}, el("span", {}, "exact request"), el("span", { class: "tok" }, body ? `${short(body.bytes)}B` : "–"));
  const node = el("details", { class: "fold request" }, title);
  if (!body) {
    put(node, el("p", { class: "dim" }, faults[n] || (leftOut.includes(n)
      ? "Making the request of every call of this session would take too long; that of this one is not here. "
      : "No request."), leftOut.includes(n) ? el("code", { class: "next" }, `ctxlog show ${session.data.name}@c${n} --request`) : null));
    return node;
  }
  const way = ways[body.way];
  let asked = null;
  const made = () => { asked = asked || assembled(session, body); return asked; };
  const give = (form) => async () => {
    const { text } = await made();
    const whole_ = { dialect: way.dialect, url: way.url, headers: way.headers || {}, text };
    try {
      return form(whole_);
    } catch (fault) {
      say(fault.message);
      return null;
    }
  };
  const shown = el("pre", { class: "loading" }, "…");
  const told = el("ul", { class: "changes" });
  put(node,
    told,
    el("p", { class: "copies" },
      copyButton("JSON", give((each) => each.text), "copy the body as JSON"), " ",
      copyButton("curl", give(asCurl), "copy a command that sends it; the key is read from the environment"), " ",
      copyButton("Python", give(asPython), "copy a script that sends it; the key is read from the environment")),
    shown);
  node.addEventListener("toggle", async () => {
    if (!node.open || told.childElementCount) return;
    put(told, notesOf(session, body, way).map((note) => el("li", { class: "dim" }, note)));
    const { text, missing, digest } = await made();
    put(told, missing ? el("li", { class: "bad" }, `${plural(missing, "character")} of long texts are not in this ${HOST} (${KEEPS} keeps them): what is copied lacks them`) : null,
      digest ? el("li", { class: "dim" }, "sha256 ", el("code", { class: "digest" }, digest)) : null);
    shown.classList.remove("loading");
    const all = () => put(clear(shown), pretty(text));
    if (text.length <= LARGE_REQUEST) all();
    else put(clear(shown), text.slice(0, END), el("button", { type: "button", class: "more", onclick: all }, `… ${whole(text.length - 2 * END)} more characters: show all …`), text.slice(-END));
  });
  return node;
}

function notesOf(session, body, way) {
  const masked = Object.values(session.data.masked.counts || {}).some(Boolean);
  return [
    ...(way.notes || []).map((note) => masked && body.same_bytes ? `${note}, but for secrets that are masked here` : note),
    `${way.url_recorded ? "went to" : "such a request goes to"} ${way.url}`,
  ];
}

/** The body of a call, how many characters of it are not in the file, and its digest. */
async function assembled(session, body) {
  const pieces = {};
  for (const [first, count] of body.runs) {
    for (let at = first; at < first + count; at += 1) pieces[at] = await session.chunked("requests", at);
  }
  const texts = new Map();
  let missing = 0;
  for (const number of textsNeeded(pieces, body.runs)) {
    texts.set(number, await session.text(number));
    missing += session.size(number)[1];
  }
  const text = joinPieces(pieces, body.runs, (number) => texts.get(number));
  return { text, missing, digest: await digestOf(text) };
}

/** Where the browser has one to give. */
async function digestOf(text) {
  if (!globalThis.crypto?.subtle) return "";
  const found = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(found)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** JSON with lines and blanks, to be read: its own tokens as they stand. */
function pretty(text) {
  const found = [];
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  for (let at = 0; at < text.length;) {
    const char = text[at];
    if (char === '"') {
      const end = endOfString(text, at);
      found.push(text.slice(at, end + 1));
      at = end + 1;
      continue;
    }
    if (char === "{" || char === "[") {
      depth += 1;
      found.push(char, /[\]}]/.test(text[at + 1] || "") ? "" : line());
    } else if (char === "}" || char === "]") {
      depth -= 1;
      found.push(/[[{]/.test(text[at - 1] || "") ? "" : line(), char);
    } else if (char === ",") {
      found.push(char, line());
    } else if (char === ":") {
      found.push(": ");
    } else if (char !== " ") {
      found.push(char);
    }
    at += 1;
  }
  return found.join("");
}
