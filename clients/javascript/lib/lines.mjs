// Bytes to JSON objects, one a line. Lines end at LF only: U+2028 and CR are ordinary characters.

import { OffshootError } from "./error.mjs";

const LF = 10;
const SHOWN = 200;

/** Cuts bytes into lines, and calls `take` with each. */
export class LineCutter {
  #parts = [];
  #length = 0;
  #longest;
  #take;

  constructor(longest, take) {
    this.#longest = longest;
    this.#take = take;
  }

  push(bytes) {
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      this.#keep(bytes.subarray(start, end));
      const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#length = 0;
      this.#take(line);
      start = end + 1;
    }
    if (start < bytes.length) this.#keep(bytes.subarray(start));
  }

  #keep(bytes) {
    this.#length += bytes.length;
    if (this.#length > this.#longest) {
      throw new OffshootError("protocol", `offshoot wrote a line of more than ${this.#longest} bytes`);
    }
    this.#parts.push(bytes);
  }
}

/** The object that a line is. */
export function parseObject(line) {
  try {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(line));
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch (cause) {
    throw broken(line, "is not JSON", cause);
  }
  throw broken(line, "is not an object");
}

/** The error about a line that does not belong to the protocol. */
export function broken(line, why, cause) {
  const shown = line.subarray(0, SHOWN).toString();
  const more = line.length > SHOWN ? "…" : "";
  return new OffshootError("protocol", `offshoot wrote a line that ${why}: ${JSON.stringify(shown + more)}`, { cause });
}
