// The example extensions and hooks within the whole program over RPC: the script of each, written before it was run. Questions to the person,
// notes, entries, requests to the model, failures and the exit code must be those of pi in the same script.

import { call, prompt, say } from "./script-parts.mjs";

const git = "git init -q . && git config user.email a@b.c && git config user.name n && echo one > one.txt && git add -A && git commit -qm first";
/** The models of one provider. */
const models = (wanted) => async (run) => (await run.ask({ type: "get_available_models" })).data.models.filter(({ provider }) => provider === wanted).map(({ id, name, api, baseUrl, contextWindow, maxTokens, reasoning, input }) => ({ id, name, api, baseUrl, contextWindow, maxTokens, reasoning, input }));
/** What a process of its own has used, and how long, differs. */
const withoutRun = (entry) => (entry.details?.results ? { ...entry, details: { ...entry.details, results: entry.details.results.map(({ agent, task, exitCode, agentSource, model, stopReason }) => ({ agent, task, exitCode, agentSource, model, stopReason })) } } : entry);
const bash = (command, id) => call("bash", { command }, id);

export const RPC = {
  "auto-commit-on-exit": { shell: git, replies: [call("write", { path: "two.txt", content: "two\n" }), say("Wrote the second file.")], script: async (run) => [await run.prompt("go"), await run.peer.end(), run.at("git log --format=%s")] },
  bookmark: { script: prompt("one", "/bookmark here", "/unbookmark") },
  "claude-rules": { files: { ".claude/rules/style.md": "s" }, system: [".claude/rules/style.md"], script: prompt("one") },
  commands: { answers: { select: ["/commands - List available slash commands"], confirm: [true] }, script: prompt("/commands", "/commands skill") },
  "confirm-destructive": { answers: { confirm: [false, true], select: ["No, stay in current session"] }, script: async (run) => {
    await run.prompt("one");
    const { data } = await run.ask({ type: "get_fork_messages" });
    const first = await run.ask({ type: "new_session" });
    const fork = await run.ask({ type: "fork", entryId: data.messages[0].entryId });
    return [first.data, fork.data.cancelled, (await run.ask({ type: "new_session" })).data];
  } },
  "custom-compaction": { script: async (run) => [await run.prompt("one"), (await run.ask({ type: "compact" })).success] },
  "dirty-repo-guard": { shell: `${git} && echo x > x.txt`, answers: { select: ["No, let me commit first", "Yes, proceed anyway"] }, script: async (run) => [(await run.ask({ type: "new_session" })).data, (await run.ask({ type: "new_session" })).data] },
  "dynamic-resources": { system: ["Example skill loaded from resources_discover"], script: async (run) => {
    const { commands } = (await run.ask({ type: "get_commands" })).data;
    const found = commands.filter(({ source }) => source !== "extension").map(({ name, description, source }) => ({ name, description, source }));
    return [found.sort((a, b) => (a.name < b.name ? -1 : 1)), await run.prompt("/dynamic"), await run.prompt("/skill:dynamic-resources")];
  } },
  "dynamic-tools": { replies: [call("echo_session", { message: "m" }), say("Done."), call("loud", { message: "n" }), say("Done.")], script: prompt("one", "/add-echo-tool loud", "two") },
  "event-bus": { script: prompt("/emit hi") },
  "entry-renderer": { script: prompt("/status-card All is well") },
  // The example watches this one file: pi and offshoot come one after the other.
  "file-trigger": { serial: true, shell: "true > /tmp/agent-trigger.txt", script: async (run) => {
    await run.said_(({ message }) => message === "Watching /tmp/agent-trigger.txt");
    const from = run.mark;
    run.at("echo look around > /tmp/agent-trigger.txt");
    await run.settled(from);
    await run.prompt("two");
    return [run.at("cat /tmp/agent-trigger.txt")];
  } },
  "git-checkpoint": { shell: git, replies: [bash("echo two > one.txt"), say("Done.")], script: prompt("one") },
  hello: { replies: [call("hello", { name: "World" }), say("Done.")], script: prompt("one") },
  "hidden-thinking-label": { script: prompt("/thinking-label Hm") },
  "inline-bash": { script: prompt("what is !{echo one}") },
  "input-transform": { script: prompt("?quick why", "ping") },
  "mac-system-theme": { programs: { osascript: "echo true" }, script: prompt("one") },
  "message-renderer": { script: prompt("/status Disk is full") },
  "minimal-mode": { files: { "a.txt": "one\ntwo\n" }, replies: [call("read", { path: "a.txt" }), bash("echo hi", "c2"), call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "1" }] }, "c3"), say("Done.")], script: async (run) => [await run.prompt("one"), run.at("cat a.txt")] },
  "bash-spawn-hook": { shell: "touch ~/.profile", replies: [bash("echo $PI_SPAWN_HOOK"), say("Done.")], script: prompt("one") },
  "built-in-tool-renderer": { replies: [call("write", { path: "b.txt", content: "x" }), say("Done.")], script: async (run) => [await run.prompt("one"), run.at("cat b.txt")] },
  "model-status": { script: async (run) => [(await run.ask({ type: "set_model", provider: "test", modelId: "m2" })).success] },
  "permission-gate": { replies: [bash("sudo ls"), say("Refused."), bash("rm -rf nothing", "c2"), say("Ran.")], answers: { select: ["No", "Yes"] }, script: prompt("one", "two") },
  pirate: { system: ["irate"], script: prompt("one", "/pirate", "two") },
  "plan-mode": { replies: [say("Plan:\n1. Read the files\n2. Change the parser")], answers: { select: ["Stay in plan mode"] }, script: prompt("/plan", "make a plan", "/todos") },
  preset: { files: { ".pi/presets.json": JSON.stringify({ plan: { tools: ["read"], instructions: "Plan only." } }) }, system: ["Plan only."], args: ["--preset", "plan"], script: prompt("one", "/preset nothing") },
  "project-trust": { script: prompt("one") },
  "prompt-customizer": { system: ["Use `bash` for file operations"], script: prompt("one") },
  "protected-paths": { replies: [call("write", { path: ".env", content: "x" }), say("Refused.")], script: prompt("one") },
  "provider-payload": { files: { ".pi/empty": "" }, script: async (run) => [await run.prompt("one"), run.at("grep -c m1 .pi/provider-payload.log; grep -o '^\\[200\\]' .pi/provider-payload.log")] },
  "reload-runtime": { script: prompt("/reload-runtime", "one") },
  "rpc-demo": { replies: [bash("sudo x"), say("Refused.")], answers: { select: ["Block"], confirm: [false], input: ["typed"], editor: ["a\nb"] }, script: async (run) => [...(await prompt("one", "/rpc-input", "/rpc-editor", "/rpc-prefill")(run)), (await run.ask({ type: "new_session" })).data] },
  "send-user-message": { script: async (run) => {
    const from = run.mark;
    await run.prompt("/ask one");
    await run.settled(from);
    return prompt("/ask")(run);
  } },
  "session-name": { script: prompt("/session-name", "/session-name mine", "/session-name") },
  "shutdown-command": { replies: [call("finish_and_exit", {}), say("Bye.")], script: prompt("one") },
  snake: { script: prompt("/snake") },
  "status-line": { replies: [bash("true"), say("Done.")], script: prompt("one") },
  "structured-output": { replies: [call("structured_output", { headline: "H", summary: "S", actionItems: ["a"] }), say("never sent")], script: prompt("one") },
  "system-prompt-header": { said: (said) => said.map((each) => ({ ...each, statusText: each.statusText?.replace(/\d+/, "N") })), script: prompt("one") },
  "timed-confirm": { answers: { confirm: [true], select: ["Option B"] }, script: prompt("/timed", "/timed-select") },
  "titlebar-spinner": { said: (said) => [...new Set(said.map(({ title }) => title.replace(/^[\u2800-\u28ff] /u, "")))].sort(), script: prompt("one") },
  todo: { replies: [call("todo", { action: "add", text: "new" }), call("todo", { action: "list" }, "c2"), say("Done.")], script: prompt("one", "/todos") },
  "tool-override": { files: { "a.txt": "one\ntwo\n", ".env": "S=1" }, replies: [call("read", { path: "a.txt" }), call("read", { path: ".env" }, "c2"), say("Done.")], script: prompt("one") },
  tools: { script: prompt("/tools", "one") },
  "trigger-compact": { script: prompt("one") },
  "truncated-tool": { programs: { rg: "seq 1 3" }, replies: [call("rg", { pattern: "x" }), say("Done.")], script: prompt("one") },
  "widget-placement": { script: prompt("one") },
  "working-indicator": { script: prompt("/working-indicator dot") },
  "border-status-editor": { script: prompt("one") },
  "custom-footer": { script: prompt("/footer", "/footer") },
  "custom-header": { script: prompt("/builtin-header") },
  "custom-provider-anthropic": { module: { "@anthropic-ai/sdk": "export default class Anthropic {}\n" }, env: { CUSTOM_ANTHROPIC_API_KEY: "k-1234567890" }, script: models("custom-anthropic") },
  "custom-provider-gitlab-duo": { env: { GITLAB_TOKEN: "glpat-1234567890" }, script: models("gitlab-duo") },
  "doom-overlay": { script: prompt("/doom-overlay") },
  "github-issue-autocomplete": { shell: `${git} && git remote add origin https://github.com/me/it.git`, programs: { gh: `echo '[{"number":12,"title":"Broken tree","state":"OPEN"}]'` }, script: prompt("one") },
  "git-merge-and-resolve": { shell: `${git} && git clone -q . ../up && git remote add up ../up && git fetch -q up && git branch -q --set-upstream-to=up/$(git branch --show-current) && cd ../up && git config user.email a@b.c && git config user.name n && echo theirs > one.txt && git commit -qam theirs && cd ../work && echo ours > one.txt && git commit -qam ours`, replies: [say("Done."), bash("git checkout -q --ours . && git commit -qam merged"), say("Resolved.")], script: async (run) => {
    await run.prompt("one");
    return [run.at("git status --porcelain")];
  } },
  gondolin: { module: { "@earendil-works/gondolin": 'export class RealFSProvider {}\nexport const VM = { create: async () => { throw new Error("there is no VM here"); } };\n' }, replies: [bash("ls"), say("Done.")], script: prompt("/gondolin", "one") },
  handoff: { script: prompt("/handoff do more") },
  "input-transform-streaming": { shell: `${git} && echo two >> one.txt`, replies: [{ ...bash("sleep 1"), wait: 200 }, say("Done."), say("Done.")], script: async (run) => {
    const first = run.prompt("what changed? show the changes");
    await run.peer.until((record) => record.type === "tool_execution_start");
    await run.ask({ type: "steer", message: "no other changes" });
    return [await first];
  } },
  "interactive-shell": { script: async (run) => [(await run.ask({ type: "bash", command: "echo vim" })).data, (await run.ask({ type: "bash", command: "!echo x" })).data?.exitCode] },
  "modal-editor": { script: prompt("one") },
  notify: { script: prompt("one") },
  "overlay-qa-tests": { script: prompt("/overlay-anchors") },
  "overlay-test": { script: prompt("/overlay-test") },
  qna: { script: prompt("one", "/qna") },
  question: { replies: [call("question", { question: "Which?", options: [{ label: "A" }, { label: "B" }] }), say("Done.")], script: prompt("one") },
  questionnaire: { replies: [call("questionnaire", { questions: [{ id: "a", prompt: "Which?", options: [{ value: "x", label: "X" }] }] }), say("Done.")], script: prompt("one") },
  "rainbow-editor": { script: prompt("one") },
  sandbox: { module: { "@anthropic-ai/sandbox-runtime": 'export const SandboxManager = { initialize: async () => {}, wrapWithSandbox: async (command) => command, reset: async () => {} };\n' }, replies: [bash("echo inside"), say("Done.")], script: async (run) => [...(await prompt("/sandbox", "one")(run)), (await run.ask({ type: "bash", command: "echo mine" })).data] },
  "space-invaders": { script: prompt("/invaders") },
  ssh: { args: ["--ssh", "host:/"], programs: { ssh: 'shift; exec sh -c "$1"' }, replies: [bash("echo out"), say("Done.")], script: async (run) => [...(await prompt("one")(run)), (await run.ask({ type: "bash", command: "echo mine" })).data] },
  subagent: { entry: "index.ts", shell: 'for at in .pi/agent data; do mkdir -p $HOME/$at/agents; printf -- "---\\nname: scout\\ndescription: looks\\ntools: read\\nmodel: test/m2\\n---\\nYou look around.\\n" > $HOME/$at/agents/scout.md; done', replies: [call("subagent", { agent: "scout", task: "look" }), say("I looked."), say("Done.")], script: prompt("one"), entries: withoutRun },
  summarize: { script: prompt("/summarize") },
  "tic-tac-toe": { script: prompt("/tic-tac-toe") },
  "with-deps": { packages: ["ms"], replies: [call("parse_duration", { duration: "2 days" }), call("parse_duration", { duration: "nonsense" }, "c2"), say("Done.")], script: prompt("one") },
  "working-message-test": { script: prompt("one") },
};

/** Hooks of 0.31.1 over RPC, beside their successors in pi 0.87.1, which say the same. */
export const RPC_HOOKS = {
  "auto-commit-on-exit": RPC["auto-commit-on-exit"],
  "custom-compaction": RPC["custom-compaction"],
  "dirty-repo-guard": RPC["dirty-repo-guard"],
  "git-checkpoint": RPC["git-checkpoint"],
  "permission-gate": RPC["permission-gate"],
  "protected-paths": RPC["protected-paths"],
  "status-line": RPC["status-line"],
};
