// The requests of calls: joined from their pieces, and as a command or a script that sends one.
//
// What asCurl and asPython give is what `ctxlog show S@cN --request --as curl|python` gives, to the
// byte; only a character that is newer than the Unicode of one of the two may be an escape in one.
// A body is {dialect, url, headers, text}; all of it may be hostile, and none of it is ever code.

// -- pieces --------------------------------------------------------------------------------------

// A piece is a list of literal text, of numbers of long texts, and of [style, number]; in the place
// of a piece its number may stand again.
function eachPiece(pieces, runs, take) {
  for (const [first, count] of runs) {
    for (let at = first; at < first + count; at += 1) {
      const piece = pieces[at];
      take(typeof piece === "number" ? pieces[piece] : piece);
    }
  }
}

// The body of a call. textOf gives a long text by its number; it has to be there already.
function joinPieces(pieces, runs, textOf) {
  const found = [];
  eachPiece(pieces, runs, (piece) => {
    for (const part of piece) {
      if (typeof part === "string") found.push(part);
      else if (typeof part === "number") found.push(insideQuotes(textOf(part), 0));
      else found.push(insideQuotes(textOf(part[1]), part[0]));
    }
  });
  return found.join("");
}

// The numbers of the long texts that joinPieces will ask for.
function textsNeeded(pieces, runs) {
  const found = new Set();
  eachPiece(pieces, runs, (piece) => {
    for (const part of piece) {
      if (typeof part === "number") found.add(part);
      else if (typeof part !== "string") found.add(part[1]);
    }
  });
  return found;
}

// What each style of wire.STYLES escapes beyond JSON.stringify.
const ESCAPED_BY_STYLE = [null, /[^ -~]/g, /[^ -~]/g, null, /[<>&\u2028\u2029]/g, /[^ -~]/g];
const SLASHES_STYLE = 5;

// A text as JSON writes it between its quotes, in one of the styles.
function insideQuotes(text, style) {
  let found = JSON.stringify(text).slice(1, -1);
  const escaped = ESCAPED_BY_STYLE[style];
  if (escaped) found = found.replace(escaped, jsonEscape);
  return style === SLASHES_STYLE ? found.replace(/\//g, "\\/") : found;
}

function jsonEscape(unit) {
  return "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0");
}

// -- what is safe to look at ---------------------------------------------------------------------

// Characters that are seen, and do nothing on a terminal: as cli/safetext.py has them.
const SEEN_CHARACTER = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
const UNSEEN_CHARACTER =
  /[\u034f\u115f\u1160\u3164\uffa0\u17b4\u17b5\ufff0-\ufffb\u{13430}-\u{1343f}\u{e0000}-\u{e00ff}]/u;
const VARIATION_SELECTORS = "\\u180b-\\u180d\\u180f\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}";
const TWO_SELECTORS = new RegExp(`[${VARIATION_SELECTORS}][${VARIATION_SELECTORS}]`, "u");

function isSeen(char) {
  return char > "\x7f" && SEEN_CHARACTER.test(char) && !UNSEEN_CHARACTER.test(char);
}

// The text with an escape for each character that a terminal obeys or hides.
function safelyEscaped(text, escape) {
  const found = text.replace(/[^ -~]/gu, (char) => (isSeen(char) ? char : escape(char)));
  if (!TWO_SELECTORS.test(found)) return found;
  return text.replace(/[^ -~]/gu, escape);
}

// -- what is lacking -----------------------------------------------------------------------------

const REQUIRED = { openai_chat: ["model"], openai_responses: ["model"], anthropic: ["model", "max_tokens"] };
const USUAL_URLS = {
  openai_chat: "https://api.openai.com/v1/chat/completions",
  openai_responses: "https://api.openai.com/v1/responses",
  anthropic: "https://api.anthropic.com/v1/messages",
};

// What a person has to know before a command or a script sends the request: as cli/requests.py says it.
function beforeSending(body, form) {
  const request = readJson(body.text);
  const notes = [];
  const lacks = REQUIRED[body.dialect].filter((name) => !(request instanceof Map && request.has(name)));
  if (lacks.length) notes.push(`never recorded, and the API asks for it: ${lacks.join(", ")}`);
  if (!body.url_recorded) notes.push(`where it went was not recorded; this sends it to ${body.url}`);
  else if (partedAt(body.url, "?")[0] !== USUAL_URLS[body.dialect]) notes.push(`this sends the request and your key to ${body.url}, where the call went`);
  if (form === "python" && body.same_bytes && compactJson(request) !== body.text) notes.push("the client of Python writes the same JSON in other bytes");
  return notes;
}

// A value as most clients write it.
function compactJson(value) {
  if (typeof value === "string") return `"${insideQuotes(value, 0)}"`;
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(compactJson).join(",")}]`;
  if (value instanceof Map) return `{${Array.from(value, ([k, v]) => `${compactJson(k)}:${compactJson(v)}`).join(",")}}`;
  return String(value);
}

// Notes as comments. Some shells take no comments where one types: there each is a command that is not
// found, with one harmless word.
function comments(notes, isShell) {
  return notes.map((note) => {
    const line = safelyEscaped(note, (char) => pythonEscape(char, "\\u"));
    return `# ${isShell && !/^[\w .,:/+=@%-]*$/.test(line) ? shellQuoted(line) : line}\n`;
  }).join("");
}

// -- curl ----------------------------------------------------------------------------------------

const ANTHROPIC_VERSION = "2023-06-01";

// A command for any shell of POSIX. The key is read from the environment when it runs.
function asCurl(body) {
  const isAnthropic = body.dialect === "anthropic";
  const key = isAnthropic ? "x-api-key: $ANTHROPIC_API_KEY" : "authorization: Bearer $OPENAI_API_KEY";
  const headers = isAnthropic
    ? { "anthropic-version": ANTHROPIC_VERSION, ...body.headers }
    : body.headers;
  return [
    `${printfOf(body.text)} |`,
    `curl -sS${isTrueInPython(fieldOf(readJson(body.text), "stream")) ? "N" : ""} ${shellQuoted(body.url)} \\`,
    `  -H "${key}" \\`,
    ...Object.entries(headers).map(([name, value]) => `  -H ${shellQuoted(`${name}: ${value}`)} \\`),
    "  -H 'content-type: application/json' \\",
    "  --data-binary @-",
  ].join("\n");
}

function printfOf(text) {
  const escaped = safelyEscaped(text, octalBytes);
  if (escaped === text) return `printf %s ${shellQuoted(text)}`;
  return `printf %b ${shellQuoted(safelyEscaped(text.replace(/\\/g, "\\\\"), octalBytes))}`;
}

function octalBytes(char) {
  const bytes = Array.from(new TextEncoder().encode(char));
  return bytes.map((byte) => "\\0" + byte.toString(8).padStart(3, "0")).join("");
}

// In single quotes nothing but a single quote is special.
function shellQuoted(text) {
  return "'" + text.replace(/'/g, "'\\''") + "'";
}

// -- JSON as it is -------------------------------------------------------------------------------

// JSON.parse rounds long numbers, and moves fields whose names are numbers to the front. Here a
// number stays its digits, and an object is a Map.
class JsonNumber {
  constructor(text) {
    this.text = text;
  }
}

const JSON_TOKEN = /[{}[\]:,]|-?\d[\d.eE+-]*|true|false|null/y;

// The value of a text that is JSON.
function readJson(text) {
  let at = 0;
  function token() {
    while (" \n\r\t".includes(text[at])) at += 1;
    const start = at;
    if (text[at] === '"') {
      at = endOfString(text, at) + 1;
    } else {
      JSON_TOKEN.lastIndex = at;
      JSON_TOKEN.test(text);
      at = JSON_TOKEN.lastIndex;
    }
    return text.slice(start, at);
  }
  function value(found) {
    if (found === "{") return object();
    if (found === "[") return array();
    if (found[0] === '"') return JSON.parse(found);
    if (found === "true" || found === "false") return found === "true";
    return found === "null" ? null : new JsonNumber(found);
  }
  function object() {
    const found = new Map();
    let next = token();
    while (next !== "}") {
      const name = JSON.parse(next === "," ? token() : next);
      token();
      found.set(name, value(token()));
      next = token();
    }
    return found;
  }
  function array() {
    const found = [];
    let next = token();
    while (next !== "]") {
      found.push(value(next === "," ? token() : next));
      next = token();
    }
    return found;
  }
  return value(token());
}

function endOfString(text, start) {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}

function fieldOf(value, name) {
  return value instanceof Map ? value.get(name) : undefined;
}

// Whether Python takes a value for true.
function isTrueInPython(value) {
  if (value instanceof JsonNumber) return Number(value.text) !== 0;
  if (value instanceof Map) return value.size > 0;
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

// -- Python --------------------------------------------------------------------------------------

const PYTHON_CLIENTS = {
  openai_chat: {
    imports: ["openai", "OpenAI", "openai.types.chat", "ChatCompletion", "ChatCompletionChunk"],
    end: "/chat/completions",
    key: "OPENAI_API_KEY",
  },
  openai_responses: {
    imports: ["openai", "OpenAI", "openai.types.responses", "Response", "ResponseStreamEvent"],
    end: "/responses",
    key: "OPENAI_API_KEY",
  },
  anthropic: {
    imports: ["anthropic", "Anthropic", "anthropic.types", "Message", "RawMessageStreamEvent"],
    end: "/v1/messages",
    key: "ANTHROPIC_API_KEY",
  },
};

// A script with the provider's own client, which is given the body as it is. Throws an Error, whose
// message is for people, where that client cannot send it.
function asPython(body) {
  if (/\\u[dD][89a-fA-F]/.test(body.text) && /[\ud800-\udfff]/u.test(allText(readJson(body.text)))) {
    throw new Error(
      "the request holds half a character (a lone surrogate), which the client of Python cannot " +
        "send: take curl",
    );
  }
  const request = readJson(body.text);
  const { imports, end, key } = PYTHON_CLIENTS[body.dialect];
  const [library, client, types, answer, event] = imports;
  const streams = fieldOf(request, "stream") === true;
  const [address, query] = partedAt(body.url, "?");
  let [base, path] = [withoutEnd(address, end), end];
  if (base === address) {
    const slash = address.lastIndexOf("/");
    [base, path] = [address.slice(0, Math.max(slash, 0)), "/" + address.slice(slash + 1)];
  }
  const options = new Map();
  const headers = new Map(Object.entries(body.headers));
  if (headers.size) options.set("headers", headers);
  const asked = new URLSearchParams(query);
  if (query) options.set("params", new Map([...asked].filter(([, value]) => value !== "")));
  return [
    `from ${library} import ${client}${streams ? ", Stream" : ""}`,
    `from ${types} import ${answer}${streams ? `, ${event}` : ""}`,
    "",
    `# The key is read from ${key}.`,
    `client = ${client}(base_url=${pythonLiteral(base)})`,
    `request = ${pythonValue(request, 1)}`,
    "",
    "answer = client.post(",
    `    ${pythonLiteral(path)},`,
    "    body=request,",
    ...(options.size ? [`    options=${pythonLiteral(options)},`] : []),
    `    cast_to=${answer},`,
    ...(streams ? ["    stream=True,", `    stream_cls=Stream[${event}],`] : []),
    ")",
    ...(streams
      ? ["for event in answer:", "    print(event.model_dump_json())"]
      : ["print(answer.model_dump_json(indent=2))"]),
  ].join("\n");
}

function partedAt(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}

function withoutEnd(text, end) {
  return text.endsWith(end) ? text.slice(0, -end.length) : text;
}

function allText(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(allText).join(" ");
  if (value instanceof Map) return Array.from(value, ([k, v]) => k + " " + allText(v)).join(" ");
  return "";
}

const MOST_LEVELS = 4; // of a request, that stand on lines of their own
const SHORT_VALUE = 60; // characters of a value that stands on one line

function pythonValue(value, level) {
  const isMap = value instanceof Map;
  const told = pythonRepr(value);
  const isLong = (isMap || Array.isArray(value)) && charactersOf(told) > SHORT_VALUE;
  if (level > MOST_LEVELS || !isLong) return pythonSafe(told);
  const [inner, outer] = ["    ".repeat(level), "    ".repeat(level - 1)];
  const lines = isMap
    ? Array.from(value, ([k, v]) => `${inner}${pythonLiteral(k)}: ${pythonValue(v, level + 1)},\n`)
    : value.map((each) => `${inner}${pythonValue(each, level + 1)},\n`);
  return (isMap ? "{\n" : "[\n") + lines.join("") + outer + (isMap ? "}" : "]");
}

function charactersOf(text) {
  return text.length - (text.match(/[\ud800-\udbff][\udc00-\udfff]/g) || []).length;
}

function pythonLiteral(value) {
  return pythonSafe(pythonRepr(value));
}

function pythonSafe(told) {
  return safelyEscaped(told, (char) => pythonEscape(char, "\\u"));
}

function pythonEscape(char, least) {
  const code = char.codePointAt(0);
  const digits = code.toString(16);
  if (code > 0xffff) return "\\U" + digits.padStart(8, "0");
  return code > 0xff || least === "\\u" ? "\\u" + digits.padStart(4, "0") : "\\x" + digits.padStart(2, "0");
}

// A value as repr writes it.
function pythonRepr(value) {
  if (typeof value === "string") return pythonString(value);
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(", ")}]`;
  if (value instanceof Map) {
    return `{${Array.from(value, ([k, v]) => `${pythonRepr(k)}: ${pythonRepr(v)}`).join(", ")}}`;
  }
  return value === null ? "None" : value ? "True" : "False";
}

const PYTHON_ESCAPES = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };

function pythonString(text) {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const found = text.replace(/[^ -&(-[\]-~]/gu, (char) => {
    if (char === "'") return quote === "'" ? "\\'" : char;
    if (char in PYTHON_ESCAPES) return PYTHON_ESCAPES[char];
    return char > "\x7f" && SEEN_CHARACTER.test(char) ? char : pythonEscape(char, "\\x");
  });
  return quote + found + quote;
}
