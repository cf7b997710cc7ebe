// One entry as elements. Every field is looked at for what it is: what is no text is shown as JSON, what is no number is no
// number, what is no picture is words. Nothing here makes HTML from text.

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const BLOCKS = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "table", "thead", "tr", "td", "th", "em", "strong", "s"];
const PREVIEW = { output: 10, prose: 400 };
/** Longer text opens in steps of this many characters. */
const LONGEST = 1 << 20;
const QUIET = 5;

/** What an entry says: its line, and what the page has beside it. */
async function read(node) {
  const line = await LINES.text(node.start, node.length);
  const beside = node.besideLength > 0 ? JSON.parse(await BESIDE.text(node.besideStart, node.besideLength)) : {};
  const blobs = new Map(listOf(beside.blobs).map((blob) => [blob.hash, blob.data]));
  return { entry: JSON.parse(line), prose: listOf(beside.md), blobs, files: beside.files, isQuiet: node.who === QUIET };
}

/** Operations of Markdown as elements; numbers name stretches of the text, from its beginning on. */
function rich(text, operations) {
  const top = el("div", "prose");
  let here = top;
  let at = 0;
  let words = "";
  const take = (count) => text.slice(at, (at += count));
  const say = () => {
    if (words !== "") here.append(...(here.closest("pre, a") ? [document.createTextNode(here.closest("pre") ? codeIn(words) : plain(words))] : withLinks(plain(words))));
    words = "";
  };
  for (const operation of operations) {
    if (typeof operation === "string") words += operation;
    else if (operation > 0) words += take(operation);
    else if (operation < 0) at -= operation;
    else if (operation === 0) {
      say();
      const closed = here;
      here = here === top ? top : here.parentNode;
      if (closed.localName === "pre") codeBlock(closed);
    } else {
      say();
      const [name, value] = operation;
      if (name === "code") here.append(el("code", "", codeIn(typeof value === "number" ? take(value) : value)));
      else if (name === "hr") here.append(el("hr"));
      else {
        const inner = name === "a" ? link(value) : el(BLOCKS.includes(name) ? name : "span");
        if (name === "pre" && value) inner.dataset.language = oneLine(value, 30);
        if (name === "ol" && Number.isInteger(value)) inner.start = value;
        if ((name === "td" || name === "th") && ["center", "right"].includes(value)) inner.classList.add(value);
        here.append(inner);
        here = inner;
      }
    }
  }
  say();
  for (const table of top.querySelectorAll("table")) table.tabIndex = 0;
  return top;
}

/** Text with its web addresses as links. */
function withLinks(text) {
  const parts = text.split(/(https?:\/\/[^\s<>"'`\u0000-\u0020]+[^\s<>"'`.,:;!?)\]}*_])/);
  return parts.map((part, at) => {
    if (at % 2 === 0) return document.createTextNode(part);
    const made = link(part);
    made.append(document.createTextNode(part));
    return made;
  });
}

/** A block of code with its language, its colours and a way to copy it. */
function codeBlock(block) {
  const code = block.textContent;
  const { language } = block.dataset;
  block.tabIndex = 0;
  block.setAttribute("role", "group");
  block.setAttribute("aria-label", language ? `Code, ${nameOf(language)}` : "Code");
  if (language && languageOf(language)) inColours((block.replaceChildren(), block), code, language);
  const head = el("div", "code-head", el("span", "language", language ? nameOf(language) : ""), copyButton("Copy code", () => code));
  const box = el("div", "code-box", head);
  block.replaceWith(box);
  box.append(block);
}

function link(address) {
  let url = null;
  try {
    url = new URL(address);
  } catch {
    // No address: its words stay.
  }
  if (!url || !["http:", "https:", "mailto:"].includes(url.protocol)) return el("span");
  const element = el("a");
  element.href = url.href;
  element.rel = "noopener noreferrer nofollow";
  element.target = "_blank";
  element.title = url.href;
  return element;
}

/** A block of text that may be wider or higher than its place: the keyboard can scroll it. */
function block(className, text, paint) {
  const made = paint(el("pre", className), text);
  made.tabIndex = 0;
  made.setAttribute("role", "group");
  made.setAttribute("aria-label", className.includes("given") ? "Input" : "Output");
  return made;
}

/** Text as it is; of long text the first lines, the rest when somebody opens it. `paint` fills an element with text. */
function literal(given, className, lines, paint = fill) {
  const text = given.replace(/\s+$/, "");
  if (plain(text) === "") return null;
  const rows = text.slice(0, LONGEST).split("\n");
  if (rows.length <= lines && text.length < 8000) return block(className, text, paint);
  const hidden = text.length > LONGEST ? counted(text.length, "character") : counted(rows.length - lines, "more line");
  const preview = paint(el("pre", className), rows.slice(0, lines).join("\n").slice(0, 8000));
  const summary = el("summary", "", preview, el("span", "more", rows.length > lines ? hidden : "show all"));
  const box = el("details", "long", summary);
  const grow = (from) => {
    box.append(block(className, text.slice(from, from + LONGEST), paint));
    const left = text.length - from - LONGEST;
    if (left <= 0) return;
    const more = button("more", counted(left, "more character"), () => (more.remove(), grow(from + LONGEST)));
    box.append(more);
  };
  return filledLater(box, () => grow(0));
}

function prose(text, operations) {
  if (Array.isArray(operations)) return rich(text, operations);
  if (text.trim() === "") return null;
  if (text.length > LONGEST || text.split("\n", PREVIEW.prose + 1).length > PREVIEW.prose) return literal(text, "words", PREVIEW.prose);
  const box = el("div", "prose words");
  box.append(...withLinks(plain(text.trim())));
  return box;
}

/** Loads pictures that come into view; where nothing watches, at once. */
const watcher = "IntersectionObserver" in window ? new IntersectionObserver((seen) => seen.filter((one) => one.isIntersecting).forEach((one) => (watcher.unobserve(one.target), load(one.target))), { rootMargin: "400px" }) : null;
/** The base64 of each picture that is drawn but not loaded. */
const unloaded = new WeakMap();

/** Loads a picture, once. */
function load(image) {
  const given = unloaded.get(image);
  if (!given) return;
  unloaded.delete(image);
  image.src = given() ?? "";
}

function picture(block, blobs) {
  const type = said(block.mimeType).toLowerCase();
  const given = typeof block.data === "string" ? block.data : "";
  const reference = given.startsWith("blob:sha256:") ? given.slice(12) : null;
  const named = (text, stream) => (text?.startsWith(HOLE) ? () => stream.picture(text) : () => text);
  const data = reference === null ? named(given, LINES) : named(blobs.get(reference) ?? "", BESIDE);
  const start = data() ?? "";
  if (!PICTURES.includes(type) || start === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(start.slice(0, 64).concat(start.slice(-64)))) {
    return el("p", "aside", `[picture: ${oneLine(block.mimeType, 60) || "no type"}${start === "" ? ", not in this page" : ""}]`);
  }
  const image = el("img", "picture");
  image.alt = "";
  unloaded.set(image, () => `data:${type};base64,${data()}`);
  if (watcher) watcher.observe(image);
  else load(image);
  const box = button("frame", "", () => zoom(image));
  box.setAttribute("aria-label", `Picture, ${type.slice(6).toUpperCase()}, ${Math.ceil((start.length * 3) / 4000)} kB: enlarge`);
  box.append(image);
  return box;
}

/** The blocks of a message's content, each by `text(words)` or as what it is. `entry` is the id of whose it is. */
function content(value, blobs, text, entry = null) {
  if (typeof value === "string") return [text(value)];
  if (!Array.isArray(value)) return value === undefined || value === null ? [] : [literal(said(value), "output", PREVIEW.output)];
  return value.map((block) => {
    if (!isObject(block)) return literal(said(block), "output", PREVIEW.output);
    if (block.type === "text") return text(said(block.text));
    if (block.type === "image") return picture(block, blobs);
    if (block.type === "thinking") return thinking(said(block.thinking));
    if (block.type === "toolCall") return call(block, entry);
    return el("p", "aside", `[${oneLine(block.type, 60) || "block"}]`);
  });
}

function thinking(text) {
  const words = text.trim();
  if (words === "") return null;
  const box = el("details", "thinking", el("summary", "", "Thinking"), words.length > LONGEST ? literal(words, "words", PREVIEW.prose) : el("div", "words", words));
  box.open = shown.thinking;
  return box;
}

/** `:from-to` of a read; only of numbers. */
function range(from, count) {
  const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
  if (!isCount(from) && !isCount(count)) return "";
  const start = isCount(from) ? from : 1;
  return isCount(count) ? `:${start}-${start + count - 1}` : `:${start}`;
}

/** What a call does and which member of its arguments is what to it, by the program's own table. */
function viewOf(block) {
  const given = isObject(block.arguments) && !Array.isArray(block.arguments) ? block.arguments : {};
  const tool = said(block.name).replace(/^_/, "");
  const { verbs, roles, members } = META.calls;
  const verb = Object.keys(verbs).find((one) => verbs[one].includes(tool)) ?? "other";
  const has = (one) => Object.hasOwn(given, one) && given[one] !== null && given[one] !== undefined;
  const named = listOf(roles[verb]).map((role) => [role, members[role].find(has)]).filter(([, member]) => member !== undefined);
  return { verb, given, names: Object.fromEntries(named), of: (role) => given[Object.fromEntries(named)[role]] };
}

/** The arguments in which nothing else is shown, as `name: value`. */
function others({ given, names }, ...shown) {
  const known = shown.map((role) => names[role]);
  const rest = Object.entries(given).filter(([name, value]) => !known.includes(name) && value !== undefined);
  if (rest.length === 0) return null;
  const lines = rest.slice(0, 100).map(([name, value]) => `${spelled(name, true).slice(0, 60)}: ${spelled(value === null ? "null" : value)}`);
  if (rest.length > 100) lines.push(`… ${rest.length - 100} more`);
  const isShort = lines.every((line) => line.length < 60 && !line.includes("\n"));
  return isShort ? el("span", "others", lines.join(" · ")) : literal(lines.join("\n"), "given", PREVIEW.output);
}

/** The changes of an edit: [old, new], or [patch]. */
function changesOf({ given }) {
  const { members } = META.calls;
  const text = (one, role) => members[role].map((name) => one[name]).find((value) => typeof value === "string");
  const pair = (one) => {
    if (!isObject(one)) return [];
    const [old, now] = [text(one, "old"), text(one, "new")];
    return old === undefined && now === undefined ? [] : [[old ?? "", now ?? ""]];
  };
  const listed = (value) => {
    if (typeof value === "string") {
      try {
        return listed(JSON.parse(value));
      } catch {
        return [];
      }
    }
    const all = Array.isArray(value) ? value.slice(0, 200) : isObject(value) ? [value] : [];
    return all.flatMap((one) => (pair(one).length > 0 ? pair(one) : isObject(one) && typeof one.diff === "string" ? [[one.diff]] : []));
  };
  const patch = text(given, "patch");
  return [...pair(given), ...listed(given.edits), ...(patch === undefined ? [] : [[patch]])];
}

/** What an edit asked for, as one diff. */
function askedDiff(view) {
  const asked = ([old, now]) => (now === undefined ? readDiff(old) : difference(old, now));
  const lines = changesOf(view).flatMap((change, at) => [...(at > 0 ? [{ sign: " ", text: "⋯" }] : []), ...asked(change)]);
  return lines.length > 0 ? diffBox(lines) : null;
}

/** Where a call works, spelled out: its path, or the files that its patches name. */
function pathOf(view) {
  const own = view.of("path");
  if (own !== undefined || view.verb !== "edit") return spelled(typeof own === "object" ? JSON.stringify(own) : own, true);
  const { patched } = META.calls;
  const lines = changesOf(view).flatMap(([patch, now]) => (now === undefined ? patch.split(/\r?\n/) : []));
  const named = lines.flatMap((line) => patched.filter((start) => line.startsWith(start)).map((start) => line.slice(start.length)));
  return named.filter(Boolean).map((file) => spelled(file, true)).join(", ");
}

function patternOf(view) {
  const words = spelled(view.of("pattern"), true).slice(0, 200);
  return view.verb === "grep" ? `/${words}/` : words || "(no pattern)";
}

/** Buttons for the agents that a call has started; for `null` those of whom nothing says which call it was. Some servers give the calls of
 * several answers the same id: the entry decides, where it is known. */
function agentsOf(id, entry = null) {
  const agents = listOf(META.agents).filter((agent) => agent.call === id && (agent.entry === null || entry === null || agent.entry === entry));
  return agents.map((agent) => button("agent", `◆ ${agent.words}`, () => readAgent(agent.id)));
}

/** Shows the session of an agent, or with an empty name that of the page: the address says which, and the page begins anew. */
function readAgent(id) {
  location.hash = id === "" ? "" : String(new URLSearchParams({ agent: id }));
}

/** A call as a line and what else it was given. */
function call(block, entry) {
  const view = viewOf(block);
  const { verb, of } = view;
  const name = spelled(block.name, true).slice(0, 60) || "tool";
  const path = () => pathOf(view).slice(0, 300);
  const box = el("div", "call");
  const head = (...words) => box.append(el("div", "head", el("b", "", name), " ", ...words.filter(Boolean)));
  const more = (value, lines = PREVIEW.output, paint = audit) => box.append(literal(said(value), "given", lines, paint) ?? "");
  const rest = (...shown) => box.append(others(view, ...shown) ?? "");
  if (typeof block.id === "string") box.dataset.call = block.id;
  const error = block.argumentsError;
  if (typeof error === "string" && error !== "") {
    head(el("span", "trouble", `not run: its arguments cannot be read: ${spelled(error.split(/\r?\n/, 1)[0], true).slice(0, 300)}`));
    return box;
  }
  switch (verb) {
    case "run":
      head();
      more(`$ ${said(of("command"))}`, 5, (element, text) => inColours(element, spelled(text), "sh"));
      rest("command");
      break;
    case "read":
      head(el("code", "", path() + range(of("offset"), of("limit"))));
      rest("path", "offset", "limit");
      break;
    case "write":
      head(el("code", "", path()), ` ${counted(said(of("content")).split("\n").length, "line")}`);
      more(of("content"), PREVIEW.output, (element, text) => inColours(element, spelled(text), endingOf(path())));
      rest("path", "content");
      break;
    case "edit": {
      head(el("code", "", path()));
      const asked = askedDiff(view);
      if (asked) box.append(el("div", "asked", asked));
      rest("path", ...(asked ? ["old", "new", "edits", "patch"] : []));
      break;
    }
    case "grep":
    case "find":
      head(el("code", "", patternOf(view)), " in ", el("code", "", path() || "."));
      rest("pattern", "path");
      break;
    case "list":
      head(el("code", "", path() || "."));
      rest("path");
      break;
    default:
      head();
      if (isObject(block.arguments) && !Array.isArray(block.arguments)) rest();
      else more(block.arguments);
  }
  if (typeof block.id === "string") box.append(...agentsOf(block.id, entry));
  if (verb === "read") [box.dataset.path, box.dataset.from] = [path(), String(Number.isSafeInteger(of("offset")) && of("offset") > 0 ? of("offset") : 1)];
  return box;
}

/** Code of a file with the numbers of its lines. */
function numbered(path, from) {
  return (element, text) => {
    const words = spelled(text).replace(/\n$/, "");
    const count = words.split("\n").length;
    const numbers = el("span", "numbers", Array.from({ length: count }, (_, at) => from + at).join("\n"));
    numbers.setAttribute("aria-hidden", "true");
    element.classList.add("numbered");
    element.append(numbers, inColours(el("code", ""), words, endingOf(path)));
    return element;
  };
}

/** What a tool answered; `call` is the element of the call, if it is drawn. */
function result(message, blobs, call) {
  const failed = message.isError === true;
  const box = el("div", failed ? "result failed" : "result");
  const changes = isObject(message.details) && typeof message.details.diff === "string" ? message.details.diff : null;
  const isRead = call?.dataset.path !== undefined && !failed;
  const paint = isRead ? numbered(call.dataset.path, Number(call.dataset.from)) : asTerminal;
  if (changes !== null && !failed) {
    call?.querySelector(".asked")?.remove();
    box.append(diffBox(readDiff(changes)));
  } else for (const part of content(message.content, blobs, (text) => literal(text, "output", PREVIEW.output, paint))) if (part) box.append(part);
  const took = isObject(message.details) ? tookOf(message.details) : "";
  if (failed) box.prepend(el("p", "trouble", took ? `failed, ${took}` : "failed"));
  else if (took) box.append(el("p", "aside", took));
  return box;
}

/** How long a command took, in words, if it was over a second and the file says it. */
function tookOf({ durationMs }) {
  if (typeof durationMs !== "number" || !(durationMs >= 1000)) return "";
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 10) return `took ${seconds}.${Math.floor((durationMs % 1000) / 100)} s`;
  if (seconds < 60) return `took ${seconds} s`;
  if (seconds < 3600) return `took ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `took ${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
}

function execution(message, sign, input) {
  const box = el("div", "call", el("div", "head", el("b", "", sign === "$" ? "bash" : "python"), " run by the user"));
  box.append(literal(`${sign} ${said(input)}`, "given", 5, (element, text) => inColours(element, spelled(text), sign === "$" ? "sh" : "py")) ?? "");
  const output = literal(said(message.output), "output", PREVIEW.output, asTerminal);
  if (output) box.append(el("div", "result", output));
  const ends = [];
  if (message.exitCode !== undefined && message.exitCode !== null && message.exitCode !== 0) ends.push(`exit code ${oneLine(message.exitCode, 40)}`);
  if (message.cancelled === true) ends.push("stopped");
  if (tookOf(message)) ends.push(tookOf(message));
  if (typeof message.fullOutputPath === "string") ends.push(`all of the output is in ${spelled(message.fullOutputPath, true)}`);
  else if (message.truncated === true) ends.push("the output was cut");
  if (message.excludeFromContext === true) ends.push("not sent to the model");
  box.classList.add(message.cancelled === true || Number(message.exitCode) > 0 ? "bad" : "good");
  if (ends.length > 0) box.append(el("p", "trouble", ends.join(", ")));
  return box;
}

function troubles(message) {
  if (message.stopReason === "aborted") return el("p", "trouble", "stopped");
  if (message.stopReason === "length") return el("p", "trouble", "cut off: the answer reached its length limit");
  const error = oneLine(errorWords(said(message.errorMessage)), 600);
  return message.stopReason === "error" || error ? el("p", "trouble", `error: ${error || "the model gave no answer"}`) : null;
}

/** An error for people: the message in a provider's JSON, if there is one. */
function errorWords(error) {
  const at = error.indexOf("{");
  if (at < 0) return error;
  try {
    const json = JSON.parse(error.slice(at).trimEnd());
    const inner = json.error ?? json;
    const message = typeof inner === "string" ? inner : inner.message;
    return typeof message === "string" ? `${error.slice(0, at).trimEnd()} ${message}`.trim() : error;
  } catch {
    return error;
  }
}

const tokensBefore = (value) => (typeof value === "number" && value > 0 && Number.isFinite(value) ? `${counted(Math.round(value), "token")} summarised` : "");

/** The branch of a summary in its words: its goal, or else its first line after the sentence that introduces it. */
function branchOf(summary) {
  const lines = summary.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const goal = lines.findIndex((line) => /^#[# ]*goal[ :]*$/i.test(line));
  const lead = lines.slice(0, 3).findIndex((line) => line.endsWith(":") && !/^[#*-]/.test(line));
  const words = goal < 0 ? lines.slice(lead + 1).find((line) => !line.startsWith("#")) : lines[goal + 1];
  return words === undefined || /^#|^\(none/.test(words) ? "" : `of “${oneLine(words.replace(/\*\*|__|`/g, ""), 120)}”`;
}

function folded(title, beside, text, operations) {
  const box = el("details", "mark", el("summary", "", el("b", "", title), beside ? ` ${beside}` : ""));
  box.append(prose(text, operations) ?? "");
  return { sort: "mark", title: "", parts: [box] };
}

/** A system prompt and its tools, folded. */
function system(title, prompt, sections, tools) {
  const box = el("details", "mark", el("summary", "", el("b", "", title), ` ${counted(tools.length, "tool")}`));
  box.append(literal(prompt, "words", 30) ?? "");
  for (const [name, text] of isObject(sections) ? Object.entries(sections).slice(0, 100) : []) box.append(el("p", "aside", el("b", "", oneLine(name, 80))), literal(said(text), "words", 30) ?? "");
  for (const tool of tools.slice(0, 500)) {
    const about = isObject(tool) ? oneLine(tool.description, 400) : "";
    box.append(el("p", "tool-line", el("code", "", oneLine(isObject(tool) ? tool.name : tool, 80)), about ? ` ${about}` : ""));
  }
  return { sort: "mark", title: "", parts: [box] };
}

/** An entry as {sort, title, beside, parts, sources, words}; nothing for bookkeeping that nobody reads. `callOf` finds the
 * element of a call by its id. */
function turn(read, callOf) {
  const made = elementsOf(read, callOf);
  if (made) [made.sources, made.words] = [sourcesOf(read.entry), () => wordsOf(read.entry)];
  return made;
}

/** Where a copy or a summary comes from, as [words, id]. */
function sourcesOf(entry) {
  if (!isObject(entry)) return [];
  const from = entry.pickedFrom;
  const merged = isObject(entry.details) && isObject(entry.details.merged) ? entry.details.merged : null;
  const found = [];
  if (typeof from === "string") found.push(["copied from", from]);
  else if (isObject(from)) found.push([`copied from session ${oneLine(from.session, 40)},`, from.session === META.session || from.session === undefined ? said(from.id) : "", said(from.id)]);
  if (merged) found.push(["merged:", said(merged.tip)]);
  else if (entry.type === "branch_summary" && typeof entry.fromId === "string" && entry.fromId !== "root") found.push(["summary of", entry.fromId]);
  return found;
}

/** What a person or the model says in an entry, as it was written. */
function wordsOf(entry) {
  if (!isObject(entry)) return "";
  const message = isObject(entry.message) ? entry.message : entry;
  if (typeof message.summary === "string") return message.summary;
  if (message.role === "bashExecution") return `$ ${said(message.command)}\n${said(message.output)}`;
  if (typeof message.content === "string") return message.content;
  return listOf(message.content).filter((block) => isObject(block) && block.type === "text").map((block) => said(block.text)).join("\n\n");
}

function elementsOf({ entry, prose: list, blobs, files, isQuiet }, callOf) {
  const operations = list.values();
  const nextProse = (text) => prose(text, operations.next().value);
  const aside = (...words) => ({ sort: "aside", title: "", parts: [el("p", "aside", ...words)] });
  if (isObject(entry) && entry.type === "session_init") return system("System prompt", said(entry.systemPrompt), undefined, listOf(entry.tools));
  if (isFilesEntry(entry)) return filesTurn(entry, files);
  if (isQuiet) return null;
  if (!isObject(entry)) return aside("[no entry]");
  switch (entry.type) {
    case "message":
      return isObject(entry.message) ? spoken(entry.message, nextProse, operations, blobs, callOf, entry.id ?? null) : aside("[empty message]");
    case "custom_message":
      if (entry.display === false) return null;
      return { sort: "mark", title: oneLine(entry.customType, 60), parts: content(entry.content, blobs, nextProse) };
    case "compaction":
      return folded("Compaction", tokensBefore(entry.tokensBefore), said(entry.summary), operations.next().value);
    case "branch_summary":
      return folded("Branch summary", branchOf(said(entry.summary)), said(entry.summary), operations.next().value);
    case "model_change":
      return aside("model: ", el("b", "", oneLine(entry.modelId === undefined ? entry.model : [entry.provider, entry.modelId].map(said).filter(Boolean).join("/"), 120)));
    case "thinking_level_change":
      return aside("thinking: ", el("b", "", oneLine(entry.thinkingLevel, 40)));
    case "mode_change":
      return aside("mode: ", el("b", "", oneLine(entry.mode, 40)));
    case "context_edit":
      return aside("context edit of ", el("b", "", oneLine(entry.targetId, 60)));
    case "reset_boundary":
      return aside("the context starts anew here");
    default:
      return aside(`[${oneLine(entry.type, 60)}]`);
  }
}

function spoken(message, nextProse, operations, blobs, callOf, id) {
  const parts = () => content(message.content, blobs, nextProse, id);
  switch (message.role) {
    case "user":
      return { sort: "user", title: "User", parts: parts() };
    case "assistant":
      return { sort: "assistant", title: "Assistant", beside: oneLine(message.model, 80), parts: [...parts(), troubles(message)] };
    case "toolResult":
      return { sort: "tool", title: oneLine(message.toolName, 60) || "tool", answers: message.toolCallId, failed: message.isError === true, parts: [result(message, blobs, callOf(message.toolCallId))] };
    case "system":
    case "developer":
      return system(message.role === "system" ? "System prompt" : "Developer message", typeof message.content === "string" ? message.content : wordsOf({ message }), message.sections, listOf(message.toolsAdded));
    case "bashExecution":
      return { sort: "tool", title: "", parts: [execution(message, "$", message.command)] };
    case "pythonExecution":
      return { sort: "tool", title: "", parts: [execution(message, ">>>", message.code)] };
    case "branchSummary":
      return folded("Branch summary", "", said(message.summary), operations.next().value);
    case "compactionSummary":
      return folded("Compaction", tokensBefore(message.tokensBefore), said(message.summary), operations.next().value);
    case "fileMention":
      return { sort: "mark", title: "Files", parts: listOf(message.files).map((file) => (isObject(file) ? el("div", "call", el("div", "head", el("code", "", oneLine(file.path, 300))), literal(said(file.content), "given", PREVIEW.output)) : null)) };
    case "custom":
    case "hookMessage":
      return message.display === false ? null : { sort: "mark", title: oneLine(message.customType, 60), parts: parts() };
    default:
      return folded(oneLine(message.role, 60) || "message", "", said(message.content ?? message.sections), undefined);
  }
}
