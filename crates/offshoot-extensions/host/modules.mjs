// Runs the modules of extensions as pi's loader does. TypeScript and modules of an extension's own become functions, which offshoot makes
// of them; packages in JavaScript run as they are, and become functions only if Node.js refuses them.
import * as fs from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as helpers from "./helpers.mjs";
import { checkedText, isForeign, isOfPi, moduleType, requiredFile } from "./resolve.mjs";
import { transformed } from "./transform.mjs";
import { jsonView, view } from "./views.mjs";

const TYPED = /\.[cm]?tsx?$/;
const NAMES = ["exports", "require", "module", "__filename", "__dirname", "__vite_ssr_exports__", "__vite_ssr_import__", "__vite_ssr_dynamic_import__", "__vite_ssr_exportAll__", "__vite_ssr_import_meta__", "babelHelpers"];

/** What ran, or runs, since the last reload, by its file. */
let records = new Map();
/** Files of extensions that Node.js ran as they are. */
let natives = new Set();

/** After a reload every file of an extension runs again. */
export function forgetModules() {
  for (const file of natives) delete createRequire(file).cache[file];
  natives = new Set();
  records = new Map();
}

/** A module that begins to run. */
function begun(file) {
  const record = { file, module: { exports: {}, id: file, filename: file, loaded: false }, waitsFor: new Set(), promise: undefined };
  records.set(file, record);
  return record;
}

/** The module of an extension, with what its package exports. */
export const importFile = (file) => imported({ file, waitsFor: new Set() }, pathToFileURL(file).href);

/** A function of the text of a module; its errors name the lines of the source. */
function compiled(file, source, form) {
  const { code, map } = transformed(file, source, form);
  const kind = form === "waiting" ? "async function" : "function";
  // A block, so that a module may declare what the function gets.
  const text = `(${kind} (${NAMES.join(", ")}) { "use strict"; { ${code}\n}})`;
  return (0, eval)(`${text}\n//# sourceMappingURL=${map}\n//# sourceURL=${file}`);
}

/** Runs a file as a function: at once, or with a promise. */
function start(record, source, form) {
  const { file, module } = record;
  const required = requireOf(record);
  const meta = { url: pathToFileURL(file).href, filename: file, dirname: path.dirname(file), resolve: (specifier) => resolved(record, specifier).replace(/\?generation=\d+$/, ""), env: process.env };
  const importing = (specifier) => imported(record, resolved(record, specifier));
  const dynamic = async (specifier) => importing(`${specifier}`);
  const all = (from) => {
    for (const name of Object.keys(from)) {
      if (name !== "default" && !(name in module.exports)) Object.defineProperty(module.exports, name, { enumerable: true, configurable: true, get: () => from[name] });
    }
  };
  const run = compiled(file, source, form);
  const given = form === "waiting" ? importing : required.asImport;
  return run.call(undefined, module.exports, required, module, file, path.dirname(file), module.exports, given, dynamic, all, meta, helpers);
}

/** As `import` finds it. */
function resolved(record, specifier) {
  if (isBuiltin(specifier)) return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
  try {
    return import.meta.resolve(specifier, pathToFileURL(record.file).href);
  } catch (error) {
    throw unfound(error);
  }
}

/** pi's loader has one name for what is not there. */
function unfound(error) {
  if (error?.code === "ERR_MODULE_NOT_FOUND") error.code = "MODULE_NOT_FOUND";
  return error;
}

const missing = (file, parent) => Object.assign(new Error(`Cannot find module '${file}' imported from ${parent.file}`), { code: "MODULE_NOT_FOUND" });

/** Whether waiting for a module would be waiting for oneself. */
function isWaitedFor(record, by, seen = new Set()) {
  if (record === by) return true;
  if (seen.has(record)) return false;
  seen.add(record);
  return [...record.waitsFor].some((other) => isWaitedFor(other, by, seen));
}

async function imported(parent, url) {
  if (!url.startsWith("file:") || isForeign(url)) return view(await import(url));
  const file = fileURLToPath(url);
  if (!fs.existsSync(file)) throw missing(file, parent);
  if (file.endsWith(".json")) return jsonView(JSON.parse(checkedText(file)));
  const known = records.get(file);
  if (known) return awaited(parent, known);
  const { source, isNative } = kindOf(file);
  if (isNative) {
    try {
      return view(await import(url));
    } catch (error) {
      if (!mayBeTransformed(error, file)) throw unfound(error);
      if (records.has(file)) return awaited(parent, records.get(file));
    }
  }
  const record = begun(file);
  record.promise = start(record, source ?? checkedText(file), "waiting").then(() => void (record.module.loaded = true));
  return awaited(parent, record);
}

async function awaited(parent, record) {
  if (!record.module.loaded && record.promise && !isWaitedFor(record, parent)) {
    parent.waitsFor.add(record);
    try {
      await record.promise;
    } finally {
      parent.waitsFor.delete(record);
    }
  }
  return view(record.module.exports);
}

const HAS_MODULE_SYNTAX = /(^|[\n;}])\s*(import(\s+[\w$]|\s*[*{"'])|export(\s+[\w$]|\s*[*{]))/;
const PLAIN = /\.(c|m)?jsx?$/;

/** Whether Node.js runs a file as it is, and the text that was read to know it. */
function kindOf(file) {
  if (TYPED.test(file)) return { isNative: false };
  if (!PLAIN.test(file)) return { isNative: true };
  const { isOwn, type } = moduleType(file);
  if (isOwn) natives.add(file);
  if (type === "commonjs") return { isNative: true };
  if (type === "module") return { isNative: !isOwn };
  const source = checkedText(file);
  return { isNative: !HAS_MODULE_SYNTAX.test(source), source };
}

/** What Node.js refuses, and pi's loader does not. */
function mayBeTransformed(error, file) {
  if (!PLAIN.test(file)) return false;
  if (error instanceof SyntaxError) return true;
  if (error instanceof ReferenceError) return /^(require|module|exports|__filename|__dirname) is not defined/.test(error.message);
  return /^ERR_(MODULE_NOT_FOUND|UNSUPPORTED_DIR_IMPORT|PACKAGE_PATH_NOT_EXPORTED|REQUIRE_|IMPORT_ATTRIBUTE|UNKNOWN_FILE)/.test(error?.code ?? "");
}

/** `require` of a module: of TypeScript and of modules, too. */
function requireOf(record) {
  const native = createRequire(record.file);
  const load = (specifier, ofJson) => {
    if (isBuiltin(specifier) || isOfPi(specifier)) return view(native(specifier));
    const file = requiredFile(specifier, record.file);
    return file.endsWith(".json") ? ofJson(JSON.parse(checkedText(file))) : requireFile(file, native);
  };
  return Object.assign((specifier) => load(specifier, (value) => value), {
    resolve: (specifier) => (isBuiltin(specifier) ? specifier : requiredFile(specifier, record.file)),
    cache: native.cache,
    main: undefined,
    /** An import of a module that runs at once. */
    asImport: (specifier) => load(specifier, jsonView),
  });
}

function requireFile(file, native) {
  const known = records.get(file);
  if (known) return view(known.module.exports);
  const { source, isNative } = kindOf(file);
  if (isNative || isForeign(pathToFileURL(file).href)) {
    try {
      return view(native(file));
    } catch (error) {
      if (!mayBeTransformed(error, file)) throw error;
    }
  }
  const record = begun(file);
  try {
    start(record, source ?? checkedText(file), "atOnce");
  } catch (error) {
    records.delete(file);
    throw error;
  }
  record.module.loaded = true;
  return view(record.module.exports);
}
