// What the page shows and what a person does with it: one place in the tree, a stretch of the path to it, rows at the side.

const ROW = 24;
const STRETCH = 200;
/** The width of a column of the tree, in pixels. */
const COLUMN = 7.3;

const shown = { thinking: false, output: false };
const state = { filter: "default", query: "", open: META.leaf, leaf: META.leaf, target: -1, path: [], from: 0, to: 0, rows: [], places: new Map(), calls: new Map(), drawn: 0, onPath: new Set(), folds: new Folds(), narrowFolds: new Folds(true), drawing: 0, scrolledTo: 0 };

// The tree.

function fillTree() {
  state.rows = layout(state.filter, state.query, folds());
  state.places = new Map(state.rows.map((row, place) => [row.at, place]));
  byId("tall").style.height = `${state.rows.length * ROW}px`;
  const total = nodes.filter((node) => !(node.bits & MARKER)).length;
  byId("status").textContent = `${grouped(state.rows.length)} / ${grouped(total)} entries`;
  for (const filter of byId("filters").children) filter.setAttribute("aria-pressed", String(filter.dataset.filter === state.filter));
  drawRows();
}

/** What a search and the filter for labels find is open, whatever is folded otherwise. */
const folds = () => (isNarrow(state.filter, state.query) ? state.narrowFolds : state.folds);

const room = () => Math.floor((byId("rows").clientHeight || 900) / ROW);

/** Opens every branch if all rows then fit. */
function openIfItFits() {
  if (layout(state.filter, "", new Folds(true), room()).length <= room()) state.folds = new Folds(true);
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
  if (nodes.length === 0) return;
  const from = Math.max(0, Math.floor(box.scrollTop / ROW) - 10);
  const to = Math.min(state.rows.length, from + Math.ceil((box.clientHeight || 900) / ROW) + 20);
  const active = nearestRow(state.target < 0 ? state.leaf : state.target);
  const drawn = [];
  for (let at = from; at < to; at++) drawn.push(drawRow(state.rows[at], at, at === active));
  keepSame(byId("tall"), drawn);
  if (active >= from && active < to) box.setAttribute("aria-activedescendant", `row-${state.rows[active].at}`);
  else box.removeAttribute("aria-activedescendant");
}

/** Puts the drawn rows into the box, and keeps those there that are the same: a press that began on one ends on it. */
function keepSame(box, drawn) {
  const old = new Map(Array.from(box.children, (row) => [row.id, row]));
  const rows = drawn.map((row) => (old.get(row.id)?.isEqualNode(row) ? old.get(row.id) : row));
  const kept = new Set(rows);
  for (const row of old.values()) if (!kept.has(row)) row.remove();
  let next = box.firstElementChild;
  for (const row of rows) {
    if (row === next) next = next.nextElementSibling;
    else box.insertBefore(row, next);
  }
}

function drawRow(drawn, place, isActive) {
  const { at, stands, prefix: lines, isFoldable, isBranch, isRun, end, rank } = drawn;
  const node = nodes[stands];
  const note = noteOf(drawn, Date.now());
  const row = el("div", `row who${node.who}${note ? " folded" : ""}`);
  row.setAttribute("role", "treeitem");
  row.id = `row-${at}`;
  row.setAttribute("aria-selected", String(isActive));
  row.setAttribute("aria-level", String(drawn.level + 1));
  row.setAttribute("aria-setsize", String(drawn.set.count));
  row.setAttribute("aria-posinset", String(drawn.place));
  row.dataset.at = stands;
  row.style.top = `${place * ROW}px`;
  if (isFoldable || isRun) row.setAttribute("aria-expanded", String(isRun ? end === rank + 1 : !isBranch));
  row.title = `${textOf(drawn)}\n${note.trim()}\n${node.id} ${minute(node.time)}`.slice(0, 800);
  if (isActive) row.classList.add("active");
  const marks = [el("span", "lines", lines), el("span", "dot", state.onPath.has(at) ? "•" : " ")];
  for (const mark of marks) mark.setAttribute("aria-hidden", "true");
  row.append(...marks);
  if (node.mark) row.append(el("span", "mark-of", `${node.mark} `));
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
  // Deep rows are followed sideways, so that their text is seen.
  const indent = place < 0 ? 0 : state.rows[place].prefix.length * COLUMN;
  if (indent > box.clientWidth / 2 || indent < box.scrollLeft) box.scrollLeft = Math.max(0, indent - box.clientWidth / 4);
  drawRows();
}

// The conversation.

/** Shows the path to a leaf, at an entry of it; without one, from its end. */
async function show(leaf, target) {
  state.leaf = leaf;
  state.target = target;
  if (leaf !== state.path.at(-1) || state.path.length === 0) {
    state.path = leaf < 0 ? [] : pathTo(leaf);
    state.onPath = new Set(state.path);
    tell(state.path);
  }
  const at = target < 0 ? state.path.length - 1 : Math.max(0, state.path.indexOf(target));
  state.to = target < 0 ? state.path.length : Math.min(state.path.length, Math.max(at + Math.ceil(STRETCH / 2), STRETCH));
  state.from = Math.max(0, state.to - STRETCH);
  byId("reset").hidden = leaf === state.open;
  const count = state.path.filter((place) => !(nodes[place].bits & MARKER)).length;
  byId("where").textContent = leaf < 0 ? "" : `${counted(count, "entry", "entries")}${leaf === state.open ? "" : ", another branch"}`;
  revealRow(target < 0 ? leaf : target);
  await drawTalk();
}

/** Draws the stretch, unless something else is to be shown by then; `isMore` if what is drawn stays, and more comes after it. */
async function drawTalk(isMore = false) {
  const number = ++state.drawing;
  document.querySelector("main").setAttribute("aria-busy", "true");
  byId("talk").classList.toggle("grows", isMore);
  if (!isMore) [state.calls, state.drawn] = [new Map(), state.from];
  const drawn = await drawEntries(state.path.slice(state.drawn, state.to), state.calls, number);
  if (!drawn) return false;
  state.drawn = state.to;
  if (state.from > 0 && !isMore) drawn.unshift(rest("earlier", state.from, () => widen(STRETCH, 0)));
  if (state.to < state.path.length) drawn.push(rest("later", state.path.length - state.to, () => widen(0, STRETCH)));
  else if (state.leaf === state.open && META.end) drawn.push(el("p", "trouble", META.end));
  if (state.path.length === 0) drawn.push(el("p", "note", "Nothing has been said in this session."));
  if (isMore) byId("talk").lastElementChild.replaceWith(...drawn);
  else byId("talk").replaceChildren(...drawn);
  for (const box of byId("talk").querySelectorAll(".result details.long")) box.open ||= shown.output;
  lightUp();
  document.querySelector("main").setAttribute("aria-busy", "false");
  return true;
}

/** Opens what entries say, and makes elements of it; null if something else is to be drawn by then. */
async function drawEntries(places, calls, number) {
  for (const at of places) LINES.prepare(nodes[at].start, nodes[at].length);
  const drawn = [];
  for (const at of places) {
    let said;
    try {
      said = await read(nodes[at]);
    } catch (error) {
      said = { error };
    }
    if (number !== state.drawing) return null;
    const made = draw(at, said, calls);
    if (made) drawn.push(made);
    const ways = waysFrom(at);
    if (ways) drawn.push(ways);
    if (ways) calls.speaker = undefined;
  }
  return drawn;
}

/** Draws the next stretch when its button comes near. */
const nearer = "IntersectionObserver" in window ? new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => one.target.click()), { rootMargin: "1000px" }) : null;

function rest(which, count, run) {
  const more = button("", `Show ${Math.min(count, STRETCH)} ${which} entries`, run);
  if (which === "later") nearer?.observe(more);
  return el("p", "rest", more, ` of ${counted(count, "entry", "entries")}`);
}

async function widen(before, after) {
  // Something else is about to be drawn in the place of this.
  if (document.querySelector("main").getAttribute("aria-busy") === "true") return;
  const height = document.documentElement.scrollHeight;
  state.from = Math.max(0, state.from - before);
  state.to = Math.min(state.path.length, state.to + after);
  if ((await drawTalk(before === 0)) && before > 0) window.scrollBy(0, document.documentElement.scrollHeight - height);
}

/** An entry of the path; results go into the calls that they answer. What cannot be shown says so. */
function draw(at, read, calls) {
  const node = nodes[at];
  let said;
  try {
    if (read.error) throw read.error;
    said = turn(read, (id) => (typeof id === "string" ? calls.get(id)?.box : undefined));
  } catch (error) {
    said = { sort: "aside", title: "", parts: [el("p", "trouble", `This entry (${node.length} bytes) cannot be shown: ${error.message}. It is in the download.`)] };
  }
  if (!said) return null;
  const parts = said.parts.filter(Boolean);
  // One model that calls one tool after the other is named once.
  if (said.sort === "assistant" && said.beside === calls.speaker && parts.every((part) => part.classList.contains("call"))) said.title = said.beside = "";
  const call = typeof said.answers === "string" ? calls.get(said.answers) : undefined;
  if (call) {
    const time = lasting(node.time - call.time);
    if (time && node.time > call.time) call.box.querySelector(".head").append(el("span", "lasted", time));
    call.box.classList.add(said.failed ? "bad" : "good");
    call.box.append(...parts, anchor(node, "inner"));
    return null;
  }
  if (parts.length === 0) return null;
  if (said.sort !== "tool" && said.sort !== "mark files") calls.speaker = said.sort === "assistant" ? said.beside || calls.speaker : undefined;
  const box = el("article", `turn ${said.sort}${said.title ? "" : " bare"}`);
  if (!said.title && said.sort === "assistant") box.setAttribute("aria-label", "Assistant");
  box.append(headOf(at, said), ...parts);
  box.dataset.at = at;
  for (const made of box.querySelectorAll("[data-call]")) calls.set(made.dataset.call, { box: made, time: node.time });
  return box;
}

function headOf(at, said) {
  const node = nodes[at];
  const head = el("header", "");
  if (said.title) head.append(el("b", "", said.title));
  if (said.beside) head.append(el("span", "beside", said.beside));
  if (node.label) head.append(el("span", "label", oneLine(node.label, 80)));
  for (const [words, id, name] of said.sources ?? []) head.append(el("span", "source", `⇠ ${words} `, placeLink(id, name ?? id)));
  head.append(el("span", "gap"));
  if (said.words && said.title) head.append(copyButton("Copy", said.words));
  head.append(copyLink(at));
  if (node.cost > 0) head.append(el("span", "cost", dollars(node.cost)));
  head.append(el("time", "", minute(node.time)));
  return head;
}

/** An entry's id as a button that goes there; text if it is not on the page. */
function placeLink(id, name) {
  const at = placeOf.get(id) ?? -1;
  if (at < 0) return el("span", "", `${oneLine(name, 40)}, not in this page`);
  const made = button("place", oneLine(name, 40), () => choose(at));
  made.title = nodes[at].text.slice(0, 300);
  return made;
}

/** Where a result is inside its call. */
function anchor(node, className) {
  const mark = el("div", className);
  mark.dataset.at = node.at;
  return mark;
}

// Copying.

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = el("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    const isCopied = document.execCommand?.("copy") ?? false;
    box.remove();
    return isCopied;
  }
}

function copyButton(name, text) {
  const made = button("copy", name, async () => {
    const isCopied = await copy(text());
    made.textContent = isCopied ? "Copied" : "Not copied";
    announce(made.textContent);
    setTimeout(() => (made.textContent = name), 1500);
  });
  return made;
}

function copyLink(at) {
  return copyButton("Link", () => {
    history.replaceState(null, "", addressOf(state.leaf, at));
    return location.href;
  });
}

const addressOf = (leaf, target) => `#${new URLSearchParams({ ...(AGENT === "" ? {} : { agent: AGENT }), leafId: nodes[leaf].id, ...(target < 0 ? {} : { targetId: nodes[target].id }) })}`;

/** Goes to an entry that is drawn, or to the nearest one above it that is. */
function scrollTo(target) {
  const drawn = new Map(Array.from(byId("talk").querySelectorAll("[data-at]"), (element) => [Number(element.dataset.at), element]));
  let here = target;
  while (here >= 0 && !drawn.has(here)) here = nodes[here].parent;
  const element = drawn.get(here)?.closest(".call, article") ?? byId("talk").lastElementChild;
  if (!element) return;
  element.scrollIntoView?.({ block: target === state.leaf && nodes[target].children.length === 0 && state.target < 0 ? "end" : "start" });
  state.scrolledTo = window.scrollY;
  for (const one of document.querySelectorAll(".lit")) one.classList.remove("lit");
  // Once its style is computed without the class, the class begins the animation again.
  void element.offsetWidth;
  element.classList.add("lit");
}
