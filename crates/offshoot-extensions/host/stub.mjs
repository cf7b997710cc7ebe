// Values of pi's modules that offshoot does not ship: they can be imported, and throw when they are used.
import table from "./names.json" with { type: "json" };

/** Throws what is missing. */
function lacking(module, name) {
  throw new Error(`${name} of ${module} is not in offshoot: install @earendil-works/pi-coding-agent beside the extension to use pi's own`);
}

/** A function or a class; its static members throw as well. */
export function stub(module, name) {
  const missing = function () {
    lacking(module, name);
  };
  return withStatics(missing, module, name);
}

/** A class whose static members that offshoot lacks can be asked for, and throw when they are called. */
export function withStatics(own, module, name) {
  const isPlain = (key) => typeof key === "symbol" || key in own || ["then", "toJSON", "caller", "arguments"].includes(key);
  return new Proxy(own, { get: (target, key) => (isPlain(key) ? target[key] : () => lacking(module, `${name}.${String(key)}`)) });
}

/** Names of a module of pi's and of its further entries, such as `pi-ai/compat`: all of them lead to one module here. */
export const namesOf = (module) => [...new Set(Object.keys(table.modules).filter((entry) => `${entry}/`.startsWith(`${module}/`)).flatMap((entry) => table.modules[entry]))];

/** The text of a module with every name of pi's: offshoot's value where it has one. */
export function completeModule(module) {
  const values = namesOf(module).map((name) => `export const ${name} = "${name}" in own ? own.${name} : stub("${module}", "${name}");`);
  return `import * as own from "./${module}.mjs"; import { stub } from "../stub.mjs";\nexport * from "./${module}.mjs";\n${values.join("\n")}`;
}
