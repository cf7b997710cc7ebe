// The real Claude Code and Codex with a scripted API on loopback: sessions that they write are read to the last byte, and sessions that
// offshoot writes are listed, opened and continued by them. They are 800 MB, so CI does not install them.
//   npm ci --prefix conformance/agents
//   OFFSHOOT_BIN=target/debug/offshoot node --test conformance/agents/real.mjs
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as os from "node:os";
import * as path from "node:path";
import { test } from "node:test";
import { scriptedApi } from "./scripted-api.mjs";

const HERE = import.meta.dirname;
const OFFSHOOT = path.resolve(process.env.OFFSHOOT_BIN ?? "target/debug/offshoot");
const program = (name) => path.join(process.env.AGENTS_MODULES ?? path.join(HERE, "node_modules"), ".bin", name);

/** A home with a folder to work in, and an API with these steps. */
async function world(steps, use) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "offshoot-agents-"));
  const cwd = path.join(fs.realpathSync(home), "work", "demo");
  fs.mkdirSync(cwd, { recursive: true });
  fs.writeFileSync(path.join(cwd, "a.txt"), "one\ntwo\n");
  const api = await scriptedApi(steps);
  fs.mkdirSync(path.join(home, ".codex"));
  const config = `model = "gpt-5.4"\nmodel_provider = "scripted"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n
[model_providers.scripted]\nname = "scripted"\nbase_url = "${api.url}/v1"\nwire_api = "responses"\nenv_key = "SCRIPTED_KEY"\nrequires_openai_auth = false\n`;
  fs.writeFileSync(path.join(home, ".codex", "config.toml"), config);
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    TZ: "UTC",
    SCRIPTED_KEY: "none",
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: "sk-ant-none",
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    IS_SANDBOX: "1",
  };
  const run = (file, args) =>
    new Promise((done) => {
      const child = execFile(file, args, { env, cwd, timeout: 120_000, maxBuffer: 1 << 28 }, (error, out, err) => done({ code: error?.code ?? (error ? 1 : 0), out, err }));
      child.stdin.end();
    });
  const ok = async (file, args) => {
    const { code, out, err } = await run(file, args);
    assert.equal(code, 0, `${path.basename(file)} ${args.join(" ")}\n${out}\n${err}`);
    return out;
  };
  try {
    await use({
      home,
      cwd,
      api,
      env,
      claude: (...args) => ok(program("claude"), ["-p", "--permission-mode", "bypassPermissions", ...args]),
      codex: (...args) => ok(program("codex"), ["exec", "--skip-git-repo-check", ...args]),
      offshoot: (...args) => ok(OFFSHOOT, args),
    });
  } finally {
    await api.close();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

/** All files below a folder with their bytes and times. */
function everything(folder) {
  const found = {};
  for (const name of fs.readdirSync(folder, { recursive: true }).sort()) {
    const file = path.join(folder, name);
    const stat = fs.lstatSync(file);
    found[name] = stat.isFile() ? `${stat.mtimeMs} ${fs.readFileSync(file).toString("base64")}` : `${stat.mode}`;
  }
  return found;
}

/** A request to Claude without what the program says of the day and the machine, and without the marks of its cache. */
function claudeSaid(request) {
  const said = [];
  for (const { role, content } of request.messages.filter(({ role }) => role !== "system")) {
    for (const block of typeof content === "string" ? [{ type: "text", text: content }] : content) {
      const text = (value) => (typeof value === "string" ? value : value.map((part) => part.text ?? part.type).join("")).trim();
      if (block.type === "text" && !block.text.startsWith("<system-reminder>")) said.push(`${role}: ${block.text.trim()}`);
      if (block.type === "tool_use") said.push(`call ${block.name} ${JSON.stringify(block.input)}`);
      if (block.type === "tool_result") said.push(`result ${block.is_error ?? false} ${text(block.content)}`);
      if (block.type === "thinking") said.push(`thinking ${block.signature}`);
    }
  }
  return said;
}

/** The same of Codex. */
function codexSaid(request) {
  const isOwn = (text) => /^<(environment_context|skills_instructions|permissions|model_switch|user_instructions)/.test(text.trim());
  const said = [];
  for (const item of request.input) {
    if (item.type === "message" && item.role !== "developer") {
      const text = item.content.map((part) => part.text ?? part.type).join("");
      if (!isOwn(text)) said.push(`${item.role}: ${text}`);
    }
    if (item.type === "function_call") said.push(`call ${item.name} ${item.arguments}`);
    if (item.type === "function_call_output") said.push(`result ${typeof item.output === "string" ? item.output : JSON.stringify(item.output)}`);
    if (item.type === "reasoning") said.push(`reasoning ${item.encrypted_content}`);
  }
  return said;
}

const files = (folder, pattern) => fs.readdirSync(folder, { recursive: true }).filter((name) => pattern.test(name)).map((name) => path.join(folder, name));
const claudeSteps = (cwd) => [
  { thinking: "Look first.", text: "I look.", calls: [{ id: "toolu_1", name: "Read", input: { file_path: `${cwd}/a.txt` } }, { id: "toolu_2", name: "Bash", input: { command: "wc -l < a.txt", description: "count" } }] },
  { text: "Two lines." },
];
const codexSteps = () => [
  { thinking: "Look first.", text: "I look.", calls: [{ id: "call_1", name: "exec_command", input: { cmd: "cat a.txt" } }] },
  { text: "Two lines." },
];

/** The new session as the agent is asked to continue it, and what offshoot says of it. */
async function exported({ offshoot }, session, to) {
  return JSON.parse(await offshoot("export", session, "--to", to, "--install", "--json"));
}

test("a transcript of the real Claude Code is read, imported to the last byte, and never touched", async () => {
  const steps = [];
  await world(steps, async (w) => {
    steps.push(...claudeSteps(w.cwd));
    await w.claude("how many lines?");
    const [file] = files(path.join(w.home, ".claude/projects"), /\.jsonl$/);
    const before = everything(path.join(w.home, ".claude"));
    assert.match(await w.offshoot("list", "--agent", "claude"), /how many lines\?/);
    assert.match(await w.offshoot("tree", file), /Two lines\./);
    const { report, sha256 } = JSON.parse(await w.offshoot("import", file, "--verify", "--now", "--json"));
    assert.match(sha256, /^[0-9a-f]{64}$/);
    assert.deepEqual(report.losses.filter(({ code }) => code.startsWith("unknown")), [], "records that nobody knows");
    assert.equal(JSON.parse(await w.offshoot("import", file, "--now", "--json")).note, "everything is there already");
    assert.deepEqual(everything(path.join(w.home, ".claude")), before);
  });
});

test("Claude Code continues its own session that was exported, with the request that it would have sent", async () => {
  const steps = [];
  await world(steps, async (w) => {
    steps.push(...claudeSteps(w.cwd), { text: "Yes." }, { text: "Sure." }, { text: "Sure." }, { text: "Sure." });
    await w.claude("how many lines?");
    const [file] = files(path.join(w.home, ".claude/projects"), /\.jsonl$/);
    const id = path.basename(file, ".jsonl");
    await w.claude("--resume", id, "is that all?");
    const own = fs.readFileSync(file);
    const native = await exported(w, file, "claude");
    assert.ok(native.native);
    const imported = JSON.parse(await w.offshoot("import", file, "--now", "--json")).path;
    // A fork has no records of the agent's: its file is spelled anew.
    const fork = JSON.parse(await w.offshoot("fork", imported, "--json")).path;
    const anew = await exported(w, fork, "claude");
    assert.ok(!anew.native);
    assert.deepEqual(fs.readFileSync(file), own);
    for (const session of [id, native.session, anew.session]) await w.claude("--resume", session, "and now?");
    const [first, second, third] = w.api.requests.slice(-3).map(claudeSaid);
    assert.ok(first.length >= 8, first.join("\n"));
    assert.deepEqual(second, first);
    // Thinking without words is left out; its signature would be taken back as it was.
    const spoken = (said) => said.filter((line) => !line.startsWith("thinking"));
    assert.deepEqual(spoken(third), spoken(first));
  });
});

test("Claude Code lists and continues a session of Codex", async () => {
  await world([...codexSteps(), { text: "Sure." }], async (w) => {
    await w.codex("how many lines?");
    const [file] = files(path.join(w.home, ".codex/sessions"), /^.*rollout-.*\.jsonl$/);
    fs.mkdirSync(path.join(w.home, ".claude"));
    const { session } = await exported(w, file, "claude");
    // The newest session of the folder, as the program's own list has it.
    await w.claude("--continue", "and now?");
    const said = claudeSaid(w.api.requests.at(-1));
    for (const part of ["user: how many lines?", "assistant: I look.", 'call exec_command {"cmd":"cat a.txt"}', "assistant: Two lines.", "user: and now?"]) {
      assert.ok(said.includes(part), `${part}\n${said.join("\n")}`);
    }
    assert.ok(said.some((line) => line.startsWith("result false") && line.includes("one\ntwo")), said.join("\n"));
    const [written] = files(path.join(w.home, ".claude/projects"), new RegExp(`${session}\\.jsonl$`));
    assert.match(fs.readFileSync(written, "utf8"), /and now\?/, "it went on in the file that was written");
    assert.match(await w.offshoot("show", written), /and now\?/);
  });
});

test("a rollout of the real Codex is read, imported to the last byte, and never touched", async () => {
  await world(codexSteps(), async (w) => {
    await w.codex("how many lines?");
    const [file] = files(path.join(w.home, ".codex/sessions"), /rollout-.*\.jsonl$/);
    const before = everything(path.join(w.home, ".codex"));
    assert.match(await w.offshoot("list", "--agent", "codex"), /how many lines\?/);
    assert.match(await w.offshoot("tree", file), /Two lines\./);
    const { report, sha256 } = JSON.parse(await w.offshoot("import", file, "--verify", "--now", "--json"));
    assert.match(sha256, /^[0-9a-f]{64}$/);
    assert.deepEqual(report.losses.filter(({ code }) => code.startsWith("unknown")), []);
    assert.deepEqual(everything(path.join(w.home, ".codex")), before);
  });
});

test("Codex lists and continues its own session and one of Claude Code", async () => {
  const steps = [];
  await world(steps, async (w) => {
    steps.push(...codexSteps(), { text: "Sure." }, { text: "Sure." }, { text: "Sure." }, ...claudeSteps(w.cwd), { text: "Sure." });
    await w.codex("how many lines?");
    const [file] = files(path.join(w.home, ".codex/sessions"), /rollout-.*\.jsonl$/);
    const id = /rollout-.{19}-(.*)\.jsonl/.exec(file)[1];
    const native = await exported(w, file, "codex");
    assert.ok(native.native);
    const imported = JSON.parse(await w.offshoot("import", file, "--now", "--json")).path;
    const fork = JSON.parse(await w.offshoot("fork", imported, "--json")).path;
    const anew = await exported(w, fork, "codex");
    assert.ok(!anew.native);
    const listed = await threads(w);
    for (const session of [id, native.session, anew.session]) {
      assert.ok(listed.includes(session), `${session}\n${listed}`);
      await w.codex("resume", session, "and now?");
    }
    const [first, second, third] = w.api.requests.slice(-3).map(codexSaid);
    assert.ok(first.length >= 7, first.join("\n"));
    assert.deepEqual(second, first);
    assert.deepEqual(third, first);
    await w.claude("how many lines?");
    const [transcript] = files(path.join(w.home, ".claude/projects"), /\.jsonl$/);
    const { session } = await exported(w, transcript, "codex");
    await w.codex("resume", session, "and now?");
    const said = codexSaid(w.api.requests.at(-1));
    for (const part of ["user: how many lines?", "assistant: I look.", "assistant: Two lines.", "user: and now?"]) {
      assert.ok(said.includes(part), `${part}\n${said.join("\n")}`);
    }
    assert.ok(said.some((line) => line.startsWith("call Read ")) && said.some((line) => line.startsWith("result ") && line.includes("one")), said.join("\n"));
  });
});

/** The ids of the threads that Codex lists; those of `codex exec` only if they are asked for. */
async function threads({ env, cwd }) {
  const server = spawn(program("codex"), ["app-server"], { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
  const ask = (message) => server.stdin.write(`${JSON.stringify(message)}\n`);
  try {
    return await new Promise((done, failed) => {
      let got = "";
      server.on("exit", () => failed(new Error(`the server ended: ${got}`)));
      server.stdout.on("data", (piece) => {
        got += piece;
        const answer = got.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}")).map((line) => JSON.parse(line)).find(({ id }) => id === 2);
        if (answer) done(answer.result.data.map(({ id }) => id));
      });
      ask({ id: 1, method: "initialize", params: { clientInfo: { name: "conformance", version: "1" } } });
      ask({ method: "initialized" });
      ask({ id: 2, method: "thread/list", params: { sourceKinds: ["cli", "exec"] } });
    });
  } finally {
    server.kill();
  }
}
