// Where an import of an extension leads: pi's packages where the user has them, else the modules that offshoot ships; TypeScript without
// an ending; a fresh copy of the extension's own files after every reload. Nothing is looked up before an extension asks for it.
import * as fs from "node:fs";
import { createHash } from "node:crypto";
import { createRequire, isBuiltin, registerHooks } from "node:module";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { checkManifests, checkRegular, readManifest, readRegular, readText } from "./read.mjs";
import { completeModule } from "./stub.mjs";
import { asModule } from "./transform.mjs";

const SHIPPED = new URL("./modules/", import.meta.url);
const SCOPES = /^@(earendil-works|mariozechner)\/(pi-coding-agent|pi-agent-core|pi-tui|pi-ai)(\/.+)?$/;
/** oh-my-pi's own packages need its own runtime: what they export is offshoot's, or a stub. */
const OMP = /^@oh-my-pi\/(pi-coding-agent|pi-agent-core|pi-tui|pi-ai|pi-utils)(\/.+)?$/;
const TYPEBOX = /^(@sinclair\/)?typebox(\/(compile|value|type|system|error))?$/;
const ENDINGS = [".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".json"];
const TYPED = /\.[cm]?tsx?$/;

/** Of pi 1.5 and later: what its extensions get as pi-ai, which alone exports `Type` no longer. */
const PI_AI_VIEW = "dist/core/extensions/pi-ai-extension-view.js";

/** Bytes that the user has allowed: hashes by file. A file is guarded if it belongs to an extension of which the user was asked. */
let state = { version: 0, modules: [], piRoot: undefined, own: [], free: [], guarded: new Map(), verified: new Map() };

const isFile = (file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;

/** From now on imports lead to fresh copies; `modules` are folders in which pi's packages may lie, `own` the folders of extensions. */
export function newGeneration({ modules, extensions }) {
  const own = extensions.map((extension) => folderOf(extension.path));
  const free = extensions.filter((extension) => !extension.allowed).map((extension) => folderOf(extension.path));
  state = { version: state.version + 1, modules, own, free, piRoot: undefined, guarded: new Map(), verified: new Map() };
  for (const { path: file, allowed } of extensions) if (allowed) state.guarded.set(file, allowed);
}

/** The folder whose files are the extension's own. */
function folderOf(file) {
  return /\.[cm]?[jt]sx?$/.test(file) ? path.dirname(file) : file;
}

const fileOf = (url) => (url?.startsWith("file:") ? fileURLToPath(url) : undefined);

/** Throws unless the user has allowed the bytes of a file. */
function verify(file, allowed, parent, bytes) {
  const known = bytes ? undefined : state.verified.get(file);
  const hash = known ?? createHash("sha256").update(bytes ?? readRegular(file)).digest("hex");
  if (allowed[file] !== hash) {
    const why = allowed[file] ? "has changed since you allowed the extension" : "was not among the files that you allowed with the extension";
    throw new Error(`${file} is not loaded: it ${why}${parent ? `; ${parent} imports it` : ""}. The next start on a terminal asks, --trust loads it this once`);
  }
  state.verified.set(file, hash);
}

/** The text of a file that is about to run. What was read is what was allowed. */
export function checkedText(file) {
  const bytes = readRegular(file);
  const allowed = state.guarded.get(file);
  if (allowed) verify(file, allowed, undefined, bytes);
  return bytes.toString("utf8");
}

/** What a file of an extension that the user was asked about may import. pi's packages are the user's. */
function guard(specifier, context, found) {
  const parent = fileOf(context.parentURL);
  const allowed = parent && state.guarded.get(parent);
  const file = fileOf(found.url);
  if (!allowed || !file || found.url.startsWith(SHIPPED.href) || isOfPi(specifier)) return found;
  verify(file, allowed, parent);
  state.guarded.set(file, allowed);
  return found;
}

/** The folder `node_modules` that has pi's packages, looked for once: above an extension, then in the user's folders. */
function piRoot() {
  if (state.piRoot === undefined) {
    // A project in which the agent may write brings no pi.
    const above = state.free.flatMap((folder) => {
      const folders = [];
      for (let at = folder; ; at = path.dirname(at)) {
        folders.push(path.join(at, "node_modules"));
        if (path.dirname(at) === at) return folders;
      }
    });
    const has = (folder) => isFile(path.join(folder, "@earendil-works/pi-coding-agent/dist/index.js"));
    state.piRoot = [...above, ...state.modules].find(has) ?? null;
    state.piFolder = state.piRoot && fs.realpathSync(path.join(state.piRoot, "@earendil-works/pi-coding-agent"));
  }
  return state.piRoot;
}

/** Which packages answer for pi's: "pi" or "offshoot"; null as long as nobody asked. */
export function moduleSource() {
  return state.piRoot === undefined ? null : state.piRoot ? "pi" : "offshoot";
}

/** The file of a module that stands for one of oh-my-pi's. */
function ompModule(specifier) {
  const [, name, rest] = OMP.exec(specifier) ?? [];
  const own = rest === "/chalk" ? "chalk.mjs" : name === "pi-utils" ? "pi-utils.mjs" : name === "pi-ai" ? "omp-ai.mjs" : `${name}.mjs?complete`;
  return new URL(own, SHIPPED).href;
}

/** The file of a module of pi's, or of typebox. */
function piModule(specifier) {
  if (OMP.test(specifier)) return ompModule(specifier);
  const scoped = SCOPES.exec(specifier);
  const name = scoped ? `@earendil-works/${scoped[2]}` : "typebox";
  const rest = scoped ? scoped[3] ?? "" : specifier.replace(/^(@sinclair\/)?typebox/, "");
  if (!piRoot()) return new URL(scoped ? `${scoped[2]}.mjs?complete` : "typebox.mjs", SHIPPED).href;
  // pi gives extensions the entry of pi-ai that has its older functions as well.
  const isAi = scoped?.[2] === "pi-ai" && ["", "/compat"].includes(rest);
  const view = path.join(state.piFolder, PI_AI_VIEW);
  if (isAi && isFile(view)) return pathToFileURL(view).href;
  const asked = isAi ? `${name}/compat` : name + rest;
  const url = resolveFrom(path.join(state.piFolder, "package.json"), asked);
  if (asked === "@earendil-works/pi-coding-agent") state.piAgent = url;
  return url;
}

let prepared;

/** pi's own modules keep a theme of their own, which somebody must have chosen before a component uses it. */
export async function preparePi(theme) {
  const url = state.piAgent;
  if (!url || prepared === url) return;
  prepared = url;
  (await import(url)).initTheme?.(theme === "light" ? "light" : "dark", false);
}

function resolveFrom(file, specifier) {
  try {
    return pathToFileURL(createRequire(file).resolve(specifier)).href;
  } catch {
    const [, name, rest] = /^((?:@[^/]+\/)?[^/]+)(\/.+)?$/.exec(specifier) ?? [];
    if (!name) throw new Error(`"${specifier}" names no package or file; ${file} imports it`);
    for (let at = path.dirname(file); ; at = path.dirname(at)) {
      const folder = path.join(at, "node_modules", name);
      if (fs.existsSync(path.join(folder, "package.json"))) return importEntry(folder, rest ?? "", specifier);
      if (path.dirname(at) === at) throw new Error(`the package ${name} is not installed; it was looked for above ${file}`);
    }
  }
}

/** The `import` entry of a package that `require` cannot find. */
function importEntry(folder, rest, specifier) {
  const { exports: table, module: entry, main } = readManifest(path.join(folder, "package.json"));
  const pick = (value) => (typeof value === "string" || !value ? value : pick(value.node ?? value.import ?? value.default));
  const key = `.${rest}`;
  const found = table ? pick(rest === "" && !("." in table) ? table : table[key]) : rest === "" ? (entry ?? main ?? "index.js") : rest;
  const pattern = Object.entries(table ?? {}).find(([name]) => name.includes("*") && key.startsWith(name.split("*")[0]));
  const viaPattern = pattern && pick(pattern[1])?.replaceAll("*", key.slice(pattern[0].split("*")[0].length, key.length - pattern[0].split("*")[1].length));
  const file = found ?? viaPattern;
  if (!file) throw new Error(`${specifier} is not exported by ${path.join(folder, "package.json")}`);
  return pathToFileURL(path.join(folder, file)).href;
}

/** The file that an import means: as it is, TypeScript for `.js`, with an ending, or what a folder names. */
function sourceFile(file) {
  if (isFile(file)) return file;
  const manifest = path.join(file, "package.json");
  const { main } = isFile(manifest) ? readManifest(manifest) : {};
  const named = typeof main === "string" ? path.join(file, main) : undefined;
  return withEnding(file) ?? (named && (isFile(named) ? named : (withEnding(named) ?? withEnding(path.join(named, "index"))))) ?? withEnding(path.join(file, "index"));
}

function withEnding(file) {
  const swapped = file.replace(/\.([cm]?)jsx?$/, ".$1ts");
  const candidates = [swapped, file.replace(/\.jsx?$/, ".tsx"), ...ENDINGS.map((ending) => file + ending)];
  return candidates.find(isFile);
}

const belongs = (file) => state.own.some((folder) => file.startsWith(folder + path.sep)) && !file.includes(`${path.sep}node_modules${path.sep}`);

function fresh(url) {
  const file = fileURLToPath(url);
  return belongs(file) ? `${pathToFileURL(file).href}?generation=${state.version}` : url;
}

/** Whether a module is pi's or oh-my-pi's, or typebox. */
export const isOfPi = (specifier) => SCOPES.test(specifier) || OMP.test(specifier) || TYPEBOX.test(specifier);

/** The file of a relative import, where there is one. */
export function relativeFile(specifier, parentURL) {
  return sourceFile(fileURLToPath(specifier.startsWith("file:") ? new URL(specifier) : new URL(specifier, parentURL)));
}

const resolve = (specifier, context, next) => guard(specifier, context, found(specifier, context, next));

function found(specifier, context, next) {
  if (isBuiltin(specifier) || specifier.startsWith(SHIPPED.href)) return next(specifier, context);
  const isOurs = context.parentURL?.startsWith(SHIPPED.href);
  if (isOfPi(specifier) && !isOurs && !isPis(context.parentURL)) {
    return { url: piModule(specifier), shortCircuit: true };
  }
  const isRelative = /^\.{0,2}\//.test(specifier) || specifier.startsWith("file:") || specifier === "." || specifier === "..";
  if (isRelative && context.parentURL?.startsWith("file:")) {
    const file = relativeFile(specifier, context.parentURL);
    if (file) return { url: fresh(pathToFileURL(file).href), shortCircuit: true };
  }
  if (context.parentURL?.startsWith("file:")) checkManifests(path.dirname(fileURLToPath(context.parentURL)), packageName(specifier));
  try {
    const found = next(specifier, context);
    return found.url.startsWith("file:") ? { ...found, url: fresh(found.url) } : found;
  } catch (error) {
    const url = context.parentURL?.startsWith("file:") ? elsewhere(specifier, fileURLToPath(context.parentURL), context.conditions, error) : undefined;
    if (url) return { url: fresh(url), shortCircuit: true };
    throw error;
  }
}

/** Where a name leads that Node.js does not find: to a file with another ending, to a package in TypeScript, or by `require`. */
function elsewhere(specifier, parent, conditions, error) {
  const named = error.url?.startsWith("file:") ? sourceFile(fileURLToPath(error.url)) : undefined;
  if (named) return pathToFileURL(named).href;
  const typed = inTypeScript(specifier, parent);
  if (typed || conditions?.includes("require")) return typed;
  try {
    return pathToFileURL(createRequire(parent).resolve(specifier)).href;
  } catch {
    return undefined;
  }
}

/** The file that `require` of an extension's module means. */
export function requiredFile(specifier, parent) {
  const context = { parentURL: pathToFileURL(parent).href, conditions: ["node", "require"] };
  const next = () => {
    try {
      return { url: pathToFileURL(createRequire(parent).resolve(specifier)).href };
    } catch {
      return { url: import.meta.resolve(specifier, context.parentURL) };
    }
  };
  return fileURLToPath(resolve(specifier, context, next).url);
}

/** Whether a file is an extension's own, and what Node.js makes of its ending. */
export function moduleType(file) {
  const isOwn = belongs(file);
  if (/\.[cm]js$/.test(file)) return { isOwn, type: file.endsWith(".mjs") ? "module" : "commonjs" };
  for (let at = path.dirname(file); ; at = path.dirname(at)) {
    const manifest = path.join(at, "package.json");
    if (isFile(manifest)) return { isOwn, type: readManifest(manifest).type === "module" ? "module" : undefined };
    if (path.dirname(at) === at) return { isOwn, type: undefined };
  }
}

/** Whether a module runs as it is whatever its ending: offshoot's, pi's, and what is no text. */
export const isForeign = (url) => url.startsWith(SHIPPED.href) || isPis(url) || /\.(node|wasm)(\?|$)/.test(url);

/** pi's own packages import one another as they do without us. */
function isPis(url) {
  if (!state.piRoot || !url?.startsWith("file:") || url.includes("/examples/")) return false;
  const file = fileURLToPath(url);
  // A linked pi lies where no name says so.
  return file.startsWith(state.piFolder + path.sep) || file.includes(`${path.sep}@earendil-works${path.sep}pi-`);
}

export const packageName = (specifier) => /^((?:@[^/]+\/)?[^/.#][^/]*)(\/.+)?$/.exec(specifier)?.[1];

/** A package whose entry is TypeScript, or has no ending. */
export function inTypeScript(specifier, parent) {
  const name = packageName(specifier);
  if (!name) return undefined;
  const rest = specifier.slice(name.length) || undefined;
  for (let at = path.dirname(parent); ; at = path.dirname(at)) {
    const folder = path.join(at, "node_modules", name);
    if (isFile(path.join(folder, "package.json"))) {
      const { main } = readManifest(path.join(folder, "package.json"));
      const file = sourceFile(path.join(folder, rest ?? main ?? "index"));
      return file && pathToFileURL(file).href;
    }
    if (path.dirname(at) === at) return undefined;
  }
}

/** Node refuses TypeScript below `node_modules`, and reads a package's `type`: here an extension's file is always a module. */
function load(url, context, next) {
  const shipped = url.endsWith("?complete") && /([^/]+)\.mjs\?complete$/.exec(url);
  if (shipped) return { format: "module", source: completeModule(shipped[1]), shortCircuit: true };
  if (!url.startsWith("file:")) return next(url, context);
  const file = fileURLToPath(url);
  checkRegular(file);
  checkManifests(path.dirname(file));
  const allowed = state.guarded.get(file);
  if (!allowed) return loaded(url, context, next, file);
  // What was read is what was allowed: it is looked at again as it is loaded.
  state.verified.delete(file);
  verify(file, allowed);
  const module = loaded(url, context, next, file);
  state.verified.delete(file);
  verify(file, allowed);
  return module;
}

function loaded(url, context, next, file) {
  if (TYPED.test(file) && !file.endsWith(".d.ts")) {
    return { format: "module", source: asModule(file, readText(file)), shortCircuit: true };
  }
  if (file.endsWith(".json") && context.conditions?.includes("import") && context.importAttributes?.type !== "json") {
    return { format: "module", source: `export default ${readText(file)}`, shortCircuit: true };
  }
  return next(url, context);
}

export function install() {
  registerHooks({ resolve, load });
}
