// The session that the page carries: streams of bytes in blocks of base64, found by place. Builds elements from text only.

const byId = (id) => document.getElementById(id);

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

const META = JSON.parse(new TextDecoder().decode(bytesOf(byId("meta").textContent)));

/** One stream: blocks of META.block bytes, the last one shorter. A few stay decoded. */
class Stream {
  constructor(name) {
    this.blocks = document.querySelectorAll(`script.${name}`);
    this.kept = new Map();
  }

  block(at) {
    let bytes = this.kept.get(at);
    if (!bytes) {
      bytes = bytesOf(this.blocks[at].textContent);
      if (this.kept.size > 7) this.kept.delete(this.kept.keys().next().value);
      this.kept.set(at, bytes);
    }
    return bytes;
  }

  text(start, length) {
    const out = new Uint8Array(length);
    for (let done = 0; done < length; ) {
      const bytes = this.block(Math.floor((start + done) / META.block));
      const from = (start + done) % META.block;
      const part = bytes.subarray(from, Math.min(bytes.length, from + length - done));
      if (part.length === 0) throw new Error("the page is cut off");
      out.set(part, done);
      done += part.length;
    }
    return new TextDecoder().decode(out);
  }

  /** Every line of the stream, one after the other. */
  *lines() {
    const decoder = new TextDecoder();
    let rest = "";
    for (let at = 0; at < this.blocks.length; at++) {
      const lines = (rest + decoder.decode(bytesOf(this.blocks[at].textContent), { stream: true })).split("\n");
      rest = lines.pop();
      yield* lines;
    }
  }

  blob() {
    const parts = Array.from(this.blocks, (block) => bytesOf(block.textContent));
    return new Blob(parts, { type: "application/x-ndjson" });
  }
}

const LINES = new Stream("s");
const BESIDE = new Stream("x");

// Escape sequences of terminals, control characters, and what turns text round.
const ESCAPES = /\u001b(?:\[[ -?]*[@-~]?|[\]PX^_][^\u0007\u001b\u009c\n]*(?:\u0007|\u001b\\|\u009c)?|[ -~]?)|\u009b[ -?]*[@-~]?/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

/** Any value as text that steers nothing; what is no string is shown as JSON. */
function plain(value) {
  return said(value).replace(ESCAPES, "").replace(CONTROLS, "");
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

function minute(time) {
  if (typeof time !== "number" || !(Math.abs(time) < 8.64e15)) return "";
  return new Date(time).toISOString().slice(0, 16).replace("T", " ");
}
