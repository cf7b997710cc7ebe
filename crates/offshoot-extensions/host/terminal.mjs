// The terminal in the hands of an extension, between `tui.stop()` and `tui.start()`. What it starts there with `stdio: "inherit"` has
// the terminal, and what it prints is seen. At other times this process has no terminal.
import childProcess from "node:child_process";
import * as fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { ask } from "./channel.mjs";

const STARTERS = ["spawn", "spawnSync", "execFile", "execFileSync", "execSync"];
const STREAMS = ["stdin", "stdout", "stderr"];
/** Keys that end or stop the program in front also reach this process. */
const KEYS = ["SIGINT", "SIGQUIT", "SIGTSTP"];
/** A signal may come a little after the program has ended. */
const LATE = 200;
const ignore = () => {};

/** Whether an extension has asked for the terminal; then what there was before, and the terminal. */
let isAsked = false;
let lent;

/** What a program started by an extension gets for each of its three streams. */
const onTerminal = (fd) => (stream) => (stream === "inherit" || [0, 1, 2].includes(stream) || STREAMS.some((name) => stream === process[name]) ? fd : stream);

function withTerminal(start, fd) {
  return (...args) =>
    start(...args.map((options) => {
      if (typeof options !== "object" || options === null || Array.isArray(options) || options.stdio === undefined) return options;
      const streams = Array.isArray(options.stdio) ? options.stdio : [options.stdio, options.stdio, options.stdio];
      return { ...options, stdio: streams.map(onTerminal(fd)) };
    }));
}

function opened() {
  try {
    return fs.openSync("/dev/tty", "r+");
  } catch (error) {
    takeBack();
    throw error;
  }
}

export function lend() {
  if (isAsked) return;
  isAsked = true;
  if (ask("ui.suspend", { process: process.pid }) !== true) return;
  const fd = opened();
  lent = { fd, starters: {}, writes: {} };
  for (const name of STARTERS) {
    lent.starters[name] = childProcess[name];
    childProcess[name] = withTerminal(lent.starters[name], fd);
  }
  syncBuiltinESMExports();
  for (const name of ["stdout", "stderr"]) {
    lent.writes[name] = process[name].write;
    process[name].write = (text) => (fs.writeSync(fd, text), true);
  }
  for (const key of KEYS) process.on(key, ignore);
}

export function takeBack() {
  if (!isAsked) return;
  isAsked = false;
  if (lent) restore(lent);
  lent = undefined;
  ask("ui.resume");
  setTimeout(() => lent || KEYS.forEach((key) => process.off(key, ignore)), LATE).unref();
}

function restore({ fd, starters, writes }) {
  Object.assign(childProcess, starters);
  syncBuiltinESMExports();
  for (const [name, write] of Object.entries(writes)) process[name].write = write;
  fs.closeSync(fd);
}
