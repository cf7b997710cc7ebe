// TypeScript without its types and without the imports that only named types, for those who look for names in it and run nothing.
import { stripTypeScriptTypes } from "node:module";
import { pathToFileURL } from "node:url";
import { blank } from "./scan.mjs";

const IMPORT = /(^|[\n;}])([ \t]*)import\s+([\w$*{][^"'`;]*?)\s*from\s*(["'])([^"'\n]+)\4([ \t]*;)?/g;

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

/** The code of a file of TypeScript. */
export const withoutTypesOf = (source, file) => withoutTypeImports(withoutTypes(source, file));
