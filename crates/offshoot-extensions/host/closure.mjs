// Which files an extension imports, found without running it: from the files on standard input to a list with their hashes on standard
// output. offshoot starts it by itself, with --experimental-import-meta-resolve.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { checkManifests, readRegular } from "./read.mjs";
import { inTypeScript, isOfPi, packageName, relativeFile } from "./resolve.mjs";
import { strings } from "./scan.mjs";
import { withoutTypesOf } from "./typescript.mjs";

const MOST_FILES = 2000;
const MOST_BYTES = 64 << 20;
const CODE = /\.[cm]?[jt]sx?$/;
const TYPED = /\.[cm]?tsx?$/;
const LOADED = /\.([cm]?[jt]sx?|json|node|wasm)$/;
/** What stands before the name of a module. */
const NAMES_MODULE = /(^|[^\w$.])(from|import|import\s*\(|require\s*\(|require\s*\.\s*resolve\s*\(|import\s*\.\s*meta\s*\.\s*resolve\s*\()$/;

/** The names of modules in a file. Any text that begins like a relative path may be one that is loaded in another way. */
function specifiers(bytes, file) {
  const source = bytes.toString("utf8");
  const code = TYPED.test(file) && !file.endsWith(".d.ts") ? withoutTypes(source, file) : source;
  const found = new Set();
  strings(code, (text, before) => {
    if (NAMES_MODULE.test(before) || /^\.{1,2}\//.test(text)) found.add(text);
  });
  return found;
}

/** A file with a mistake in it is not run either. */
function withoutTypes(source, file) {
  try {
    return withoutTypesOf(source, file);
  } catch {
    return source;
  }
}

const attempt = (look) => {
  try {
    return look();
  } catch {
    return undefined;
  }
};

/** The files that a name may mean, by `import` and by `require`. */
function filesOf(specifier, parent) {
  if (isBuiltin(specifier) || isOfPi(specifier)) return [];
  if (/^\.{0,2}\//.test(specifier) || specifier.startsWith("file:")) {
    const file = attempt(() => relativeFile(specifier, pathToFileURL(parent).href));
    if (file) return [file];
  }
  checkManifests(path.dirname(parent), packageName(specifier));
  const required = attempt(() => createRequire(parent).resolve(specifier));
  const imported = attempt(() => fileURLToPath(import.meta.resolve(specifier, pathToFileURL(parent).href)));
  const found = [required, imported].filter((file) => file && path.isAbsolute(file) && fs.statSync(file, { throwIfNoEntry: false })?.isFile());
  if (found.length) return found;
  const typed = attempt(() => inTypeScript(specifier, parent));
  return typed ? [typed] : [];
}

function closure(entries) {
  const files = new Map();
  const open = [...entries];
  let bytes = 0;
  while (open.length) {
    const file = open.pop();
    if (files.has(file)) continue;
    if (files.size === MOST_FILES) throw new Error(`it imports more than ${MOST_FILES} files, such as ${file}`);
    const content = readRegular(file, Math.max(MOST_BYTES - bytes, 0));
    bytes += content.length;
    files.set(file, createHash("sha256").update(content).digest("hex"));
    if (CODE.test(file)) for (const specifier of specifiers(content, file)) open.push(...filesOf(specifier, file).filter((found) => LOADED.test(found)));
  }
  return Object.fromEntries([...files].sort());
}

try {
  const { entries } = JSON.parse(fs.readFileSync(0, "utf8"));
  process.stdout.write(JSON.stringify({ files: closure(entries) }));
} catch (error) {
  process.stdout.write(JSON.stringify({ error: `${error.message}` }));
}
