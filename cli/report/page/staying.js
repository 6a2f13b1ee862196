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
  draw(root, session, place);
  current.place = place;
  restoreAround(root, around);
  if (kept) root.view.restore(kept);
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

function restoreAround(root, around) {
  const { all } = keptAround(root);
  for (const [key, node] of all.details) if (around.details.has(key)) node.open = around.details.get(key);
  for (const [key, node] of all.fields) {
    const value = around.fields.get(key);
    const name = node.type === "checkbox" || node.type === "radio" ? "checked" : "value";
    if (value === undefined || node[name] === value) continue;
    node[name] = value;
    if (node[name] !== value) continue;
    for (const type of ["input", "change"]) node.dispatchEvent(new Event(type, { bubbles: true }));
  }
  for (const [key, node] of all.boxes) if (around.boxes.has(key)) [node.scrollTop, node.scrollLeft] = around.boxes.get(key);
  const focus = around.focus && all.focus.find(([key]) => key === around.focus);
  if (focus) focus[1].focus({ preventScroll: true });
}
