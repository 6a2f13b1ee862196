// The live log: data from the server that serves the page, and what is new in it.

const EVERY = 1000;
const AGAIN = 5000;

/** Data from the server below whose address this page stands. */
const serverSource = {
  isServed: true,

  async json(name, session) {
    const answer = await answerTo(session ? `${name}-${session.index}` : name);
    return answer.status === 404 ? null : stated(answer);
  },

  async chunk(name, session) {
    let answer = await answerTo(name);
    if (answer.status === 404) {
      // The server does not keep it any more: it makes the session anew, and most of its chunks are the same.
      await answerTo(`session-${session.index}`);
      answer = await answerTo(name);
    }
    if (answer.status === 404) throw new Fault("this text has changed meanwhile");
    return inflated(await answer.text());
  },

  get mark() {
    return following.mark;
  },

  follow() {
    following.begin();
  },
};

/** The data of an answer, with the state in which a session was then. */
async function stated(answer) {
  const state = answer.headers.get("X-State");
  return state === null ? answer.json() : { ...(await answer.json()), state };
}

/** Why there is no data, in the words of the server. */
class Fault extends Error {}

const GONE = "the server is gone";

/** An answer of the server. Throws Fault where there is none, and where the log cannot be read. */
async function answerTo(path) {
  let answer;
  try {
    answer = await fetch(path, { cache: "no-store", credentials: "omit" });
  } catch {
    throw new Fault(GONE);
  }
  if (answer.ok || answer.status === 404) return answer;
  let told = null;
  try {
    told = await answer.json();
  } catch {
    // Not from the log: the status has to do.
  }
  throw new Fault(told?.fault || `the server answers ${answer.status}`);
}

/** Instead of a view. */
function showFault(fault) {
  if (!(fault instanceof Fault)) setTimeout(() => { throw fault; });
  const root = offSession("fault");
  put(root, el("section", { class: "card", role: "alert" },
    el("h2", {}, "This cannot be shown"), el("p", {}, fault.message),
    el("p", {}, el("button", { type: "button", onclick: () => location.reload() }, "try again"), " ", source.isServed && head.sessions.length !== 1 ? link("sessions", "all sessions") : null)));
}

/** The page while no session is shown; the place for what is there instead. */
function offSession(name) {
  const root = cleared(document.getElementById("view"));
  root.className = `view ${name}`;
  Object.assign(current, { session: null, place: null, hash: location.hash });
  clear(document.getElementById("tabs"));
  clear(document.getElementById("foot"));
  put(clear(document.getElementById("top")), el("a", { href: "#sessions", class: "mark" }, "ctxlog"), el("code", { class: "key" }, head.log), buttons());
  window.scrollTo({ top: 0, behavior: "instant" });
  return root;
}

/** Beside the title: whether the page follows, and when something happened last. */
class Mark {
  constructor(ontoggle) {
    this.sign = el("i", { class: "sign", "aria-hidden": "true" });
    this.word = el("span", { class: "word" });
    this.node = el("button", { type: "button", class: "live", onclick: ontoggle }, this.sign, this.word);
    this.set("live", "");
  }

  /** state: live, paused, waiting, or gone with the reason. */
  set(state, text) {
    const key = `${state} ${text}`;
    if (this.key === key) return;
    const before = this.state;
    const isNew = before !== state && before !== undefined;
    [this.key, this.state] = [key, state];
    this.node.className = `live ${state}`;
    this.sign.textContent = { live: "●", waiting: "●", paused: "‖", gone: "✖" }[state];
    this.word.textContent = visible(state === "gone" ? text : [state === "waiting" ? "live, waits" : state, text].filter(Boolean).join(" · "));
    this.node.title = state === "paused" ? "go on following the log" : state === "gone" ? text : state === "waiting" ? "what is new waits while something is selected or searched for" : "new events are shown as they come; stop that";
    this.node.setAttribute("aria-pressed", String(state === "paused"));
    // At the head of the page, which may be scrolled away: then it is said where people look.
    if (isNew && (state === "gone" || before === "gone")) say(state === "gone" ? text : "the server is there again");
  }
}

/** What asks the server every second whether anything is new, while somebody can see it. */
const following = {
  isPaused: false,
  isPressed: false,
  timer: 0,
  sequence: null,

  begin() {
    document.addEventListener("visibilitychange", () => this.soon(0));
    document.addEventListener("pointerdown", () => { this.isPressed = true; }, true);
    for (const name of ["pointerup", "pointercancel"]) document.addEventListener(name, () => { this.isPressed = false; }, true);
    // Let go of outside of the window, nobody says so.
    document.addEventListener("pointermove", (event) => { this.isPressed &&= event.buttons !== 0; }, { capture: true, passive: true });
    this.soon(EVERY);
  },

  toggle() {
    this.isPaused = !this.isPaused;
    if (this.isPaused) this.mark.set("paused", "");
    else this.soon(0);
  },

  soon(delay) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), delay);
  },

  async look() {
    if (document.hidden || this.isPaused) return;
    if (this.isLooking) return;
    this.isLooking = true;
    let next = EVERY;
    try {
      await this.once();
    } catch (fault) {
      if (!(fault instanceof Fault)) throw fault;
      if (!this.isPaused) this.mark.set("gone", fault.message);
      next = AGAIN;
    } finally {
      this.isLooking = false;
      if (!this.isPaused) this.soon(next);
    }
  },

  /** One question, and what follows from the answer. Throws Fault. */
  async once() {
    const { session } = current;
    const told = await answerTo(session ? `pulse?session=${session.index}` : "pulse");
    if (told.status === 404) throw new Fault("this session is not in the log any more");
    const pulse = await told.json();
    if (pulse.fault) throw new Fault(pulse.fault);
    if (this.isPaused || session !== current.session) return;
    this.mark.set(this.isBusy() ? "waiting" : "live", pulse.at ? clock(pulse.at, new Date().toISOString()) : "");
    const view = document.getElementById("view").view;
    if (!session && view?.again && pulse.sequence !== this.sequence) await view.again();
    this.sequence = pulse.sequence;
    if (!session || pulse.state === session.data.state || this.isBusy()) return;
    const answer = await answerTo(`session-${session.index}?not=${session.data.state || ""}`);
    if (answer.status !== 200) return;  // the server lets it rest
    const data = await stated(answer);
    if (session === current.session && !this.isPaused && !this.isBusy()) renewed(session, data);
  },

  /** Whoever drags, selects text or searches is not disturbed: what they hold would go. */
  isBusy() {
    const selection = document.getSelection();
    const isSelecting = selection && !selection.isCollapsed && document.getElementById("view").contains(selection.anchorNode);
    return this.isPressed || Boolean(isSelecting) || Boolean(document.querySelector("dialog[open]"));
  },
};
following.mark = new Mark(() => following.toggle());
