// "As seen at call N": the one control that the whole transcript follows.

class Slider {
  /** `on`: choose(n), lane(number), call() for the name of the call, there() for the button that goes to it,
   *  pick(state) for only what is in a state; `chip`: what is filtered. */
  constructor(session, lane, on) {
    this.session = session;
    this.lane = lane;
    this.last = session.lanes[lane].contexts.length;
    this.on = on;
    this.input = el("input", { type: "range", min: 1, max: Math.max(1, this.last), step: 1, "aria-label": "as seen at call", oninput: () => on.choose(Number(this.input.value)) });
    this.name = el("button", { type: "button", class: "callname", title: "what this call was given: show it, hide it", onclick: () => on.call() });
    this.strip = new Strip(on.pick);
    this.legend = gutterLegend(session);
    this.told = el("p", { class: "dim told" });
    this.picture = el("div", { class: "picture" });
    const step = (by) => () => on.choose(Math.min(this.last, Math.max(1, this.n + by)));
    this.node = el("div", { class: "as-seen" },
      this.picture,
      el("div", { class: "control" },
        el("span", { class: "word" }, "as seen at call"),
        el("button", { type: "button", class: "step", "aria-label": "the call before", title: "[", onclick: step(-1) }, "◀"),
        this.name,
        el("button", { type: "button", class: "step", "aria-label": "the next call", title: "]", onclick: step(1) }, "▶"),
        this.input,
        session.lanes.length > 1 ? this.lanes(on.lane) : null,
        el("button", { type: "button", class: "there", title: "scroll the list to where this call was made", onclick: () => on.there() }, "scroll to call")),
      el("div", { class: "standing" }, this.strip.node, on.chip, this.legend, this.told));
    if (!this.last) put(clear(this.node), el("p", { class: "dim" }, "No call of a model was recorded", session.isNow(0, lane) ? [": the context is shown ", el("b", {}, "as it stands now"), ` · ${plural(session.context(0).length, "item")} · ≈${whole(session.total(0))} tokens.`] : "."),
      session.isNow(0, lane) ? el("div", { class: "standing" }, this.strip.node, on.chip, this.legend) : null);
    this.drawn = 0;
    this.watch = new ResizeObserver(() => this.draw());
    this.watch.observe(this.picture);
  }

  leave() {
    this.watch.disconnect();
  }

  lanes(onlane) {
    const choice = el("select", { "aria-label": "whose contexts", onchange: () => onlane(Number(choice.value)) },
      this.session.lanes.map((lane, number) => el("option", { value: number, selected: number === this.lane }, lane.name.slice(0, 80))));
    this.choice = choice;
    return choice;
  }

  draw() {
    const width = Math.floor(this.picture.clientWidth);
    if (!this.last || !width || (width === this.drawn && this.drawnLane === this.lane)) return;
    this.drawn = width;
    this.drawnLane = this.lane;
    this.river = river(this.session, { lane: this.lane, width, height: width < 600 ? 78 : 100, chosen: this.n, onchoose: this.on.choose });
    put(clear(this.picture), this.river);
    this.tall = this.river.getAttribute("height");
    this.thin(this.isThin);
  }

  /** Of a thin river only the bands are seen, without names and numbers of calls. */
  thin(isThin) {
    this.isThin = isThin;
    if (!this.river) return;
    const [top, tall] = isThin ? [16, this.tall - 34] : [0, this.tall];
    this.river.setAttribute("viewBox", `0 ${top} ${this.drawn} ${tall}`);
    this.river.setAttribute("height", tall);
  }

  set(n, lane) {
    this.n = n;
    this.lane = lane;
    if (!this.last) return;
    this.input.value = n;
    if (this.choice) this.choice.value = lane;
    const call = this.session.calls[n - 1];
    this.input.setAttribute("aria-valuetext", `call c${n} of ${this.last}`);
    this.name.textContent = `c${n}`;
    this.name.setAttribute("aria-label", `inspect c${n}`);
    const items = this.session.context(n, lane).length;
    this.told.textContent = visible(`of ${whole(this.last)} · ${plural(items, "item")} · ≈${whole(this.session.total(n, lane))} tokens${call?.at ? ` · ${clock(call.at)}` : ""}`);
    if (this.river && this.drawnLane === lane) this.river.place(n);
    else this.draw();
  }
}

/** How all items stand at the chosen call, at a glance: each state a button that shows its items and no others. */
class Strip {
  constructor(onpick) {
    this.buttons = new Map(Object.keys(GLYPHS).map((state) =>
      [state, el("button", { type: "button", class: state, "aria-pressed": "false", onclick: () => onpick(state) })]));
    this.node = el("div", { class: "tally", role: "group", "aria-label": "how the items stand at this call" }, [...this.buttons.values()]);
  }

  /** `found`: the tally of the call; `what`: the choice of the filter. */
  set(found, what, isNow) {
    for (const [state, button] of this.buttons) {
      const { count, tokens, by } = found[state];
      const [glyph, meaning] = signOf(state, isNow);
      const names = [...by];
      const why = names.length > 2 ? `${names[0]} … ${names.at(-1)}` : names.join(", ");
      const isPicked = what === `=${state}`;
      button.classList.toggle("none", !count && !isPicked && (isNow || state === "missing" || state === "answer"));
      button.disabled = !count && !isPicked;
      button.setAttribute("aria-pressed", String(isPicked));
      const said = `${plural(count, "item")} ${meaning}, ≈${short(tokens)} tokens${why ? `, by ${why}` : ""}`;
      button.title = visible(said);
      button.setAttribute("aria-label", visible(`only ${said}`));
      put(clear(button), el("span", { class: "gutter" }, glyph), el("b", {}, whole(count)), state === "later" ? el("span", { class: "later" }, "later") : null,
        count && state !== "later" && state !== "answer" ? el("span", { class: "size" }, `≈${short(tokens)}`) : null,
        why && state === "summarised" ? el("span", { class: "by" }, why) : null);
    }
  }
}
