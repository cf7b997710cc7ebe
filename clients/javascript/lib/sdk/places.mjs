// Folders and short runs of the program. Knows no session.

import { execFile, execFileSync } from "node:child_process";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { OffshootError } from "../error.mjs";
import { findProgram } from "../find.mjs";

/** What one command may print. */
const LONGEST_OUTPUT = 256 * 2 ** 20;

/** offshoot's data folder, in place of pi's agent folder. */
export function getAgentDir() {
  if (process.env.OFFSHOOT_HOME) return process.env.OFFSHOOT_HOME;
  return join(process.env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "offshoot");
}

/** The environment of the program: with another data folder than the usual one, if `agentDir` names it. */
export function environment(agentDir, more = {}) {
  const isOther = agentDir !== undefined && resolve(agentDir) !== resolve(getAgentDir());
  return { ...process.env, ...(isOther ? { OFFSHOOT_HOME: resolve(agentDir) } : {}), ...more };
}

/** What a command prints as JSON. */
export async function printed(args, { cwd, env = process.env } = {}) {
  return new Promise((fulfil, reject) => {
    const options = { cwd, env, maxBuffer: LONGEST_OUTPUT };
    execFile(findProgram(undefined, env), args, options, (error, stdout, stderr) => {
      if (error) reject(failed(args, error, stderr));
      else fulfil(JSON.parse(stdout));
    });
  });
}

/** The same, waited for. */
export function printedSync(args, env = process.env) {
  try {
    return JSON.parse(execFileSync(findProgram(undefined, env), args, { env, maxBuffer: LONGEST_OUTPUT, stdio: ["ignore", "pipe", "pipe"] }));
  } catch (error) {
    throw failed(args, error, error.stderr ?? "");
  }
}

function failed(args, cause, stderr) {
  const said = String(stderr).trim() || cause.message;
  return new OffshootError("ended", `offshoot ${args.join(" ")}: ${said}`, { cause });
}
