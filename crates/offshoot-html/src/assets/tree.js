// The tree: entries as nodes, what a filter and a search let through, and where each row goes. Touches no document.

const FILTERS = ["default", "no-tools", "user-only", "labeled-only", "all"];
const MARKER = 32;
const DEEPEST = 64;

const nodes = [];
const placeOf = new Map();

function readNodes() {
  for (const line of new Stream("i").lines()) {
    const [parent, who, bits, time, id, label, text, start, length, besideStart, besideLength] = JSON.parse(line);
    const node = { at: nodes.length, parent, who, bits, time, id, label, text, start, length, besideStart, besideLength, children: [], words: null };
    nodes.push(node);
    placeOf.set(id, node.at);
  }
  roots = [];
  for (const node of nodes) (node.parent < 0 ? roots : nodes[node.parent].children).push(node.at);
  for (const node of nodes) if (node.children.length > 1) node.children = byTime(node.children);
}

let roots = [];

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
  if (words.length === 0) return true;
  node.words ??= `${node.label || ""} ${node.text}`.toLowerCase();
  return words.every((word) => node.words.includes(word));
}

/** The rows that are shown: {at, prefix}, from the top. `open` is where the session is. */
function layout(filter, query, open) {
  const bit = 1 << FILTERS.indexOf(filter);
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const shows = (node) => (node.bits & bit) !== 0 && matches(node, words);
  const onPath = new Set(open < 0 ? [] : pathTo(open));
  return place(forest(shows, onPath));
}

const activeFirst = (places, onPath) => places.filter((at) => onPath.has(at)).concat(places.filter((at) => !onPath.has(at)));

/** Shown entries under their nearest shown ancestors. */
function forest(shows, onPath) {
  const tops = [];
  const below = new Map();
  const stack = activeFirst(roots, onPath).reverse().map((at) => [-1, at]);
  while (stack.length > 0) {
    const [above, at] = stack.pop();
    const node = nodes[at];
    const isShown = shows(node);
    if (isShown) {
      below.set(at, []);
      (above < 0 ? tops : below.get(above)).push(at);
    }
    const children = node.children.length > 1 ? activeFirst(node.children, onPath) : node.children;
    for (let i = children.length - 1; i >= 0; i--) stack.push([isShown ? at : above, children[i]]);
  }
  return { tops, below };
}

function place({ tops, below }) {
  const many = tops.length > 1;
  const rows = [];
  const stack = tops.map((at, i) => ({ at, indent: many ? 1 : 0, isBranch: many, connects: false, isLast: i === tops.length - 1, gutters: null })).reverse();
  while (stack.length > 0) {
    const row = stack.pop();
    const level = Math.min(many ? Math.max(0, row.indent - 1) : row.indent, DEEPEST);
    rows.push({ at: row.at, prefix: prefix(row, level) });
    const children = below.get(row.at);
    const branches = children.length > 1;
    const indent = branches || (row.isBranch && row.indent > 0) ? row.indent + 1 : row.indent;
    const gutters = row.connects && level > 0 && level < DEEPEST ? { level: level - 1, isOpen: !row.isLast, outer: row.gutters } : row.gutters;
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push({ at: children[i], indent, isBranch: branches, connects: branches, isLast: i === children.length - 1, gutters });
    }
  }
  return rows;
}

function prefix(row, level) {
  const cells = new Array(level).fill("   ");
  for (let line = row.gutters; line; line = line.outer) if (line.isOpen && line.level < level) cells[line.level] = "│  ";
  if (row.connects && level > 0) cells[level - 1] = row.isLast ? "└─ " : "├─ ";
  return cells.join("");
}
