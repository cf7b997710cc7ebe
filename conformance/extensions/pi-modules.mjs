// What pi's loader makes of extensions: their entries come on standard input, and what each says goes to standard output.
//   node pi-modules.mjs PI_PACKAGE
import * as fs from "node:fs";
import * as path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const loader = path.join(process.argv[2], "dist/core/extensions/loader.js");
const { createJiti } = await import(pathToFileURL(path.join(path.dirname(createRequire(loader).resolve("jiti")), "jiti-static.mjs")).href);
const { VIRTUAL_MODULES: virtualModules } = await import(pathToFileURL(path.join(path.dirname(loader), "virtual-modules.js")).href);

/** As pi's program loads an extension; nothing of it is kept on the disk. */
async function said(entry) {
  for (const name of ["probeEffect", "probeRuns", "probeOrder"]) delete globalThis[name];
  const jiti = createJiti(pathToFileURL(loader).href, { moduleCache: false, tryNative: false, fsCache: false, virtualModules });
  let description;
  const factory = await jiti.import(entry, { default: true });
  await factory({ registerCommand: (_, command) => ({ description } = command) });
  return { said: description };
}

const results = [];
for (const entry of JSON.parse(fs.readFileSync(0, "utf8"))) results.push(await said(entry).catch((error) => ({ error: `${error.message}` })));
process.stdout.write(JSON.stringify(results));
