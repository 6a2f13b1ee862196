// Which entries of the transcript are shown: by what the model saw, by who, by words.

/** What is shown; behind = a single state, as the strip above has them. */
const WHAT = [
  ["all", "everything"], ["seen", "what the model saw"], ["unseen", "what it did not see as it came"],
  ["=seen", "● seen as it came"], ["=changed", "✂ in another form"], ["=summarised", "Σ summarised"], ["=gone", "○ left"],
  ["=missing", "– never in"], ["=answer", "◂ the call's answer"], ["=later", "· came later"],
];
const WHO = [["all", "by everyone"], ["people", "by people"], ["assistant", "by the assistant"], ["tools", "by tools"], ["programs", "put in by programs"], ["events", "events"]];

class Filter {
  constructor(onchange) {
    this.what = "all";
    this.who = "all";
    this.words = "";
    this.onchange = onchange;
    const choice = (name, options, label) => {
      const node = el("select", { "aria-label": label, onchange: () => { this[name] = node.value; this.changed(); } },
        options.map(([value, text]) => el("option", { value }, text)));
      return node;
    };
    this.whatChoice = choice("what", WHAT, "what is shown");
    this.whoChoice = choice("who", WHO, "by whom");
    this.field = el("input", {
      type: "search", placeholder: "with the words …", "aria-label": "filter by words at the beginning of each item", spellcheck: "false",
      oninput: () => { this.words = this.field.value; this.changed(); },
    });
    this.told = el("span", { class: "dim told", role: "status" });
    const off = () => { this.reset(); onchange(); };
    this.off = el("button", { type: "button", class: "none", onclick: off }, "show all");
    /** The same in the bar that stays: what is filtered, and the way back. */
    this.chip = el("button", { type: "button", class: "chip none", title: "take the filter off", onclick: off });
    this.node = el("div", { class: "filter", role: "group", "aria-label": "filter of the transcript" }, this.whatChoice, this.whoChoice, this.field, this.off, this.told);
  }

  changed() {
    this.off.classList.toggle("none", !this.isOn);
    this.onchange();
  }

  /** Only what is in a state; the same again takes that off. */
  pick(state) {
    this.what = this.what === `=${state}` ? "all" : `=${state}`;
    this.whatChoice.value = this.what;
    this.changed();
  }

  get isOn() {
    return this.what !== "all" || this.who !== "all" || Boolean(this.words.trim());
  }

  /** Whether the choice of another call may change what is shown. */
  get followsCall() {
    return this.what !== "all";
  }

  reset() {
    Object.assign(this, { what: "all", who: "all", words: "" });
    this.whatChoice.value = this.whoChoice.value = "all";
    this.field.value = "";
    this.off.classList.add("none");
  }

  /** The numbers of the entries that pass. */
  passed(entries, session, n, lane, stands) {
    this.whatChoice.options[1].textContent = n ? `what the model saw at c${n}` : "what stands now";
    const pattern = literally(this.words.trim());
    const found = [];
    entries.forEach((entry, index) => {
      if (!this.isOn || this.passes(entry, session, n, lane, stands, pattern)) found.push(index);
    });
    this.tell(found.length, entries.length);
    return found;
  }

  tell(count, all) {
    const of = `${whole(count)} of ${whole(all)}`;
    this.told.textContent = this.isOn ? of : "";
    this.chip.classList.toggle("none", !this.isOn);
    const named = (choices, value) => (value === "all" ? "" : choices.find(([each]) => each === value)[1]);
    const parts = [named(WHAT, this.what), named(WHO, this.who), this.words.trim() && `“${this.words.trim().slice(0, 40)}”`].filter(Boolean);
    put(clear(this.chip), el("span", { class: "what" }, parts.join(", ")), el("span", {}, ` ${of} ✕`));
    this.chip.setAttribute("aria-label", visible(`take the filter off: ${parts.join(", ")}, ${of}`));
  }

  passes(entry, session, n, lane, stands, pattern) {
    const row = entry.event || session.row(entry.row, lane);
    if (this.who !== "all" && whose(entry, row) !== this.who) return false;
    if (this.what !== "all") {
      if (entry.event) return false;
      const { state } = n || session.isNow(n, lane) ? stateOf(session, entry.row, n, lane, stands) : { state: "seen" };
      const isWanted = this.what === "seen" ? SEEN.has(state) : this.what === "unseen" ? LACKED.has(state) : this.what === `=${state}`;
      if (!isWanted) return false;
    }
    if (!pattern) return true;
    pattern.lastIndex = 0;
    return pattern.test(`${row.r || row.ref} ${row.who || row.type} ${row.preview || ""} ${row.label || ""}`);
  }
}

function whose(entry, row) {
  if (entry.event) return "events";
  return { user: "people", assistant: "assistant", result: "tools" }[row.category] || "programs";
}
