// What extensions find as `process.argv[1]`: run with Node.js and pi's arguments, it becomes offshoot with the same.
import { spawn } from "node:child_process";

process.removeAllListeners("warning");
const program = process.env.OFFSHOOT_LAUNCHED || "offshoot";
const args = process.argv.slice(2);

/** Where a process cannot become another one: the other beside it, with its end and its signals. */
function beside() {
  const child = spawn(program, args, { stdio: "inherit" });
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`could not start ${program}: ${error.message}`);
    process.exit(127);
  });
  child.on("exit", (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)));
}

// Only an absolute path: execve does not search.
if (process.execve && program.startsWith("/")) process.execve(program, [program, ...args], process.env);
else beside();
