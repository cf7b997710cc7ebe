// Loads the module of one extension and says, where that fails, on which line of which file.
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { importFile } from "./modules.mjs";
import { readManifest } from "./read.mjs";

/** The files of an extension's path: itself, what its package names, or its index. */
export function entryFiles(at) {
  if (!fs.statSync(at).isDirectory()) return [at];
  const manifest = path.join(at, "package.json");
  const { pi, omp } = fs.existsSync(manifest) ? readManifest(manifest) : {};
  const named = pi?.extensions ?? omp?.extensions;
  const files = Array.isArray(named) ? named.map((name) => path.resolve(at, name)) : ["index.ts", "index.js", "index.mjs"].map((name) => path.join(at, name));
  const found = files.filter((file) => fs.existsSync(file)).slice(0, Array.isArray(named) ? undefined : 1);
  if (!found.length) throw new Error(`${at} has no index.ts and no package.json that names extensions`);
  return found;
}

/** What the module of an extension exports as its default. */
export async function factoryOf(file) {
  const module = await importFile(file);
  const factory = typeof module.default === "function" ? module.default : (module.default?.default ?? module);
  if (typeof factory !== "function") throw new Error(`${file} has no default export that is a function`);
  return factory;
}

/** An error as it is reported: its message, its stack without offshoot's and Node.js's own functions, and the first place in it. Whatever was thrown, this does not throw. */
export function problem(error) {
  try {
    return described(error);
  } catch {
    return { message: "an error that cannot be read" };
  }
}

function described(error) {
  const isError = error instanceof Error || typeof error?.message === "string";
  const message = isError ? asWritten(error.message) : `${String(error)} was thrown`;
  const stack = isError && typeof error.stack === "string" ? asWritten(error.stack).replaceAll(/\?generation=\d+/g, "").replaceAll("file://", "") : undefined;
  const lines = stack?.split("\n").filter((line) => !/^ +at /.test(line) || !(line.includes(HOST) || /\(node:|at node:/.test(line)));
  const place = lines?.map((line) => /(\/[^\s():]+):(\d+)(?::\d+)?\)?$/.exec(line)).find((match) => match && !match[1].startsWith(HOST));
  return { message, stack: lines?.join("\n"), ...(place ? { file: decodeURI(place[1]), line: Number(place[2]) } : {}) };
}

/** A text of an error with the names of the source, not those that the transformer has made. */
const asWritten = (text) => `${text}`.replaceAll("__vite_ssr_export_default__", "default").replace(/(?:\(0, )?__vite_ssr_import_\d+__\.([\w$]+)\)?/g, "$1");

const HOST = path.dirname(fileURLToPath(import.meta.url)) + path.sep;
