// What happened, at a glance: what was asked, what was dropped, which files changed, what it cost; the ways that leave an
// entry; two branches side by side. Draws into the card, the conversation and a sheet; reads nodes only, but for patches.

/** Rows that a list shows before it is opened. */
const SOME = 6;
/** The most rows of a list. */
const ALL_ROWS = 2000;
const SVG = "http://www.w3.org/2000/svg";

/** The first words of an entry, without who says them. */
const firstWords = (at, most = 140) => oneLine(nodes[at].words || nodes[at].text.replace(/^(?:user|assistant): /, ""), most) || "(nothing)";

/** A list whose first rows are shown, and a button for the rest. */
function someOf(rows, draw, some = SOME) {
  const list = el("ul", "rows-of");
  const add = (from, to) => list.append(...rows.slice(from, to).map((row) => el("li", "", draw(row))));
  add(0, some);
  if (rows.length > some) {
    const more = button("more", `all ${grouped(rows.length)}`, () => {
      more.parentNode.remove();
      add(some, ALL_ROWS);
      if (rows.length > ALL_ROWS) list.append(el("li", "aside", `and ${grouped(rows.length - ALL_ROWS)} more in the tree`));
    });
    list.append(el("li", "", more));
  }
  return list;
}

/** The first entry of a branch that the page shows: labels and the like come before it. */
function firstSaid(at) {
  for (let here = at; ; here = waysOf(here)[0]) {
    if (nodes[here].who !== QUIET) return here;
    if (waysOf(here).length !== 1) return at;
  }
}

/** A row that goes to an entry, or to the beginning of a branch. */
function wayTo(at, ...children) {
  const made = button("way", "", () => choose(firstSaid(at)));
  made.append(...children.filter(Boolean).map((child) => (child instanceof Node ? child : document.createTextNode(plain(child)))));
  return made;
}

/** One part of the story: lines that say it, and more when it is opened. */
function chapter(name, figure, lines, inside) {
  const said = lines.filter(Boolean).map((line) => el("span", "line", line));
  const box = el("details", `chapter ${name.toLowerCase()}`, el("summary", "", el("b", "", name), " ", el("span", "figure", figure), ...said));
  return filledLater(box, () => box.append(...inside()));
}

/** The children of an entry that lead somewhere. */
const waysOf = (at) => (at < 0 ? roots : nodes[at].children).filter((child) => !(nodes[child].bits & MARKER) || nodes[child].children.length > 0);

/** The branches that leave a path, the dearest first. */
function droppedFrom(path) {
  const dropped = [];
  for (const at of [-1, ...path.slice(0, -1)]) {
    const ways = waysOf(at);
    if (ways.length > 1 || (ways.length === 1 && !state.onPath.has(ways[0]))) for (const way of ways) if (!state.onPath.has(way)) dropped.push({ at: way, ...within(way) });
  }
  const said = dropped.filter(({ entries }) => entries > 0);
  return said.sort((a, b) => b.cost - a.cost || b.entries - a.entries || a.at - b.at);
}

/** What people call a branch: its first request, or the first that is said in it. Its last words do not name it. */
function nameOfBranch(at) {
  const end = newestBelow(at);
  let named = at;
  let here = at;
  for (let step = 0; step < LOOKED_AT; step++) {
    if (nodes[here].who === 0 && here !== end) return firstWords(here);
    if (nodes[named].who > 1 && nodes[here].who < 2) named = here;
    const ways = waysOf(here);
    if (ways.length !== 1) break;
    here = ways[0];
  }
  return firstWords(named);
}

const endOf = (at) => lastWords(newestBelow(at), at);

/** What the index says of a file: a call reads or changes it, or failed to; or the program recorded that it changed. */
const [READ, CHANGED, READ_FAILED, CHANGE_FAILED, RECORDED] = [0, 1, 2, 3, 4];
/** Whether a call's path names a file that is recorded by its path below the session's folder. */
const isPathOf = (name, path) => name === path || name.endsWith(`/${path}`);

/** Files by path with how often they were read, changed and not changed, and where they were to change first. */
function filesOf(path) {
  const files = new Map();
  // By their last names, for recorded files that calls have named in another way.
  const named = new Map();
  const nameOf = (path) => listOf(named.get(baseName(path))).find((known) => isPathOf(known, path)) ?? path;
  for (const at of path) {
    for (const [given, what] of nodes[at].files) {
      const name = what === RECORDED ? nameOf(given) : given;
      const file = files.get(name) ?? { name, reads: 0, changed: [], failures: [], recorded: [] };
      if (!files.has(name)) named.set(baseName(name), [...listOf(named.get(baseName(name))), name]);
      if (what === READ) file.reads += 1;
      else if (what === CHANGED) file.changed.push(at);
      else if (what === RECORDED) file.recorded.push(at);
      else if (what === READ_FAILED && file.reads > 0) file.reads -= 1;
      // A result follows its call: the last one is the one that failed.
      else if (what === CHANGE_FAILED && file.changed.length > 0) file.failures.push(file.changed.pop());
      files.set(name, file);
    }
  }
  const counted = [...files.values()].map(({ name, reads, changed, failures, recorded }) => ({ name, reads, changes: Math.max(changed.length, recorded.length), failures: failures.length, first: changed[0] ?? recorded[0] ?? failures[0] ?? -1 }));
  return counted.filter(({ reads, changes, failures }) => reads + changes + failures > 0).sort((a, b) => b.changes - a.changes || b.failures - a.failures || (a.name < b.name ? -1 : 1));
}

/** Whether a call asked to change the file. */
const isTouched = ({ changes, failures }) => changes + failures > 0;

const sum = (path, value) => path.reduce((total, at) => total + value(nodes[at]), 0);
const times = (count) => `${grouped(count)}×`;
/** How often a file was changed and read, and how often a change failed. */
const used = ({ changes, failures, reads }) => [changes > 0 && `changed ${times(changes)}`, failures > 0 && `failed ${times(failures)}`, reads > 0 && `read ${times(reads)}`].filter(Boolean).join(", ");
const baseName = (path) => path.slice(path.lastIndexOf("/") + 1) || path;

/** Tells what happened on a path. */
function tell(path) {
  const asked = path.filter((at) => nodes[at].who === 0);
  const dropped = droppedFrom(path);
  const files = filesOf(path).filter(isTouched);
  const changed = files.filter(({ changes }) => changes > 0);
  const cost = sum(path, (node) => node.cost);
  const whole = order.costs.at(-1);
  const peak = path.reduce((most, at) => Math.max(most, nodes[at].tokens), 0);
  const droppedCost = dropped.reduce((total, one) => total + one.cost, 0);
  byId("story").replaceChildren(
    chapter("Asked", counted(asked.length, "request"), [asked.length > 0 && `“${firstWords(asked[0])}”`, asked.length > 1 && `last: “${firstWords(asked.at(-1))}”`], () => [someOf(asked, (at) => wayTo(at, firstWords(at, 240), el("span", "when", minute(nodes[at].time))))]),
    chapter("Dropped", dropped.length > 0 ? `${counted(dropped.length, "branch", "branches")}, ${dollars(droppedCost)}` : "nothing", [dropped.length > 0 && `“${nameOfBranch(dropped[0].at)}”`, dropped.length > 0 && endOf(dropped[0].at) && `→ ${endOf(dropped[0].at)}`], () => [someOf(dropped, ({ at, entries, cost }) => wayTo(at, nameOfBranch(at), el("span", "when", ` ${counted(entries, "entry", "entries")}, ${dollars(cost)} ${endOf(at)}`)))]),
    chapter("Files", changed.length > 0 ? `${grouped(changed.length)} changed` : "none changed", [changed.slice(0, 4).map(({ name, changes }) => `${baseName(name)} ${times(changes)}`).join(", ")], () => [someOf(files, (file) => fileRow(path, file), 12)]),
    chapter("Cost", dollars(whole), [`this branch ${dollars(cost)}${peak > 0 ? `, context up to ${inShort(peak)} tokens` : ""}`], () => [costs(path, cost, whole, dropped.length)]),
  );
  todoOf(path).then((found) => {
    // Another branch may be shown meanwhile.
    if (found && path === state.path) byId("story").append(todoChapter(found));
  });
}

/** So many entries are read for a list. */
const ASKED_TODO = 200;

/** The todo list at the end of a path: that of the tool's last change, or the person's. */
async function todoOf(path) {
  let left = ASKED_TODO;
  for (let place = path.length - 1; place >= 0; place--) {
    const node = nodes[path[place]];
    const isResult = node.who === 2 && node.text.startsWith("[todo");
    // The index does not tell the person's changes from other bookkeeping.
    if (!isResult && node.who !== QUIET) continue;
    if (left-- <= 0) return null;
    const { entry } = await read(node).catch(() => ({}));
    const made = isResult ? entry?.message?.isError !== true && entry?.message?.details : entry?.customType === "user_todo_edit" && entry.data;
    if (isObject(made) && made.op !== "view" && Array.isArray(made.phases)) return { at: path[place], phases: made.phases.filter(isObject) };
  }
  return null;
}

const TODO_MARKS = { pending: "[ ]", in_progress: "[>]", completed: "[x]", abandoned: "[-]", blocked: "[!]" };

/** What is to be done on the branch that is shown. */
function todoChapter({ at, phases }) {
  const tasks = phases.flatMap((phase) => listOf(phase.tasks).filter(isObject).map((task) => ({ phase: oneLine(phase.name, 80), words: oneLine(task.content, 240), status: said(task.status) })));
  const closed = tasks.filter(({ status }) => status === "completed" || status === "abandoned").length;
  const now = tasks.find(({ status }) => status === "in_progress");
  const row = ({ phase, words, status }) => el("span", "", el("code", "", TODO_MARKS[status] ?? "[?]"), ` ${words}`, el("span", "when", phase));
  return chapter("Todo", tasks.length > 0 ? `${grouped(closed)} of ${grouped(tasks.length)} closed` : "empty", [now && `now: ${now.words}`], () => [someOf(tasks, row, 12), wayTo(at, "its last change")]);
}

/** A file with a way to its first change, and a sheet of all of them. */
function fileRow(path, file) {
  const { name, first } = file;
  const all = button("changes", "Changes", async () => {
    const patches = await patchesOf(path, name);
    openSheet(baseName(name), el("p", "aside", `${name} ${used(file)}`), patches);
  });
  all.setAttribute("aria-label", `Changes of ${oneLine(name, 120)}`);
  return el("div", "branch file", wayTo(first, el("code", "", name), el("span", "when", used(file))), all);
}

function costs(path, cost, whole, count) {
  const box = el("div", "", el("p", "aside", `The whole session ${dollars(whole)}; the branch that is shown ${dollars(cost)}; ${counted(count, "other branch", "other branches")} ${dollars(Math.max(0, whole - cost))}.`));
  const chart = chartOf(path);
  if (chart) box.append(chart);
  const compactions = path.filter((at) => nodes[at].text.startsWith("[compaction"));
  if (compactions.length > 0) box.append(el("p", "aside", counted(compactions.length, "compaction")), someOf(compactions, (at) => wayTo(at, nodes[at].text, el("span", "when", minute(nodes[at].time)))));
  return box;
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** The context and the cost over a path; a click goes to the entry below the pointer. */
function chartOf(path) {
  const points = path.map((at, place) => ({ at, place })).filter(({ at }) => nodes[at].tokens > 0);
  if (points.length < 2) return null;
  const [width, height] = [600, 120];
  const top = points.reduce((most, { at }) => Math.max(most, nodes[at].tokens), 1);
  const whole = sum(path, (node) => node.cost) || 1;
  const x = (place) => Math.round((place / Math.max(1, path.length - 1)) * width * 10) / 10;
  const y = (part) => Math.round((height - 4 - part * (height - 12)) * 10) / 10;
  // One point for each half pixel is enough: the highest.
  const columns = new Map();
  let spent = 0;
  let before = 0;
  for (const { at, place } of points) {
    for (; before <= place; before++) spent += nodes[path[before]].cost;
    const column = Math.floor(x(place) * 2);
    const known = columns.get(column);
    columns.set(column, { x: x(place), tokens: Math.max(known?.tokens ?? 0, nodes[at].tokens), spent });
  }
  const shown = [...columns.values()];
  const line = (of) => shown.map((point, at) => `${at === 0 ? "M" : "L"}${point.x} ${of(point)}`).join("");
  const chart = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `Context up to ${inShort(top)} tokens, ${dollars(whole)} in the end`, preserveAspectRatio: "none" });
  const context = line((point) => y(point.tokens / top));
  chart.append(shape("path", { class: "area", d: `${context}L${shown.at(-1).x} ${height}L${shown[0].x} ${height}Z` }), shape("path", { class: "context", d: context }), shape("path", { class: "spent", d: line((point) => y(point.spent / whole)) }));
  path.forEach((at, place) => {
    if (nodes[at].text.startsWith("[compaction")) chart.append(shape("line", { class: "cut", x1: x(place), x2: x(place), y1: 0, y2: height }));
  });
  chart.addEventListener("click", (event) => {
    const box = chart.getBoundingClientRect();
    const place = Math.round(((event.clientX - box.left) / Math.max(1, box.width)) * (path.length - 1));
    choose(path[Math.min(path.length - 1, Math.max(0, place))]);
  });
  return el("figure", "", chart, el("figcaption", "", el("span", "is-context", `context, up to ${inShort(top)} tokens`), el("span", "is-spent", `cost, ${dollars(whole)} in the end`), el("span", "is-cut", "compaction")));
}

// Branches.

/** The branches that leave an entry of the path, with a way to each; nothing if there is one only. */
function waysFrom(at) {
  const ways = waysOf(at);
  if (ways.length < 2) return null;
  const here = ways.findIndex((way) => state.onPath.has(way));
  const step = (by) => {
    const made = button("", by < 0 ? "‹" : "›", () => choose(firstSaid(ways[here + by])));
    made.setAttribute("aria-label", by < 0 ? "Previous branch" : "Next branch");
    made.disabled = ways[here + by] === undefined;
    return made;
  };
  const before = sum(pathTo(at), (node) => node.cost);
  const row = (way) => {
    const { entries, cost } = within(way);
    const isHere = state.onPath.has(way);
    const made = el("div", isHere ? "branch here" : "branch", wayTo(way, nameOfBranch(way), el("span", "when", ` ${counted(entries, "entry", "entries")} · own ${dollars(cost)}, whole ${dollars(before + cost)} ${endOf(way)}`)));
    if (isHere) made.firstChild.setAttribute("aria-current", "true");
    else made.append(button("compare", "Compare", () => compare(way)));
    return made;
  };
  const box = el("nav", "ways", el("div", "ways-head", el("b", "", here < 0 ? counted(ways.length, "branch", "branches") : `Branch ${here + 1} of ${ways.length}`), step(-1), step(1)), someOf(ways, row, 5));
  box.setAttribute("aria-label", "Branches from here");
  box.dataset.fork = at;
  return box;
}

/** The entries of two paths after the last one that both have. */
function sidesOf(left, right) {
  const [a, b] = [pathTo(left), pathTo(right)];
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared++;
  return { base: a[shared - 1] ?? -1, sides: [a.slice(shared), b.slice(shared)], before: sum(a.slice(0, shared), (node) => node.cost) };
}

/** Puts the branch that is shown and another one side by side. */
function compare(other) {
  const { base, sides, before } = sidesOf(state.leaf, newestBelow(other));
  const columns = sides.map((side, at) => {
    const said = side.filter((place) => !(nodes[place].bits & MARKER));
    const timed = said.map((place) => nodes[place].time).filter((time) => time !== null);
    const own = sum(side, (node) => node.cost);
    const files = filesOf(side);
    const facts = [
      `${counted(said.length, "entry", "entries")}, ${counted(side.filter((place) => nodes[place].who === 0).length, "request")}`,
      `own ${dollars(own)}, whole ${dollars(before + own)}`,
      timed.length > 1 ? lasting(timed.reduce((a, b) => Math.max(a, b)) - timed.reduce((a, b) => Math.min(a, b))) : "",
    ];
    const column = el("section", "side-of", el("h3", "", at === 0 ? "Shown" : "Other"), side.length > 0 ? wayTo(side[0], nameOfBranch(side[0])) : el("p", "aside", "ends where they part"));
    column.append(el("p", "", facts.filter(Boolean).join(" · ")));
    const models = el("p", "models");
    modelsOf(side).then((found) => models.append(found));
    column.append(models);
    if (side.length > 0) column.append(el("p", "last", lastWords(side.at(-1), base) || "no words"));
    column.append(el("h4", "", "Files"), files.length > 0 ? someOf(files, (file) => el("span", "", el("code", "", file.name), ` ${used(file)}`), 12) : el("p", "aside", "none"));
    const patches = button("", "Show patches", async () => patches.replaceWith(await patchesOf(side)));
    if (files.some(isTouched)) column.append(patches);
    return column;
  });
  openSheet("Two branches", el("p", "aside", base < 0 ? "They share no entry." : `They part after “${firstWords(base)}”.`), el("div", "sides", ...columns));
}

/** The most answers of a branch whose model is looked up. */
const ASKED_MODELS = 40;

/** The models that answered on a branch, in the order of their first answers. */
async function modelsOf(side) {
  const answers = side.filter((at) => nodes[at].tokens > 0 || nodes[at].text.startsWith("assistant: "));
  const step = Math.max(1, answers.length / ASKED_MODELS);
  const models = new Set();
  for (let place = 0; place < answers.length; place += step) {
    const { entry } = await read(nodes[answers[Math.floor(place)]]).catch(() => ({}));
    if (entry?.message?.model !== undefined) models.add(oneLine(entry.message.model, 80));
  }
  return [...models].slice(0, 6).join(", ") + (models.size > 6 ? `, and ${models.size - 6} more` : "");
}

/** What the calls of a branch ask to change, in order, and which of them failed; of one file, if it is named. */
async function patchesOf(side, name) {
  const box = el("div", "patches");
  let left = 200;
  for (const [place, at] of side.entries()) {
    if (nodes[at].files.some(([path, what]) => what === RECORDED && (name === undefined || isPathOf(name, path)))) {
      const { entry, files } = await read(nodes[at]);
      // What calls ask for is shown already.
      const found = isNamed(entry) ? [] : changedFiles(entry, files).filter((file) => file.by !== "foreign" && (name === undefined || isPathOf(name, said(file.path))));
      for (const file of found) {
        if (left-- === 0) return box.append(el("p", "aside", "Further changes are in the conversation.")), box;
        box.append(el("p", "", el("code", "", spelled(said(file.path), true).slice(0, 300)), ` ${oneLine(file.verb, 20)} while ${callsOf(entry).slice(0, 6).join(", ")} ran `, placeLink(nodes[at].id, nodes[at].id)));
        box.append(typeof file.patch === "string" ? diffBox(readDiff(patchBody(file.patch))) : el("p", "aside", oneLine(file.why ?? files?.note ?? META.files, 400)));
      }
      continue;
    }
    if (!nodes[at].files.some(([file, what]) => what === CHANGED && (name === undefined || file === name))) continue;
    const failed = await failuresAfter(side, place);
    const { entry } = await read(nodes[at]);
    for (const block of listOf(entry.message?.content)) {
      if (!isObject(block) || block.type !== "toolCall" || !isObject(block.arguments)) continue;
      const view = viewOf(block);
      if (!["edit", "write"].includes(view.verb)) continue;
      // A patch names its files itself.
      const file = said(view.of("path")) || name || "";
      if (name !== undefined && oneLine(file, 300) !== name) continue;
      if (left-- === 0) return box.append(el("p", "aside", "Further changes are in the conversation.")), box;
      const lines = view.verb === "write" ? diffBox(difference("", said(view.of("content")))) : askedDiff(view);
      box.append(el("p", "", el("code", "", spelled(file, true).slice(0, 300)), " ", placeLink(nodes[at].id, nodes[at].id), failed.has(block.id) ? el("span", "trouble", " failed") : ""));
      if (lines) box.append(lines);
    }
  }
  return box;
}

/** The ids of the calls of a turn whose results say that a change failed. */
async function failuresAfter(side, place) {
  const failed = new Set();
  for (let next = place + 1; next < side.length && nodes[side[next]].who !== 1; next++) {
    if (!nodes[side[next]].files.some(([, what]) => what === CHANGE_FAILED)) continue;
    const { entry } = await read(nodes[side[next]]);
    failed.add(entry.message?.toolCallId);
  }
  return failed;
}
