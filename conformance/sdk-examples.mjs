// The fourteen SDK examples of pi 1.6.0, unchanged but for what they import and for paths that no machine has: under pi, and over
// offshoot/sdk. Both get the same model on the loopback.
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

import { modelServer } from "./extensions/model-server.mjs";
import { REPOSITORY, newestNode, newestPi, sealedEnvironment, temporaryFolder } from "./lib/places.mjs";

const EXAMPLES = path.join(newestPi(), "examples/sdk");
const SDK = path.join(REPOSITORY, "clients/javascript/sdk.mjs");
const PI = path.join(newestPi(), "dist/index.js");
const PI_AI = path.join(newestPi(), "node_modules/@earendil-works/pi-ai/dist/compat.js");
const PROGRAM_TIME = 60_000;

export const names = () => fs.readdirSync(EXAMPLES).filter((file) => /^\d\d-.*\.ts$/.test(file)).map((file) => path.basename(file, ".ts"));

/** One example: its exit code, its output, and what it asked of the model. `other` is pi or offshoot. */
export async function run(name, other, program) {
  const folder = temporaryFolder(`sdk-${other}`);
  const at = (...parts) => path.join(folder, ...parts);
  const server = await modelServer([{ say: [{ text: "Said." }] }, { say: [{ text: "Said." }] }, { say: [{ text: "Said." }] }]);
  try {
    const models = JSON.stringify({ providers: { anthropic: { baseUrl: server.url } } });
    for (const data of ["agent", "offshoot", "my-agent", "my-app"]) write(at(data, "models.json"), models);
    write(at("work/AGENTS.md"), "Be kind.\n");
    for (const base of ["agent", "offshoot"]) {
      write(at(base, "prompts/greet.md"), "---\ndescription: Greets\n---\nGreet $1.\n");
      write(at(base, "skills/browser-tools/SKILL.md"), "---\nname: browser-tools\ndescription: Opens pages\n---\nOpen.\n");
    }
    fs.mkdirSync(at("project"));
    for (const extension of ["my-logging-extension.ts", "my-safety-extension.ts"]) {
      write(at("work", extension), "export default function (pi) { pi.on('agent_start', async () => {}); }\n");
    }
    write(at("work/example.ts"), adapted(name, other, at));
    const env = { ...process.env, ...sealedEnvironment(folder), ANTHROPIC_API_KEY: "sk-test", MY_ANTHROPIC_KEY: "sk-mine", OFFSHOOT_BIN: program, PI_NODE: newestNode(), NODE_NO_WARNINGS: undefined, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" };
    const ended = await output(newestNode(), [at("work/example.ts")], { cwd: at("work"), env });
    return { ...ended, requests: server.requests.map(({ headers, body }) => ({ key: headers["x-api-key"], body })), folder };
  } finally {
    await server.end();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function adapted(name, other, at) {
  const text = fs.readFileSync(path.join(EXAMPLES, `${name}.ts`), "utf8");
  const [sdk, ai] = other === "pi" ? [PI, PI_AI] : [SDK, SDK];
  return text
    .replaceAll('"@earendil-works/pi-coding-agent"', JSON.stringify(pathToFileURL(sdk).href))
    .replaceAll('"@earendil-works/pi-ai/compat"', JSON.stringify(pathToFileURL(ai).href))
    .replaceAll("/path/to/project", at("project"))
    .replaceAll("/tmp/my-agent", at("my-agent"))
    .replaceAll("/tmp/my-app", at("my-app"));
}

function write(file, text) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text);
}

function output(file, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const timer = setTimeout(() => child.kill("SIGKILL"), PROGRAM_TIME);
    let [stdout, stderr] = ["", ""];
    child.stdout.on("data", (data) => (stdout += data));
    child.stderr.on("data", (data) => (stderr += data));
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}
