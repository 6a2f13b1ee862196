// The page: its head, its tabs, and the view that the address asks for.

const current = { session: null, place: null };
const sessions = new Map();
let head = null;
let source = fileSource;

/** The address of a place in a session. */
function address(session, hash) {
  return source.isServed || head.sessions.length > 1 ? `${session.index + 1}/${hash}` : hash;
}

/** The address, without going there. */
function remember(session, hash) {
  history.replaceState(null, "", `#${address(session, hash)}`);
}

function say(text) {
  const node = document.getElementById("note");
  node.textContent = visible(text);
  node.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => node.classList.remove("shown"), 4000);
  announce(text);
}

async function sessionAt(index) {
  if (!sessions.has(index)) {
    const data = await source.json(`session-${index}`);
    if (data === null) throw new Fault("there is no such session here");
    sessions.set(index, new Session(index, data, source));
  }
  return sessions.get(index);
}

/** The number of the session that a place is in; null where that has to be chosen first. */
function indexOf(place) {
  if (source.isServed) return place.view === "sessions" ? null : place.session ?? (head.sessions.length === 1 ? head.sessions[0].number : null);
  return place.session < head.sessions.length ? Math.max(0, place.session ?? 0) : 0;
}

async function show() {
  const turn = show.turn = (show.turn || 0) + 1;
  const place = placeOf(location.hash);
  const index = indexOf(place);
  const root = document.getElementById("view");
  if (index === null) return showSessions(root);
  let session;
  try {
    session = await sessionAt(index);
  } catch (fault) {
    if (turn === show.turn) showFault(root, fault);
    return;
  }
  if (turn !== show.turn) return;  // somebody went on meanwhile
  const same = current.session === session && current.place && current.place.view === place.view && root.view?.go;
  const changed = current.session !== session;
  current.session = session;
  current.place = place;
  if (changed) top_(session);
  tabs(session, place);
  if (same && (place.lane || 0) === root.view.lane) root.view.go(place);
  else {
    draw(root, session, place);
    if (!place.call && !place.item) window.scrollTo(0, 0);
  }
  titled(session.data.title || session.data.name, VIEWS[place.view].title);
  if (place.unknown) say(`there is nothing called ${place.unknown} here`);
}

/** A view, from nothing. */
function draw(root, session, place) {
  root.view?.leave?.();
  root.view = null;
  clear(root).className = `view ${place.view}`;
  root.view = VIEWS[place.view].show(root, session, place) || root.view;
}

function titled(...parts) {
  document.title = visible([...parts, "ctxlog"].join(" · "));
}

function top_(session) {
  const { data } = session;
  const worst = {};
  for (const call of session.calls) worst[call.verdict] = (worst[call.verdict] || 0) + 1;
  put(clear(document.getElementById("top")),
    el("a", { href: `#${address(session, "overview")}`, class: "mark" }, "ctxlog"),
    source.isServed ? [head.sessions.length === 1 ? null : link("sessions", "all sessions"), el("b", { class: "title" }, data.title || data.name)]
      : head.sessions.length > 1 ? el("select", { "aria-label": "session", onchange: (event) => { location.hash = `${Number(event.target.value) + 1}/overview`; } },
      head.sessions.map((each, number) => el("option", { value: number, selected: number === session.index }, each.title || each.name))) : el("b", { class: "title" }, data.title || data.name),
    el("code", { class: "key" }, data.name),
    ...Object.entries(worst).map(([verdict, count]) => el("a", { href: `#${address(session, "integrity")}` }, badge(verdict), el("small", { class: "dim" }, ` ${count}`))),
    source.mark?.node,
    el("button", { type: "button", class: "theme", title: "light or dark", "aria-label": "light or dark", onclick: theme }, "◑"),
    el("button", { type: "button", title: "keys", "aria-label": "help: keys", onclick: help }, "?"),
  );
  put(clear(document.getElementById("foot")), el("p", {}, foot(data)));
}

function foot(data) {
  const masked = Object.values(data.masked.counts || {}).reduce((sum, each) => sum + each, 0);
  const secrets = data.masked.is_on ? `Secrets of known shapes are masked (${masked} here).` : "Secrets are not masked.";
  const missing = Object.keys(data.texts.cut || {}).length;
  return `${secrets} ${missing ? `${plural(missing, "long text")} ${missing === 1 ? "is" : "are"} here only with head and tail. ` : ""}Tokens are estimates (${data.counter}) unless they are called billed. Made by ctxlog of ${data.key} at event ${data.version}, head ${(data.head || "").slice(0, 16)}.`;
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
}

function tabs(session, place) {
  put(clear(document.getElementById("tabs")), ...TABS.filter((name) => name in VIEWS).map((name) =>
    el("a", { href: `#${address(session, name)}`, "aria-current": place.view === name ? "page" : null }, VIEWS[name].title)));
}

async function begin() {
  if (document.getElementById("live")) source = serverSource;
  try {
    head = await source.json("head");
  } catch (fault) {
    head = { sessions: [] };
    return showFault(document.getElementById("view"), fault);
  }
  window.addEventListener("hashchange", show);
  listenToKeys();
  document.getElementById("skip").addEventListener("click", () => document.getElementById("view").focus());
  await show();
  source.follow?.();
  document.documentElement.classList.add("ready");
}

begin();
