// A session file being written by hand: gives ids, parents and times, and keeps every line as text.
// Knows the format's field names, not what any reader makes of them.
import { PROJECT } from "../lib/places.mjs";

export const EPOCH = Date.parse("2026-01-01T00:00:00.000Z");
export const CWD = PROJECT;

export const iso = (ms) => new Date(ms).toISOString();

/** Exactly 256 bytes with its line feed, as omp writes it before the header. */
export function titleSlot(title, source, updatedAt = iso(EPOCH)) {
  const line = (pad) => `${JSON.stringify({ type: "title", v: 1, title, ...(source ? { source } : {}), updatedAt, pad })}\n`;
  return line(" ".repeat(256 - Buffer.byteLength(line(""))));
}

export const usage = (input = 10, output = 5) => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input + output,
  cost: { input: 0.001, output: 0.002, cacheRead: 0, cacheWrite: 0, total: 0.003 },
});

export const text = (value) => [{ type: "text", text: value }];
export const toolCall = (id, name = "bash", args = { command: "ls" }) => ({ type: "toolCall", id, name, arguments: args });

export class Draft {
  #count = 0;
  leaf = null;
  lines = [];

  /** `header: null` leaves the header out; other values overwrite header fields (undefined removes one). */
  constructor(header = {}) {
    if (header === null) return;
    this.lines.push(
      JSON.stringify({
        type: "session",
        version: 3,
        id: "5e551000-0000-7000-8000-000000000001",
        timestamp: iso(EPOCH),
        cwd: CWD,
        ...header,
      }),
    );
  }

  nextId() {
    return (0xa0000000 + ++this.#count * 0x11).toString(16);
  }

  /** Appends an entry as child of the leaf. Fields given (id, parentId, timestamp too) win; undefined removes a field. */
  add(type, fields = {}) {
    const id = this.nextId();
    const entry = { type, id, parentId: this.leaf, timestamp: iso(EPOCH + this.#count * 1000), ...fields };
    this.lines.push(JSON.stringify(entry));
    return (this.leaf = entry.id);
  }

  /** A v1 line: no id, no parent. */
  old(type, fields = {}) {
    this.#count++;
    this.lines.push(JSON.stringify({ type, timestamp: iso(EPOCH + this.#count * 1000), ...fields }));
  }

  raw(line) {
    this.lines.push(line);
    return this;
  }

  at(id) {
    this.leaf = id;
    return this;
  }

  message(message, fields = {}) {
    return this.add("message", { message, ...fields });
  }

  user(content, fields) {
    return this.message({ role: "user", content, timestamp: EPOCH + this.#count * 1000 }, fields);
  }

  assistant(content, more = {}, fields = {}) {
    const blocks = typeof content === "string" ? text(content) : content;
    return this.message(
      {
        role: "assistant",
        content: blocks,
        api: "anthropic-messages",
        provider: "anthropic",
        model: "claude-x",
        usage: usage(),
        stopReason: "stop",
        timestamp: EPOCH + this.#count * 1000,
        ...more,
      },
      fields,
    );
  }

  result(toolCallId, output = "done", more = {}, fields = {}) {
    return this.message(
      {
        role: "toolResult",
        toolCallId,
        toolName: "bash",
        content: text(output),
        isError: false,
        timestamp: EPOCH + this.#count * 1000,
        ...more,
      },
      fields,
    );
  }

  compaction(firstKeptEntryId, fields = {}) {
    return this.add("compaction", { summary: "what happened before", firstKeptEntryId, tokensBefore: 90000, ...fields });
  }

  label(targetId, label, fields) {
    return this.add("label", { targetId, label, ...fields });
  }

  /** The file. Every line ends with `eol`, the last one too unless `open`. */
  text({ eol = "\n", open = false } = {}) {
    const all = this.lines.map((line) => line + eol).join("");
    return open ? all.slice(0, -eol.length) : all;
  }
}

/** A draft in omp's dialect: starts with a model change as omp writes it. */
export class OmpDraft extends Draft {
  constructor(header) {
    super(header);
    this.add("model_change", { model: "anthropic/claude-x", role: "default", resolvedModelIsFallback: false });
  }

  note(customType = "interrupted-thinking") {
    return this.add("custom_message", { customType, content: "note", display: false, attribution: "agent" });
  }
}

/**
 * Collects the files of one part of the corpus. Facts of a file, all written to the manifest:
 * `dialect` whose context shape is expected; `peers` that read it as valid; `v1` when ids are made up at each open; `v2`;
 * `plain` when the other peer's context must agree too, in role and content.
 */
export class Shelf {
  files = [];

  constructor(defaults) {
    this.defaults = { dialect: "pi", peers: ["pi", "omp"], ...defaults };
  }

  put(name, facts, content) {
    const body = content instanceof Draft ? content.text() : content;
    if (this.files.some((file) => file.name === name)) throw new Error(`two files are called ${name}`);
    this.files.push({ name, ...this.defaults, ...facts, body });
  }
}
