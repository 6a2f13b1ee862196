// The overview: the session as a river, what an audit found, and what became of everything.

VIEWS.overview = {
  title: "Overview",
  show(root, session) {
    const picture = el("div", { class: "picture big" });
    const box = el("section", { class: "card wide" },
      el("h2", {}, "The context, call by call"), legend(session, 0), picture,
      el("p", { class: "dim" }, session.calls.length ? "Choose a call to see what the model saw then." : "No call of a model was recorded."));
    put(root, figures(session), box, el("div", { class: "columns" }, findings(session), fate(session)));
    const draw = () => {
      const width = Math.floor(picture.clientWidth);
      if (!width || !session.calls.length || picture.drawn === width) return;
      picture.drawn = width;
      put(clear(picture), river(session, { width, height: width < 600 ? 200 : 300, onchoose: (n) => { location.hash = address(session, `c${n}`); } }));
    };
    const watch = new ResizeObserver(draw);
    watch.observe(picture);
    return { leave: () => watch.disconnect() };
  },
};

function figures(session) {
  const { facts } = session.data;
  const peak = Math.max(0, ...session.calls.map((call) => session.total(call.n)));
  const verdicts = new Map();
  for (const call of session.calls) verdicts.set(call.verdict, (verdicts.get(call.verdict) || 0) + 1);
  const list = [
    ["calls", whole(session.calls.length), [...verdicts].map(([name, count]) => `${count} ${name}`).join(", ")],
    ["items", whole(session.items.length), `${whole(facts.tool_calls || 0)} tool calls`],
    ["largest context", `~${short(peak)}`, "tokens, estimated"],
    ["compactions", whole(session.compactions.length), facts.placeholders ? `${whole(facts.placeholders)} placeholders` : ""],
  ];
  const usage = facts.usage || {};
  const billed = ["input", "cached", "cache_write"].map((name) => usage[name]).filter((each) => typeof each === "number");
  if (billed.length) list.push(["billed", short(billed.reduce((all, each) => all + each, 0)), `input; ${short(usage.output || 0)} output`]);
  return el("section", { class: "figures", "aria-label": "figures" }, list.map(([name, value, note]) => el("div", {}, el("b", {}, value), el("span", {}, name), el("small", { class: "dim" }, note))));
}

const SIGNS = { error: "✖", warning: "▲", info: "ℹ" };

function findings(session) {
  const found = session.data.findings || [];
  return el("section", { class: "card" },
    el("h2", {}, `What an audit finds (${found.length})`),
    found.length ? el("ul", { class: "findings" }, found.map((each) => el("li", { class: each.severity },
      el("span", { class: "sign", "aria-label": each.severity }, SIGNS[each.severity]), el("b", {}, each.rule.replaceAll("_", " ")), " ", each.message,
      each.heuristic ? el("em", { class: "tag" }, "heuristic") : null,
      each.refs.length ? el("span", { class: "refs" }, each.refs.slice(0, 8).map((ref) => [" ", link(address(session, ref), ref)])) : null,
      each.next ? el("code", { class: "next" }, `ctxlog ${each.next}`) : null)))
      : el("p", { class: "dim" }, "nothing"));
}

/** What became of everything that ever came in. */
function fate(session) {
  const { coverage } = session.data;
  if (!coverage) return null;
  return el("section", { class: "card" }, el("h2", {}, "What became of everything"),
    el("table", {}, el("thead", {}, el("tr", {}, ["state", "items", "tokens", "left", "why"].map((name) => el("th", {}, name)))),
      el("tbody", {}, coverage.states.map((each) => el("tr", {},
        el("td", {}, each.state.replaceAll("_", " ")), el("td", { class: "tok" }, whole(each.items)), el("td", { class: "tok" }, short(each.tokens)), el("td", { class: "tok" }, short(each.tokens_left)), el("td", { class: "dim" }, [each.reason, each.by].filter(Boolean).join(" · ")))))));
}
