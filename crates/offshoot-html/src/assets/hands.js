// What a person does: clicks, keys, the address, the search, the theme, the width of the tree.

/** Says something to who cannot see it, and to who can. */
function announce(words) {
  byId("said").textContent = words;
  byId("said").classList.toggle("seen", words !== "");
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => announce(""), 4000);
}

// Places.

/** Goes to an entry, on its branch up to the newest end; the address remembers it. */
async function choose(at) {
  const leaf = state.onPath.has(at) ? state.leaf : newestBelow(at);
  setSide(false);
  byId("sheet").close?.();
  reveal(at);
  history.pushState(null, "", addressOf(leaf, at));
  await show(leaf, at);
  scrollTo(at);
}

async function reset() {
  search("");
  byId("search").value = "";
  history.pushState(null, "", state.open < 0 ? "#" : addressOf(state.open, -1));
  await show(state.open, -1);
  reveal(state.open);
  revealRow(state.open);
  scrollTo(state.open);
}

/** Goes where the address says: `leafId` names the path, `targetId` the entry on it; after `?` or `#`. */
async function follow() {
  const words = new URLSearchParams(location.hash.slice(1) || location.search);
  if ((words.get("agent") ?? "") !== AGENT) {
    location.reload();
    return true;
  }
  const [target, leaf] = ["targetId", "leafId"].map((name) => (words.has(name) ? (placeOf.get(words.get(name)) ?? -1) : -1));
  const unknown = ["leafId", "targetId"].map((name) => words.get(name)).filter((id) => id !== null && !placeOf.has(id));
  if (unknown.length > 0) announce(`This page has no entry ${unknown.map((id) => oneLine(id, 40)).join(" and none ")}.`);
  if (target < 0 && leaf < 0) return false;
  const end = leaf < 0 || (target >= 0 && !pathTo(leaf).includes(target)) ? newestBelow(target < 0 ? leaf : target) : leaf;
  const place = target < 0 ? end : target;
  if (state.drawing > 0 && end === state.leaf && place === state.target) return true;
  reveal(place);
  await show(end, target);
  scrollTo(place);
  return true;
}

let scrolled = 0;

/** Looks where the reader is once the page rests. */
function rememberSoon() {
  clearTimeout(scrolled);
  scrolled = setTimeout(remember, 250);
}

/** The address names the entry at the top of the screen, so that reloading leads there; where the page went by itself it names the entry that was chosen. */
function remember() {
  if (document.querySelector("main").getAttribute("aria-busy") === "true") return rememberSoon();
  if (state.leaf < 0 || window.scrollY < 50 || Math.abs(window.scrollY - state.scrolledTo) < 2) return;
  const top = Array.from(byId("talk").querySelectorAll("article")).find((box) => box.getBoundingClientRect().bottom > 70);
  if (!top) return;
  const at = Number(top.dataset.at);
  if (!state.onPath.has(at)) return;
  state.scrolledTo = -1;
  history.replaceState(null, "", addressOf(state.leaf, at));
}

/** The first or the last entry of the path. */
async function goToEnd(isFirst) {
  await show(state.leaf, isFirst ? state.path[0] : -1);
  if (isFirst) window.scrollTo(0, 0);
  else scrollTo(state.leaf);
}

/** The next or the previous branch at the nearest entry above with several, else at the first one below. */
function stepBranch(by) {
  const here = state.target < 0 ? state.leaf : state.target;
  const near = [...pathTo(here).reverse(), ...state.path.slice(state.path.indexOf(here) + 1)];
  const at = near.find((place) => waysOf(nodes[place].parent).length > 1);
  if (at === undefined) return announce("No entry of this branch has another one beside it.");
  const ways = waysOf(nodes[at].parent);
  const next = ways[ways.indexOf(at) + by];
  if (next === undefined) return announce(by > 0 ? "This is the newest branch here." : "This is the oldest branch here.");
  choose(firstSaid(next));
}

// The search.

let wait = 0;
const hits = { list: [], here: -1, number: 0, isDone: true };

function search(query) {
  state.query = query;
  state.narrowFolds = new Folds(true);
  clearTimeout(wait);
  hits.number += 1;
  [hits.list, hits.here, hits.isDone] = [[], -1, true];
  searched = new Set();
  fillTree();
  if (query === "") reveal(state.target < 0 ? state.leaf : state.target);
  sayHits();
  lightUp();
  if (query.trim().length < 2) return;
  byId("hits").textContent = "…";
  wait = setTimeout(() => searchAll(query), 250);
}

async function searchAll(query) {
  const number = hits.number;
  hits.isDone = false;
  sayHits(0);
  let drawn = performance.now();
  await searchText(query, () => number !== hits.number, (found, part) => {
    hits.list.push(...found);
    for (const at of found) searched.add(at);
    // The tree is laid out now and then, not for each block.
    if (found.length > 0 && performance.now() - drawn > 400) {
      fillTree();
      drawn = performance.now();
    }
    sayHits(part);
  });
  if (number !== hits.number) return;
  hits.isDone = true;
  // Matches on the branch that is shown come first to hand: they are walked in the order of the file.
  fillTree();
  sayHits();
}

function sayHits(part) {
  const { list, here, isDone } = hits;
  const count = `${grouped(list.length)}${list.length >= MOST_HITS ? "+" : ""}`;
  byId("hits").textContent = state.query.trim().length < 2 ? "" : `${here >= 0 ? `${grouped(here + 1)} of ${count}` : `${count} ${list.length === 1 ? "entry" : "entries"}`} with these words${isDone || part === undefined ? "" : ` … ${Math.round(part * 100)} %`}`;
  for (const name of ["next", "previous"]) byId(name).disabled = list.length === 0;
}

async function goToHit(by) {
  if (hits.list.length === 0) return;
  const first = by > 0 ? 0 : hits.list.length - 1;
  hits.here = hits.here < 0 ? first : (hits.here + by + hits.list.length) % hits.list.length;
  sayHits();
  const at = hits.list[hits.here];
  const isOpen = document.body.classList.contains("side");
  await choose(at);
  // What was found is open, wherever it is folded away.
  for (const box of byId("talk").querySelector(`[data-at="${at}"]`)?.closest(".call, article")?.querySelectorAll("details") ?? []) box.open = true;
  lightUp();
  if (isOpen) announce(byId("hits").textContent);
}

// The view.

function setFilter(filter) {
  state.filter = state.filter === filter ? "default" : filter;
  state.narrowFolds = new Folds(true);
  fillTree();
  revealRow(state.target < 0 ? state.leaf : state.target);
}

const isSmall = () => window.matchMedia("(max-width: 900px)").matches;

/** On a small screen the tree lies over the page, and only it can be reached; else it is beside it, or away. */
function setSide(isOpen, isByHand = false) {
  if (!isSmall()) {
    if (isByHand) setAway(!document.body.classList.contains("away"));
    return;
  }
  const wasOpen = document.body.classList.contains("side");
  document.body.classList.toggle("side", isOpen);
  byId("menu").setAttribute("aria-expanded", String(isOpen));
  for (const part of [document.querySelector("main"), byId("bar")]) part.inert = isOpen;
  if (isOpen) {
    byId("search").focus({ preventScroll: true });
    revealRow(state.target < 0 ? state.leaf : state.target);
  } else if (wasOpen) byId("menu").focus({ preventScroll: true });
}

function setAway(isAway) {
  document.body.classList.toggle("away", isAway);
  byId("menu").setAttribute("aria-expanded", String(!isAway));
  choices.keep({ isAway });
  drawRows();
}

/** The width of the tree in hundredths of the window. */
function setWidth(part) {
  const width = Math.min(80, Math.max(10, Math.round(part)));
  document.documentElement.style.setProperty("--panel", `clamp(200px, ${width}vw, 85vw)`);
  byId("edge").setAttribute("aria-valuenow", String(width));
  drawRows();
  return width;
}

function listenToEdge() {
  const edge = byId("edge");
  edge.addEventListener("pointerdown", (event) => {
    edge.setPointerCapture(event.pointerId);
    const move = ({ clientX }) => setWidth((clientX / window.innerWidth) * 100);
    const end = () => {
      edge.removeEventListener("pointermove", move);
      choices.keep({ width: Number(edge.getAttribute("aria-valuenow")) });
    };
    edge.addEventListener("pointermove", move);
    edge.addEventListener("pointerup", end, { once: true });
    edge.addEventListener("pointercancel", end, { once: true });
  });
  edge.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -2, ArrowRight: 2, Home: -100, End: 100 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choices.keep({ width: setWidth(Number(edge.getAttribute("aria-valuenow")) + step) });
  });
}

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
}

function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? "auto") + 1) % THEMES.length];
  setTheme(theme);
  choices.keep({ theme });
}

function toggle(what) {
  shown[what] = !shown[what];
  byId(what).setAttribute("aria-pressed", String(shown[what]));
  const boxes = what === "thinking" ? "details.thinking" : ".result details.long";
  for (const box of byId("talk").querySelectorAll(boxes)) box.open = shown[what];
}

function openDialog(dialog, ...children) {
  dialog.replaceChildren(...children);
  if (dialog.open) return;
  if (dialog.showModal) dialog.showModal();
  else dialog.open = true;
}

function zoom(image) {
  // The keyboard may be quicker than the picture that comes into view.
  load(image);
  const big = el("img");
  big.src = image.src;
  big.alt = "Picture, enlarged";
  openDialog(byId("zoom"), big, button("close", "Close", () => byId("zoom").close()));
}

function openSheet(title, ...children) {
  const head = el("h2", "", title);
  head.id = "sheet-title";
  openDialog(byId("sheet"), el("div", "sheet-head", head, button("close", "Close", () => byId("sheet").close())), ...children);
}

const KEYS = [["/", "search"], ["n, N", "next, previous match"], ["Home, End", "first, last entry of the branch"], ["[, ]", "previous, next branch"], ["Escape", "close, or back to the current branch"], ["t", "what the model thought"], ["o", "what tools answered"], ["b", "show or hide the tree"], ["↑ ↓ ← →", "in the tree: move, fold, open"], ["Enter", "in the tree: show the entry"], ["Ctrl+P", "print the branch, with everything open"], ["?", "this list"]];

function showKeys() {
  const list = el("dl", "keys");
  for (const [key, words] of KEYS) list.append(el("div", "", el("dt", "", el("kbd", "", key)), el("dd", "", words)));
  openSheet("Keys", list);
}

/** Entries that are printed at most; the print says how many are left. */
const PRINTED = 20_000;

/** Opens every fold, and gives back how to close those that were closed. */
function unfold() {
  const closed = Array.from(document.querySelectorAll("main details:not([open])"));
  for (const box of closed) {
    fillers.get(box)?.();
    box.open = true;
  }
  return () => closed.forEach((box) => (box.open = false));
}

async function printAll() {
  announce("Preparing to print …");
  const before = [state.from, state.to];
  [state.from, state.to] = [Math.max(0, state.path.length - PRINTED), state.path.length];
  if (!(await drawTalk())) return;
  const fold = unfold();
  // Long diffs and long output open step by step: here all steps.
  for (let step = 0; step < PRINTED; step++) {
    const more = document.querySelector("#talk :is(.diff, .long) > button.more");
    if (!more) break;
    more.click();
  }
  for (const image of document.querySelectorAll("#talk img.picture")) load(image);
  await Promise.all(Array.from(document.images, (image) => image.decode?.().catch(() => {})));
  announce("");
  window.print?.();
  fold();
  [state.from, state.to] = before;
  await drawTalk();
}

async function download() {
  announce("Preparing the file …");
  const address = URL.createObjectURL(await LINES.blob());
  const anchor = el("a");
  anchor.href = address;
  anchor.download = META.name.endsWith(".jsonl") ? META.name : `${META.name}.jsonl`;
  anchor.click();
  announce("");
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// Keys.

function moveRow(step) {
  const place = Math.min(state.rows.length - 1, Math.max(0, nearestRow(state.target < 0 ? state.leaf : state.target) + step));
  const row = state.rows[place];
  if (!row) return;
  state.target = row.stands;
  revealRow(row.at);
}

/** Opens or folds the branch or the run at the row of the target. */
function foldAt(opens) {
  const place = nearestRow(state.target < 0 ? state.leaf : state.target);
  const row = state.rows[place]?.run ?? state.rows[place];
  if (!row) return;
  const isOpen = row.isRun ? row.end === row.rank + 1 : row.isFoldable && !row.isBranch;
  if ((row.isFoldable || row.isRun) && isOpen !== opens) toggleRow(row);
  revealRow(row.at);
}

const ROW_KEYS = { ArrowDown: () => moveRow(1), ArrowUp: () => moveRow(-1), PageDown: () => moveRow(room()), PageUp: () => moveRow(-room()), ArrowRight: () => foldAt(true), ArrowLeft: () => foldAt(false), Home: () => moveRow(-Infinity), End: () => moveRow(Infinity), Enter: () => state.target >= 0 && choose(state.target), " ": () => state.target >= 0 && choose(state.target) };
const PAGE_KEYS = { t: () => toggle("thinking"), o: () => toggle("output"), b: () => setSide(!document.body.classList.contains("side"), true), n: () => goToHit(1), N: () => goToHit(-1), "[": () => stepBranch(-1), "]": () => stepBranch(1), Home: () => goToEnd(true), End: () => goToEnd(false), "/": () => goToSearch(), "?": showKeys };

function goToSearch() {
  if (isSmall()) setSide(true);
  else if (document.body.classList.contains("away")) setAway(false);
  byId("search").focus();
}

function onEscape() {
  if (byId("zoom").open || byId("sheet").open) for (const name of ["zoom", "sheet"]) byId(name).close?.();
  else if (document.body.classList.contains("side")) setSide(false);
  else if (byId("bar").classList.contains("more")) setMore(false);
  else reset();
}

function onKey(event) {
  if (event.key === "p" && (event.ctrlKey || event.metaKey)) return event.preventDefault(), printAll();
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  if (event.key === "Escape") return event.preventDefault(), onEscape();
  const here = document.activeElement;
  if (here === byId("search")) return event.key === "Enter" ? (event.preventDefault(), goToHit(event.shiftKey ? -1 : 1)) : undefined;
  if (byId("zoom").open || byId("sheet").open) return;
  const run = here === byId("rows") && Object.hasOwn(ROW_KEYS, event.key) ? ROW_KEYS[event.key] : Object.hasOwn(PAGE_KEYS, event.key) ? PAGE_KEYS[event.key] : null;
  if (!run) return;
  event.preventDefault();
  run();
}

function setMore(isOpen) {
  byId("bar").classList.toggle("more", isOpen);
  byId("more").setAttribute("aria-expanded", String(isOpen));
}

const onClick = (id, run) => byId(id).addEventListener("click", run);

function listen() {
  for (const filter of FILTERS) {
    const made = button("", filter.replace("-only", ""), () => setFilter(filter));
    made.dataset.filter = filter;
    byId("filters").append(made);
  }
  byId("search").addEventListener("input", () => search(byId("search").value));
  byId("rows").addEventListener("scroll", drawRows, { passive: true });
  onClick("rows", (event) => {
    const at = Number(event.target.closest("[data-at]")?.dataset.at ?? -1);
    if (at < 0) return;
    const row = rowOf(at);
    if (row.isRun || event.target.closest(".lines")) toggleRow(row);
    if (!event.target.closest(".lines")) choose(at);
  });
  onClick("next", () => goToHit(1));
  onClick("previous", () => goToHit(-1));
  onClick("open", toggleAll);
  onClick("reset", reset);
  onClick("thinking", () => toggle("thinking"));
  onClick("output", () => toggle("output"));
  onClick("theme", nextTheme);
  onClick("print", printAll);
  onClick("download", download);
  onClick("keys", showKeys);
  onClick("more", () => setMore(!byId("bar").classList.contains("more")));
  onClick("menu", () => setSide(!document.body.classList.contains("side"), true));
  onClick("veil", () => setSide(false));
  onClick("zoom", () => byId("zoom").close());
  document.addEventListener("keydown", onKey);
  window.addEventListener("popstate", follow);
  window.addEventListener("hashchange", follow);
  window.addEventListener("resize", drawRows);
  let fold = () => {};
  window.addEventListener("beforeprint", () => (fold = unfold()));
  window.addEventListener("afterprint", () => fold());
  window.addEventListener("scroll", rememberSoon, { passive: true });
  listenToEdge();
}

/** An agent's card, with the way back to who has started it; agents that are below no call are on the card. */
function introduceAgents() {
  if (CARRIED !== document) {
    byId("card").replaceWith(CARRIED.querySelector("#card"));
    const above = AGENT.split(".").slice(0, -1).join(".");
    byId("card").prepend(button("agent", `↩ ${above === "" ? "The session that has started it" : above}`, () => readAgent(above)));
  }
  byId("card").append(...agentsOf(null));
}

async function begin() {
  const kept = choices.read();
  setTheme(THEMES.includes(kept.theme) ? kept.theme : "auto");
  if (Number.isFinite(kept.width)) setWidth(kept.width);
  if (kept.isAway === true && !isSmall()) setAway(true);
  byId("menu").setAttribute("aria-expanded", String(!isSmall() && kept.isAway !== true));
  if ("scrollRestoration" in history) history.scrollRestoration = "manual";
  introduceAgents();
  await readNodes();
  arrange(state.open);
  openIfItFits();
  byId("talk").before(byId("card"));
  listen();
  fillTree();
  // Who opens the page begins to read at the beginning; a link leads to its entry.
  if (await follow()) return;
  const path = state.open < 0 ? [] : pathTo(state.open);
  await show(state.open, path.find((at) => state.places.has(at)) ?? path[0] ?? -1);
}

begin().catch((error) => {
  byId("talk").replaceChildren(el("p", "trouble", `The page cannot be shown: ${error.message}`));
  document.querySelector("main").setAttribute("aria-busy", "false");
});
