// offshoot's transformer: TypeScript and modules of JavaScript as the program that Node.js runs.
import { ask } from "./channel.mjs";
import { blank } from "./scan.mjs";

const COMMON = { require: "createRequire(import.meta.url)", __filename: "import.meta.filename", __dirname: "import.meta.dirname" };
const HELPERS = new URL("./helpers.mjs", import.meta.url).href;

/** The program of a source, and the map that leads to it; a mistake names its line. */
export function transformed(file, source, form) {
  const { code, map, mistake, line, column } = ask("host.transform", { path: file, source, form });
  if (mistake === undefined) return { code, map };
  const error = new SyntaxError(mistake);
  error.stack = `${file}:${line}:${column}\nSyntaxError: ${mistake}`;
  throw error;
}

/** The module that Node.js runs where a package in JavaScript asks for TypeScript. */
export function asModule(file, source) {
  const { code, map } = transformed(file, source, "module");
  const helpers = code.includes("babelHelpers") ? `import * as babelHelpers from "${HELPERS}"; ` : "";
  return `${helpers}${commonNames(code)}${code}\n//# sourceMappingURL=${map}`;
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
