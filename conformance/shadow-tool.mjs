// The shadow repository of gemini-cli's checkpoints, driven by lines: `cargo xtask bench files` measures it.
//
// Usage: node shadow-tool.mjs NODE_MODULES WORK HOME
// `snapshot` takes one and answers with its milliseconds; `restore` brings the files of the first one and answers likewise.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const [modules, work, home] = process.argv.slice(2);
process.env.GEMINI_CLI_HOME = home;
const load = (file) => import(pathToFileURL(join(modules, "@google/gemini-cli-core/dist/src", file)).href);
const { GitService } = await load("services/gitService.js");
const { Storage } = await load("config/storage.js");

const service = new GitService(work, new Storage(work));
await service.initialize();
let first;
console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const begun = performance.now();
  if (line === "snapshot") {
    const made = await service.createFileSnapshot("snapshot");
    first ??= made;
  } else if (line === "restore") {
    await service.restoreProjectFromSnapshot(first);
  } else {
    throw new Error(`there is no command ${JSON.stringify(line)}`);
  }
  console.log((performance.now() - begun).toFixed(3));
}
