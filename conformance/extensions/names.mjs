// The names of pi's extension interface, read from the types of its packages: members of interfaces and values of modules.
//   node extensions/names.mjs NODE_MODULES [NODE_MODULES_OF_A_NEWER_PI] > ../crates/offshoot-extensions/host/names.json
//   node extensions/names.mjs --pack 1.5.2 > extensions/names-1.5.2.json
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
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

/** `{interfaces, modules}` of the packages below a folder `node_modules`. */
export function namesOf(nodeModules) {
  const at = (name, file) => path.join(nodeModules, SCOPE, name, file);
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

/** The names of all of them. */
export function table(folders) {
  return folders.map(namesOf).reduce((all, one) => ({
    interfaces: union(all.interfaces, one.interfaces),
    modules: union(all.modules, one.modules),
    events: [...new Set([...all.events, ...one.events])].sort(),
  }), { interfaces: {}, modules: {}, events: [] });
}

/** The names of a version that npm has, without what it depends on: not all of that can be installed. */
function packed(version) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "names-"));
  try {
    for (const name of new Set(Object.values(MODULES).map(([owner]) => owner))) {
      const at = path.join(folder, SCOPE, name);
      fs.mkdirSync(at, { recursive: true });
      const { status, stdout } = spawnSync("npm", ["pack", "--json", `${SCOPE}/${name}@${version}`], { cwd: folder, encoding: "utf8" });
      if (status !== 0 && name !== "pi-coding-agent") {
        console.error(`npm has no ${SCOPE}/${name}@${version}: its names are left out`);
        continue;
      }
      const [{ filename }] = JSON.parse(stdout);
      execFileSync("tar", ["xzf", path.join(folder, path.basename(filename)), "-C", at, "--strip-components=1"]);
    }
    return table([folder]);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** One line for each list: the file is kept, and its changes are read. */
const lines = (names) => `{\n${Object.entries(names).map(([part, of]) => `"${part}":${Array.isArray(of) ? JSON.stringify(of) : `{\n${Object.entries(of).map(([name, list]) => ` "${name}":${JSON.stringify(list)}`).join(",\n")}\n}`}`).join(",\n")}\n}`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, version] = process.argv.slice(2);
  console.log(first === "--pack" ? lines(packed(version)) : JSON.stringify(table(process.argv.slice(2)), null, 1));
}
