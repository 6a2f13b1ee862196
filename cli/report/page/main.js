// The page: its head, its tabs, and the view that the address asks for.

const current = { session: null, place: null, hash: "" };
const sessions = new Map();
let head = null;
let source = fileSource;

/** The address of a place in a session. */
function address(session, hash) {
  return source.isServed || head.sessions.length > 1 ? `${session.index + 1}/${hash}` : hash;
}

/** The address, without going there: once it stays so, since browsers refuse to hear of every step. */
function remember(session, hash) {
  current.hash = `#${address(session, hash)}`;
  clearTimeout(remember.timer);
  remember.timer = setTimeout(rewrite, 250);
}

function rewrite() {
  clearTimeout(remember.timer);
  if (location.hash === current.hash) return;
  try {
    history.replaceState(history.state, "", current.hash || location.pathname);
  } catch {
    // A browser that lets a page do this only so often, or not in a file; the view is right all the same.
  }
}

/** To a place, also where the address names it already. */
function visit(hash) {
  rewrite();
  if (location.hash === `#${hash}`) show();
  else location.hash = hash;
}

function say(text) {
  const node = document.getElementById("note");
  node.textContent = visible(text);
  node.classList.add("shown");
  clearTimeout(say.timer);
  say.timer = setTimeout(() => node.classList.remove("shown"), 4000);
}

async function sessionAt(index) {
  if (!sessions.has(index)) {
    const data = await source.json(`session-${index}`);
    if (data === null) throw new Fault("there is no such session here");
    sessions.set(index, new Session(index, data, source));
  }
  return sessions.get(index);
}

/** The number of the session that a place is in; null where it has to be chosen from a list first. */
function indexOf(place) {
  if (!source.isServed) return place.session ?? 0;
  if (place.view === "sessions") return null;
  return place.session ?? (head.sessions.length === 1 ? head.sessions[0].number : null);
}

let shows = 0;

async function show() {
  const turn = shows += 1;
  clearTimeout(remember.timer);
  const asked = placeOf(location.hash);
  const index = indexOf(asked);
  if (index === null) return showSessions();
  const isThere = source.isServed || (index >= 0 && index < head.sessions.length);
  let session;
  try {
    session = isThere ? await sessionAt(index) : null;
  } catch (fault) {
    if (turn === shows) showFault(fault);
    return;
  }
  if (turn !== shows) return;
  const missing = session ? lacking(session, asked) : `there is no session ${index + 1} here`;
  if (missing) {
    say(missing);
    if (current.session) return rewrite();
  }
  if (missing) showPlace(session || await sessionAt(0), { session: session ? index : 0, view: "overview" });
  else showPlace(session, asked);
  current.hash = missing ? "" : location.hash;
  if (missing) rewrite();
}

function showPlace(session, place) {
  const root = document.getElementById("view");
  const isSame = current.session === session && current.place?.view === place.view && root.view?.go && (place.lane || 0) === root.view.lane;
  const isOther = current.session !== session;
  current.session = session;
  current.place = place;
  if (isOther) top_(session);
  tabs(session, place);
  if (isSame) root.view.go(place);
  else {
    cleared(root).className = `view ${place.view}`;
    window.scrollTo({ top: 0, behavior: "instant" });
    root.view = VIEWS[place.view].show(root, session, place) || root.view;
  }
  document.title = visible(`${(session.data.title || session.data.name).slice(0, 120)} · ${VIEWS[place.view].title} · ctxlog`);
}

/** The place of the views, after the one that was there has left it. */
function cleared(root) {
  root.view?.leave?.();
  root.view = null;
  return clear(root);
}

function top_(session) {
  const { data } = session;
  const title = (each) => (each.title || each.name).slice(0, 300);
  put(clear(document.getElementById("top")),
    el("a", { href: `#${address(session, "overview")}`, class: "mark" }, "ctxlog"),
    el("h1", { class: "title", title: title(data) }, title(data)),
    source.isServed && head.sessions.length !== 1 ? link("sessions", "all sessions") : null,
    !source.isServed && head.sessions.length > 1 ? el("select", { "aria-label": "session", onchange: (event) => { visit(`${Number(event.target.value) + 1}/overview`); } },
      head.sessions.map((each, number) => el("option", { value: number, selected: number === session.index }, `${title(each).slice(0, 80)} · ${each.name}`))) : null,
    el("code", { class: "key" }, data.name),
    [...counted(session.calls.map((call) => call.verdict))].map(([verdict, count]) => el("a", { class: "verdicts", href: `#${address(session, VIEWS.integrity ? "integrity" : "overview")}`, title: VERDICTS[verdict] }, badge(verdict), el("small", { class: "dim" }, ` ${whole(count)}`))),
    buttons(el("button", { type: "button", title: "search ( / )", onclick: openSearch }, "search")),
  );
  put(clear(document.getElementById("foot")), el("p", {}, foot(data)));
}

function buttons(...more) {
  return el("span", { class: "buttons" }, source.mark?.node, more, themeButton(),
    el("button", { type: "button", title: "keys ( ? )", "aria-label": "help: keys", onclick: help }, "?"));
}

function foot(data) {
  const masked = Object.values(data.masked.counts || {}).reduce((sum, each) => sum + each, 0);
  const secrets = data.masked.is_on ? `Secrets of known shapes are masked (${masked} here).` : "Secrets are not masked.";
  const missing = Object.keys(data.texts.cut || {}).length;
  return `${secrets} ${missing ? `${plural(missing, "long text")} ${missing === 1 ? "is" : "are"} here only with head and tail. ` : ""}Tokens are estimates (${data.counter}) unless they are called billed. Made by ctxlog of ${data.key} at event ${data.version}, head ${(data.head || "").slice(0, 16)}.`;
}

const THEMES = [["auto", "◐"], ["light", "☀"], ["dark", "☾"]];

/** As the system wants it, light, dark: for as long as the page is open. */
function themeButton() {
  const root = document.documentElement;
  const now = () => Math.max(0, THEMES.findIndex(([name]) => name === (root.dataset.theme || "auto")));
  const label = () => `colours: ${THEMES[now()][0]}`;
  const button = el("button", { type: "button", class: "theme", title: label(), "aria-label": label(), onclick: () => {
    const [name, sign] = THEMES[(now() + 1) % THEMES.length];
    if (name === "auto") delete root.dataset.theme;
    else root.dataset.theme = name;
    button.textContent = sign;
    button.title = label();
    button.setAttribute("aria-label", label());
  } }, THEMES[now()][1]);
  return button;
}

function tabs(session, place) {
  const node = document.getElementById("tabs");
  put(clear(node), ...TABS.filter((name) => name in VIEWS).map((name) =>
    el("a", { href: `#${address(session, name)}`, "aria-current": place.view === name ? "page" : null }, VIEWS[name].title)));
  const now = node.querySelector("[aria-current]");
  if (now) node.scrollLeft = now.offsetLeft - node.offsetLeft - (node.clientWidth - now.offsetWidth) / 2;
  fadeTabs();
}

/** Where there are more tabs than can be seen, they fade at that edge. */
function fadeTabs() {
  const node = document.getElementById("tabs");
  node.classList.toggle("before", node.scrollLeft > 1);
  node.classList.toggle("behind", node.scrollLeft + node.clientWidth < node.scrollWidth - 1);
}

/** Paper has no window: a view puts all of itself there, and takes it back. */
function listenToPrinting() {
  window.addEventListener("beforeprint", () => shownView()?.print?.(false));
  window.addEventListener("afterprint", () => shownView()?.print?.(true));
}

async function begin() {
  document.querySelector(".unrun")?.remove();
  if (document.getElementById("live")) source = serverSource;
  try {
    head = await source.json("head");
  } catch (fault) {
    head = { sessions: [] };
    return showFault(fault);
  }
  if ("scrollRestoration" in history) history.scrollRestoration = "manual";
  window.addEventListener("hashchange", show);
  listenToKeys();
  document.getElementById("tabs").addEventListener("scroll", fadeTabs, { passive: true });
  window.addEventListener("resize", fadeTabs, { passive: true });
  listenToPrinting();
  document.getElementById("skip").addEventListener("click", () => document.getElementById("view").focus());
  await show();
  source.follow?.();
  document.documentElement.classList.add("ready");
}

begin();
