// Places in the page: what its address says, and what is shown.

/** #c17 · #k1 · #12 · #12@340 · #overview …; of the second session #2/c17; of a strategy's lane #c17~1. */
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
  if (VIEWS[text]) return { session, view: text };
  const call = text.match(/^c(\d{1,7})(?:~(\d{1,3}))?$/);
  if (call) return { session, view: "transcript", call: Number(call[1]), lane: Number(call[2] || 0) };
  const compaction = text.match(/^k(\d{1,7})$/);
  if (compaction) return { session, view: "compactions", compaction: Number(compaction[1]) };
  const item = text.match(/^e?(\d{1,9}(?:\.\d{1,6})?(?:@(?:\d{1,9}|redacted))?)$/);
  if (item) return { session, view: "transcript", item: item[1] };
  return { session, view: "overview", unknown: text };
}

/** The views in the order of their tabs; each file puts its own in: {title, show(root, session, place)}. */
const VIEWS = {};
const TABS = ["overview", "transcript", "compactions", "compare", "prefix", "tokens", "integrity"];
