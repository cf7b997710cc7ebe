// TypeScript as JavaScript, without a build step: types are stripped, imports that only named types vanish, CommonJS names are there.
import { stripTypeScriptTypes } from "node:module";
import { pathToFileURL } from "node:url";
import { blank } from "./scan.mjs";

const IMPORT = /(^|[\n;}])([ \t]*)import\s+([\w$*{][^"'`;]*?)\s*from\s*(["'])([^"'\n]+)\4([ \t]*;)?/g;
const COMMON = { require: "createRequire(import.meta.url)", __filename: "import.meta.filename", __dirname: "import.meta.dirname" };

/** The names that a clause such as `a, {b as c}` binds, each with its text. */
function bindings(clause) {
  const braces = /\{([^}]*)\}/.exec(clause);
  const named = braces ? braces[1].split(",").map((text) => text.trim()).filter(Boolean) : [];
  const plain = clause.replace(/\{[^}]*\}/, "").split(",").map((text) => text.trim()).filter(Boolean);
  return { named, plain };
}

const localName = (binding) => binding.split(/\s+as\s+/).at(-1).trim();

/** Leaves out imported names that nothing uses any more: before their types were stripped, only types did. */
function withoutTypeImports(code) {
  const clean = blank(code);
  const body = clean.replace(/(^|[\n;}])[ \t]*import\s+[\w$*{][^;]*?from\s*[ \t]*;?/g, (text) => " ".repeat(text.length));
  const isUsed = (name) => new RegExp(`(^|[^\\w$.]|\\.\\.\\.)${name.replaceAll("$", "\\$")}(?![\\w$])`).test(body);
  return code.replace(IMPORT, (text, before, space, clause, quote, source) => {
    const { named, plain } = bindings(clause);
    const keptNamed = named.filter((binding) => isUsed(localName(binding)));
    const keptPlain = plain.filter((binding) => isUsed(localName(binding)));
    if (keptNamed.length === named.length && keptPlain.length === plain.length) return text;
    const lines = "\n".repeat((text.match(/\n/g) ?? []).length - (before === "\n" ? 1 : 0));
    if (keptNamed.length + keptPlain.length === 0) return `${before}${space}${lines}`;
    const kept = [...keptPlain, ...(keptNamed.length ? [`{ ${keptNamed.join(", ")} }`] : [])].join(", ");
    return `${before}${space}import ${kept} from ${quote}${source}${quote};${lines}`;
  });
}

/** Names of CommonJS that a module uses without declaring them. */
function commonNames(code) {
  const clean = blank(code);
  const uses = (name) => new RegExp(`(^|[^\\w$.])${name}(?![\\w$])`).test(clean);
  const declares = (name) => new RegExp(`(const|let|var|function)\\s+${name}\\b|import\\s*[^;]*\\b${name}\\b`).test(clean);
  const names = Object.keys(COMMON).filter((name) => uses(name) && !declares(name));
  if (!names.length) return "";
  const factory = names.includes("require") ? 'import { createRequire as __createRequire } from "node:module"; ' : "";
  return `${factory}${names.map((name) => `const ${name} = ${COMMON[name].replace("createRequire", "__createRequire")};`).join(" ")} `;
}

/** Without its types. Node.js 26 and later only strip them, and refuse what would need more than that, such as an enum. */
let withoutTypes = (source, file) => {
  /** @type {any} Its types are those of the newest Node.js. */
  const transforming = { mode: "transform", sourceMap: true };
  const strip = (text, of) => stripTypeScriptTypes(text, { sourceUrl: pathToFileURL(of).href });
  const transform = (text, of) => stripTypeScriptTypes(text, { ...transforming, sourceUrl: pathToFileURL(of).href });
  try {
    transform("", file);
    withoutTypes = transform;
  } catch {
    withoutTypes = strip;
  }
  return withoutTypes(source, file);
};

/** The module that runs; errors name the lines of the source. */
export function asModule(source, file) {
  const isTyped = /\.[cm]?tsx?$/.test(file);
  const code = isTyped ? withoutTypeImports(withoutTypes(source, file)) : source;
  return code.startsWith("#!") ? code.replace(/^[^\n]*/, "") : commonNames(code) + code;
}
