// A model that answers from a script: offshoot's example `loopback`, which also checks every request. Homes of programs that
// know it, and runs of them.
import { execFile, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const loopback = process.env.OFFSHOOT_LOOPBACK_BIN;
const KNOWN = { contextWindow: 200000, maxTokens: 8000, reasoning: false, input: ["text"], cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };

/** A model that answers from a script; `end` gives the number of requests and its complaints. It also answers for `others`. */
export async function model(folder, name, replies, others = []) {
  if (!loopback) throw new Error("set OFFSHOOT_LOOPBACK_BIN");
  const script = path.join(folder, `${name}.script`);
  fs.writeFileSync(script, replies.map((reply) => JSON.stringify(reply)).join("\n"));
  const child = spawn(path.resolve(loopback), [script], { stdio: ["pipe", "pipe", "inherit"] });
  const said = [];
  const closed = new Promise((resolve) => child.on("close", resolve));
  await new Promise((resolve) =>
    createInterface({ input: child.stdout }).on("line", (line) => said.push(line) && line.startsWith("key: ") && resolve()),
  );
  const value = (start) => said.find((line) => line.startsWith(start)).slice(start.length);
  const [baseUrl, apiKey] = [value("anthropic-messages: "), value("key: ")];
  const providers = {};
  for (const { provider, id } of [...["m1", "m2"].map((id) => ({ provider: "test", id })), ...others]) {
    const { models } = (providers[provider] ??= { baseUrl, api: "anthropic-messages", apiKey, models: [] });
    if (!models.some((known) => known.id === id)) models.push({ id, name: id, ...KNOWN });
  }
  return {
    models: JSON.stringify({ providers }),
    async end() {
      child.stdin.end();
      await closed;
      const at = said.findIndex((line) => line.endsWith(" requests"));
      return { requests: Number.parseInt(said[at], 10), complaints: said.slice(at + 1) };
    },
  };
}

/** A home with that model, and a working folder. */
export function home(folder, name, models, data) {
  const at = (...names) => path.join(folder, name, ...names);
  fs.mkdirSync(at(data), { recursive: true });
  fs.mkdirSync(at("work"), { recursive: true });
  fs.writeFileSync(at(data, "models.json"), models);
  return { cwd: at("work"), env: { PATH: process.env.PATH, HOME: at(), OFFSHOOT_HOME: at("data") }, timeout: 60_000 };
}

/** Runs with nothing on its standard input. */
export async function run(file, args, options) {
  const running = promisify(execFile)(file, args, options);
  running.child.stdin.end();
  return (await running).stdout;
}
