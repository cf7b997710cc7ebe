// The session that the page carries: streams of bytes in compressed blocks, found by place. Builds elements from text only.

const byId = (id) => document.getElementById(id);

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** The agent whose session is shown, as the address says; empty for the session of the page. */
const AGENT = new URLSearchParams(location.hash.slice(1)).get("agent") ?? "";
/** The part of the page that carries what is shown. */
const CARRIED = Array.from(document.querySelectorAll("template.agent")).find((part) => AGENT !== "" && part.dataset.agent === AGENT)?.content ?? document;
const META = JSON.parse(new TextDecoder().decode(bytesOf(CARRIED.querySelector("#meta").textContent)));

/** What stands in a line in the place of a picture: no session can say it. */
const HOLE = `picture ${Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("")} `;
/** Open blocks that are kept. */
const KEPT = 64;

/** A compressed block; its length is known, so that no block grows beyond it. */
async function inflated(base64, length) {
  const opened = new DecompressionStream("deflate-raw");
  const writer = opened.writable.getWriter();
  writer.write(bytesOf(base64)).catch(() => {});
  writer.close().catch(() => {});
  const reader = opened.readable.getReader();
  const out = new Uint8Array(length);
  let at = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    if (at + part.value.length > length) throw new Error("the page is damaged");
    out.set(part.value, at);
    at += part.value.length;
  }
  if (at < length) throw new Error("the page is cut off");
  return out;
}

/** One stream of bytes in blocks. A block with `data-p` is base64 as it is; the others are compressed. */
class Stream {
  constructor(name) {
    this.blocks = [];
    this.kept = new Map();
    let start = 0;
    for (const element of CARRIED.querySelectorAll(`script.${name}`)) {
      const length = Number(element.dataset.n);
      this.blocks.push({ element, start, length, isPicture: element.dataset.p !== undefined });
      start += length;
    }
  }

  open(at) {
    return inflated(this.blocks[at].element.textContent, this.blocks[at].length);
  }

  /** A promise of a block's bytes. */
  block(at) {
    const bytes = this.kept.get(at) ?? this.open(at);
    this.kept.delete(at);
    this.kept.set(at, bytes);
    if (this.kept.size > KEPT) this.kept.delete(this.kept.keys().next().value);
    return bytes;
  }

  /** The number of the block at a position. */
  find(place) {
    let [low, high] = [0, this.blocks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.blocks[middle].start <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Begins to open the blocks of a range. */
  prepare(start, length) {
    for (let at = this.find(start); at < this.blocks.length && this.blocks[at].start < start + length; at++) if (!this.blocks[at].isPicture) this.block(at).catch(() => {});
  }

  /** The text of a range, with HOLE and a number for each picture. */
  async text(start, length) {
    const decoder = new TextDecoder();
    let text = "";
    let here = start;
    for (let at = this.find(start); here < start + length; at++) {
      const block = this.blocks[at];
      if (!block) throw new Error("the page is cut off");
      const end = Math.min(start + length, block.start + block.length);
      if (block.isPicture) text += decoder.decode() + HOLE + at;
      else text += decoder.decode((await this.block(at)).subarray(here - block.start, end - block.start), { stream: true });
      here = end;
    }
    return text + decoder.decode();
  }

  /** The base64 that a HOLE stands for; null if the text is none. */
  picture(text) {
    const block = text.startsWith(HOLE) ? this.blocks[Number(text.slice(HOLE.length))] : undefined;
    return block ? block.element.textContent : null;
  }

  async blob() {
    const parts = [];
    for (let at = 0; at < this.blocks.length; at++) parts.push(this.blocks[at].isPicture ? this.blocks[at].element.textContent : await this.open(at));
    return new Blob(parts, { type: "application/x-ndjson" });
  }
}

const LINES = new Stream("s");
const BESIDE = new Stream("x");

// What a reader cannot see, or what looks like something else: pictures of control characters stand for these alone.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Cn}\u2800\u2400-\u2426\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/u;
const EMOJI = /^(?:[0-9#*]\ufe0f?\u20e3|\p{Regional_Indicator}{2}|\u{1f3f4}(?:\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073}))\u{e007f}|\p{Emoji}[\u{1f3fb}-\u{1f3ff}]?[\ufe0e\ufe0f]?(?:\u200d\p{Emoji}[\u{1f3fb}-\u{1f3ff}]?[\ufe0e\ufe0f]?)*)$/u;
/** Letters and marks of the scripts in which joiners have a meaning. */
const JOINING = /[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1700-\u18af\u1900-\u1cff\ua840-\ua87f\ua8e0-\ua8ff\ufb50-\ufdff\ufe70-\ufefc\u{11000}-\u{11fff}\u{1e900}-\u{1e95f}]/u;
const LONGEST_GRAPHEME = 32;
const graphemes = typeof Intl.Segmenter === "function" ? new Intl.Segmenter("en", { granularity: "grapheme" }) : null;

const ODD = new RegExp(`(?![ \\t])${HIDDEN.source}|[\\p{Mn}\\p{Me}]`, "u");
const SPELLING = {
  name: { plain: /^[ -~]*$/, blanks: "", hidden: (one) => HIDDEN.test(one) },
  code: { plain: /^[ -~\n\t]*$/, blanks: "\n\t", hidden: (one) => HIDDEN.test(one) },
  // Prose keeps its blanks, and pictures of control characters say nothing in it.
  prose: { plain: /^[ -~\n\t]*$/, blanks: "\n\t", hidden: (one) => HIDDEN.test(one) && !/[\p{Zs}\u2400-\u2426]/u.test(one) },
};

/** Any value as prose in which nothing is hidden; what is no string is shown as JSON. To spell it again changes nothing. */
function plain(value) {
  return spelledAs(said(value).replace(/\r\n/g, "\n"), SPELLING.prose);
}

/** Any value as text in which nothing is hidden: commands, files and diffs with their line feeds and tabs, `isName` without. */
function spelled(value, isName = false) {
  return spelledAs(said(value), isName ? SPELLING.name : SPELLING.code);
}

/** Code in prose that is spelled out: its blanks, too. */
function codeIn(value) {
  return plain(value).replace(/(?! )\p{Zs}/gu, pictured);
}

function spelledAs(text, spelling) {
  if (spelling.plain.test(text)) return text;
  // To find graphemes costs much: only lines in which one may be odd are taken apart.
  if (spelling.blanks.includes("\n") && text.includes("\n")) return text.split("\n").map((line) => spelledAs(line, spelling)).join("\n");
  if (!ODD.test(text)) return text;
  const parts = graphemes ? Array.from(graphemes.segment(text), ({ segment }) => segment) : text.split("");
  return parts.map((part) => (/^[ -~]$/.test(part) ? part : spelledGrapheme(part, spelling))).join("");
}

function spelledGrapheme(part, { blanks, hidden }) {
  if (part.length > 1 && !/^[\r\n]/.test(part) && EMOJI.test(part) && !/^[0-9#*][\ufe0e\ufe0f]?$/.test(part)) return part;
  let before = "";
  return Array.from(part, (one, at) => {
    const isJoiner = one === "\u200c" || one === "\u200d";
    const isSeen = one === "\n" || one === "\t" ? blanks.includes(one) : /^[ -~]$/.test(one) ? true : isJoiner ? JOINING.test(before) : !hidden(one) && at < LONGEST_GRAPHEME && (before !== "" || !/[\p{Mn}\p{Me}]/u.test(one));
    before = isSeen ? one : "";
    return isSeen ? one : pictured(one);
  }).join("");
}

/** A character as its picture or its number. */
function pictured(one) {
  const code = one.codePointAt(0);
  return code < 32 ? String.fromCharCode(0x2400 + code) : code === 127 ? "\u2421" : `\\u{${code.toString(16)}}`;
}

function said(value) {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (typeof value !== "object") return String(value);
  try {
    return JSON.stringify(value, null, 2);
  } catch {
    return "(nested too deeply to show)";
  }
}

const oneLine = (value, most) => {
  const line = plain(said(value).slice(0, most * 8)).replace(/\s+/g, " ").trim();
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
};

const isObject = (value) => typeof value === "object" && value !== null;
const listOf = (value) => (Array.isArray(value) ? value : []);

/** An element with a class and children; children that are no elements become text. */
function el(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  for (const child of children) {
    if (child instanceof Node) element.append(child);
    else if (child !== null && child !== undefined && child !== "") element.append(document.createTextNode(plain(child)));
  }
  return element;
}

function button(className, text, run) {
  const element = el("button", className, text);
  element.type = "button";
  element.addEventListener("click", run);
  return element;
}

const fillers = new WeakMap();

/** A fold that is filled once, when it is opened or printed. */
function filledLater(box, fill) {
  let isFilled = false;
  fillers.set(box, () => {
    if (!isFilled) fill();
    isFilled = true;
  });
  box.addEventListener("toggle", () => box.open && fillers.get(box)());
  return box;
}

function minute(time) {
  if (typeof time !== "number" || !(Math.abs(time) < 8.64e15)) return "";
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}

/** A number with commas between its thousands. */
const grouped = (count) => count.toLocaleString("en");
const counted = (count, one, many = `${one}s`) => `${grouped(count)} ${count === 1 ? one : many}`;

/** A cost in dollars and cents; below a cent with four decimals. The words are those of `dollars` in the library. */
function dollars(cost) {
  const nano = Math.round(cost * 1e9);
  const parts = Math.round(nano / 1e5);
  if (parts > 0 && parts < 100) return `$${(parts / 1e4).toFixed(4)}`;
  const cents = Math.round(nano / 1e7);
  return `$${grouped(Math.floor(cents / 100))}.${String(cents % 100).padStart(2, "0")}`;
}

/** A rounded number such as 950, 1.2k, 34k, 5.6M. The words are those of `in_short` in the library. */
function inShort(count) {
  if (count < 1000) return String(count);
  if (count < 9950) return `${(Math.round(count / 100) / 10).toFixed(1)}k`;
  if (count < 999500) return `${Math.round(count / 1000)}k`;
  const tenths = Math.round(count / 1e5);
  return `${grouped(Math.floor(tenths / 10))}.${tenths % 10}M`;
}

/** A stretch of time in one or two words. */
function lasting(ms) {
  if (!(ms >= 0)) return "";
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return seconds < 86400 ? `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min` : `${Math.floor(seconds / 86400)} d`;
}

/** What a reader chose for all pages: width, theme, whether the tree is shown. Nothing else is kept. */
const choices = {
  read() {
    try {
      const found = JSON.parse(localStorage.getItem("offshoot-page") ?? "{}");
      return isObject(found) ? found : {};
    } catch {
      return {};
    }
  },
  keep(more) {
    try {
      localStorage.setItem("offshoot-page", JSON.stringify({ ...this.read(), ...more }));
    } catch {
      // A page in a frame or a private window keeps nothing.
    }
  },
};
