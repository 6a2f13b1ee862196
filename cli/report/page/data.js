// The data of the page: sessions, their contexts at every call, and texts that are decoded when asked for.

const CHECKPOINT = 64;

/** Where the data is, and what keeps all of every text. */
const [HOST, KEEPS] = document.getElementById("live") ? ["page", "ctxlog serve --full"] : ["file", "ctxlog report --full"];

/** Where data comes from: this file, or a server (live.js). Each gives JSON or null. */
const fileSource = {
  async json(name) {
    if (!document.getElementById(name)) await parsed();
    const found = document.getElementById(name);
    return found ? JSON.parse(found.textContent) : null;
  },
  async chunk(name) {
    await parsed();
    const found = document.getElementById(name);
    return found ? inflated(found.textContent) : null;
  },
};

/** Some of the data stands behind the script, so that nobody waits for it. */
async function parsed() {
  if (document.readyState !== "loading") return;
  await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
}

async function inflated(base64) {
  const packed = Uint8Array.from(atob(base64.trim()), (char) => char.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** One session, made ready to be looked at. */
class Session {
  constructor(index, data, source) {
    this.index = index;
    this.source = source;
    this.chunks = new Map();
    this.take(data);
  }

  /** Of what is decoded already that which is still there. */
  keepChunks() {
    const there = new Set(["texts", "requests"].flatMap((table) => this.data[table].chunks.map((_, chunk) => this.chunkName(table, chunk))));
    for (const name of [...this.chunks.keys()]) if (!there.has(name)) this.chunks.delete(name);
  }

  /** By which a chunk is asked for: what is served is called by what it holds, so it stays when a session goes on. */
  chunkName(table, chunk) {
    const { names } = this.data[table];
    return names ? `chunk-${names[chunk]}` : `${table}-${this.index}-${chunk}`;
  }

  take(data) {
    this.data = { findings: [], events: [], ...data, texts: { lengths: [], chunks: [], cut: {}, ...data.texts }, masked: { counts: {}, ...data.masked }, requests: { ways: [], bodies: {}, left_out: [], faults: {}, chunks: [], ...data.requests } };
    this.rows = data.rows;
    this.calls = data.calls || [];
    this.takings = null;
    this.categories = data.categories;
    this.keepChunks();
    this.lanes = [
      { name: "observed", rows: [], contexts: this.calls.map((call) => call.context), moves: this.calls.map((call) => call.moves || []), curves: data.observed || null },
      ...(data.lanes || []).map((lane) => ({ rows: [], moves: [], contexts: [], ...lane })),
    ];
    this.byName = new Map(this.rows.map((row, number) => [row.r, number]));
    this.items = [];
    this.answers = null;
    this.rows.forEach((row, number) => { if (row.original === undefined) this.items.push(number); });
    this.plain = this.items.filter((number) => !this.rows[number].r.includes("."));
    this.compactions = (data.events || []).filter((row) => row.type === "context_compacted");
    this.calls.forEach((call, index) => { call.n = index + 1; });
    for (const lane of this.lanes) {
      lane.checkpoints = new Map();
      lane.left = null;
      lane.byName = new Map();
      lane.rows.forEach((row, index) => { if (row.original === undefined) lane.byName.set(row.r, this.rows.length + index); });
    }
  }

  /** The number of a row that people name: of a lane's own messages in that lane only. */
  numberOf(name, lane = 0) {
    return this.lanes[lane]?.byName.get(name) ?? this.byName.get(name);
  }

  /** A row of the session, or of a lane, by its number. */
  row(number, lane = 0) {
    return number < this.rows.length ? this.rows[number] : this.lanes[lane].rows[number - this.rows.length];
  }

  /** The item of which a row is a rendition. */
  originalOf(number, lane = 0) {
    const row = this.row(number, lane);
    return row.original === undefined ? number : row.original;
  }

  /** The rows that stood in the context of a call, in their order. */
  context(n, lane = 0) {
    const { contexts, checkpoints } = this.lanes[lane];
    if (n < 1 || !contexts.length) return [];
    const base = n - (n % CHECKPOINT);
    let at = base;
    while (at > 0 && !checkpoints.has(at)) at -= CHECKPOINT;
    const found = at > 0 ? checkpoints.get(at).slice() : [];
    while (at < n) {
      const next = contexts[at];
      found.length = Math.min(found.length, next.keep || 0);
      for (const [first, count] of next.add || []) for (let k = 0; k < count; k += 1) found.push(first + k);
      at += 1;
      if (at % CHECKPOINT === 0 && !checkpoints.has(at)) checkpoints.set(at, found.slice());
    }
    return found;
  }

  /** The numbers of the rows that runs such as 58-120 or 57.0 name. */
  named(runs, lane = 0) {
    const found = [];
    for (const run of runs || []) {
      const dash = run.indexOf("-");
      if (dash < 0) {
        const number = this.numberOf(run, lane);
        if (number !== undefined) found.push(number);
        continue;
      }
      const [low, high] = [Number(run.slice(0, dash)), Number(run.slice(dash + 1))];
      for (let at = firstAtLeast(this.plain, (number) => this.rows[number].position, low); at < this.plain.length; at += 1) {
        if (this.rows[this.plain[at]].position > high) break;
        found.push(this.plain[at]);
      }
    }
    return found;
  }

  /** Of each item the decisions that changed how it stands, in order: [call, move]. */
  decisions(lane = 0) {
    const of = this.lanes[lane];
    if (of.left === null) {
      of.left = new Map();
      (of.moves || []).forEach((moves, index) => {
        for (const move of moves) {
          for (const number of this.named(move.items, lane)) {
            if (!of.left.has(number)) of.left.set(number, []);
            of.left.get(number).push([index + 1, move]);
          }
        }
      });
    }
    return of.left;
  }

  /** Tokens of a call by category. */
  tokens(n, lane = 0) {
    return this.lanes[lane].contexts[n - 1].tokens;
  }

  total(n, lane = 0) {
    return this.tokens(n, lane).reduce((sum, each) => sum + each, 0);
  }

  /** A text: itself, or out of its chunk. */
  async text(named) {
    if (typeof named === "string") return named;
    const found = await this.chunked("texts", named);
    return found === null ? `(this text is not in the ${HOST})` : found;
  }

  /** An entry of a table that stands in chunks: "texts", or "requests" with their pieces; null where it is not there. */
  async chunked(table, number) {
    const { chunks } = this.data[table];
    const chunk = firstAtLeast(chunks, (first) => first, number + 1) - 1;
    const name = this.chunkName(table, chunk);
    if (!this.chunks.has(name)) {
      const asked = this.source.chunk(name, this);
      this.chunks.set(name, asked);
      asked.catch(() => this.chunks.delete(name));
    }
    const found = await this.chunks.get(name);
    return found === null ? null : found[number - chunks[chunk]];
  }

  /** The characters of a text, and how many of them are not in the file. */
  size(named) {
    if (typeof named === "string") return [named.length, 0];
    const { lengths, cut } = this.data.texts;
    return [lengths[named], (cut || {})[named] || 0];
  }
}

/** The first place of a sorted list whose value is at least so much. */
function firstAtLeast(list, value, least) {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value(list[middle]) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
