// Values of pi's modules that offshoot does not ship: they can be imported, and throw when they are used.
import table from "./names.json" with { type: "json" };

export function stub(module, name) {
  const use = () => {
    throw new Error(`${name} of ${module} is not in offshoot: install @earendil-works/pi-coding-agent beside the extension to use pi's own`);
  };
  return function missing() {
    use();
  };
}

/** Names of a module of pi's, with those of the entry that extensions get. */
export const namesOf = (module) => [...new Set([...(table.modules[module] ?? []), ...(table.modules[`${module}/compat`] ?? [])])];

/** The text of a module with every name of pi's: offshoot's value where it has one. */
export function completeModule(module) {
  const values = namesOf(module).map((name) => `export const ${name} = "${name}" in own ? own.${name} : stub("${module}", "${name}");`);
  return `import * as own from "./${module}.mjs"; import { stub } from "../stub.mjs";\nexport * from "./${module}.mjs";\n${values.join("\n")}`;
}
