// Which names of pi the host has and which throw, asked of the host itself.
import * as fs from "node:fs";
import * as path from "node:path";
import { REPOSITORY, temporaryFolder } from "../lib/places.mjs";
import { Owner } from "./owner.mjs";
import { node } from "./places.mjs";

const host = path.join(REPOSITORY, "crates/offshoot-extensions/host");
const names = JSON.parse(fs.readFileSync(path.join(host, "names.json"), "utf8"));

/** What an extension that reads the host's tables says. */
async function ask(code) {
  const cwd = temporaryFolder("stubs");
  const file = path.join(cwd, "ask.mjs");
  fs.writeFileSync(file, `export default (pi) => pi.registerCommand("ask", { handler: async (_, ctx) => ctx.ui.notify(JSON.stringify(${code})) });\n`);
  const owner = new Owner(node(), { cwd });
  const ready = await owner.load([file]);
  if (ready.extensions[0].error) throw new Error(ready.extensions[0].error.message);
  const { error } = await owner.invoke("command", { ext: 0, name: "ask", args: "" });
  if (error) throw new Error(error.message);
  await owner.end();
  fs.rmSync(cwd, { recursive: true });
  return JSON.parse(owner.notes.at(-1).message);
}

/** Per interface, the names that throw. */
export async function stubsOf() {
  const module = (name) => `(await import(${JSON.stringify(path.join(host, name))}))`;
  // The manager that \`newSession({setup})\` hands out is made when there is one.
  const stubs = await ask(`(${module("session.mjs")}.writableSession(), ${module("named.mjs")}.stubs)`);
  const shared = new Set(stubs.ExtensionContext);
  return Object.entries(stubs).map(([name, list]) => [name, name === "ExtensionContext" ? list : list.filter((each) => !shared.has(each))]).sort();
}

/** Per module, how many of pi's values there are. */
export async function shippedNames() {
  const modules = Object.keys(names.modules).filter((module) => !module.includes("/"));
  const own = await ask(`Object.fromEntries(await Promise.all(${JSON.stringify(modules)}.map(async (module) => [module, Object.keys(await import(${JSON.stringify(host)} + "/modules/" + module + ".mjs"))])))`);
  return modules.map((module) => {
    const all = [...new Set(Object.keys(names.modules).filter((entry) => `${entry}/`.startsWith(`${module}/`)).flatMap((entry) => names.modules[entry]))];
    return [module, all.filter((name) => own[module].includes(name)).length, all.length];
  });
}
