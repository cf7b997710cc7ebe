// Calls that wait for their answers, by id. Each is settled once: by its answer, its time-out or the end of the program.

import { OffshootError } from "./error.mjs";

/** The longest time-out of a timer of Node.js. */
const LONGEST = 2 ** 31 - 1;

export class PendingCalls {
  #waiting = new Map();

  get size() {
    return this.#waiting.size;
  }

  /** Waits for the answer with this id; `timeout` is in milliseconds, undefined is for ever. */
  wait(id, name, timeout) {
    return new Promise((resolve, reject) => {
      const expire = () => this.reject(id, new OffshootError("timeout", `no answer to ${name} within ${timeout} ms`));
      const timer = timeout === undefined ? undefined : setTimeout(expire, timeout);
      this.#waiting.set(id, { resolve, reject, timer });
    });
  }

  /** Answers a call. The answer to a call that waits no longer is dropped. */
  resolve(id, value) {
    this.#remove(id)?.resolve(value);
  }

  reject(id, error) {
    this.#remove(id)?.reject(error);
  }

  rejectAll(error) {
    for (const id of [...this.#waiting.keys()]) this.reject(id, error);
  }

  #remove(id) {
    const call = this.#waiting.get(id);
    if (call === undefined) return undefined;
    this.#waiting.delete(id);
    clearTimeout(call.timer);
    return call;
  }
}

/** A time-out in milliseconds; undefined if none was given, or one that is longer than timers can be. */
export function checkedTimeout(timeout) {
  if (timeout === undefined) return undefined;
  if (typeof timeout !== "number" || !(timeout > 0)) throw new TypeError("a time-out is a number of milliseconds above 0");
  return timeout > LONGEST ? undefined : timeout;
}
