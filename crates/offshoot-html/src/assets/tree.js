// The tree: entries as nodes, what a filter and a search let through, and where each row goes: the library's trunk layout,
// row for row. Touches no document.

const FILTERS = ["default", "no-tools", "user-only", "labeled-only", "all"];
const [MARKER, JOINS_RUNS, TIP] = [32, 64, 128];
/** Deeper rows show the number of their level instead of its columns. */
const LEVELS = 8;
/** The most calls of a run that are named, and the most entries in which last words are looked for. */
const [NAMED, LOOKED_AT] = [64, 32];

/** How the mark of a merge begins; the id of the last entry that it covers follows. */
const MERGE = "⇠ summary of ";

/** Entries whose text has what is searched for. */
let searched = new Set();
const nodes = [];
/** Places by id, once somebody asks for one. */
const placeOf = {
  places: null,
  get(id) {
    this.places ??= new Map(nodes.map((node) => [node.id, node.at]));
    return this.places.get(id);
  },
  has(id) {
    return this.get(id) !== undefined;
  },
};
let roots = [];
/** Every node in display order, and by rank there: the parent's rank, the rank after the last descendant, sums. */
const order = { nodes: [], ranks: [], parents: [], ends: [], costs: [0], entries: [0], onPath: new Set(), merged: [], open: -1 };

/** What a row's text says after who says it. */
const afterName = (text) => text.slice(text.indexOf(": ") + 2);
const NONE = Object.freeze([]);

/** An entry of the tree, from its row of the index. A page has hundreds of thousands: each keeps little that is its own. */
class Entry {
  constructor(at, row, start, besideStart) {
    [this.at, this.start, this.besideStart] = [at, start, besideStart];
    this.parent = row[0];
    this.who = row[1];
    this.bits = row[2];
    this.time = row[3];
    this.id = row[4];
    this.label = row[5];
    this.text = row[6];
    this.length = row[8];
    this.besideLength = row[9];
    this.cost = row[10];
    this.said = row[11];
    this.tokens = row[12];
    this.files = row[13] || NONE;
    this.mark = row[14] || "";
    this.children = NONE;
    this.found = null;
  }

  get words() {
    if (this.said === 1) return afterName(this.text);
    return Array.isArray(this.said) ? afterName(this.text).slice(0, -1) + this.said[0] : this.said || "";
  }
}

async function readNodes() {
  const stream = new Stream("i");
  let [lines, beside] = [0, 0];
  for (let block = 0; block < stream.blocks.length; ) {
    // A row that is longer than a block has several.
    const decoder = new TextDecoder();
    let text = "";
    do text += decoder.decode(await stream.open(block++), { stream: true }); while (!text.endsWith(",\n") && block < stream.blocks.length);
    for (const row of JSON.parse(`[${text.slice(0, -2)}]`)) {
      const [gap, length] = [row[7], row[8]];
      nodes.push(new Entry(nodes.length, row, lines + gap, beside));
      lines += gap + length;
      beside += row[9];
    }
  }
  for (const node of nodes) {
    if (node.parent < 0) roots.push(node.at);
    else if (nodes[node.parent].children === NONE) nodes[node.parent].children = [node.at];
    else nodes[node.parent].children.push(node.at);
  }
  for (const node of nodes) if (node.children.length > 1) node.children = byTime(node.children);
}

/** By time; what has none stays behind its elder sibling. */
function byTime(places) {
  let known = -Infinity;
  const keyed = places.map((at) => [(known = nodes[at].time ?? known), at]);
  return keyed.sort((a, b) => (a[0] === b[0] ? a[1] - b[1] : a[0] < b[0] ? -1 : 1)).map(([, at]) => at);
}

function pathTo(at) {
  const path = [];
  for (let here = at; here >= 0; here = nodes[here].parent) path.push(here);
  return path.reverse();
}

/** The newest end below an entry: the last child, again and again; not a marker of a moved leaf. */
function newestBelow(at) {
  let here = at;
  for (;;) {
    const children = nodes[here].children.filter((child) => !(nodes[child].bits & MARKER) || nodes[child].children.length > 0);
    if (children.length === 0) return here;
    here = children[children.length - 1];
  }
}

function matches(node, words) {
  if (words.length === 0 || searched.has(node.at)) return true;
  node.found ??= `${node.mark} ${node.label || ""} ${node.text}`.toLowerCase();
  return words.every((word) => node.found.includes(word));
}

/** Orders the tree of a session that is open at a node. The last of siblings continues their parent's column. */
function arrange(open) {
  order.open = open;
  order.onPath = new Set(open < 0 ? [] : pathTo(open));
  const summaries = [...order.onPath].filter((at) => nodes[at].mark.startsWith(MERGE));
  order.merged = summaries.map((at) => placeOf.get(nodes[at].mark.slice(MERGE.length))).filter((at) => at !== undefined);
  const weights = nodes.map((node) => (node.bits & MARKER ? 0 : 1));
  for (const at of walk((_, siblings) => siblings).reverse()) if (nodes[at].parent >= 0) weights[nodes[at].parent] += weights[at];
  const isHeavier = (at, than) => (order.onPath.has(at) === order.onPath.has(than) ? weights[at] >= weights[than] : order.onPath.has(at));
  order.nodes = walk((parent, siblings) => {
    if (siblings.length < 2 || (open >= 0 && parent === open)) return siblings;
    const main = siblings.reduce((best, at) => (isHeavier(at, best) ? at : best));
    return [...siblings.filter((at) => at !== main), main];
  });
  order.nodes.forEach((at, rank) => (order.ranks[at] = rank));
  order.parents = order.nodes.map((at) => (nodes[at].parent < 0 ? -1 : order.ranks[nodes[at].parent]));
  order.ends = order.nodes.map((_, rank) => rank + 1);
  for (let rank = order.nodes.length - 1; rank >= 0; rank--) {
    const parent = order.parents[rank];
    if (parent >= 0) order.ends[parent] = Math.max(order.ends[parent], order.ends[rank]);
  }
  [order.costs, order.entries] = [[0], [0]];
  for (const at of order.nodes) {
    order.costs.push(order.costs.at(-1) + nodes[at].cost);
    order.entries.push(order.entries.at(-1) + (nodes[at].bits & MARKER ? 0 : 1));
  }
}

/** What is at and below an entry: how many entries, and dollars. */
function within(at) {
  const [from, to] = [order.ranks[at], order.ends[order.ranks[at]]];
  return { entries: order.entries[to] - order.entries[from], cost: order.costs[to] - order.costs[from] };
}

/** Every node, parents first. */
function walk(arranged) {
  const found = [];
  const stack = arranged(-1, roots).slice().reverse();
  while (stack.length > 0) {
    const at = stack.pop();
    found.push(at);
    const children = arranged(at, nodes[at].children);
    for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]);
  }
  return found;
}

/** What is open, each named by its first node. */
class Folds {
  constructor(areAllOpen = false, areRunsOpen = false) {
    Object.assign(this, { areAllOpen, areRunsOpen, toggled: new Set(), runs: new Set() });
  }

  isOpen(at) {
    return this.areAllOpen !== this.toggled.has(at);
  }

  isRunOpen(at) {
    return this.areRunsOpen !== this.runs.has(at);
  }

  toggle(row) {
    const set = row.isRun ? this.runs : this.toggled;
    if (!set.delete(row.at)) set.add(row.at);
  }
}

const isNarrow = (filter, query) => filter === "labeled-only" || query.trim() !== "";

/** The rows of a filter and a search, from the top; with `most`, no further than needed to see that there are more. */
function layout(filter, query, folds, most = Infinity) {
  const bit = 1 << FILTERS.indexOf(filter);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const isShown = order.nodes.map((at) => (nodes[at].bits & bit) !== 0 && matches(nodes[at], words));
  const counts = [0];
  for (const shown of isShown) counts.push(counts.at(-1) + Number(shown));
  let end = order.open < 0 ? -1 : order.ranks[order.open];
  while (end >= 0 && !isShown[end]) end = order.parents[end];
  const rows = new Rows({ isShown, counts, folds, hasRuns: filter === "default" && words.length === 0, endOfTrunk: end, most });
  return rows.all;
}

/** Rows under construction. */
class Rows {
  constructor(scope) {
    Object.assign(this, scope, { all: [], nearest: [], tail: Infinity, openRunEnd: 0, openRun: null });
    for (let rank = 0; rank < order.nodes.length && this.all.length <= this.most; ) {
      const parent = order.parents[rank] < 0 ? -1 : this.nearest[order.parents[rank]];
      const isShown = this.isShown[rank];
      if (isShown) this.push(rank, parent);
      const end = isShown ? this.all.at(-1).end : rank + 1;
      const row = isShown ? this.all.length - 1 : parent;
      while (rank < end) this.nearest[rank++] = row;
    }
    this.all.forEach((row, at) => (row.prefix = prefix(row, at, this.tail)));
    this.countSets();
  }

  /** Which of how many rows a row is among those of its branch that are shown. */
  countSets() {
    const open = [];
    for (const row of this.all) {
      open.length = Math.min(open.length, row.level + 1);
      while (open.length <= row.level) open.push({ count: 0 });
      row.set = open[row.level];
      row.place = ++row.set.count;
    }
  }

  push(rank, parent) {
    const above = this.all[parent];
    const end = order.ends[rank];
    const isBelowTrunk = above !== undefined && above.last === this.endOfTrunk;
    const isLast = this.counts[above ? order.ends[above.rank] : order.nodes.length] === this.counts[end];
    const isHead = !isLast || isBelowTrunk;
    const isFoldable = isHead && this.counts[end] > this.counts[rank] + 1;
    const at = order.nodes[rank];
    const row = { at, rank, end: rank + 1, level: (above?.level ?? 0) + Number(isHead), isHead, isFoldable, isBranch: false, isRun: false };
    if (isHead && !(isFoldable && this.folds.isOpen(at))) Object.assign(row, { isBranch: true, end });
    else {
      const runEnd = this.runEnd(rank);
      row.isRun = runEnd > 0;
      if (rank < this.openRunEnd) row.run = this.openRun;
      else if (row.isRun && this.folds.isRunOpen(at)) [this.openRunEnd, this.openRun] = [runEnd, row];
      else if (row.isRun) row.end = runEnd;
    }
    // A row of several calls stands for the last one, so that whoever goes there leaves none out.
    row.last = row.isRun ? row.end - 1 : rank;
    row.stands = order.nodes[row.last];
    row.shown = [];
    for (let inner = row.isRun ? rank : row.end; inner < row.end; inner++) if (this.isShown[inner]) row.shown.push(order.nodes[inner]);
    row.start = row.isBranch ? this.withHiddenAbove(rank) : rank;
    if (isBelowTrunk && isLast) this.tail = this.all.length;
    this.all.push(row);
  }

  /** The rank after the run of tool calls that begins at a rank, if it has more than one; else 0. */
  runEnd(rank) {
    if (rank < this.openRunEnd || !this.joinsRun(rank) || this.endsRun(rank)) return 0;
    let last = rank;
    for (let next = rank + 1; next < order.ends[last]; next++) {
      if (!this.isShown[next]) continue;
      const isOnlyChild = this.counts[order.ends[next]] === this.counts[order.ends[last]];
      if (!isOnlyChild || !this.joinsRun(next)) break;
      last = next;
      if (this.endsRun(last)) break;
    }
    return last > rank ? last + 1 : 0;
  }

  joinsRun(rank) {
    return this.hasRuns && (nodes[order.nodes[rank]].bits & JOINS_RUNS) !== 0;
  }

  /** Whether a rank is a place that a row must stand for: it has a label, or the session continues there. */
  endsRun(rank) {
    return Boolean(nodes[order.nodes[rank]].label) || rank === this.endOfTrunk;
  }

  /** The rank of the first hidden node that leads only to a rank. */
  withHiddenAbove(rank) {
    let at = rank;
    for (let parent = order.parents[at]; parent >= 0; at = parent, parent = order.parents[at]) {
      if (this.isShown[parent] || order.onPath.has(order.nodes[parent])) break;
      if (parent + 1 !== at || order.ends[parent] !== order.ends[at]) break;
    }
    return at;
  }
}

function prefix({ level, isHead, isFoldable, isBranch }, at, tail) {
  if (level === 0) return "";
  const mark = isHead ? `${at === tail ? "└" : "├"}${isFoldable ? (isBranch ? "⊞" : "⊟") : "─"} ` : "│  ";
  const lines = level <= LEVELS ? "│  ".repeat(level - 1) + mark : `${"│  ".repeat(LEVELS - 2)}⋮${String(level).padEnd(2)}${mark}`;
  return (at > tail || (at === tail && !isHead)) && lines.startsWith("│") ? ` ${lines.slice(1)}` : lines;
}

/** The text of a row. */
function textOf(row) {
  if (!row.isRun || row.end === row.rank + 1) return nodes[row.at].text;
  const tools = new Map();
  for (const { text } of row.shown.slice(0, NAMED).map((at) => nodes[at])) {
    const said = text.startsWith("[") && text.endsWith("]") && text.length > 1 ? text.slice(1, -1) : text;
    const name = said.split(": ")[0];
    const known = tools.get(name);
    tools.set(name, { said: known?.said ?? said, count: (known?.count ?? 0) + 1 });
  }
  const said = [...tools].map(([name, tool]) => (tool.count === 1 ? tool.said : `${name} ×${tool.count}`));
  if (row.shown.length > NAMED) said.push(`${row.shown.length - NAMED} more`);
  return oneLine(`[${said.join(", ")}]`, 200);
}

/** What a folded branch contains. */
function noteOf(row, now) {
  if (!row.isBranch) return "";
  let [entries, cost, tips, newest] = [0, 0, 0, order.nodes[row.start]];
  const isLater = (node, than) => (node.time ?? -Infinity) > (than.time ?? -Infinity) || (node.time === than.time && node.at > than.at);
  for (const at of order.nodes.slice(row.start, row.end)) {
    const node = nodes[at];
    if (!(node.bits & MARKER)) entries += 1;
    cost += node.cost;
    if (node.bits & TIP) tips += 1;
    if (isLater(node, nodes[newest])) newest = at;
  }
  const isInside = (at) => order.ranks[at] > row.rank && order.ranks[at] < row.end;
  const label = META.labels.findLast(isInside);
  const merged = order.merged.filter((tip) => order.ranks[tip] >= row.rank && order.ranks[tip] < row.end);
  const isLast = (tip) => order.nodes.slice(order.ranks[tip] + 1, order.ends[order.ranks[tip]]).every((at) => nodes[at].who > 2);
  const parts = [
    label !== undefined && `[${oneLine(nodes[label].label, 40)}]`,
    merged.length > 0 && (merged.some(isLast) ? "merged" : "partly merged"),
    counted(entries, "entry", "entries"),
    cost > 0 && dollars(cost),
    nodes[newest].time !== null && ago(nodes[newest].time, now),
    tips > 1 && counted(tips - 1, "branch", "branches"),
    lastWords(newest, row.at),
  ];
  return `  ${parts.filter(Boolean).join(" · ")}`;
}

/** The last words at or above a node, but below the first of its branch. */
function lastWords(newest, head) {
  let left = LOOKED_AT;
  for (let at = newest; at >= 0 && at !== head && left > 0; at = nodes[at].parent) {
    if (nodes[at].words) return `“${nodes[at].words}”`;
    if (nodes[at].who < 2) left -= 1;
  }
  return "";
}

function ago(time, now) {
  const minutes = Math.floor((now - time) / 60000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 1440 ? `${Math.floor(minutes / 60)} h ago` : `${Math.floor(minutes / 1440)} d ago`;
}
