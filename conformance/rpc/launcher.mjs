// Stands in the place of pi's program for pi's own RPC client, which starts it with Node.js.
import { spawn } from "node:child_process";

const child = spawn(process.env.OFFSHOOT_BIN, process.argv.slice(2), { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
