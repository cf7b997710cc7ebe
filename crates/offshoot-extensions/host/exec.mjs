// `exec`: a program without a shell, its standard input closed. It never fails: how it ended is in the answer.
import { spawn } from "node:child_process";

const PATIENCE = 5000;

/** The programs that run; each leads a group of its own. */
const children = new Set();

/** Whether an extension waits for a program. */
export const runsPrograms = () => children.size > 0;

/** Ends them where nobody else is left to do it. */
export function endPrograms() {
  for (const child of children) {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  }
}

export function exec(command, args, /** @type {any} */ { cwd, signal, timeout } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], detached: process.platform !== "win32" });
    children.add(child);
    const out = { stdout: "", stderr: "" };
    let killed = false;
    let last;
    const kill = (name) => {
      try {
        // Without an id it never began, and there is no group to end.
        if (child.pid === undefined) return;
        process.kill(-child.pid, name);
      } catch {
        child.kill(name);
      }
    };
    const stop = () => {
      if (killed) return;
      killed = true;
      kill("SIGTERM");
      last = setTimeout(kill, PATIENCE, "SIGKILL");
    };
    const clock = timeout > 0 ? setTimeout(stop, timeout) : undefined;
    const done = (code) => {
      children.delete(child);
      clearTimeout(clock);
      clearTimeout(last);
      signal?.removeEventListener("abort", stop);
      resolve({ ...out, code, killed });
    };
    for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (out[name] += text));
    child.on("error", () => done(1));
    child.on("close", (code) => done(code ?? 0));
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
