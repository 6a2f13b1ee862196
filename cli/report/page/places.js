// Places in the page: what its address says, and what is shown.

/**
 * #c17 · #k1 · #12 · #12@340 · #overview …; of the second session #2/c17; of a strategy's lane #c17~1, #12~1.
 * Where the address names nothing, `unknown` says what it named.
 */
function placeOf(hash) {
  let text = "";
  try {
    text = decodeURIComponent(hash.replace(/^#/, ""));
  } catch {
    return { session: null, view: "overview", unknown: hash };
  }
  let session = null;
  const many = text.match(/^(\d{1,4})\/(.*)$/s);
  if (many) {
    session = Number(many[1]) - 1;
    text = many[2];
  }
  if (!text) return { session, view: "overview" };
  // An object has names of its own: "constructor" is no view.
  if (Object.hasOwn(VIEWS, text)) return { session, view: text };
  const call = text.match(/^c(\d{1,7})(?:~(\d{1,3}))?$/);
  if (call) return { session, view: "transcript", call: Number(call[1]), lane: Number(call[2] || 0) };
  const compaction = text.match(/^k(\d{1,7})$/);
  if (compaction) return { session, view: VIEWS.compactions ? "compactions" : "transcript", compaction: Number(compaction[1]) };
  const item = text.match(/^e?(\d{1,9}(?:\.\d{1,6})?(?:@(?:\d{1,9}|redacted))?)(?:~(\d{1,3}))?$/);
  if (item) return { session, view: "transcript", item: item[1], lane: Number(item[2] || 0) };
  return { session, view: "overview", unknown: text };
}

/** What of a place is not in a session, as people call it; empty where it is there. */
function lacking(session, place) {
  if (place.unknown !== undefined) return `there is nothing called ${place.unknown.slice(0, 80)} here`;
  if ((place.lane || 0) >= session.lanes.length) return `there is no strategy ${place.lane} here`;
  if (place.call !== undefined) {
    const last = session.lanes[place.lane || 0].contexts.length;
    if (place.call < 1 || place.call > last) return last ? `there is no call c${place.call}: the last one is c${last}` : "there is no call here";
  }
  if (place.compaction !== undefined && !session.compactions.some((row) => row.ref === `k${place.compaction}`)) {
    return session.compactions.length ? `there is no compaction k${place.compaction}: the last one is ${session.compactions.at(-1).ref}` : "there is no compaction here";
  }
  if (place.item !== undefined && session.numberOf(place.item, place.lane) === undefined && !eventOf(session, place.item)) return `there is no item ${place.item} here`;
  return "";
}

/** What stands in a lane: 12~1, c17~1. */
function inLane(name, lane) {
  return lane ? `${name}~${lane}` : name;
}

/** What happened beside items under a name, or null. */
function eventOf(session, ref) {
  return (session.data.events || []).find((row) => row.ref === ref) || null;
}

/** The views in the order of their tabs; each file puts its own in: {title, show(root, session, place)}. */
const VIEWS = {};
const TABS = ["overview", "transcript", "compactions", "compare", "prefix", "tokens", "integrity"];
/** The letter of each view behind g. */
const LETTERS = { o: "overview", t: "transcript", c: "compactions", m: "compare", p: "prefix", k: "tokens", i: "integrity" };
