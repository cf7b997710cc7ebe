// A peer's session manager for the robustness probes: one JSON request per line (run by node for pi, by bun for omp).
// `node peer.mjs MODULE`: MODULE exports SessionManager. It works on the file itself: whoever starts it made a copy.
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { serve } from "../lib/lines.mjs";

const { SessionManager } = await import(pathToFileURL(process.argv[2]).href);
const isOmp = process.argv[2].includes("oh-my-pi");

const open = (file) => (isOmp ? SessionManager.open(file, path.dirname(file), undefined, { suppressBreadcrumb: true }) : SessionManager.open(file));
const message = (text) => ({ role: "user", content: [{ type: "text", text }], timestamp: Date.now() });
const answer = (text) => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "x",
  provider: "p",
  model: "m",
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  stopReason: "stop",
  timestamp: Date.now(),
});

/** Nodes of a tree in a loop; what never ends is the caller's to stop. */
function count(roots) {
  let nodes = 0;
  const stack = [...roots];
  while (stack.length > 0) {
    nodes += 1;
    for (const child of stack.pop().children) stack.push(child);
  }
  return nodes;
}

let manager;
const flushed = async () => void (await manager.flush?.());

const COMMANDS = {
  async open({ file }) {
    manager = await open(file);
    return {};
  },
  context: () => ({ messages: manager.buildSessionContext().messages.length }),
  /** Whether some message of the context holds these words. */
  says: ({ text }) => JSON.stringify(manager.buildSessionContext().messages.slice(-3)).includes(text),
  tree: () => ({ nodes: count(manager.getTree()) }),
  has: ({ entry }) => manager.getEntries().some((there) => there?.id === entry),
  async append({ text, times = 1 }) {
    const ids = [];
    for (let i = 0; i < times; i++) ids.push(manager.appendMessage(message(text)));
    await flushed();
    return ids;
  },
  async create({ dir, texts }) {
    manager = await SessionManager.create("/usr", dir);
    for (const text of texts) manager.appendMessage(message(text));
    await flushed();
    return { file: manager.getSessionFile() };
  },
  /** A conversation with an answer, so that there is a file. */
  async talk({ dir }) {
    manager = await SessionManager.create("/usr", dir);
    manager.appendMessage(message("q"));
    manager.appendMessage(answer("a"));
    await flushed();
    return { file: manager.getSessionFile() };
  },
  /** The session as a page, by the peer's own export of a file. */
  async page({ file, out }) {
    const folder = path.dirname(process.argv[2]);
    const module = isOmp ? path.join(folder, "../export/html/index.ts") : path.join(folder, "export-html/index.js");
    const { exportFromFile } = await import(pathToFileURL(module).href);
    await exportFromFile(file, { outputPath: out });
    return {};
  },
  /** Appends for ever, each acknowledged on stderr; ends by a signal. */
  async loop({ text }) {
    for (;;) {
      const id = manager.appendMessage(message(text));
      await flushed();
      fs.writeSync(2, `ACK ${id}\n`);
    }
  },
};

await serve(async ({ cmd, ...fields }) => {
  if (!COMMANDS[cmd]) throw new Error(`no command ${cmd}`);
  return COMMANDS[cmd](fields);
});
