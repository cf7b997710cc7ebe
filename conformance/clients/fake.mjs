// Stands in for the program where a client is tried with one that misbehaves: `node fake.mjs HABIT api`, or `--mode rpc`.
// It answers every request with what it was asked, as `echo`, except for what the habit says.
import { spawn } from "node:child_process";
import * as fs from "node:fs";

const [habit, ...args] = process.argv.slice(2);
const isApi = args[0] === "api";
const first = isApi ? "rpc.discover" : "get_state";
const METHODS = ["echo", "hold", "habit"].map((name) => ({ name, params: [] }));
const held = [];

function write(value) {
  fs.writeSync(1, `${typeof value === "string" ? value : JSON.stringify(value)}\n`);
}

function answer(request, value) {
  if (isApi) write({ jsonrpc: "2.0", id: request.id, result: value });
  else write({ id: request.id, type: "response", command: request.type, success: true, data: value });
}

const idle = () => setInterval(() => {}, 1 << 30);

const HABITS = {
  garbage: () => write("Segmentation fault, sort of"),
  list: () => write("[]"),
  number: () => write("7"),
  // An answer in every other way.
  latin1: (request) => {
    const [before, behind] = (isApi ? `{"id":${request.id},"result":"@"}` : `{"id":"${request.id}","type":"response","success":true,"data":"@"}`).split("@");
    fs.writeSync(1, Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(`${behind}\n`)]));
  },
  stranger: () => write(isApi ? { jsonrpc: "2.0", id: 99, result: 1 } : { no: "type" }),
  nobody: () => write(isApi ? { jsonrpc: "2.0", id: null, error: { code: -32700, message: "?" } } : { type: "response", command: "parse", success: false, error: "?" }),
  mirror: (request) => write(isApi ? request : { ...request, type: undefined }),
  exit: () => process.exit(3),
  kill: () => process.kill(process.pid, "SIGKILL"),
  // Part of an answer, then the end.
  half: () => {
    fs.writeSync(1, `{"jsonrpc":"2.0","id":1,"res`);
    process.exit(0);
  },
  flood: (request) => {
    const lines = Buffer.from("a line of trouble\n".repeat(4096));
    for (let wrote = 0; wrote < 32 << 20; ) wrote += fs.writeSync(2, lines);
    answer(request, "after the flood");
  },
  big: (request) => answer(request, `${"ä\u2028\r".repeat(2_000_000)}\ud83d`),
  // Closes a pipe and lives on.
  mute: () => {
    fs.closeSync(1);
    idle();
  },
  deaf: (request) => {
    process.stdin.destroy();
    fs.closeSync(0);
    idle();
    answer(request, "the last one");
  },
  // Reads nothing more, but keeps the pipe.
  busy: () => process.stdin.pause() && idle(),
  // Another process keeps the pipes open after the program's end.
  heir: () => {
    const child = spawn("sleep", ["1000"], { stdio: ["ignore", "inherit", "inherit"] });
    fs.writeFileSync(process.env.HEIR, String(child.pid));
    process.exit(4);
  },
  stubborn: (request) => {
    for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => {});
    idle();
    answer(request, process.pid);
  },
  silent: () => {},
  events: () => {
    for (let at = 0; at < 4000; at += 1) write({ type: "tick", at, text: "x".repeat(1000) });
    write({ type: "agent_settled" });
  },
};

function take(request) {
  const name = isApi ? request.method : request.type;
  if (name === "hold") return held.push(request);
  if (name === "echo") for (const late of held.splice(0)) answer(late, { late: true });
  if (name === "habit") return HABITS[habit](request);
  if (name === first && habit.startsWith("start-")) return HABITS[habit.slice(6)](request);
  if (name === "prompt") return answer(request, { disposition: "started" }), HABITS[habit](request);
  return answer(request, name === "rpc.discover" ? { methods: METHODS } : isApi ? request.params : { members: request });
}

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) take(JSON.parse(line));
});
if (habit === "start-exit-unasked") {
  fs.writeSync(2, "error: the settings are broken\n");
  process.exit(2);
}
