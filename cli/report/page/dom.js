// Elements. What a session holds becomes text nodes and nothing else: no markup is ever parsed.

const SVG = "http://www.w3.org/2000/svg";

/** An element: properties (class, text, on…, data-…, aria-…, any attribute), then children. */
function el(tag, props, ...children) {
  return filled(document.createElement(tag), props, children);
}

/** The same in a drawing. */
function svg(tag, props, ...children) {
  return filled(document.createElementNS(SVG, tag), props, children);
}

function filled(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = visible(String(value));
    else if (name === "style") for (const [key, each] of Object.entries(value)) node.style.setProperty(key, each);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  return put(node, ...children);
}

/** Children into a node: elements, texts, lists of them; what is null is left out. */
function put(node, ...children) {
  for (const child of children.flat(4)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : visible(String(child)));
  }
  return node;
}

const HIDDEN = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e" +
  "\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb]|[\\ud800-\\udbff](?![\\udc00-\\udfff])|" +
  "(?<![\\ud800-\\udbff])[\\udc00-\\udfff]|\\udb40[\\udc00-\\udc7f]", "g");

const PLAIN = /^[\t\n -~]*$/;

/** A text with what would not be seen, or would turn what is seen around, written out. */
function visible(text) {
  return PLAIN.test(text) ? text : text.replace(HIDDEN, (found) => `\\u{${found.codePointAt(0).toString(16)}}`);
}

function clear(node) {
  node.replaceChildren();
  return node;
}

/** Made anew by `make`; who had the focus in it has it again, on what stands there now. */
function keepingFocus(node, make) {
  const all = () => [...node.querySelectorAll("a, button, summary, input, select")];
  const at = node.contains(document.activeElement) ? all().indexOf(document.activeElement) : -1;
  make();
  if (at >= 0) (all()[at] || all()[0])?.focus({ preventScroll: true });
}

const GROUPED = new Intl.NumberFormat("en-US");

/** 1234567 as 1,234,567. */
function whole(number) {
  return GROUPED.format(number);
}

/** 155000 as 155k, 14493 as 14.5k, as the commands write it. */
function short(number) {
  const size = Math.abs(number);
  if (size < 999.5) return String(Math.round(number));
  if (size < 99_950) return `${(number / 1000).toFixed(1)}k`;
  if (size < 999_500) return `${Math.round(number / 1000)}k`;
  return `${(number / 1e6).toFixed(1)}M`;
}

/** The same at an axis, whose ticks are round: 10k. */
function tickName(number) {
  return short(number).replace(/\.0(?=[kM]$)/, "");
}

function plural(count, noun, many) {
  return `${whole(count)} ${count === 1 ? noun : many || `${noun}s`}`;
}

function percent(part, of) {
  return of ? `${Math.round((100 * part) / of)} %` : "–";
}

/** Money with as many digits as say something: $0.14, $12.3, 0.0021 EUR. */
function money(amount, currency = "") {
  const digits = amount >= 1000 ? 0 : amount >= 0.1 || amount === 0 ? 2 : Math.min(8, 1 - Math.floor(Math.log10(Math.abs(amount))));
  const number = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(amount);
  return currency === "USD" ? `$${number}` : `${number} ${currency}`.trim();
}

/** The time of day, or the date with it where that is another one than before. */
function clock(iso, before) {
  if (!iso) return "";
  const [day, time] = [iso.slice(0, 10), iso.slice(11, 19)];
  return before && before.slice(0, 10) === day ? time : `${day} ${time}`;
}

/** A link to a place in the page. */
function link(hash, text, props) {
  return el("a", { href: `#${hash}`, ...props }, text);
}

/** A button that copies; it says so, also to who cannot see it. */
function copyButton(label, text, title) {
  const button = el("button", { type: "button", title, class: "copy" }, label);
  button.addEventListener("click", async () => {
    let value;
    try {
      value = await text();
    } catch (fault) {
      return say(`this could not be read: ${fault.message}`);
    }
    if (value === null) return;
    const done = await copied(value);
    announce(done ? `${label} copied` : "this browser does not let a page copy; the text is selected");
    button.textContent = done ? "copied ✓" : label;
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = el("textarea", { class: "offscreen", "aria-hidden": "true" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

/** Said to who listens to the page. */
function announce(text) {
  const place = document.getElementById("said");
  if (place) place.textContent = visible(text);
}
