// Where the program is. Starts nothing.

import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { OffshootError } from "./error.mjs";

const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-arm64", "darwin-x64"];
const LAUNCHER = fileURLToPath(new URL("../bin/offshoot.mjs", import.meta.url));

/** The package with the program for a platform; null if there is none. */
export function platformPackage(platform = process.platform, arch = process.arch) {
  const name = `${platform}-${arch}`;
  return PLATFORMS.includes(name) ? `offshoot-${name}` : null;
}

/** The program of `OFFSHOOT_BIN` or of the platform package; null without either. */
export function findBinary(env = process.env) {
  if (env.OFFSHOOT_BIN) return existing(resolve(env.OFFSHOOT_BIN), "OFFSHOOT_BIN names ");
  const name = platformPackage();
  if (name === null) return null;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    return existing(join(dirname(manifest), "bin", "offshoot"), `the package ${name} has no program: `);
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}

/** The program that a client starts: `program`, that of `OFFSHOOT_BIN`, of the platform package, or of `PATH`. */
export function findProgram(program, env = process.env) {
  if (program?.includes("/")) return existing(resolve(program), "");
  const found = (program === undefined ? findBinary(env) : null) ?? onPath(program ?? "offshoot", env.PATH);
  if (found !== null) return found;
  throw new OffshootError("startFailed", program === undefined ? missing() : `${program} is not on PATH`);
}

/** What to do without a program. */
export function missing() {
  const name = platformPackage();
  if (name === null) return `there is no package of offshoot for ${process.platform}-${process.arch}: set OFFSHOOT_BIN`;
  return `the program offshoot was not found: install the package ${name}, or set OFFSHOOT_BIN`;
}

function existing(file, before) {
  if (isLauncher(file)) throw new OffshootError("startFailed", `${before}${file}, which is the launcher of this package`);
  if (isProgram(file)) return file;
  const there = statSync(file, { throwIfNoEntry: false }) !== undefined;
  throw new OffshootError("startFailed", `${before}${file}, which ${there ? "cannot be executed" : "does not exist"}`);
}

/** The launcher of this package does not count: it has looked in vain. */
function onPath(name, path = "") {
  const files = path.split(delimiter).filter((folder) => folder !== "").map((folder) => resolve(folder, name));
  return files.find((file) => isProgram(file) && !isLauncher(file)) ?? null;
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isLauncher(file) {
  try {
    return realpathSync(file) === realpathSync(LAUNCHER);
  } catch {
    return false;
  }
}
