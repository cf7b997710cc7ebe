// The process in which pi's extensions run. offshoot starts it with pipes on fds 3 to 6 and sends `init`; this file passes lines on.
import { answered } from "./calls.mjs";
import { LONGEST_LINE, receive, send } from "./channel.mjs";
import { endPrograms, runsPrograms } from "./exec.mjs";
import { dispatchers } from "./dispatch.mjs";
import { limit, Load } from "./load.mjs";
import { problem } from "./loader.mjs";
import { install } from "./resolve.mjs";
import { watchOwner } from "./watch.mjs";

process.removeAllListeners("warning");
process.setSourceMapsEnabled(true);
install();

const exit = process.exit.bind(process);
let load;
/** Loads come one after another, and what is asked meanwhile waits for them. */
let loading = Promise.resolve();

const outside = (event) => (error) => send({ t: "note", method: "error", params: { ext: null, event, ...problem(error) } });
process.on("uncaughtException", outside("uncaught exception"));
process.on("unhandledRejection", outside("unhandled rejection"));
watchOwner(outside("watch"));

async function init(record) {
  const before = load;
  load = new Load(record, before);
  send({ t: "ready", node: process.versions.node, ...(await load.run()) });
}

/** The answer to an event or an invocation, whatever happens in it. */
async function run(record, line) {
  await loading;
  const answer = await dispatchers.run(load, record, line);
  try {
    send({ t: "result", id: record.id, ...answer });
  } catch (error) {
    send({ t: "result", id: record.id, error: problem(error) });
  }
}

function endGroup() {
  endPrograms();
  process.kill(-process.pid, "SIGKILL");
}

const takes = {
  init: (record) => (loading = loading.then(() => init(record)).catch(outside("init"))),
  event: run,
  invoke: run,
  answer: answered,
  callProgress: answered,
  cancel: ({ id }) => dispatchers.cancel(id),
  limits: ({ limits }) => limit(limits),
  flags: ({ values }) => load?.setFlags(values),
  // After what the lines before it set going: an answer is then with whoever waited for it.
  ping: ({ id }) => void setImmediate(() => send({ t: "pong", id, runs: runsPrograms() })),
  shutdown: () => exit(0),
};

receive(
  (record, line) => {
    if (line.length > LONGEST_LINE) throw new Error(`offshoot sent a line of ${line.length} characters`);
    takes[record.t]?.(record, line);
  },
  // offshoot is gone: what extensions have started ends with it.
  () => {
    process.once("exit", endGroup);
    exit(0);
  },
);
