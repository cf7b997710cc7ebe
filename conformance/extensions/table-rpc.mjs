// The example extensions and hooks within the whole program over RPC: the script of each, written before it was run. Questions to the person,
// notes, entries, requests to the model, failures and the exit code must be those of pi in the same script.

const say = (text) => ({ say: [{ text }] });
const call = (name, given, id = "c1") => ({ say: [{ call: name, id, arguments: given }] });
const prompt = (...messages) => async (run) => {
  const results = [];
  for (const message of messages) results.push(await run.prompt(message));
  return results;
};
const git = "git init -q . && git config user.email a@b.c && git config user.name n && echo one > one.txt && git add -A && git commit -qm first";
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
  "dynamic-tools": { replies: [call("echo_session", { message: "m" }), say("Done."), call("loud", { message: "n" }), say("Done.")], script: prompt("one", "/add-echo-tool loud", "two") },
  "event-bus": { script: prompt("/emit hi") },
  "entry-renderer": { script: prompt("/status-card All is well") },
  "git-checkpoint": { shell: git, replies: [bash("echo two > one.txt"), say("Done.")], script: prompt("one") },
  hello: { replies: [call("hello", { name: "World" }), say("Done.")], script: prompt("one") },
  "hidden-thinking-label": { script: prompt("/thinking-label Hm") },
  "inline-bash": { script: prompt("what is !{echo one}") },
  "input-transform": { script: prompt("?quick why", "ping") },
  "message-renderer": { script: prompt("/status Disk is full") },
  "minimal-mode": { files: { "a.txt": "one\ntwo\n" }, replies: [call("read", { path: "a.txt" }), bash("echo hi", "c2"), call("edit", { path: "a.txt", edits: [{ oldText: "one", newText: "1" }] }, "c3"), say("Done.")], script: async (run) => [await run.prompt("one"), run.at("cat a.txt")] },
  "bash-spawn-hook": { shell: "touch ~/.profile", replies: [bash("echo $PI_SPAWN_HOOK"), say("Done.")], script: prompt("one") },
  "built-in-tool-renderer": { replies: [call("write", { path: "b.txt", content: "x" }), say("Done.")], script: async (run) => [await run.prompt("one"), run.at("cat b.txt")] },
  "model-status": { script: async (run) => [(await run.ask({ type: "set_model", provider: "test", modelId: "m2" })).success] },
  "permission-gate": { replies: [bash("sudo ls"), say("Refused."), bash("rm -rf nothing", "c2"), say("Ran.")], answers: { select: ["No", "Yes"] }, script: prompt("one", "two") },
  pirate: { system: ["irate"], script: prompt("one", "/pirate", "two") },
  "plan-mode": { replies: [say("Plan:\n1. Read the files\n2. Change the parser")], answers: { select: ["Stay in plan mode"] }, script: prompt("/plan", "make a plan", "/todos") },
  preset: { files: { ".pi/presets.json": JSON.stringify({ plan: { tools: ["read"], instructions: "Plan only." } }) }, system: ["Plan only."], args: ["--preset", "plan"], script: prompt("one", "/preset nothing") },
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
};

/** Hooks of 0.31.1 over RPC, beside their successors in pi 0.87.1, which say the same. */
export const RPC_HOOKS = {
  "auto-commit-on-exit": RPC["auto-commit-on-exit"],
  "permission-gate": RPC["permission-gate"],
  "protected-paths": RPC["protected-paths"],
  "status-line": RPC["status-line"],
};
