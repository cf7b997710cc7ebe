// Lines of JSON between this process and offshoot: asynchronous ones on fds 3 and 4, and blocking calls on 6 and 5. It knows no method.
// Extensions share this process, so everything it calls is taken before the first of them is loaded.
import * as fs from "node:fs";
import { Socket } from "node:net";

const { parse, stringify } = JSON;
const { readSync, writeSync } = fs;
const { alloc, concat, from } = Buffer;

/** The longest line that either side accepts. */
export const LONGEST_LINE = 64 * 1024 * 1024;

/** The text of a record; a record that has no text or too much of it is a clear error, never half a line. */
function encode(record) {
  let text;
  try {
    text = stringify(record);
  } catch (error) {
    throw new Error(`a value cannot be written as JSON: ${error.message}`);
  }
  if (text.length > LONGEST_LINE) throw new Error(`a value has ${text.length} characters; at most ${LONGEST_LINE} can be sent`);
  return from(`${text}\n`, "utf8");
}

/** Writes all of it. A full pipe makes the extension that floods it wait. */
function writeAll(fd, bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

export function send(record) {
  writeAll(4, encode(record));
}

/** Calls `take(record, line)` for every line, in order; `end` when offshoot has closed the pipe. */
export function receive(take, end) {
  const input = new Socket({ fd: 3, readable: true, writable: false });
  /** @type {Buffer[]} */
  let parts = [];
  input.on("data", (/** @type {Buffer} */ data) => {
    let start = 0;
    for (let at = data.indexOf(10); at >= 0; at = data.indexOf(10, start)) {
      parts.push(data.subarray(start, at));
      const bytes = parts.length === 1 ? parts[0] : concat(parts);
      parts = [];
      start = at + 1;
      const line = bytes.toString("utf8");
      take(parse(line), line);
    }
    if (start < data.length) parts.push(data.subarray(start));
  });
  input.on("error", end);
  input.on("close", end);
}

let nextCall = 1;
let rest = alloc(0);
const chunk = alloc(65536);

/** One line of the answers' pipe; blocks. */
function readLine() {
  const parts = [rest];
  for (let last = rest; ; ) {
    const at = last.indexOf(10);
    if (at >= 0) {
      const before = parts.slice(0, -1);
      const line = concat([...before, last.subarray(0, at)]).toString("utf8");
      rest = from(last.subarray(at + 1));
      return line;
    }
    const count = readSync(5, chunk, 0, chunk.length, null);
    if (count === 0) throw new Error("offshoot has closed its pipe");
    last = from(chunk.subarray(0, count));
    parts.push(last);
  }
}

/** A synchronous call to the owner of the session: what its answer says, and its text. Throws what the owner refuses. */
export function askWithText(method, params = {}) {
  const text = answerOf(method, params);
  return { ok: opened(text), text };
}

/** The same without the text. */
export const ask = (method, params = {}) => opened(answerOf(method, params)) ?? undefined;

function answerOf(method, params) {
  writeAll(6, encode({ id: nextCall++, method, params }));
  return readLine();
}

function opened(text) {
  const { id, ok, error } = parse(text);
  if (id !== nextCall - 1) throw new Error(`an answer to call ${id} came for call ${nextCall - 1}`);
  if (error) throw new Error(error.message);
  return ok;
}
