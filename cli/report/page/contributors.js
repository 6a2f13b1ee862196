// The biggest contributors: what the tokens went to, by category, tool, item, text and file.

const MOST_SHOWN = 50;
const FIRST_SHOWN = 15;

VIEWS.tokens = {
  title: "Biggest contributors",
  show(root, session) {
    const view = new Contributors(session);
    view.build(root);
    return view;
  },
};

const MEASURES = {
  sent: "sent over all calls",
  came: "all that came in, once each",
  at: "in the context at call",
};

class Contributors {
  constructor(session) {
    this.session = session;
    const data = session.data.contributors || {};
    this.data = { times: [], declarations: [], tools: [], files: [], repeated: [], ...data };
    this.n = session.calls.length;
    this.measure = this.n ? "sent" : "came";
  }

  build(root) {
    this.tables = el("div", {});
    this.told = el("p", { class: "told", role: "status" });
    put(root, this.controls(), this.told, this.tables);
    this.choose(this.measure);
  }

  leave() {}

  /** What is chosen, for the same session with more in it. */
  keep() {
    return { measure: this.measure, n: this.n, isLast: this.n === this.session.calls.length, scroll: window.scrollY };
  }

  restore({ measure, n, isLast, scroll }) {
    this.n = isLast ? this.session.calls.length : n;
    if (this.number) this.number.value = this.n;
    this.choose(measure);
    window.scrollTo({ top: scroll, behavior: "instant" });
  }

  controls() {
    const { session } = this;
    const last = session.calls.length;
    this.buttons = Object.fromEntries(Object.entries(MEASURES).filter(([name]) => last || name === "came").map(([name, text]) =>
      [name, el("button", { type: "button", onclick: () => this.choose(name) }, text)]));
    const number = el("input", { type: "number", min: 1, max: last, value: this.n, "aria-label": "the call", onchange: () => {
      this.n = Math.min(last, Math.max(1, Math.round(Number(number.value)) || last));
      number.value = this.n;
      this.choose("at");
    } });
    this.number = number;
    return el("div", { class: "measures control", role: "group", "aria-label": "what is counted" }, Object.values(this.buttons), last ? this.number : null);
  }

  choose(measure) {
    this.measure = measure;
    for (const [name, button] of Object.entries(this.buttons)) button.setAttribute("aria-pressed", String(name === measure));
    this.weigh();
    put(clear(this.told), this.whole ? this.say() : "Nothing is counted here.");
    put(clear(this.tables),
      el("div", { class: "columns even" }, el("div", {}, this.categories(), this.servers()), this.tools()),
      this.items(), this.repeats(), this.files());
  }

  /** What each row, item and declaration of tools weighs, as this measure counts. */
  weigh() {
    const { session, measure } = this;
    this.stands = new Map();
    if (measure === "at") for (const number of session.context(this.n)) this.stands.set(number, (this.stands.get(number) || 0) + 1);
    this.weights = session.rows.map((row, number) => (row.tokens || 0) * this.count(number));
    this.byItem = new Map();
    this.weights.forEach((weight, number) => {
      const item = session.originalOf(number);
      this.byItem.set(item, (this.byItem.get(item) || 0) + weight);
    });
    this.defined = this.data.declarations.map((each) => (each.tokens || 0) * this.sendings(each));
    this.whole = [...this.weights, ...this.defined].reduce((sum, each) => sum + each, 0);
  }

  /** How often a row counts. */
  count(number) {
    if (this.measure === "came") return this.session.rows[number].original === undefined ? 1 : 0;
    return this.measure === "sent" ? this.data.times[number] || 0 : this.stands.get(number) || 0;
  }

  /** How often a declaration of tools counts. */
  sendings({ calls }) {
    if (this.measure === "came") return 1;
    if (this.measure === "sent") return (calls || []).reduce((sum, [, count]) => sum + count, 0);
    return (calls || []).some(([first, count]) => first <= this.n && this.n < first + count) ? 1 : 0;
  }

  say() {
    const { session, measure } = this;
    const total = el("b", {}, `≈${whole(this.whole)} tokens`);
    const of = { sent: `of ≈${short(this.whole)} sent`, came: `of ≈${short(this.whole)} that came in`, at: `of ≈${short(this.whole)} at c${this.n}` }[measure];
    this.of = of;
    if (measure === "sent") return [total, ` were sent over ${plural(session.calls.length, "call")}: an item counts in every call in which it stood, in the form it had then.`, billedIn(session), " All shares are ", el("b", {}, of), "."];
    if (measure === "came") return [total, " came in: every item once, as it came, summaries and definitions of tools too. All shares are ", el("b", {}, of), "."];
    return [total, " stood in the context at ", link(address(session, `c${this.n}`), `c${this.n}`), ". All shares are ", el("b", {}, of), "."];
  }

  share(tokens) {
    if (!this.whole) return "–";
    const part = (100 * tokens) / this.whole;
    return part > 0 && part < 0.5 ? "<1 %" : `${Math.round(part)} %`;
  }

  /** A table of rows [name, pieces: [category, tokens], note], the largest first. */
  table(title, heads, rows, note, { empty = "nothing", kind = "" } = {}) {
    const sized = rows.map((row) => ({ ...row, tokens: row.pieces.reduce((sum, [, tokens]) => sum + tokens, 0) })).filter((row) => row.tokens);
    sized.sort((one, other) => other.tokens - one.tokens);
    const most = Math.max(1, ...sized.map((row) => row.tokens));
    const body = el("tbody", {});
    const more = firstOnes(body, sized.slice(0, MOST_SHOWN), (row) => el("tr", {}, el("td", { class: "name" }, row.name), el("td", { class: "wide" }, meter(row.pieces, most)),
      el("td", { class: "tok", title: `${whole(row.tokens)} tokens, estimated` }, short(row.tokens)), el("td", { class: "tok", title: this.of }, this.share(row.tokens)), el("td", { class: "tok" }, row.note)));
    return el("section", { class: `card weighed ${kind}` }, el("h2", {}, title), note ? el("p", { class: "dim" }, note) : null,
      sized.length ? el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, heads[0]), el("th", { class: "wide", "aria-hidden": "true" }), el("th", { class: "tok" }, "≈tokens"), el("th", { class: "tok", title: this.of }, "share"), el("th", { class: "tok" }, heads[1]))),
        body)
        : el("p", { class: "dim" }, empty),
      more,
      sized.length > MOST_SHOWN ? el("p", { class: "dim" }, `and ${whole(sized.length - MOST_SHOWN)} more`) : null);
  }

  categories() {
    const { session } = this;
    const sums = new Map(session.categories.map((name) => [name, { tokens: 0, items: new Set() }]));
    this.weights.forEach((weight, number) => {
      if (!this.count(number)) return;
      const sum = sums.get(session.rows[number].category);
      sum.tokens += weight;
      sum.items.add(session.originalOf(number));
    });
    const declared = this.defined.filter((each) => each).length;
    sums.get("tools").tokens += this.defined.reduce((sum, each) => sum + each, 0);
    return this.table("By category", ["category", "items"], [...sums].map(([name, { tokens, items }]) => ({
      name: [el("i", { class: `swatch ${name}` }), name === "tools" ? "definitions of tools" : SHOWN[name]],
      pieces: [[name, tokens]], note: name === "tools" ? plural(declared, "declaration") : whole(items.size),
    })), this.data.declarations.length ? null : "Definitions of tools were not recorded.");
  }

  /** Each tool with what its results and its definitions weigh. */
  byTool() {
    const found = new Map();
    const of = (name) => {
      if (!found.has(name)) found.set(name, { results: 0, defined: 0, count: 0 });
      return found.get(name);
    };
    for (const { name, rows } of this.data.tools) {
      const sum = of(name || "");
      for (const number of rows) {
        const tokens = this.byItem.get(number) || 0;
        sum.results += tokens;
        if (tokens) sum.count += 1;
      }
    }
    for (const each of this.data.declarations) {
      const times = this.sendings(each);
      const parts = (each.tools || []).length ? each.tools : [["", each.tokens || 0]];
      for (const [name, tokens] of parts) of(name).defined += tokens * times;
    }
    return found;
  }

  tools() {
    return this.table("By tool", ["tool", "results"], [...this.byTool()].map(([name, { results, defined, count }]) => ({
      name: name || "(not told which)", pieces: [["result", results], ["tools", defined]], note: whole(count),
    })), "What tools gave back, and their definitions; the calls themselves stand in what the assistant said.");
  }

  servers() {
    const servers = new Map();
    for (const [name, sum] of this.byTool()) {
      const server = name.match(/^mcp__(.+?)__/);
      if (!server) continue;
      const all = servers.get(server[1]) || { results: 0, defined: 0, count: 0 };
      for (const key of Object.keys(all)) all[key] += sum[key];
      servers.set(server[1], all);
    }
    if (!servers.size) return null;
    return this.table("By MCP server", ["server", "results"], [...servers].map(([name, { results, defined, count }]) => ({ name, pieces: [["result", results], ["tools", defined]], note: whole(count) })), "Tools whose names begin with mcp__, by the server that they name.");
  }

  items() {
    const { session } = this;
    const forms = new Map();
    session.rows.forEach((row, number) => { const item = session.originalOf(number); forms.set(item, (forms.get(item) || 0) + this.count(number)); });
    const all = [...this.byItem].filter(([, tokens]) => tokens).sort((one, other) => other[1] - one[1]);
    const shown = all.slice(0, MOST_SHOWN);
    const most = shown.length ? shown[0][1] : 1;
    const sum = shown.reduce((total, [, tokens]) => total + tokens, 0);
    const list = el("ol", { class: "items" });
    const more = firstOnes(list, shown, ([number, tokens]) => {
      const row = session.rows[number];
      return this.opening(el("span", { class: "head" },
        link(address(session, row.r), row.r, { class: "id" }), el("span", { class: "who" }, row.who), el("span", { class: "say" }, row.preview || "(empty)"),
        meter([[row.category, tokens]], most), el("span", { class: "tok", title: `${whole(tokens)} tokens, estimated` }, `≈${short(tokens)}`), el("span", { class: "tok" }, this.share(tokens)),
        el("span", { class: "tok" }, this.measure === "sent" ? `sent ${whole(forms.get(number))}×` : this.measure === "at" ? session.rows[this.shownForm(number)].form || "" : "")),
      () => message(session, session.rows[this.measure === "at" ? this.shownForm(number) : number]));
    });
    return el("section", { class: "card weighed" }, el("h2", {}, "By item"),
      el("p", { class: "dim" }, all.length > MOST_SHOWN ? `The ${MOST_SHOWN} largest of ${whole(all.length)}; together ${this.share(sum)} ${this.of}.` : `All ${whole(all.length)}.`),
      list, more);
  }

  shownForm(item) {
    for (const number of this.stands.keys()) if (this.session.originalOf(number) === item) return number;
    return item;
  }

  /** An entry that shows more when it is opened. */
  opening(summary, more) {
    const box = el("details", { ontoggle: () => { if (box.open && box.children.length === 1) box.append(el("div", { class: "full" }, more())); } }, el("summary", {}, summary));
    return el("li", {}, box);
  }

  /** What was sent, or came, of a repeated text beside its first copy. */
  again(one) {
    if (this.measure === "came") return (one.rows.length - 1) * one.tokens;
    if (this.measure === "sent") return ((one.stood || 0) - (one.calls || 0)) * one.tokens;
    let copies = 0;
    for (const [number, times] of this.stands) for (const part of this.session.rows[number].parts || []) if (part[2] === one.text) copies += times;
    return Math.max(0, copies - 1) * one.tokens;
  }

  repeats() {
    const { session } = this;
    const found = this.data.repeated.map((one) => [one, this.again(one)]).filter(([, tokens]) => tokens).sort((one, other) => other[1] - one[1]);
    const sum = found.reduce((total, [, tokens]) => total + tokens, 0);
    const most = found.length ? found[0][1] : 1;
    const list = el("ol", { class: "items few" });
    const more = firstOnes(list, found.slice(0, MOST_SHOWN), ([one, tokens]) => {
      const first = session.rows[one.rows[0]];
      return this.opening(el("span", { class: "head" }, el("span", { class: "say" }, first.preview || first.who), meter([[first.category, tokens]], most), el("span", { class: "tok", title: `${whole(tokens)} tokens, estimated` }, `≈${short(tokens)}`), el("span", { class: "tok" }, this.share(tokens)), el("span", { class: "tok" }, plural(one.rows.length, "item"))),
        () => [el("p", {}, placesOf(session, one.rows)), textBlock(session, one.text)]);
    });
    return el("section", { class: "card weighed" }, el("h2", {}, "The same text again"),
      el("p", { class: "dim" }, found.length ? `${plural(found.length, "text")} of 200 characters or more in several items; what came on top of one copy: ≈${short(sum)} tokens, ${this.share(sum)} ${this.of}.` : "No text of 200 characters or more counts twice here."),
      list, more, found.length > MOST_SHOWN ? el("p", { class: "dim" }, `and ${whole(found.length - MOST_SHOWN)} more`) : null);
  }

  files() {
    const { session } = this;
    const rows = this.data.files.map(({ path, tool, rows }) => {
      const there = rows.filter((number) => this.byItem.get(number));
      return { rows: there, name: [el("span", { class: "path", title: path }, pathOf(path), el("b", { class: "dim" }, tool)), el("small", { class: "places" }, placesOf(session, there))], pieces: [["result", there.reduce((sum, number) => sum + this.byItem.get(number), 0)]], note: `${whole(there.length)}×` };
    }).filter((row) => row.rows.length > 1);
    return this.table("The same file again", ["file or address", "results"], rows, "Results of one tool whose arguments name the same one at least twice, all of them together.", { empty: "No tool was asked twice for the same file.", kind: "files" });
  }
}

/** Entries into a list or table, the first ones; the button that shows the others, or null. */
function firstOnes(node, entries, make) {
  put(node, entries.slice(0, FIRST_SHOWN).map(make));
  if (entries.length <= FIRST_SHOWN) return null;
  const button = el("button", { type: "button", class: "more" }, `show ${whole(entries.length - FIRST_SHOWN)} more`);
  button.addEventListener("click", () => {
    const last = node.lastElementChild;
    put(node, entries.slice(FIRST_SHOWN).map(make));
    button.remove();
    last.nextElementSibling.querySelector("summary, a")?.focus();
  });
  return button;
}

/** A path of which the end stays in sight. */
function pathOf(path) {
  const cut = path.lastIndexOf("/", path.length - 2) + 1;
  return el("code", {}, el("span", { class: "folder" }, path.slice(0, cut)), el("span", {}, path.slice(cut)));
}

function placesOf(session, rows) {
  return [rows.slice(0, 8).map((number) => [link(address(session, session.rows[number].r), session.rows[number].r, { class: "id" }), " "]), rows.length > 8 ? `and ${whole(rows.length - 8)} more` : null];
}

/** A bar of pieces by category, on the scale of the largest. */
function meter(pieces, most) {
  return el("span", { class: "bar meter", "aria-hidden": "true" }, pieces.map(([category, tokens]) => (tokens ? el("span", { class: category, style: { width: `${((100 * tokens) / most).toFixed(2)}%` } }) : null)));
}

function billedIn(session) {
  const usage = (session.data.facts || {}).usage || {};
  const told = ["input", "cached", "cache_write"].map((name) => usage[name]).filter((each) => typeof each === "number");
  return told.length ? ` The bills count ${whole(told.reduce((sum, each) => sum + each, 0))} tokens of input, whether recorded here or not.` : "";
}
