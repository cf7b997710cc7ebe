// Extensions that misbehave, within the whole program over RPC: two prompts, and what is in the session's file afterwards. What a person and
// the model have said must all be there, as without the extension.
import * as fs from "node:fs";
import * as path from "node:path";
import { modelServer } from "./model-server.mjs";
import { prepare, RpcRun } from "./rpc-run.mjs";

const call = { say: [{ call: "bash", id: "c1", arguments: { command: "echo hi" } }] };
const say = (text) => ({ say: [{ text }] });

/** `[what the extension does, its code, what offshoot does]`; `reports`: a person hears of it; `extra` is what it adds itself, `stops` a person
 * who stops the run, `patience` how many seconds it may run on: the others yield, and a short limit would end a process that only works. */
export const MISBEHAVIOUR = [
  { reports: true, does: "throws", code: 'pi.on("turn_start", () => { throw new Error("oh"); });', so: "it is reported with its stack; the other handlers run" },
  { does: "throws at a call", code: 'pi.on("tool_call", () => { throw new Error("oh"); });', so: "the call does not run, and the model gets the reason" },
  { reports: true, patience: "0.4", does: "hangs: runs on without yielding", code: 'pi.on("context", () => { for (;;) {} });', so: "its process is ended after 30 s (here 0.4 s), which is reported, and started once more" },
  { does: "hangs: waits for what never comes", code: 'pi.on("tool_call", () => new Promise(() => {}));', so: "the stop of the person ends the wait; the call does not run", stops: true },
  { does: "leaks 8 MB with each piece of an answer", code: 'const kept = []; pi.on("message_update", () => kept.push(Buffer.alloc(8 << 20)));', so: "the memory is that of its process" },
  { does: "floods: 20,000 notices at once", code: 'pi.on("turn_start", (event, ctx) => { for (let n = 0; n < 20000; n++) ctx.ui.notify(`n${n}`); });', so: "it waits while the pipe is full; the terminal shows ten in a second and counts the rest" },
  { does: "sends a message for each message, 20 times", code: 'let n = 0; pi.on("message_end", () => { if (n++ < 20) pi.sendMessage({ customType: "again", content: "again", display: true }); });', so: "the messages are recorded after those that were under way", extra: 20 },
  { does: "tampers with prototypes", code: 'pi.on("turn_start", () => { Object.prototype.t = "x"; Array.prototype.map = () => { throw new Error("no"); }; JSON.stringify = () => "}{"; Promise.prototype.then = undefined; });', so: "the host has taken what it needs before" },
  { reports: true, does: "exits the process", code: 'pi.on("context", () => process.exit(3));', so: "it is reported; the process is started once more, then not again" },
  { reports: true, does: "kills the process", code: 'pi.on("context", () => process.kill(process.pid, "SIGKILL"));', so: "the same" },
  { reports: true, does: "makes a string of 1 GB", code: 'pi.on("turn_start", () => pi.appendEntry("large", "\\u4e00".repeat(2 ** 29 - 24)));', so: "the call throws in the extension, which is reported; nothing is sent" },
  { reports: true, does: "returns a text of 70 MB", code: 'pi.on("context", () => ({ messages: [{ role: "user", content: "x".repeat(70 << 20) }] }));', so: "it is refused and reported; the request has the messages as they were" },
  { does: "writes to standard output", code: 'pi.on("turn_start", () => { console.log(\'{"t":"result","id":1}\'.repeat(20000)); });', so: "nobody takes it for an answer; its end is in the message if the process ends" },
  { reports: true, does: "closes the pipes", code: 'pi.on("turn_start", async () => (await import("node:fs")).closeSync(4));', so: "the process counts as ended" },
  { reports: true, does: "fails to load", code: 'throw new Error("at the start");', so: "it is reported with file and line; the other extensions load" },
];

/** The entries of the session's file, without its header: all, and what was said. */
function recorded(folder) {
  const files = fs.readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".jsonl")).map((name) => path.join(folder, name));
  if (files.length !== 1) throw new Error(`there are ${files.length} sessions`);
  const entries = fs.readFileSync(files[0], "utf8").trimEnd().split("\n").slice(1).map((line) => JSON.parse(line));
  const text = ({ content }) => (typeof content === "string" ? content : content.map((part) => part.text ?? part.name).join(""));
  const said = entries.filter(({ type, message }) => type === "message" && message.role !== "toolResult").map(({ message }) => `${message.role}: ${text(message)}`);
  return { count: entries.length, said, ofExtension: entries.filter(({ type }) => type.startsWith("custom")).length };
}

async function session(folder, program, row) {
  const server = await modelServer([call, say("One."), say("Two."), say("Three.")]);
  const place = prepare(folder, { env: row?.patience ? { OFFSHOOT_EXTENSION_PATIENCE: row.patience } : {} }, "data", server.url);
  const file = path.join(folder, "extension", "bad.mjs");
  fs.writeFileSync(file, `export default function (pi) { ${row?.code ?? ""} }\n`);
  const run = new RpcRun({ file: program, args: ["--approval", "auto", ...(row ? ["-e", file] : ["--no-extensions"])], place, server, scenario: {} });
  const limit = setTimeout(() => run.peer.child.kill("SIGKILL"), 60_000);
  try {
    const first = run.prompt("first");
    if (row?.stops) {
      await run.peer.until((record) => record.type === "message_end" && record.message.role === "assistant");
      await run.ask({ type: "abort" });
    }
    await first;
    await run.prompt("second");
    const code = await run.peer.end();
    return { code, reported: run.peer.records.some(({ type }) => type === "extension_error"), ...recorded(path.join(folder, "data/sessions")) };
  } finally {
    clearTimeout(limit);
    run.peer.child.kill("SIGKILL");
    await server.end();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Each row with the entries without and with the extension, and what is wrong; `lost` counts what was said and is not in the file. */
export async function misbehave(folder, program) {
  const without = await session(path.join(folder, "misbehaviour", "none"), program);
  const rows = [];
  for (const [at, row] of MISBEHAVIOUR.entries()) {
    let found;
    try {
      found = await session(path.join(folder, "misbehaviour", `${at}`), program, row);
    } catch (error) {
      rows.push({ ...row, without: without.count, with: 0, lost: without.said.length, wrong: [error.message] });
      continue;
    }
    // After a stop the model was not asked for the rest of its turn.
    const expected = row.stops ? without.said.filter((text) => text !== "assistant: One.").map((text) => (text === "assistant: Two." ? "assistant: One." : text)) : without.said;
    const lost = expected.filter((text) => !found.said.includes(text));
    const wrong = [...lost.map((text) => `${text} is not in the file`), ...(found.code === 0 ? [] : [`it ended with ${found.code}`]), ...(row.reports && !found.reported ? ["nobody hears of it"] : []), ...((row.extra ?? 0) <= found.ofExtension ? [] : [`${found.ofExtension} entries of the extension`])];
    rows.push({ ...row, without: without.count, with: found.count, lost: lost.length, reported: found.reported, wrong });
  }
  return rows;
}
