// How the tests of pages export a session, in a folder of their own.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { sealedEnvironment, temporaryFolder } from "../lib/places.mjs";

const program = path.resolve(process.env.OFFSHOOT_BIN ?? "OFFSHOOT_BIN is not set");
const folder = temporaryFolder("page");

export const forget = () => fs.rmSync(folder, { recursive: true, force: true });

export const offshoot = (...words) => execFileSync(program, words, { encoding: "utf8", env: { ...process.env, ...sealedEnvironment(folder) }, cwd: folder, stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });

let made = 0;

/** Exports a session: the names of its file and its page. */
export function exported(body, ...words) {
  const [file, page] = ["jsonl", "html"].map((ending) => path.join(folder, `${made}.${ending}`));
  made += 1;
  fs.writeFileSync(file, body);
  offshoot("export", file, "-o", page, ...words);
  return { file, page };
}

/** The same of a session with agents: the texts of their files by their names. */
export function exportedWith(body, agents, ...words) {
  const beside = path.join(folder, String(made));
  fs.mkdirSync(beside);
  for (const [name, text] of Object.entries(agents)) fs.writeFileSync(path.join(beside, `${name}.jsonl`), text);
  return exported(body, ...words);
}
