// A running program that reads and writes lines: its start, its pipes, its end. Knows no protocol.

import { spawn } from "node:child_process";
import { constants } from "node:buffer";
import { existsSync } from "node:fs";

import { OffshootError } from "./error.mjs";
import { findProgram } from "./find.mjs";
import { LineCutter, parseObject } from "./lines.mjs";

/** What offshoot reads of one line. */
const LONGEST_REQUEST = 64 * 2 ** 20;
/** How much may wait to be sent before calls are refused. */
const LONGEST_BACKLOG = 4 * LONGEST_REQUEST;
/** How much of standard error is kept. */
const KEPT_STDERR = 8192;
/** How long a pipe may stay open after the program's end, and the program after the end of a pipe, in milliseconds. */
const DRAIN = 1000;

export const CLOSE_GRACE = 5000;

export class Program {
  #file;
  #child;
  #handlers;
  #closeGrace;
  #isClosing = false;
  #hasExited = false;
  #end = null;
  #stderr = Buffer.alloc(0);
  #timers = new Set();
  #gone;

  /**
   * Starts the program. `handlers.take` gets each object that it writes, `handlers.ended` the error that ends the client,
   * once; `handlers.stderr`, if there is one, gets its standard error as bytes.
   */
  constructor({ program, args, cwd, env, closeGrace = CLOSE_GRACE }, handlers) {
    this.#file = findProgram(program);
    this.#handlers = handlers;
    this.#closeGrace = closeGrace;
    if (cwd !== undefined && !existsSync(cwd)) throw this.#failure(`the folder ${cwd} does not exist`);
    try {
      this.#child = spawn(this.#file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    } catch (cause) {
      throw this.#failure(cause.message, { cause });
    }
    this.#gone = new Promise((resolve) => this.#watch(resolve));
  }

  get pid() {
    return this.#child.pid;
  }

  /** Sends an object. An error means that nothing was sent. */
  send(object) {
    if (this.#isClosing) throw new OffshootError("closed", "the client is closed");
    if (this.#end !== null) throw this.#end;
    const line = Buffer.from(`${JSON.stringify(object)}\n`);
    if (line.length > LONGEST_REQUEST) {
      throw new OffshootError("tooLong", `the request has ${line.length} bytes; offshoot reads ${LONGEST_REQUEST}`);
    }
    const waiting = this.#child.stdin.writableLength;
    if (waiting + line.length > LONGEST_BACKLOG) {
      throw new OffshootError("backlog", `${waiting} bytes wait to be sent: offshoot does not read them`);
    }
    this.#child.stdin.write(line);
  }

  /** Reads nothing until `resume`, so that the program has to wait. */
  pause() {
    if (!this.#isClosing && !this.#hasExited) this.#child.stdout.pause();
  }

  resume() {
    this.#child.stdout.resume();
  }

  /** Ends the client at once because of an error, and the program with it. */
  fail(error) {
    if (this.#finish(error)) this.#terminate();
  }

  /** Ends a program that did not answer at its start; the error about that. */
  failStart(error) {
    const { kind, message, exitCode, signal, stderr } = error;
    const failure = kind === "startFailed" ? error : this.#failure(message, { exitCode, signal, stderr, cause: error });
    this.fail(failure);
    return failure;
  }

  /** Ends the input; the program answers what it has read. It is killed if it does not end. Waits for its end. */
  close() {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.resume();
      this.#child.stdin.end();
      this.#after(this.#closeGrace, () => this.#terminate());
    }
    return this.#gone;
  }

  #watch(gone) {
    const child = this.#child;
    let exit = { exitCode: null, signal: null };
    const cutter = new LineCutter(constants.MAX_STRING_LENGTH, (line) => {
      if (this.#end === null) this.#handlers.take(parseObject(line), line);
    });
    child.stdout.on("data", (bytes) => {
      if (this.#end !== null) return;
      try {
        cutter.push(bytes);
      } catch (error) {
        this.fail(error);
      }
    });
    child.stderr.on("data", (bytes) => {
      const all = Buffer.concat([this.#stderr, bytes.subarray(-KEPT_STDERR)]);
      this.#stderr = all.subarray(-KEPT_STDERR);
      this.#handlers.stderr?.(bytes);
    });
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on("error", () => {});
    child.stdin.on("close", () => this.#mustEnd("closed its input"));
    child.stdout.on("end", () => this.#mustEnd("closed its output"));
    child.on("error", (cause) => {
      if (child.pid !== undefined) return;
      this.#over(this.#failure(cause.message, { cause }), gone, exit);
    });
    child.on("exit", (exitCode, signal) => {
      exit = { exitCode, signal };
      this.#hasExited = true;
      // Another process may have inherited the pipes: they need not end with the program.
      this.resume();
      this.#after(DRAIN, () => {
        child.stdout.destroy();
        child.stderr.destroy();
      });
    });
    child.on("close", () => this.#over(this.#ended(exit), gone, exit));
  }

  #over(error, gone, exit) {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#finish(error);
    gone(exit);
  }

  /** A program without one of its pipes cannot answer: it ends soon, or is ended. */
  #mustEnd(why) {
    if (this.#isClosing || this.#end !== null) return;
    const fail = () => this.fail(new OffshootError("protocol", `offshoot ${why} but did not end`));
    this.#after(DRAIN, () => this.#hasExited || fail());
  }

  #terminate() {
    this.#child.stdin.destroy();
    this.resume();
    this.#child.kill("SIGTERM");
    this.#after(this.#closeGrace, () => this.#child.kill("SIGKILL"));
  }

  #finish(error) {
    if (this.#end !== null) return false;
    this.#end = error;
    this.#handlers.ended(error);
    return true;
  }

  #ended({ exitCode, signal }) {
    const stderr = this.#stderr.toString();
    const how = signal === null ? `with exit code ${exitCode}` : `by ${signal}`;
    const said = stderr.trim();
    return new OffshootError("ended", `offshoot ended ${how}${said && `: ${said}`}`, { exitCode, signal, stderr });
  }

  #failure(why, more) {
    return new OffshootError("startFailed", `cannot start ${this.#file}: ${why}`, more);
  }

  #after(time, run) {
    const timer = setTimeout(() => this.#timers.delete(timer) && run(), time);
    this.#timers.add(timer);
  }
}
