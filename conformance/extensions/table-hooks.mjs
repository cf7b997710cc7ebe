// The example hooks and custom tools of pi 0.31.1, with the events of then: what each is asked to do, written before it was run.
// As in table-rows.mjs, what comes out must be the same under pi 0.31.1 and under offshoot's host.
import { TABLE as NOW, helpers } from "./table-rows.mjs";

const { events, talk, git, toolFrames, text, turnStart, turnEnd } = helpers;
const start = { type: "session_start" };
const shutdown = { type: "session_shutdown" };

export const HOOKS = {
  "auto-commit-on-exit": { ...NOW["auto-commit-on-exit"], run: async (s, at) => [at("echo two > two.txt"), await s.event(shutdown), at("git log --format=%s; git status --porcelain")] },
  "confirm-destructive": { entries: talk, answers: { confirm: [false, true, false], select: ["No, stay in current session", "Yes, create branch"] }, run: events({ type: "session_before_switch", reason: "new" }, { type: "session_before_switch", reason: "new" }, { type: "session_before_switch", reason: "resume", targetSessionFile: "/x" }, { type: "session_before_branch", entryId: "0123456789ab" }, { type: "session_before_branch", entryId: "0123456789ab" }) },
  "custom-compaction": NOW["custom-compaction"],
  "dirty-repo-guard": { ...NOW["dirty-repo-guard"], run: async (s, at) => [await s.event({ type: "session_before_switch", reason: "new" }), at("echo x > x.txt"), await s.event({ type: "session_before_switch", reason: "new" }), await s.event({ type: "session_before_branch", entryId: "e" })] },
  "file-trigger": { files: { "/tmp/agent-trigger.txt": "" }, run: async (s, at) => [await s.event(start), at("echo now > /tmp/agent-trigger.txt; sleep 0.5")] },
  "git-checkpoint": { shell: git, entries: talk, answers: { select: ["Yes, restore code to that point"] }, run: async (s, at) => [at("echo two > one.txt"), await s.event({ type: "tool_result", toolName: "bash", toolCallId: "c", input: {}, content: [], isError: false }), await s.event(turnStart), at("git checkout -q one.txt"), await s.event({ type: "session_before_branch", entryId: "00000002" }), at("cat one.txt"), await s.event({ type: "agent_end", messages: [] }), await s.event({ type: "session_before_branch", entryId: "00000002" })] },
  handoff: { entries: talk, answers: { model: ["The prompt."], editor: ["The edited prompt."] }, run: async (s) => [await s.command("handoff", ""), await s.command("handoff", "continue"), await s.finish()] },
  "permission-gate": NOW["permission-gate"],
  "protected-paths": NOW["protected-paths"],
  qna: { entries: talk, answers: { model: ["Q: Then that?\nA: "] }, run: async (s) => [await s.command("qna"), await s.finish()] },
  snake: NOW.snake,
  "status-line": { run: events(start, turnStart, turnEnd, { type: "session_switch", reason: "resume" }, { type: "session_switch", reason: "new" }) },
};

const tools = {
  hello: { run: async (s) => [await s.tool("hello", { name: "World" })] },
  question: { answers: { select: ["B", undefined] }, run: async (s) => [await s.tool("question", { question: "q", options: ["A", "B"] }), await s.tool("question", { question: "q", options: ["A"] }), await toolFrames("question", { args: { question: "q", options: ["A"] }, result: text("x", { question: "q", options: ["A"], answer: "A" }) })(s)] },
  todo: { entries: NOW.todo.entries, run: async (s) => [await s.session("start"), await s.tool("todo", { action: "list" }), await s.session("branch"), await s.tool("todo", { action: "list" }), await s.session("shutdown"), await toolFrames("todo", { args: { action: "list" }, result: text("x", { action: "list", todos: [{ id: 1, text: "a", done: true }], nextId: 2 }) })(s)] },
  subagent: { run: async (s) => [await s.tool("subagent", {}), await s.tool("subagent", { agent: "nobody", task: "t" })] },
};

/** A tool of then is the index of its folder. */
export const TOOLS = Object.fromEntries(Object.entries(tools).map(([name, row]) => [name, { ...row, asFile: true }]));
