// The example extensions of pi 0.87.1 under pi's own loader and under offshoot's host: what each is asked to do, written before it was run.
// A row's `run` does the same with both; what comes out, and what the extension did with the session and the screen, must be equal.

const UP = "\x1b[A";
const DOWN = "\x1b[B";
const RIGHT = "\x1b[C";
const LEFT = "\x1b[D";
const ENTER = "\r";
const ESC = "\x1b";
const usage = { input: 1200, output: 300, cacheRead: 0, cacheWrite: 0, totalTokens: 1500, cost: { input: 0.01, output: 0.02, cacheRead: 0, cacheWrite: 0, total: 0.03 } };
const user = (text) => ({ type: "message", message: { role: "user", content: [{ type: "text", text }], timestamp: 1 } });
const assistant = (text, more = {}) => ({ type: "message", message: { role: "assistant", content: [{ type: "text", text }], api: "anthropic-messages", provider: "test", model: "m1", usage, stopReason: "stop", timestamp: 2, ...more } });
const talk = [user("What now?"), assistant("First this.\nThen that?")];
const start = { type: "session_start", reason: "startup" };
const settled = { type: "agent_settled", aborted: false };
const options = { cwd: "/work", selectedTools: ["read", "bash", "edit"], skills: [], sections: {}, contextFiles: [], toolSnippets: {}, promptGuidelines: [], customPrompt: undefined };
const agentStart = { type: "before_agent_start", prompt: "Go.", systemPrompt: "Be helpful.\nCurrent working directory: /work", systemPromptOptions: options };
const toolCall = (toolName, input) => ({ type: "tool_call", toolName, toolCallId: "c1", input });
const turnStart = { type: "turn_start", turnIndex: 0, timestamp: 3 };
const boundary = { entries: [], continue: false, context: { contextEntries: [], contextMessages: [], llmMessages: [], pendingMessages: [], canContinue: true }, outcome: "completed" };
const turnEnd = { type: "turn_end", turnIndex: 0, message: assistant("Done.").message, toolResults: [], messageEntryId: "e", toolResultEntryIds: [], ...boundary };
const input = (text, more = {}) => ({ type: "input", text, source: "interactive", ...more });
const git = "git init -q . && git config user.email a@b.c && git config user.name n && echo one > one.txt && git add -A && git commit -qm first";

/** A component that waits for keys: its rows after each, and how the work ended. */
async function play(s, keys, width = 60) {
  const frames = [await s.rows(width)];
  for (const key of keys) {
    await s.keys(key);
    frames.push(await s.rows(width));
  }
  return { frames, end: await s.finish() };
}
const events = (...payloads) => async (s) => {
  const results = [];
  for (const payload of payloads) results.push(await s.event(payload));
  return results;
};
const commands = (...calls) => async (s) => {
  const results = [];
  for (const [name, args] of calls) results.push(await s.command(name, args));
  return results;
};
const toolFrames = (name, ...frames) => async (s) => {
  const drawn = [];
  for (const frame of frames) drawn.push(await s.toolRows(name, frame));
  return drawn;
};
const text = (content, details) => ({ content: [{ type: "text", text: content }], details });

/** Names, and what stands in for what this machine has not: a VM, root, a network, macOS, `gh`, `ssh`. */
export const STAND_INS = {
  "custom-provider-anthropic": "the registration, without a network",
  "custom-provider-gitlab-duo": "the registration, without a network",
  "doom-overlay": "no network: the game's file cannot be loaded",
  "github-issue-autocomplete": "a script called gh",
  gondolin: "a module in place of the VM, which says that it has none",
  "mac-system-theme": "a script called osascript",
  sandbox: "a module in place of the sandbox, which notes what it is asked",
  ssh: "a script called ssh that runs commands here",
};

export const TABLE = {
  "auto-commit-on-exit": { shell: git, entries: talk, run: async (s, at) => [at("echo two > two.txt"), await s.event({ type: "session_shutdown", reason: "quit" }), at("git log --format=%s; git status --porcelain")] },
  "bash-spawn-hook": { files: { "home/.profile": "export FROM_PROFILE=yes\n" }, run: async (s) => [await s.tool("bash", { command: "echo $PI_SPAWN_HOOK $FROM_PROFILE" }), await s.tool("bash", { command: "exit 3" })], withoutDescriptions: true },
  bookmark: { entries: talk, run: commands(["bookmark", "here"], ["unbookmark", ""]) },
  "border-status-editor": { entries: talk, run: async (s) => [await s.event(start), await s.lasting("setEditorComponent"), await s.lastingInput("setEditorComponent", "hi"), await s.lasting("setEditorComponent", 40), await s.lasting("setFooter"), await s.event({ type: "agent_start" }), await s.event(settled), await s.event({ type: "session_shutdown", reason: "quit" })] },
  "built-in-tool-renderer": {
    run: async (s) => [
      await toolFrames("read", { args: { path: "a.txt", offset: 2, limit: 3 }, isPartial: true }, { args: { path: "a.txt" }, result: text("one\ntwo\nthree") }, { args: { path: "a.txt" }, result: text("one\ntwo\nthree"), expanded: true })(s),
      await toolFrames("bash", { args: { command: "ls" }, result: text("a\nb\n") }, { args: { command: "ls", timeout: 3 }, result: text("a\nb\n"), expanded: true })(s),
      await toolFrames("edit", { args: { path: "a.txt" }, result: text("ok", { diff: "-1 x\n+1 y\n 2 z" }) }, { args: { path: "a.txt" }, result: text("ok", { diff: "-1 x\n+1 y\n 2 z" }), expanded: true })(s),
      await toolFrames("write", { args: { path: "a.txt", content: "a\nb" }, result: text("Successfully wrote") })(s),
    ],
    withoutDescriptions: true,
  },
  "claude-rules": { files: { ".claude/rules/style.md": "s", ".claude/rules/deep/more.md": "m" }, run: events(start, agentStart) },
  commands: { answers: { select: ["/commands"], confirm: [true] }, run: async (s) => [await s.completions("commands", "s"), await s.completions("commands", "zz"), await s.command("commands", ""), await s.command("commands", "skill")] },
  "confirm-destructive": { entries: talk, answers: { confirm: [false, true, false], select: ["No, stay in current session", "Yes, create fork"] }, run: events({ type: "session_before_switch", reason: "new" }, { type: "session_before_switch", reason: "new" }, { type: "session_before_switch", reason: "resume", targetSessionFile: "/x" }, { type: "session_before_fork", entryId: "0123456789ab", position: "before" }, { type: "session_before_fork", entryId: "0123456789ab", position: "before" }) },
  "custom-compaction": { answers: { model: ["# Summary", ""] }, run: events(...[0, 1].map(() => ({ type: "session_before_compact", reason: "manual", willRetry: false, branchEntries: [], preparation: { messagesToSummarize: [user("a").message, assistant("b").message], turnPrefixMessages: [], tokensBefore: 12345, firstKeptEntryId: "k", previousSummary: "Earlier.", isSplitTurn: false, fileOps: {}, settings: {} } }))) },
  "custom-footer": { entries: talk, run: async (s) => [await s.command("footer"), await s.lasting("setFooter"), await s.lasting("setFooter", 20), await s.command("footer")] },
  "custom-header": { run: async (s) => [await s.event(start), await s.lasting("setHeader"), await s.command("builtin-header")] },
  "custom-provider-anthropic": { packages: ["@anthropic-ai/sdk"], run: async () => [] },
  "custom-provider-gitlab-duo": { run: async () => [] },
  "dirty-repo-guard": { shell: git, answers: { select: ["No, let me commit first", "Yes, proceed anyway"] }, run: async (s, at) => [await s.event({ type: "session_before_switch", reason: "new" }), at("echo x > x.txt"), await s.event({ type: "session_before_switch", reason: "new" }), await s.event({ type: "session_before_fork", entryId: "e", position: "before" })] },
  "doom-overlay": { run: commands(["doom-overlay", ""]) },
  "dynamic-resources": { run: events({ type: "resources_discover", cwd: "/x", reason: "startup" }) },
  "dynamic-tools": { run: async (s) => [await s.event(start), await s.command("add-echo-tool", "loud"), await s.command("add-echo-tool", "loud"), await s.command("add-echo-tool", "No!"), await s.tool("loud", { message: "m" }), await s.tool("echo_session", { message: "m" }), await s.described()] },
  "entry-renderer": { run: async (s) => [await s.command("status-card", "All is well"), await s.entry({ type: "custom", customType: "status-card", data: { message: "All is well", timestamp: 0 } }), await s.entry({ type: "custom", customType: "status-card", data: { message: "A longer message that has to be wrapped at the width of the card, twice", timestamp: 0 } }, true, 30)] },
  "event-bus": { run: async (s) => [await s.event(start), await s.command("emit", "hi")] },
  "file-trigger": { files: { "/tmp/agent-trigger.txt": "" }, run: async (s, at) => [await s.event(start), at("echo now > /tmp/agent-trigger.txt; sleep 0.5")] },
  "git-checkpoint": { shell: git, entries: talk, answers: { select: ["Yes, restore code to that point"] }, run: async (s, at) => [at("echo two > one.txt"), await s.event({ type: "tool_result", toolName: "bash", toolCallId: "c", input: {}, content: [], isError: false }), await s.event(turnStart), at("git checkout -q one.txt"), await s.event({ type: "session_before_fork", entryId: "00000002", position: "before" }), at("cat one.txt"), await s.event(settled), await s.event({ type: "session_before_fork", entryId: "00000002", position: "before" })] },
  "git-merge-and-resolve": { shell: `${git} && git checkout -qb other && echo b > one.txt && git commit -qam b && git checkout -q - && echo c > one.txt && git commit -qam c; git merge other; true`, run: events({ type: "agent_end", messages: [] }) },
  "github-issue-autocomplete": { shell: `${git} && git remote add origin https://github.com/me/it.git`, programs: { gh: `echo '[{"number":12,"title":"Broken tree","state":"OPEN"},{"number":7,"title":"Other","state":"OPEN"}]'` }, run: async (s) => [await s.event(start), await s.complete(["see #1"], 0, 6), await s.complete(["see #tre"], 0, 8), await s.complete(["nothing"], 0, 3)] },
  gondolin: { module: { "@earendil-works/gondolin": 'export class RealFSProvider {}\nexport const VM = { create: async () => { throw new Error("there is no VM here"); } };\n' }, run: async (s) => [await s.event(start), await s.command("gondolin", ""), await s.tool("bash", { command: "ls" })], withoutDescriptions: true },
  handoff: { entries: talk, answers: { model: ["The prompt."], editor: ["The edited prompt."] }, run: async (s) => [await s.command("handoff", ""), await s.command("handoff", "go on"), await s.finish()] },
  hello: { run: async (s) => [await s.tool("hello", { name: "World" })] },
  "hidden-thinking-label": { run: async (s) => [await s.event(start), await s.command("thinking-label", "Hm"), await s.command("thinking-label", "")] },
  "inline-bash": { run: events(input("a !{echo one} b !{exit 2} c"), input("!ls"), input("plain")) },
  "input-transform": { run: events(input("?quick why"), input("?quick  "), input("ping"), input("ping", { source: "extension" }), input("other")) },
  "input-transform-streaming": { shell: `${git} && echo two > one.txt`, run: events(input("what changed in the diff"), input("what changed in the diff", { streamingBehavior: "steer" }), input("hello")) },
  "interactive-shell": { env: { INTERACTIVE_COMMANDS: "true" }, run: events({ type: "user_bash", command: "echo plain", excludeFromContext: false, cwd: "/tmp" }, { type: "user_bash", command: "true", excludeFromContext: false, cwd: "/tmp" }) },
  "mac-system-theme": { programs: { osascript: "echo true" }, run: events(start, { type: "session_shutdown", reason: "quit" }) },
  "message-renderer": { run: async (s) => [await s.command("status", "warn Disk is full"), await s.message({ role: "custom", customType: "status-update", content: "Disk is full", display: true, details: { level: "warn", timestamp: 0 }, timestamp: 0 }), await s.message({ role: "custom", customType: "status-update", content: "Disk is full", display: true, details: { level: "error", timestamp: 0 }, timestamp: 0 }, true, 30)] },
  "minimal-mode": {
    run: async (s) => [
      await toolFrames("read", { args: { path: "/etc/a.txt", offset: 2 } }, { args: { path: "a" }, result: text("one\ntwo"), expanded: true })(s),
      await toolFrames("bash", { args: { command: "ls", timeout: 2 } }, { args: { command: "ls" }, result: text("a\nb"), expanded: true })(s),
      await toolFrames("grep", { args: { pattern: "x", path: "p", glob: "*.ts" } }, { args: { pattern: "x" }, result: text("a:1: x\nb:2: x") })(s),
      await toolFrames("edit", { args: { path: "a" }, result: text("done"), expanded: true })(s),
    ],
    withoutDescriptions: true,
  },
  "modal-editor": { run: async (s) => { const frames = []; await s.event(start); for (const key of ["a", "b", "c", ESC, "h", "x", "i", "Z", ESC, "0", "q"]) { await s.lastingInput("setEditorComponent", key); frames.push(await s.lasting("setEditorComponent", 30)); } return frames; } },
  "model-status": { run: events({ type: "model_select", model: { provider: "p", id: "m" }, previousModel: { provider: "p", id: "o" }, source: "set" }, { type: "model_select", model: { provider: "p", id: "m" }, source: "restore" }) },
  notify: { run: events(settled) },
  "overlay-qa-tests": { run: async (s) => [await s.command("overlay-anchors"), await play(s, [DOWN, " ", ENTER, ESC]), await s.command("overlay-edge"), await play(s, [ESC]), await s.command("overlay-maxheight"), await play(s, [ESC])] },
  "overlay-test": { run: async (s) => [await s.command("overlay-test"), await play(s, [DOWN, "a", "b", LEFT, "x", DOWN, UP, ENTER])] },
  "permission-gate": { answers: { select: ["No", "Yes"] }, run: events(toolCall("bash", { command: "sudo ls" }), toolCall("bash", { command: "rm -rf /x" }), toolCall("bash", { command: "ls" }), toolCall("read", { path: "sudo" })) },
  pirate: { run: async (s) => [await s.event(agentStart), await s.command("pirate", ""), await s.event(agentStart)] },
  "plan-mode": { entries: talk, answers: { select: ["Stay in plan mode"] }, run: async (s) => [await s.event(start), await s.command("plan", ""), await s.event(toolCall("bash", { command: "rm x" })), await s.event(toolCall("bash", { command: "ls" })), await s.event(agentStart), await s.event({ type: "context", messages: [user("x").message] }), await s.event({ type: "agent_end", messages: [assistant("Plan:\n1. Read the files\n2. Change the parser").message] }), await s.command("todos", ""), await s.shortcut("ctrl+alt+p"), await s.command("todos", "")] },
  preset: { files: { ".pi/presets.json": JSON.stringify({ plan: { tools: ["read", "ls", "nope"], instructions: "Plan only.", thinkingLevel: "high" }, work: { provider: "test", model: "m1" } }) }, run: async (s) => [await s.event(start), await s.command("preset", "nothing"), await s.command("preset", "plan"), await s.event(agentStart), await s.event(turnStart), await s.command("preset", ""), await play(s, [DOWN, DOWN, ENTER]), await s.shortcut("ctrl+shift+u")] },
  "project-trust": { answers: { select: ["Trust with note and remember", "Do not trust this session"], input: ["a note"] }, run: events({ type: "project_trust", cwd: "/p" }, { type: "project_trust", cwd: "/p" }, start) },
  "prompt-customizer": { run: events(agentStart) },
  "protected-paths": { run: events(toolCall("write", { path: ".env", content: "" }), toolCall("edit", { path: "a/node_modules/x", edits: [] }), toolCall("write", { path: "ok", content: "" }), toolCall("bash", { command: "cat .env" })) },
  "provider-payload": { files: { ".pi/empty": "" }, run: async (s, at) => [await s.event({ type: "before_provider_request", payload: { model: "m" } }), await s.event({ type: "after_provider_response", status: 200, headers: { a: "b" } }), at("cat .pi/provider-payload.log")] },
  qna: { entries: talk, answers: { model: ["Q: Then that?\nA: "] }, run: async (s) => [await s.command("qna"), await s.finish()] },
  question: { run: async (s) => [await s.tool("question", { question: "Which one of these is it, and why is it that one?", options: [{ label: "This", description: "the first" }, { label: "That" }] }), await play(s, [DOWN, DOWN, ENTER, "o", "w", "n", ENTER]), await s.tool("question", { question: "q", options: [] }), await s.tool("question", { question: "q", options: [{ label: "A" }] }), await play(s, [ESC]), await toolFrames("question", { args: { question: "q", options: [{ label: "A" }] }, result: text("x", { question: "q", options: ["A"], answer: "A" }) })(s)] },
  questionnaire: { run: async (s) => [await s.tool("questionnaire", { questions: [{ id: "a", label: "Colour", prompt: "Which colour?", options: [{ value: "r", label: "Red" }, { value: "b", label: "Blue", description: "like the sky" }] }, { id: "b", prompt: "Which size?", options: [{ value: "s", label: "Small" }] }] }), await play(s, [DOWN, ENTER, "\t", LEFT, RIGHT, ENTER, ENTER, ENTER])] },
  "rainbow-editor": { run: async (s) => { await s.event(start); for (const key of "go ultrathink") await s.lastingInput("setEditorComponent", key); return s.lasting("setEditorComponent", 30); } },
  "reload-runtime": { run: async (s) => [await s.tool("reload_runtime", {}), await s.command("reload-runtime")] },
  "rpc-demo": { answers: { select: ["Allow", "Block"], confirm: [false, true], input: ["typed", undefined], editor: ["a\nb"] }, run: async (s) => [await events(start, turnStart, turnEnd, toolCall("bash", { command: "sudo x" }), toolCall("bash", { command: "sudo x" }), { type: "session_before_switch", reason: "new" }, { type: "session_before_switch", reason: "new" })(s), await s.command("rpc-input"), await s.command("rpc-editor"), await s.command("rpc-prefill")] },
  sandbox: { module: { "@anthropic-ai/sandbox-runtime": 'export const SandboxManager = { initialize: async () => {}, wrapWithSandbox: async (command) => command, reset: async () => {} };\n' }, run: async (s) => [await s.event(start), await s.command("sandbox", ""), await s.tool("bash", { command: "echo inside" }), await s.event({ type: "session_shutdown", reason: "quit" })], withoutDescriptions: true },
  "send-user-message": { run: async (s) => [await commands(["ask", ""], ["ask", "one"], ["steer", "two"], ["followup", "three"], ["askwith", "four"])(s), await s.set({ idle: false }), await commands(["ask", "one"], ["steer", "two"], ["followup", "three"], ["askwith", "four"])(s)] },
  "session-name": { run: commands(["session-name", ""], ["session-name", "mine"], ["session-name", ""]) },
  "shutdown-command": { run: async (s) => [await s.command("quit"), await s.tool("finish_and_exit", {}), await s.tool("deploy_and_exit", { environment: "test" })] },
  snake: { isWithoutTicks: true, run: async (s) => [await s.command("snake"), await play(s, ["p", "p", ESC]), await s.command("snake"), await play(s, ["q"])] },
  "space-invaders": { isWithoutTicks: true, run: async (s) => [await s.command("invaders"), await play(s, ["p", "p", ESC], 80)] },
  ssh: { flags: { ssh: "host:/" }, programs: { ssh: 'shift; exec sh -c "$1"' }, files: { "a.txt": "one\ntwo\n" }, run: async (s) => [await s.event(start), await s.tool("read", { path: "a.txt" }), await s.tool("write", { path: "b.txt", content: "new" }), await s.tool("bash", { command: "echo out" }), (await s.event(agentStart)).length], withoutDescriptions: true },
  "status-line": { run: events(start, turnStart, turnEnd, turnStart) },
  "structured-output": { run: async (s) => [await s.tool("structured_output", { headline: "H", summary: "S", actionItems: ["a", "b"] }), await toolFrames("structured_output", { args: {}, result: text("Saved", { headline: "Headline", summary: "A summary that is long enough to be wrapped at the width of the screen", actionItems: ["a", "b"] }) }, { args: {}, result: text("Saved") })(s)] },
  subagent: { files: { ".pi/agents/scout.md": "---\nname: scout\ndescription: looks\ntools: read, grep\n---\nLook." }, run: async (s) => [await s.tool("subagent", {}), await s.tool("subagent", { agent: "nobody", task: "t" }), await toolFrames("subagent", { args: { agent: "scout", task: "Look at the files" } }, { args: { tasks: [{ agent: "scout", task: "a" }, { agent: "b", task: "c" }] } }, { args: { chain: [{ agent: "scout", task: "a" }] } })(s)] },
  summarize: { entries: talk, answers: { model: ["# Goals\n\n- **One**\n- two\n\nSome `code` here.", "x"] }, run: async (s) => [await s.command("summarize"), await play(s, ["x", ENTER])] },
  "system-prompt-header": { run: events({ type: "agent_start" }, { type: "session_shutdown", reason: "quit" }) },
  "tic-tac-toe": { run: async (s) => [await s.event(start), await s.command("tic-tac-toe"), await play(s, [RIGHT, DOWN, ENTER], 80).then(({ frames }) => frames), await s.tool("tic_tac_toe_see_board", {}), await s.tool("tic_tac_toe", { action: "move_right" }), await s.tool("tic_tac_toe", { action: "play" }), await toolFrames("tic_tac_toe", { args: { action: "play" }, result: text("Placed") })(s), await s.event(agentStart)] },
  "timed-confirm": { answers: { confirm: [true, false], select: ["Option B"] }, run: commands(["timed", ""], ["timed-select", ""], ["timed-signal", ""]) },
  "titlebar-spinner": { entries: talk, run: async (s) => [await s.event(settled), await s.event({ type: "session_shutdown", reason: "quit" })] },
  todo: { entries: [{ type: "message", message: { role: "toolResult", toolCallId: "x", toolName: "todo", content: [], isError: false, details: { action: "add", todos: [{ id: 1, text: "old", done: true }], nextId: 2 }, timestamp: 1 } }], run: async (s) => [await s.event(start), await s.tool("todo", { action: "add", text: "new" }), await s.tool("todo", { action: "toggle", id: 9 }), await s.tool("todo", { action: "list" }), await s.command("todos"), await play(s, ["x", ESC]), await toolFrames("todo", { args: { action: "add", text: "new" }, result: text("Added", { action: "add", todos: [{ id: 1, text: "new", done: false }], nextId: 2 }) }, { args: { action: "list" }, result: text("x", { action: "list", todos: Array.from({ length: 8 }, (_, id) => ({ id, text: `t${id}`, done: id > 3 })), nextId: 9 }) })(s)] },
  "tool-override": { files: { "a.txt": "one\ntwo\nthree\n", ".env": "S=1" }, run: async (s) => [await s.tool("read", { path: "a.txt", offset: 2, limit: 1 }), await s.tool("read", { path: ".env" }), await s.tool("read", { path: "none" }), await toolFrames("read", { args: { path: "a" }, result: text("one") })(s)] },
  tools: { entries: [{ type: "custom", customType: "tools-config", data: { enabledTools: ["read", "bash"] } }], run: async (s) => [await s.event(start), await s.command("tools"), await play(s, [ENTER, DOWN, " ", ESC]), await s.event({ type: "session_tree", newLeafId: null, oldLeafId: null })] },
  "trigger-compact": { run: async (s) => [await s.event(turnEnd), await s.event(turnEnd), await s.command("trigger-compact", "be short")] },
  "truncated-tool": { programs: { rg: 'case "$*" in *none*) exit 1;; *) seq 1 2500;; esac' }, run: async (s) => [await s.tool("rg", { pattern: "none" }), await s.tool("rg", { pattern: "x", path: "p", glob: "*.ts" }), await toolFrames("rg", { args: { pattern: "x", path: "p", glob: "*.ts" }, isPartial: true, result: text("") }, { args: { pattern: "x" }, result: text("1: a\n2: b", { pattern: "x", matchCount: 2 }), expanded: true }, { args: { pattern: "x" }, result: text("", { matchCount: 0 }) })(s)] },
  "widget-placement": { run: events(start) },
  "with-deps": { packages: ["ms"], run: async (s) => [await s.tool("parse_duration", { duration: "2 days" }), await s.tool("parse_duration", { duration: "nonsense" })] },
  "working-indicator": { run: async (s) => [await s.event(start), ...(await commands(["working-indicator", ""], ["working-indicator", "dot"], ["working-indicator", "none"], ["working-indicator", "pulse"], ["working-indicator", "what"], ["working-indicator", "reset"])(s))] },
  "working-message-test": { run: events(start) },
};

/** For the table of 0.31. */
export const helpers = { events, talk, git, toolFrames, text, turnStart, turnEnd };
