// What the page shows and what a person does with it: one place in the tree, a stretch of the path to it, rows at the side.

const ROW = 24;
const STRETCH = 200;

const shown = { thinking: false, output: false };
const state = { filter: "default", query: "", open: META.leaf, leaf: META.leaf, target: -1, path: [], from: 0, to: 0, rows: [], places: new Map(), onPath: new Set(), folds: new Folds(), narrowFolds: new Folds(true) };

// The tree.

function fillTree() {
  state.rows = layout(state.filter, state.query, folds());
  state.places = new Map(state.rows.map((row, place) => [row.at, place]));
  byId("tall").style.height = `${state.rows.length * ROW}px`;
  const total = nodes.filter((node) => !(node.bits & MARKER)).length;
  byId("status").textContent = `${state.rows.length} / ${total} entries`;
  for (const filter of byId("filters").children) filter.setAttribute("aria-pressed", String(filter.dataset.filter === state.filter));
  drawRows();
}

/** What a search and the filter for labels find is open, whatever is folded otherwise. */
const folds = () => (isNarrow(state.filter, state.query) ? state.narrowFolds : state.folds);

const room = () => Math.floor((byId("rows").clientHeight || 900) / ROW);

/** Opens every branch if all rows then fit. */
function openIfItFits() {
  if (layout(state.filter, "", new Folds(true)).length <= room()) state.folds = new Folds(true);
}

/** Opens the branches in which an entry is folded away. */
function reveal(target) {
  for (let row = rowOf(target); row?.isBranch && row.isFoldable && row.at !== target; row = rowOf(target)) {
    folds().toggle(row);
    fillTree();
  }
}

/** Folds or opens the branch or the run at a row. */
function toggleRow(row) {
  if (!row || !(row.isFoldable || row.isRun)) return;
  folds().toggle(row);
  fillTree();
}

function toggleAll() {
  const isOpen = byId("open").getAttribute("aria-pressed") === "true";
  state.folds = isOpen ? new Folds() : new Folds(true, true);
  byId("open").setAttribute("aria-pressed", String(!isOpen));
  fillTree();
}

/** Draws the rows that can be seen. */
function drawRows() {
  const box = byId("rows");
  const from = Math.max(0, Math.floor(box.scrollTop / ROW) - 10);
  const to = Math.min(state.rows.length, from + Math.ceil((box.clientHeight || 900) / ROW) + 20);
  const active = nearestRow(state.target < 0 ? state.leaf : state.target);
  const drawn = [];
  for (let at = from; at < to; at++) drawn.push(drawRow(state.rows[at], at, at === active));
  byId("tall").replaceChildren(...drawn);
}

function drawRow(drawn, place, isActive) {
  const { at, prefix: lines, isFoldable, isBranch, isRun, end, rank } = drawn;
  const node = nodes[at];
  const note = noteOf(drawn, Date.now());
  const row = el("div", `row who${node.who}${note ? " folded" : ""}`);
  row.setAttribute("role", "treeitem");
  row.setAttribute("aria-selected", String(isActive));
  row.dataset.at = at;
  row.style.top = `${place * ROW}px`;
  if (isFoldable || isRun) row.setAttribute("aria-expanded", String(isRun ? end === rank + 1 : !isBranch));
  row.title = `${textOf(drawn)}\n${note.trim()}\n${node.id} ${minute(node.time)}`.slice(0, 800);
  if (isActive) row.classList.add("active");
  row.append(el("span", "lines", lines), el("span", "dot", state.onPath.has(at) ? "•" : " "));
  if (node.label) row.append(el("span", "label", oneLine(node.label, 80)));
  row.append(el("span", "text", textOf(drawn) || "(nothing)"), el("span", "about", note));
  return row;
}

const rowOf = (at) => state.rows[nearestRow(at)];

/** The number of the row of an entry, or of the nearest one above it that is shown. */
function nearestRow(at) {
  for (let here = at; here >= 0; here = nodes[here].parent) if (state.places.has(here)) return state.places.get(here);
  return -1;
}

function revealRow(at) {
  const place = nearestRow(at);
  const box = byId("rows");
  const height = box.clientHeight || 900;
  if (place >= 0 && (place * ROW < box.scrollTop || (place + 1) * ROW > box.scrollTop + height)) box.scrollTop = place * ROW - height / 2;
  drawRows();
}

// The conversation.

/** Shows the path to a leaf, at an entry of it. */
function show(leaf, target) {
  state.leaf = leaf;
  state.target = target;
  state.path = leaf < 0 ? [] : pathTo(leaf);
  state.onPath = new Set(state.path);
  const at = target < 0 ? state.path.length - 1 : Math.max(0, state.path.indexOf(target));
  state.to = target < 0 ? state.path.length : Math.min(state.path.length, Math.max(at + Math.ceil(STRETCH / 2), STRETCH));
  state.from = Math.max(0, state.to - STRETCH);
  drawTalk();
  revealRow(target < 0 ? leaf : target);
  byId("where").textContent = leaf < 0 ? "" : `${state.path.filter((place) => !(nodes[place].bits & MARKER)).length} entries to ${nodes[leaf].id}${leaf === state.open ? "" : " (another branch)"}`;
}

function drawTalk() {
  const talk = byId("talk");
  const calls = new Map();
  const drawn = [];
  for (const at of state.path.slice(state.from, state.to)) {
    const made = draw(at, calls);
    if (made) drawn.push(made);
  }
  if (state.from > 0) drawn.unshift(rest("earlier", state.from, () => widen(STRETCH, 0)));
  if (state.to < state.path.length) drawn.push(rest("later", state.path.length - state.to, () => widen(0, STRETCH)));
  else if (state.leaf === state.open && META.end) drawn.push(el("p", "trouble", META.end));
  if (state.path.length === 0) drawn.push(el("p", "note", "Nothing has been said in this session."));
  talk.replaceChildren(...drawn);
  for (const box of talk.querySelectorAll(".result details.long")) box.open = shown.output;
}

function rest(which, count, run) {
  return el("p", "rest", button("", `Show ${Math.min(count, STRETCH)} ${which} entries`, run), ` of ${count}`);
}

function widen(before, behind) {
  const height = document.documentElement.scrollHeight;
  state.from = Math.max(0, state.from - before);
  state.to = Math.min(state.path.length, state.to + behind);
  drawTalk();
  if (before > 0 && window.scrollBy) scrollByPixels(document.documentElement.scrollHeight - height);
}

const scrollByPixels = (pixels) => pixels !== 0 && window.scrollBy(0, pixels);

/** An entry of the path; results go into the calls that they answer. What cannot be shown says so. */
function draw(at, calls) {
  const node = nodes[at];
  let said;
  try {
    said = turn(read(node));
  } catch (error) {
    said = { sort: "aside", title: "", parts: [el("p", "trouble", `This entry (${node.length} bytes) cannot be shown: ${error.message}. It is in the download.`)] };
  }
  if (!said) return null;
  const parts = said.parts.filter(Boolean);
  const call = typeof said.answers === "string" ? calls.get(said.answers) : undefined;
  if (call) {
    for (const part of parts) call.append(part);
    call.append(anchor(node, "inner"));
    return null;
  }
  if (parts.length === 0) return null;
  const box = el("article", `turn ${said.sort}${said.title ? "" : " bare"}`);
  const head = el("header", "", el("b", "", said.title), el("span", "beside", said.beside ?? ""));
  if (node.label) head.append(el("span", "label", oneLine(node.label, 80)));
  head.append(el("span", "gap"), el("time", "", minute(node.time)), copyLink(at));
  box.append(head, ...parts);
  box.dataset.at = at;
  for (const made of box.querySelectorAll("[data-call]")) calls.set(made.dataset.call, made);
  return box;
}

/** Where a result stands inside its call. */
function anchor(node, className) {
  const mark = el("div", className);
  mark.dataset.at = node.at;
  return mark;
}

function copyLink(at) {
  return button("copy", "#", () => {
    const address = `#${new URLSearchParams({ leafId: nodes[state.leaf].id, targetId: nodes[at].id })}`;
    location.hash = address;
    navigator.clipboard?.writeText(location.href).catch(() => {});
  });
}

/** Goes to an entry that is drawn, or to the nearest one above it that is. */
function scrollTo(target) {
  const drawn = new Map(Array.from(byId("talk").querySelectorAll("[data-at]"), (element) => [Number(element.dataset.at), element]));
  let here = target;
  while (here >= 0 && !drawn.has(here)) here = nodes[here].parent;
  const element = drawn.get(here)?.closest(".call, article") ?? byId("talk").lastElementChild;
  if (!element) return;
  element.scrollIntoView?.({ block: target === state.leaf ? "end" : "start" });
  element.classList.add("lit");
  setTimeout(() => element.classList.remove("lit"), 2000);
}

// What a person does.

function choose(at) {
  show(newestBelow(at), at);
  scrollTo(at);
  setSide(false);
}

function reset() {
  search("");
  state.leaf = state.open;
  show(state.open, -1);
  revealRow(state.open);
  scrollTo(state.open);
}

function search(query) {
  byId("search").value = query;
  state.query = query;
  state.narrowFolds = new Folds(true);
  fillTree();
  if (query === "") reveal(state.target < 0 ? state.leaf : state.target);
}

function setFilter(filter) {
  state.filter = state.filter === filter ? "default" : filter;
  state.narrowFolds = new Folds(true);
  fillTree();
  revealRow(state.target < 0 ? state.leaf : state.target);
}

function setSide(isOpen) {
  document.body.classList.toggle("side", isOpen);
  byId("menu").setAttribute("aria-expanded", String(isOpen));
}

function toggle(what) {
  shown[what] = !shown[what];
  byId(what).setAttribute("aria-pressed", String(shown[what]));
  const boxes = what === "thinking" ? "details.thinking" : ".result details.long";
  for (const box of byId("talk").querySelectorAll(boxes)) box.open = shown[what];
}

function zoom(image) {
  const big = el("img");
  big.src = image.src;
  big.alt = "picture";
  byId("zoom").replaceChildren(big);
  byId("zoom").hidden = false;
}

function download() {
  const address = URL.createObjectURL(LINES.blob());
  const anchor = el("a");
  anchor.href = address;
  anchor.download = META.name.endsWith(".jsonl") ? META.name : `${META.name}.jsonl`;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

/** `leafId` names the path, `targetId` the entry on it; behind `?` or `#`. */
function follow() {
  const words = new URLSearchParams(location.hash.slice(1) || location.search);
  const target = placeOf.get(words.get("targetId")) ?? -1;
  let leaf = placeOf.get(words.get("leafId")) ?? -1;
  if (target < 0 && leaf < 0) return false;
  if (leaf < 0 || (target >= 0 && !pathTo(leaf).includes(target))) leaf = newestBelow(target < 0 ? leaf : target);
  reveal(target < 0 ? leaf : target);
  show(leaf, target);
  scrollTo(target < 0 ? leaf : target);
  return true;
}

function moveRow(step) {
  const place = Math.min(state.rows.length - 1, Math.max(0, nearestRow(state.target < 0 ? state.leaf : state.target) + step));
  const row = state.rows[place];
  if (!row) return;
  state.target = row.at;
  revealRow(row.at);
}

/** Opens or folds the branch or the run at the row of the target. */
function foldAt(opens) {
  const place = nearestRow(state.target < 0 ? state.leaf : state.target);
  const row = state.rows[place];
  if (!row) return;
  const isOpen = row.isRun ? row.end === row.rank + 1 : row.isFoldable && !row.isBranch;
  if ((row.isFoldable || row.isRun) && isOpen !== opens) toggleRow(row);
  revealRow(row.at);
}

function onKey(event) {
  const inRows = document.activeElement === byId("rows");
  if (event.key === "Escape") {
    if (!byId("zoom").hidden) byId("zoom").hidden = true;
    else if (document.body.classList.contains("side")) setSide(false);
    else reset();
  } else if (document.activeElement === byId("search")) return;
  else if (event.key === "t" && !event.metaKey && !event.altKey) toggle("thinking");
  else if (event.key === "o" && !event.metaKey && !event.altKey) toggle("output");
  else if (inRows && event.key === "ArrowDown") moveRow(1);
  else if (inRows && event.key === "ArrowUp") moveRow(-1);
  else if (inRows && (event.key === "ArrowRight" || event.key === "ArrowLeft")) foldAt(event.key === "ArrowRight");
  else if (inRows && event.key === "Enter" && state.target >= 0) choose(state.target);
  else return;
  event.preventDefault();
}

function listen() {
  for (const filter of FILTERS) {
    const made = button("", filter.replace("-only", ""), () => setFilter(filter));
    made.dataset.filter = filter;
    byId("filters").append(made);
  }
  byId("search").addEventListener("input", () => search(byId("search").value));
  byId("open").addEventListener("click", toggleAll);
  byId("rows").addEventListener("scroll", drawRows, { passive: true });
  byId("rows").addEventListener("click", (event) => {
    const at = Number(event.target.closest("[data-at]")?.dataset.at ?? -1);
    const row = rowOf(at);
    if (at < 0) return;
    if (row.isRun || event.target.closest(".lines")) toggleRow(row);
    if (!event.target.closest(".lines")) choose(at);
  });
  byId("thinking").addEventListener("click", () => toggle("thinking"));
  byId("output").addEventListener("click", () => toggle("output"));
  byId("download").addEventListener("click", download);
  byId("menu").addEventListener("click", () => setSide(!document.body.classList.contains("side")));
  byId("veil").addEventListener("click", () => setSide(false));
  byId("zoom").addEventListener("click", () => (byId("zoom").hidden = true));
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", follow);
  window.addEventListener("resize", drawRows);
}

readNodes();
arrange(state.open);
openIfItFits();
byId("talk").before(byId("card"));
listen();
fillTree();
// Who opens the page begins to read at the beginning; a link leads to its entry.
if (!follow()) show(state.open, state.open < 0 ? -1 : pathTo(state.open)[0]);
