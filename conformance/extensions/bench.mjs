// Figures of the extension host, by command, never in a timed test: processor time, because the machine may be busy, and medians.
//   node extensions/bench.mjs [ROUNDS] [FIGURES]
// FIGURES is the built example `figures` of offshoot-extensions: with it, offshoot itself is measured in the same rounds.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { piPackage, temporaryFolder } from "../lib/places.mjs";
import { Owner } from "./owner.mjs";
import { node } from "./places.mjs";

const rounds = Number(process.argv[2] ?? 5);
const program = process.argv[3];
const folder = temporaryFolder("bench");
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
/** User and system time of a process and its threads, in ms. */
const cpu = (pid) => fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ").slice(11, 13).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
const file = path.join(folder, "bench.ts");
fs.writeFileSync(file, `export default function (pi: any) {
  pi.on("context", () => {});
  pi.on("turn_start", () => {});
  pi.registerCommand("now", { handler: async (count: string, ctx: any) => { for (let n = Number(count); n > 0; n--) ctx.sessionManager.getLeafId(); } });
  pi.registerCommand("nothing", { handler: async () => {} });
}\n`);
/** A conversation of 1,000 messages, as lines that the owner in Rust has already. */
const messages = Array.from({ length: 1000 }, (_, at) => ({ role: at % 2 ? "assistant" : "user", content: [{ type: "text", text: `${at} ${"some words of the conversation ".repeat(62)}` }], timestamp: at }));
const context = `{"type":"context","messages":${JSON.stringify(messages)}}`;
/** What pi does around a handler of `context`, with one that does nothing. */
async function piContext() {
  const current = structuredClone(messages);
  const visible = current.filter(({ role }) => role !== "system");
  const before = visible.slice();
  const returned = (await (async () => {})({ type: "context", messages: visible }))?.messages;
  return returned ?? (visible.length === before.length && visible.every((message, at) => message === before[at]) ? current : visible);
}
/** An event, whose messages stay with the owner, to its answer. */
const event = (owner, handler, id) => new Promise((resolve, reject) => {
  owner.waiting.set(id, { resolve, reject });
  owner.to.write(`{"t":"event","id":${id},"handler":${handler},"payload":{"type":"context","held":true},"ctx":{}}\n`);
});
const figures = { [`no-op context of ${(context.length / 1e6).toFixed(1)} MB, wall`]: [], "the same within pi, wall": [], "host ready, CPU": [], "host ready, wall": [], "1 KB there and back, wall": [], "synchronous call, wall": [], "pi's packages at first use, CPU": [], "pi's packages at first use, wall": [] };
for (let round = 0; round < rounds; round++) {
  const began = performance.now();
  const owner = new Owner(node(), { cwd: folder });
  const ready = await owner.load([file]);
  if (ready.extensions[0].error) throw new Error(ready.extensions[0].error.message);
  figures["host ready, wall"].push(performance.now() - began);
  figures["host ready, CPU"].push(cpu(owner.child.pid));
  for (const [figure, name, args, times] of [["1 KB there and back, wall", "nothing", "x".repeat(1024), 500], ["synchronous call, wall", "now", "2000", 1]]) {
    const from = performance.now();
    for (let n = 0; n < times; n++) await owner.invoke("command", { ext: 0, name, args });
    figures[figure].push((performance.now() - from) / (times === 1 ? 2000 : times));
  }
  const [ofContext, ofPi] = Object.keys(figures);
  const { id } = ready.extensions[0].handlers.find((handler) => handler.event === "context");
  for (let n = 0; n < 20; n++) {
    let from = performance.now();
    await event(owner, id, 900_000 + n);
    figures[ofContext].push(performance.now() - from);
    from = performance.now();
    await piContext();
    figures[ofPi].push(performance.now() - from);
  }
  await owner.end();
  const measured = program ? execFileSync(program, [node(), "1"], { encoding: "utf8" }).trim().split("\n") : [];
  for (const [, what, ms] of measured.map((line) => /^(.*): ([\d.]+) ms/.exec(line))) (figures[`offshoot: ${what}`] ??= []).push(Number(ms));
  const url = path.join(piPackage(), "dist/index.js");
  const code = `const t = performance.now(), c = process.cpuUsage(); await import(${JSON.stringify(url)}); const { user, system } = process.cpuUsage(c); console.log(JSON.stringify([(user + system) / 1000, performance.now() - t])); process.exit(0);`;
  const [used, took] = JSON.parse(execFileSync(node(), ["--input-type=module", "-e", code], { encoding: "utf8" }));
  figures["pi's packages at first use, CPU"].push(used);
  figures["pi's packages at first use, wall"].push(took);
}
for (const [figure, list] of Object.entries(figures)) console.log(`${figure}: ${median(list).toFixed(3)} ms, at best ${Math.min(...list).toFixed(3)} (of ${list.length})`);
fs.rmSync(folder, { recursive: true, force: true });
process.exit(0);
