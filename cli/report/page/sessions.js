// The sessions of a log that is served, the newest first, a part at a time.

/** The list, instead of a view of a session. */
function showSessions() {
  const root = offSession("sessions");
  root.view = new SessionList(root);
  document.title = "Sessions · ctxlog";
}

class SessionList {
  constructor(root) {
    this.rows = [];
    this.field = el("input", { type: "search", placeholder: "in titles, agents and ids", "aria-label": "look for sessions", oninput: () => this.typed() });
    this.count = el("span", { class: "dim", role: "status" });
    this.body = el("tbody");
    this.more = el("button", { type: "button", class: "none", onclick: () => this.read(this.rows.length) }, "show more");
    put(root, el("section", { class: "card" },
      el("div", { class: "looking" }, el("h2", {}, "Sessions"), this.field, this.count),
      el("div", { class: "scroll" }, el("table", {},
        el("thead", {}, el("tr", {}, ["last event", "agent", "session", "known as"].map((name) => el("th", { scope: "col" }, name)),
          ["messages", "calls", "compactions", "billed input"].map((name) => el("th", { scope: "col", class: "tok" }, name)))),
        this.body)),
      this.more));
    this.read(0);
  }

  leave() {
    clearTimeout(this.timer);
    this.isOver = true;
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.read(0), 200);
  }

  /** What is shown, as it is now. */
  async again() {
    if (this.rows.length <= MOST_AGAIN) await this.read(0, this.rows.length);
  }

  /** The rows from one on; where there were some, so many of them. */
  async read(skip, least = 0) {
    const turn = this.turn = (this.turn || 0) + 1;
    const find = encodeURIComponent(this.field.value.trim());
    let found = this.rows.slice(0, skip), part;
    try {
      do {
        part = await (await answerTo(`sessions?skip=${found.length}&find=${find}`)).json();
        found = found.concat(part.sessions);
      } while (part.is_more && found.length < least);
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
      if (turn === this.turn && !this.isOver) this.count.textContent = visible(fault.message);
      return;
    }
    if (turn !== this.turn || this.isOver) return;
    this.rows = found;
    this.count.textContent = `${plural(part.total, "session")}${find ? " found" : ""}`;
    this.more.classList.toggle("none", !part.is_more);
    this.draw();
  }

  /** All rows; those that say the same stay the elements that they are. */
  draw() {
    const before = new Map([...this.body.children].map((node) => [node.dataset.said, node]));
    const rows = this.rows.map((row) => {
      const said = JSON.stringify(row);
      const node = before.get(said) || sessionRow(row);
      node.dataset.said = said;
      return node;
    });
    const focused = document.activeElement?.closest("tr")?.dataset.number;
    this.body.replaceChildren(...rows);
    if (!rows.length) put(this.body, el("tr", {}, el("td", { colspan: 8, class: "dim" }, this.field.value ? "none that is called so" : "no sessions yet")));
    if (focused !== undefined && this.body.contains(document.activeElement) === false) {
      rows.find((node) => node.dataset.number === focused)?.querySelector("a")?.focus({ preventScroll: true });
    }
  }
}

const MOST_AGAIN = 500;

function sessionRow(row) {
  const figure = (value, noun) => el("td", { class: "tok" }, value ? [short(value), el("span", { class: "noun" }, ` ${noun}`)] : null);
  return el("tr", { "data-number": row.number },
    el("td", { class: "when" }, clock(row.updated).slice(0, 16)),
    el("td", { class: "agent" }, row.agent),
    el("td", { class: "name" }, link(`${row.number + 1}/overview`, row.title || "(no title)"), " ", el("code", { class: "dim" }, row.name)),
    el("td", {}, row.provenance ? badge(row.provenance) : null),
    figure(row.messages, "messages"), figure(row.calls, "calls"), figure(row.compactions, "compactions"), figure(row.tokens, "billed"));
}

if (document.getElementById("live")) VIEWS.sessions = { title: "Sessions" };
