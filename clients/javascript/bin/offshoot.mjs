#!/usr/bin/env node
// Runs the program of the platform package in place of this process, or as a child if this Node.js cannot do that.

import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";

import { findBinary, missing } from "../lib/find.mjs";

function fail(why) {
  process.stderr.write(`offshoot: ${why}\n`);
  process.exit(1);
}

function find() {
  try {
    return findBinary();
  } catch (error) {
    return fail(error.message);
  }
}

/** A terminal sends these to the whole group: the program would get them twice. */
function hasTerminal() {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

function runAsChild(program, args) {
  const ofTerminal = ["SIGINT", "SIGQUIT", "SIGHUP"];
  const signals = [...ofTerminal, "SIGTERM", "SIGUSR1", "SIGUSR2"];
  const passOn = (signal) => (ofTerminal.includes(signal) && hasTerminal()) || child.kill(signal);
  // First: a signal may come as soon as the program runs.
  for (const signal of signals) process.on(signal, passOn);
  const child = spawn(program, args, { stdio: "inherit" });
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    for (const name of signals) process.removeListener(name, passOn);
    process.kill(process.pid, signal);
    // A signal that does not end a process leaves it here.
    setTimeout(() => process.exit(1), 1000);
  });
}

const program = find() ?? fail(missing());
const args = process.argv.slice(2);
if (typeof process.execve === "function") process.execve(program, [program, ...args], process.env);
else runAsChild(program, args);
