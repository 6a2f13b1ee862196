// Which entries of the transcript are shown: by what the model saw, by who, by words.

const WHAT = [["all", "everything"], ["seen", "what the model saw"], ["unseen", "what it did not see"]];
const WHO = [["all", "by everyone"], ["people", "by people"], ["assistant", "by the assistant"], ["tools", "by tools"], ["programs", "put in by programs"], ["events", "events"]];

class Filter {
  constructor(onchange) {
    this.what = "all";
    this.who = "all";
    this.words = "";
    const choice = (name, options, label) => {
      const node = el("select", { "aria-label": label, onchange: () => { this[name] = node.value; this.changed(onchange); } },
        options.map(([value, text]) => el("option", { value }, text)));
      return node;
    };
    this.whatChoice = choice("what", WHAT, "what is shown");
    this.whoChoice = choice("who", WHO, "by whom");
    this.field = el("input", {
      type: "search", placeholder: "with the words …", "aria-label": "filter by words at the beginning of each item", spellcheck: "false",
      oninput: () => { this.words = this.field.value; this.changed(onchange); },
    });
    this.told = el("span", { class: "dim told", role: "status" });
    this.off = el("button", { type: "button", class: "none", onclick: () => { this.reset(); onchange(); } }, "show all");
    this.node = el("div", { class: "filter", role: "group", "aria-label": "filter of the transcript" }, this.whatChoice, this.whoChoice, this.field, this.off, this.told);
  }

  changed(onchange) {
    this.off.classList.toggle("none", !this.isOn);
    onchange();
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
    this.told.textContent = this.isOn ? `${whole(found.length)} of ${whole(entries.length)}` : "";
    return found;
  }

  passes(entry, session, n, lane, stands, pattern) {
    const row = entry.event || session.row(entry.row, lane);
    if (this.who !== "all" && whose(entry, row) !== this.who) return false;
    if (this.what !== "all") {
      if (entry.event) {
        if (this.what === "seen") return false;
      } else if ((n || session.isNow(n, lane)) && SEEN.has(stateOf(session, entry.row, n, lane, stands).state) !== (this.what === "seen")) return false;
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
