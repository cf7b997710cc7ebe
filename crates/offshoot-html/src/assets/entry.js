// One entry as elements. Every field is looked at for what it is: what is no text is shown as JSON, what is no number is no
// number, what is no picture is words. Nothing here makes HTML from text.

const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const BLOCKS = ["p", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "table", "thead", "tr", "td", "em", "strong", "s"];
const PREVIEW = { output: 10, prose: 400 };
const LONGEST = 1 << 20;
const QUIET = 5;

/** What an entry says: its line, and what stands beside it. */
function read(node) {
  const line = LINES.text(node.start, node.length);
  const beside = node.besideLength > 0 ? JSON.parse(BESIDE.text(node.besideStart, node.besideLength)) : {};
  return { line, entry: JSON.parse(line), prose: listOf(beside.md).values(), blobs: beside.blobs ?? {}, isQuiet: node.who === QUIET };
}

/** Operations of Markdown as elements. */
function rich(operations) {
  const top = el("div", "prose");
  let here = top;
  for (const operation of operations) {
    if (operation === 0) here = here === top ? top : here.parentNode;
    else if (typeof operation === "string") here.append(document.createTextNode(plain(operation)));
    else {
      const [name, value] = operation;
      if (name === "code") here.append(el("code", "", value));
      else if (name === "hr") here.append(el("hr"));
      else {
        const inner = name === "a" ? link(value) : el(BLOCKS.includes(name) ? name : "span");
        if (name === "pre" && value) inner.dataset.language = oneLine(value, 30);
        if (name === "ol" && Number.isInteger(value)) inner.start = value;
        here.append(inner);
        here = inner;
      }
    }
  }
  return top;
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

/** Text as it stands; of long text the first lines, the rest when somebody opens it. */
function literal(text, className, lines) {
  const all = plain(text.slice(0, LONGEST)).replace(/\s+$/, "");
  const cut = text.length > LONGEST ? `… ${text.length - LONGEST} more characters are in the download` : "";
  const rows = all.split("\n");
  if (rows.length <= lines && all.length < 8000 && !cut) return all === "" ? null : el("pre", className, all);
  const preview = rows.slice(0, lines).join("\n").slice(0, 8000);
  const summary = el("summary", "", el("pre", className, preview), el("span", "more", rows.length > lines ? `${rows.length - lines} more lines` : "show all"));
  const box = el("details", "long", summary);
  box.addEventListener("toggle", () => {
    if (box.open && box.children.length === 1) box.append(el("pre", className, all, cut && `\n${cut}`));
  });
  return box;
}

function prose(text, operations) {
  if (Array.isArray(operations)) return rich(operations);
  if (text.trim() === "") return null;
  return text.length > LONGEST || text.split("\n", PREVIEW.prose + 1).length > PREVIEW.prose ? literal(text, "words", PREVIEW.prose) : el("div", "prose words", text.trim());
}

function picture(block, blobs) {
  const type = said(block.mimeType).toLowerCase();
  const given = typeof block.data === "string" ? block.data : "";
  const reference = given.startsWith("blob:sha256:") ? given.slice(12) : null;
  const data = reference !== null && Object.hasOwn(blobs, reference) ? blobs[reference] : given;
  if (!PICTURES.includes(type) || data === "" || !/^[A-Za-z0-9+/]+={0,2}$/.test(data.slice(0, 64).concat(data.slice(-64)))) {
    return el("p", "aside", `[picture: ${oneLine(block.mimeType, 60) || "no type"}${reference ? ", not in this page" : ""}]`);
  }
  const image = el("img", "picture");
  image.src = `data:${type};base64,${data}`;
  image.alt = "picture";
  image.loading = "lazy";
  image.addEventListener("click", () => zoom(image));
  return image;
}

/** The blocks of a message's content, each by `text(words)` or as what it is. */
function content(value, blobs, text) {
  if (typeof value === "string") return [text(value)];
  if (!Array.isArray(value)) return value === undefined || value === null ? [] : [literal(said(value), "output", PREVIEW.output)];
  return value.map((block) => {
    if (!isObject(block)) return literal(said(block), "output", PREVIEW.output);
    if (block.type === "text") return text(said(block.text));
    if (block.type === "image") return picture(block, blobs);
    if (block.type === "thinking") return thinking(said(block.thinking));
    if (block.type === "toolCall") return call(block);
    return el("p", "aside", `[${oneLine(block.type, 60) || "block"}]`);
  });
}

function thinking(text) {
  if (text.trim() === "") return null;
  const box = el("details", "thinking", el("summary", "", "Thinking"), el("div", "words", text.trim().slice(0, LONGEST)));
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

/** A call as a line and what else it was given. */
function call(block) {
  const given = isObject(block.arguments) ? block.arguments : {};
  const name = oneLine(block.name, 60) || "tool";
  const at = () => oneLine(given.path ?? given.file_path, 300);
  const box = el("div", "call");
  const head = (...words) => box.append(el("div", "head", el("b", "", name), " ", ...words));
  const more = (value, lines = PREVIEW.output) => box.append(literal(said(value), "given", lines) ?? "");
  switch (block.name) {
    case "bash":
      head();
      more(`$ ${said(given.command)}`, 5);
      break;
    case "read":
      head(el("code", "", at() + range(given.offset, given.limit)));
      break;
    case "write":
      head(el("code", "", at()), ` ${said(given.content).split("\n").length} lines`);
      more(given.content);
      break;
    case "edit":
      head(el("code", "", at()));
      break;
    case "grep":
    case "find":
      head(el("code", "", oneLine(given.pattern, 200) || "(no pattern)"), " in ", el("code", "", at() || "."));
      break;
    case "ls":
      head(el("code", "", at() || "."));
      break;
    default:
      head();
      more(block.arguments);
  }
  if (typeof block.id === "string") box.dataset.call = block.id;
  return box;
}

function diff(text) {
  const box = el("pre", "output diff");
  for (const line of plain(text).split("\n").slice(0, 2000)) {
    const sort = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
    box.append(el("span", sort, `${line}\n`));
  }
  return box;
}

/** What a tool answered. */
function result(message, blobs) {
  const failed = message.isError === true;
  const box = el("div", failed ? "result failed" : "result");
  const changes = isObject(message.details) && typeof message.details.diff === "string" ? message.details.diff : null;
  if (changes !== null && !failed) box.append(diff(changes));
  else for (const part of content(message.content, blobs, (text) => literal(text, "output", PREVIEW.output))) if (part) box.append(part);
  if (failed) box.prepend(el("p", "trouble", "failed"));
  return box;
}

function execution(message, sign, input) {
  const box = el("div", "call", el("div", "head", el("b", "", sign === "$" ? "bash" : "python"), " run by the user"));
  box.append(literal(`${sign} ${said(input)}`, "given", 5) ?? "");
  const output = literal(said(message.output), "output", PREVIEW.output);
  if (output) box.append(el("div", "result", output));
  const ends = [];
  if (message.cancelled === true) ends.push("cancelled");
  if (message.exitCode !== undefined && message.exitCode !== null && message.exitCode !== 0) ends.push(`exit code ${oneLine(message.exitCode, 40)}`);
  if (message.truncated === true) ends.push("output cut");
  if (message.excludeFromContext === true) ends.push("not shown to the model");
  if (ends.length > 0) box.append(el("p", "trouble", ends.join(", ")));
  return box;
}

function troubles(message) {
  if (message.stopReason === "aborted") return el("p", "trouble", "Aborted");
  if (message.stopReason === "length") return el("p", "trouble", "Cut off: the answer reached its length limit");
  const error = oneLine(message.errorMessage, 600);
  return message.stopReason === "error" || error ? el("p", "trouble", `Error: ${error || "unknown"}`) : null;
}

const thousands = (value) => (typeof value === "number" && Number.isFinite(value) ? `${Math.round(value / 1000)}k tokens before` : "");

/** The branch of a summary in its words: its goal, or else its first line after the sentence that introduces it. */
function branchOf(summary) {
  const lines = summary.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  const goal = lines.findIndex((line) => /^#[# ]*goal[ :]*$/i.test(line));
  const lead = lines.slice(0, 3).findIndex((line) => line.endsWith(":") && !/^[#*-]/.test(line));
  const words = goal < 0 ? lines.slice(lead + 1).find((line) => !line.startsWith("#")) : lines[goal + 1];
  return words === undefined || /^#|^\(none/.test(words) ? "" : `of “${oneLine(words, 120)}”`;
}

function folded(title, beside, text, operations) {
  const box = el("details", "mark", el("summary", "", el("b", "", title), beside ? ` ${beside}` : ""));
  box.append(prose(text, operations) ?? "");
  return { sort: "mark", title: "", parts: [box] };
}

/** An entry as {sort, title, beside, parts}; nothing for bookkeeping that nobody reads. */
function turn({ entry, prose: operations, blobs, isQuiet }) {
  const nextProse = (text) => prose(text, operations.next().value);
  const aside = (...words) => ({ sort: "aside", title: "", parts: [el("p", "aside", ...words)] });
  if (isQuiet) return null;
  if (!isObject(entry)) return aside("[no entry]");
  switch (entry.type) {
    case "message":
      return isObject(entry.message) ? spoken(entry.message, nextProse, operations, blobs) : aside("[empty message]");
    case "custom_message":
      if (entry.display === false) return null;
      return { sort: "mark", title: oneLine(entry.customType, 60), parts: content(entry.content, blobs, nextProse) };
    case "compaction":
      return folded("Compaction", thousands(entry.tokensBefore), said(entry.summary), operations.next().value);
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

function spoken(message, nextProse, operations, blobs) {
  const parts = () => content(message.content, blobs, nextProse);
  switch (message.role) {
    case "user":
      return { sort: "user", title: "User", parts: parts() };
    case "assistant":
      return { sort: "assistant", title: "Assistant", beside: oneLine(message.model, 80), parts: [...parts(), troubles(message)] };
    case "toolResult":
      return { sort: "tool", title: oneLine(message.toolName, 60) || "tool", answers: message.toolCallId, parts: [result(message, blobs)] };
    case "bashExecution":
      return { sort: "tool", title: "", parts: [execution(message, "$", message.command)] };
    case "pythonExecution":
      return { sort: "tool", title: "", parts: [execution(message, ">>>", message.code)] };
    case "branchSummary":
      return folded("Branch summary", "", said(message.summary), operations.next().value);
    case "compactionSummary":
      return folded("Compaction", thousands(message.tokensBefore), said(message.summary), operations.next().value);
    case "fileMention":
      return { sort: "mark", title: "Files", parts: listOf(message.files).map((file) => (isObject(file) ? el("div", "call", el("div", "head", el("code", "", oneLine(file.path, 300))), literal(said(file.content), "given", PREVIEW.output)) : null)) };
    case "custom":
    case "hookMessage":
      return message.display === false ? null : { sort: "mark", title: oneLine(message.customType, 60), parts: parts() };
    default:
      return folded(oneLine(message.role, 60) || "message", "", said(message.content ?? message.sections), undefined);
  }
}
