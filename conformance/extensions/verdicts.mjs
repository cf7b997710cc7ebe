// What of the tables holds: each example under the host beside pi's loader, and within the whole program beside pi.
import * as fs from "node:fs";
import * as path from "node:path";
import { newestNode, newestPi, piPackage } from "../lib/places.mjs";
import { EXTENSIONS, examples, node, oldExamples } from "./places.mjs";
import { compareRows, differences } from "./rows.mjs";
import { runRpc } from "./rpc-run.mjs";
import { HOOKS, TOOLS } from "./table-hooks.mjs";
import { STAND_INS, TABLE } from "./table-rows.mjs";
import { PROBES } from "./table-probes.mjs";
import { RPC, RPC_HOOKS } from "./table-rpc.mjs";

const find = (folder, name) => [path.join(folder, `${name}.ts`), path.join(folder, name)].find((file) => fs.existsSync(file));

/** The same script within pi and within offshoot. A hook of 0.31 stands beside its successor of 0.87: over RPC, 0.31 asked nobody. */
async function compareRpc(kind, name, folder, program) {
  const scenario = { hook: RPC_HOOKS, extension: RPC, probe: PROBES }[kind][name];
  const theirs = find(kind === "probe" ? path.join(EXTENSIONS, "probes") : examples(), name);
  const ours = kind === "hook" ? find(path.join(oldExamples(), "hooks"), name) : theirs;
  const at = (who) => path.join(folder, "rpc", kind, name, who);
  const pi = scenario.isNewest ? { file: newestNode(), args: [path.join(newestPi(), "dist/cli.js")] } : { file: node(), args: [path.join(piPackage(), "dist/cli.js")] };
  const offshoot = { file: program, args: ["--approval", "auto"] };
  const first = runRpc(at("pi"), { start: pi, agent: ".pi/agent", extension: theirs, scenario });
  if (scenario.serial) await first;
  const second = runRpc(at("offshoot"), { start: offshoot, agent: "data", extension: ours, scenario, flag: kind === "hook" ? "--hook" : "-e" });
  const [their, our] = [await first, await second];
  if (process.env.SHOW) console.log(JSON.stringify(their, null, 1));
  return their.error ? [`pi fails: ${their.error}`] : our.error ? [`offshoot fails: ${our.error}`] : differences(their, our);
}

/** Every row of the tables, with the parts that it has. */
export const ROWS = [
  ...Object.keys(HOOKS).map((name) => ({ kind: "hook", name, hasRpc: name in RPC_HOOKS })),
  ...Object.keys(TOOLS).map((name) => ({ kind: "tool", name, hasRpc: false })),
  ...Object.keys(PROBES).map((name) => ({ kind: "probe", name, about: PROBES[name].about, hasRpc: true })),
  ...Object.keys(TABLE).map((name) => ({ kind: "extension", name, hasRpc: name in RPC, standIn: STAND_INS[name] })),
];

/** What offshoot does not do yet within the whole program; CI tries only the host with these. */
export const OPEN = [];

/** The fixed third that CI runs: every third of each kind, all that the first prompt of a newcomer meets, and our own. */
export const isInThird = ({ kind, name }, index) => index % 3 === 0 || kind === "probe" || ["permission-gate", "todo", "status-line"].includes(name);

/** What differs in each part of a row; empty lists are the aim. A part without a program is left out. */
export async function verdict({ kind, name, hasRpc }, folder, { program, parts = ["host", "program"] }) {
  const limited = (work) => Promise.race([work, new Promise((resolve) => setTimeout(resolve, 60_000, ["it took more than a minute"]).unref())]);
  const attempt = (work) => limited(work().catch((error) => [`the test failed: ${error.stack}`]));
  const host = parts.includes("host") && kind !== "probe" ? await attempt(() => compareRows(name, folder, node(), { kind })) : null;
  const whole = hasRpc && program && parts.includes("program") ? await attempt(() => compareRpc(kind, name, folder, program)) : null;
  return { host, program: whole };
}
