// The names of pi's extension interface, read from the types of its packages: members of interfaces and values of modules.
//   node extensions/names.mjs PI_PACKAGE… > ../crates/offshoot-extensions/host/names.json
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

const SCOPE = "@earendil-works";
const INTERFACES = {
  "dist/core/extensions/types.d.ts": ["ExtensionAPI", "ExtensionContext", "ExtensionCommandContext", "ExtensionToolContext", "ReplacedSessionContext", "ExtensionUIContext"],
  "dist/core/model-registry.d.ts": ["ModelRegistry"],
  "dist/core/session-manager.d.ts": ["SessionManager"],
};
const PARENTS = { ExtensionCommandContext: ["ExtensionContext"], ExtensionToolContext: ["ExtensionContext"], ReplacedSessionContext: ["ExtensionContext", "ExtensionCommandContext"] };
const MODULES = {
  "pi-coding-agent": ["pi-coding-agent", "dist/index.d.ts"],
  "pi-agent-core": ["pi-agent-core", "dist/index.d.ts"],
  "pi-tui": ["pi-tui", "dist/index.d.ts"],
  "pi-ai": ["pi-ai", "dist/index.d.ts"],
  "pi-ai/compat": ["pi-ai", "dist/compat.d.ts"],
  "pi-ai/models": ["pi-ai", "dist/models.d.ts"],
  "pi-ai/oauth": ["pi-ai", "dist/oauth.d.ts"],
  "pi-ai/providers/all": ["pi-ai", "dist/providers/all.d.ts"],
};

const withoutComments = (text) => text.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/[^\n]*/g, "");

/** The text between the braces of an interface or class. */
function body(text, name) {
  const start = new RegExp(`(interface|class) ${name}\\b[^{]*\\{`).exec(text);
  if (!start) return "";
  let depth = 1;
  let end = start.index + start[0].length;
  for (; depth > 0; end += 1) depth += text[end] === "{" ? 1 : text[end] === "}" ? -1 : 0;
  return text.slice(start.index + start[0].length, end - 1);
}

/** Members with brackets counted without `<` and `>`, whose arrows confuse a counter. */
function memberNames(text) {
  const names = new Set();
  let depth = 0;
  for (const line of text.split("\n")) {
    const found = depth === 0 && /^\s*(?:readonly |get )?([A-Za-z]\w*)\??\s*[(:<]/.exec(line);
    if (found && !["constructor", "private", "static"].includes(found[1])) names.add(found[1]);
    for (const letter of line) depth += "({[".includes(letter) ? 1 : ")}]".includes(letter) ? -1 : 0;
  }
  return [...names];
}

/** Values that a module exports: functions, classes and constants, through every `export … from`. */
function values(file, seen = new Map()) {
  if (seen.has(file)) return seen.get(file);
  const names = new Set();
  seen.set(file, names);
  const text = withoutComments(fs.readFileSync(file, "utf8"));
  const beside = (from) => {
    if (from.startsWith(".")) return path.resolve(path.dirname(file), from.replace(/\.(ts|js)$/, ".d.ts"));
    const [, name] = /^@earendil-works\/([^/]+)$/.exec(from) ?? [];
    return name && path.join(file.slice(0, file.indexOf(SCOPE)), SCOPE, name, "dist/index.d.ts");
  };
  for (const [, list] of text.matchAll(/export \{([^}]*)\}/g)) {
    for (const item of list.split(",").map((each) => each.trim()).filter((each) => each && !each.startsWith("type "))) names.add(item.split(/\s+as\s+/).at(-1));
  }
  for (const [, from] of text.matchAll(/export \* from "([^"]+)"/g)) {
    const at = beside(from);
    if (at && fs.existsSync(at)) for (const name of values(at, seen)) names.add(name);
  }
  for (const [, name] of text.matchAll(/export (?:declare )?(?:abstract )?(?:async )?(?:function|class|const|let|enum) (\w+)/g)) names.add(name);
  return names;
}

/** The folder of a package of pi's, as the folder of pi-coding-agent sees it. */
function packageOf(pi, name) {
  if (name === "pi-coding-agent") return pi;
  for (let at = pi; ; at = path.dirname(at)) {
    const folder = path.join(at, "node_modules", SCOPE, name);
    if (fs.existsSync(folder)) return folder;
    if (path.dirname(at) === at) throw new Error(`${SCOPE}/${name} is not installed beside ${pi}`);
  }
}

/** `{interfaces, modules}` of the pi in this folder, and of what it depends on. */
export function namesOf(pi) {
  const at = (name, file) => path.join(packageOf(pi, name), file);
  const interfaces = {};
  for (const [file, names] of Object.entries(INTERFACES)) {
    const text = withoutComments(fs.readFileSync(at("pi-coding-agent", file), "utf8"));
    for (const name of names) interfaces[name] = memberNames(body(text, name));
    const readonly = /ReadonlySessionManager = Pick<SessionManager,([^>]*)>/.exec(text);
    if (readonly) interfaces.ReadonlySessionManager = [...readonly[1].matchAll(/"(\w+)"/g)].map(([, name]) => name);
  }
  for (const [name, parents] of Object.entries(PARENTS)) interfaces[name] = [...new Set([...parents.flatMap((parent) => interfaces[parent]), ...interfaces[name]])];
  const modules = {};
  for (const [name, [owner, file]] of Object.entries(MODULES)) if (fs.existsSync(at(owner, file))) modules[name] = [...values(at(owner, file))];
  const events = [...body(withoutComments(fs.readFileSync(at("pi-coding-agent", "dist/core/extensions/types.d.ts"), "utf8")), "ExtensionAPI").matchAll(/on\(event: "(\w+)"/g)].map(([, name]) => name);
  return { interfaces, modules, events };
}

const union = (a, b) => Object.fromEntries([...new Set([...Object.keys(a), ...Object.keys(b)])].sort().map((name) => [name, [...new Set([...(a[name] ?? []), ...(b[name] ?? [])])].sort()]));

/** The names of all of them, each the folder of a pi-coding-agent. */
export function table(folders) {
  return folders.map(namesOf).reduce((all, one) => ({
    interfaces: union(all.interfaces, one.interfaces),
    modules: union(all.modules, one.modules),
    events: [...new Set([...all.events, ...one.events])].sort(),
  }), { interfaces: {}, modules: {}, events: [] });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(table(process.argv.slice(2).map((folder) => path.resolve(folder))), null, 1));
