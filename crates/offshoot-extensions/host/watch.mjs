// Ends this process when offshoot is gone. An extension that never yields keeps the main thread from noticing, so a thread of its own
// waits for the end of a pipe that offshoot holds open on fd 7 and never writes to.
import { Worker } from "node:worker_threads";

/** What the main thread has to end in good order, in ms. */
const PATIENCE = 1000;

const WATCH = `
const pipe = new (require("node:net").Socket)({ fd: 7, readable: true, writable: false });
pipe.on("error", () => {});
pipe.on("close", () => setTimeout(() => process.kill(-process.pid, "SIGKILL"), ${PATIENCE}));
pipe.resume();
`;

/** `failed` gets why there is no such thread. */
export function watchOwner(failed) {
  const thread = new Worker(WATCH, { eval: true, execArgv: [], env: {}, resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 } });
  thread.on("error", failed);
  thread.unref();
}
