// What stays as it is while the data under it changes: the place in the page, what is open, what was typed.

/** A session has moved on: the same view of it, at the same place. */
function renewed(session, data) {
  const root = document.getElementById("view");
  const place = placeOf(location.hash);
  const kept = root.view?.keep ? root.view.keep() : null;
  const around = keptAround(root);
  const tall = root.offsetHeight;
  session.take(data);
  top_(session);
  tabs(session, place);
  root.style.setProperty("min-height", `${tall}px`);
  cleared(root).className = `view ${place.view}`;
  root.view = VIEWS[place.view].show(root, session, place) || root.view;
  current.place = place;
  restoreFields(root, around);
  restoreAround(root, around);
  if (kept) {
    root.view.restore(kept);
    restoreAround(root, around);  // of what it has made anew
  }
  else window.scrollTo({ top: around.scroll, behavior: "instant" });
  root.style.removeProperty("min-height");
}

/** Of a view without a memory of its own: what is open, typed, scrolled and focused in it. */
function keptAround(root) {
  const named = (node) => `${node.tagName} ${node.className} ${node.getAttribute("aria-label") || ""}`;
  const nth = (nodes, name) => {
    const seen = new Map();
    return [...nodes].map((node) => {
      const key = name(node);
      const count = (seen.get(key) || 0) + 1;
      seen.set(key, count);
      return [`${key} ${count}`, node];
    });
  };
  const title = (node) => `${named(node)} ${(node.querySelector("summary")?.textContent || "").replace(/[\d,.]+/g, "")}`;
  const all = {
    details: nth(root.querySelectorAll("details"), title),
    fields: nth(root.querySelectorAll("input:not([type=range]), textarea, select"), named),
    boxes: nth(root.querySelectorAll("aside, nav, ol, ul, pre, div.scroll, section"), named),
    focus: nth(root.querySelectorAll("a, button, input, select, textarea, summary"), named),
  };
  return {
    scroll: window.scrollY,
    all,
    details: new Map(all.details.map(([key, node]) => [key, node.open])),
    fields: new Map(all.fields.map(([key, node]) => [key, node.type === "checkbox" || node.type === "radio" ? node.checked : node.value])),
    boxes: new Map(all.boxes.filter(([, node]) => node.scrollTop || node.scrollLeft).map(([key, node]) => [key, [node.scrollTop, node.scrollLeft]])),
    focus: all.focus.find(([, node]) => node === document.activeElement)?.[0],
  };
}

/** What was typed and chosen, which may decide what is there. */
function restoreFields(root, around) {
  for (const [key, node] of keptAround(root).all.fields) {
    const value = around.fields.get(key);
    const name = node.type === "checkbox" || node.type === "radio" ? "checked" : "value";
    if (value === undefined || node[name] === value) continue;
    node[name] = value;
    if (node[name] !== value) continue;
    for (const type of ["input", "change"]) node.dispatchEvent(new Event(type, { bubbles: true }));
  }
}

/** The rest; a view that has put the focus somewhere knows better. */
function restoreAround(root, around) {
  const { all } = keptAround(root);
  for (const [key, node] of all.details) if (around.details.has(key)) node.open = around.details.get(key);
  for (const [key, node] of all.boxes) if (around.boxes.has(key)) [node.scrollTop, node.scrollLeft] = around.boxes.get(key);
  const focus = around.focus && !root.contains(document.activeElement) && all.focus.find(([key]) => key === around.focus);
  if (focus) focus[1].focus({ preventScroll: true });
}

/** The transcript remembers by names what it knows by numbers: those are other ones behind what is new. */
Object.assign(Transcript.prototype, {
  nameOf(index) {
    const { event, row } = this.entries[index];
    return event ? `event ${event.ref}` : this.session.row(row, this.lane).r;
  },

  keep() {
    const { list } = this;
    const name = (index) => (index >= 0 && index < this.entries.length ? this.nameOf(index) : null);
    const first = list.first();
    const focused = list.focused();
    const page = document.documentElement;
    return {
      n: this.n,
      isLast: this.n === this.last,
      isInspected: this.isInspected,
      open: [...this.open].map(name),
      cursor: name(this.cursor),
      heights: new Map([...list.known].map(([index, height]) => [name(index), height])),
      scroll: window.scrollY,
      anchor: this.shown.length ? [name(this.shown[first]), this.placeOnScreen(first)] : null,
      isAtEnd: window.scrollY > 0 && window.scrollY + window.innerHeight >= page.scrollHeight - 8,
      focus: focused && [name(this.shown[focused.index]), focused.at],
    };
  },

  restore(kept) {
    const { list } = this;
    const index = new Map(this.entries.map((_, at) => [this.nameOf(at), at]));
    const found = (name) => index.get(name) ?? -1;
    this.open = new Set(kept.open.map(found).filter((at) => at >= 0));
    this.cursor = found(kept.cursor);
    list.known.clear();
    for (const [name, height] of kept.heights) if (index.has(name)) list.known.set(index.get(name), height);
    if (kept.isInspected !== this.isInspected) this.showInspector(kept.isInspected);
    const n = kept.isLast ? this.last : Math.min(kept.n, this.last);
    const isNamed = placeOf(location.hash).call !== undefined;
    this.choose(n, { quiet: n === kept.n || !isNamed });
    list.count(this.shown.length);
    list.measure();
    if (kept.isAtEnd && kept.isLast) window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
    else this.stay(kept, found);
    list.draw();
    const focus = kept.focus && this.shown.indexOf(found(kept.focus[0]));
    if (kept.focus && focus >= 0) list.refocus({ index: focus, at: kept.focus[1] });
    else if (!kept.focus && list.focused()) document.activeElement.blur();
  },

  /** What was the first entry in view stands where it stood. */
  stay(kept, found) {
    window.scrollTo({ top: kept.scroll, behavior: "instant" });
    const place = kept.anchor && kept.scroll > 0 ? this.shown.indexOf(found(kept.anchor[0])) : -1;
    if (place >= 0) window.scrollBy({ top: this.placeOnScreen(place) - kept.anchor[1], behavior: "instant" });
  },

  placeOnScreen(place) {
    return this.list.node.getBoundingClientRect().top + this.list.offsets[place];
  },
});
