// Hand-made files of pi's dialects, v1 to v3: every entry type, message role and block, and the structure of trees.
// Odd text and odd values are in hand-values.mjs; what a peer cannot read is in odd.mjs.
import { Draft, EPOCH, Shelf, text, toolCall, usage } from "./draft.mjs";

const IMAGE = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };

function everyEntryType() {
  const d = new Draft({ parentSession: "/somewhere/else.jsonl" });
  d.add("model_change", { provider: "anthropic", modelId: "claude-x" });
  d.add("thinking_level_change", { thinkingLevel: "high" });
  d.message({
    role: "system",
    content: "You are terse.",
    sections: { project: "rules", gone: "x" },
    toolsAdded: [{ name: "bash", description: "runs", parameters: { type: "object" } }],
    timestamp: EPOCH,
  });
  const first = d.user([...text("look at this"), IMAGE]);
  const call = d.assistant(
    [
      { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" },
      { type: "text", text: "I will", textSignature: "dHM=" },
      toolCall("call_1", "bash", { command: "ls", nested: { deep: [1, { two: null }] } }),
    ],
    { stopReason: "toolUse", responseId: "r1", responseModel: "claude-x-1", diagnostics: [{ kind: "note" }], rawStopReason: "tool_use" },
  );
  d.result("call_1", "a\nb", { details: { exitCode: 0 }, usage: usage(1, 1) });
  d.assistant("there", { usage: { ...usage(), cacheWrite1h: 3, reasoning: 2 } });
  d.add("custom", { customType: "todo", data: { n: [1, 2] } });
  d.add("custom", { customType: "no-data" });
  d.add("custom_message", { customType: "gate", content: "be careful", display: true, details: { level: 1 } });
  d.add("custom_message", { customType: "gate", content: [...text("and look"), IMAGE], display: false });
  d.add("usage", { kind: "cache_warm", provider: "anthropic", model: "claude-x", usage: usage(), note: "warm" });
  d.add("session_info", { name: "  Auth\nrewrite " });
  d.label(first, "start");
  d.message({ role: "bashExecution", command: "ls -l", output: "a\nb", exitCode: 0, cancelled: false, truncated: false, timestamp: EPOCH });
  d.message({
    role: "bashExecution",
    command: "sleep 9",
    output: "",
    cancelled: true,
    truncated: true,
    fullOutputPath: "/var/log/pi-bash-0.log",
    timestamp: EPOCH,
  });
  d.message({
    role: "bashExecution",
    command: "env",
    output: "secret",
    exitCode: 1,
    cancelled: false,
    truncated: false,
    excludeFromContext: true,
    timestamp: EPOCH,
  });
  d.add("context_edit", { targetId: call, replacement: { content: text("edited") } });
  d.add("compaction", {
    summary: "S",
    firstKeptEntryId: call,
    tokensBefore: 91000,
    details: { readFiles: ["a.ts"], modifiedFiles: [] },
    fromHook: false,
    usage: usage(),
    systemMessage: { role: "system", content: "You are terse.", sections: { project: "rules" }, timestamp: EPOCH },
  });
  d.message({ role: "system", content: "", sections: { gone: null }, toolsRemoved: [{ name: "bash" }], timestamp: EPOCH });
  const last = d.user("go on");
  d.assistant("yes", { deferred: { provider: "p", modelId: "m", api: "a", id: "x" }, endTurn: true, stopReason: "deferred" });
  d.at(first).add("branch_summary", {
    fromId: last,
    summary: "went elsewhere",
    details: { readFiles: [], modifiedFiles: ["b"] },
    fromHook: true,
    usage: usage(),
  });
  d.user("from here");
  d.add("a_type_of_tomorrow", { payload: { any: "thing" } });
  d.message({ role: "role_of_tomorrow", anything: [1] });
  return d;
}

function oldFiles(shelf) {
  const header = { version: undefined, provider: "anthropic", modelId: "claude-x", thinkingLevel: "low", branchedFrom: "/old/one.jsonl" };
  const d = new Draft(header);
  d.old("message", {
    message: {
      role: "user",
      content: text("see file"),
      attachments: [
        { id: "a1", type: "document", fileName: "n.txt", mimeType: "text/plain", size: 3, content: "YWJj", extractedText: "abc" },
      ],
      timestamp: EPOCH,
    },
  });
  d.old("model_change", { provider: "openai", modelId: "gpt-x" });
  d.old("thinking_level_change", { thinkingLevel: "high" });
  d.old("message", {
    message: {
      role: "assistant",
      content: [...text("ok"), toolCall("c1")],
      api: "x",
      provider: "openai",
      model: "gpt-x",
      usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } },
      stopReason: "toolUse",
      timestamp: EPOCH,
    },
  });
  d.old("message", { message: { role: "toolResult", toolCallId: "c1", toolName: "bash", content: text("out"), isError: true } });
  d.old("compaction", { summary: "S", firstKeptEntryIndex: 4, tokensBefore: 91000 });
  d.old("message", {
    message: { role: "bashExecution", command: "ls", output: "", exitCode: 2, cancelled: false, truncated: false, fullOutputPath: null },
  });
  shelf.put("v1-december-2025", { v1: true }, d);

  const nocwd = new Draft({ version: undefined, cwd: undefined });
  nocwd.old("message", { message: { role: "user", content: "no folder" } });
  nocwd.old("message", { message: { role: "hookMessage", customType: "h", content: "hook", display: true } });
  shelf.put("v1-no-cwd-hook-message", { v1: true }, nocwd);

  const one = new Draft({ version: 1 });
  one.user("has ids that are given anew");
  one.assistant("yes");
  shelf.put("v1-explicit-with-ids", { v1: true }, one);

  for (const [name, version] of [
    ["v2", 2],
    ["v2-version-is-a-string", "2"],
  ]) {
    const two = new Draft({ version });
    const u = two.user("hi");
    two.message({ role: "hookMessage", customType: "h", content: "from a hook", display: true, details: { a: 1 }, timestamp: EPOCH });
    two.assistant("yes");
    two.add("compaction", { summary: "S", firstKeptEntryId: u, tokensBefore: 4, fromHook: true });
    two.at(u).add("branch_summary", { fromId: u, summary: "B", fromHook: false });
    two.add("custom_message", { customType: "t", content: "c", display: true });
    shelf.put(name, { v2: true }, two);
  }

  const four = new Draft({ version: 4 });
  four.user("from the future");
  four.message({ role: "hookMessage", content: "stays" });
  shelf.put("v4", {}, four);
}

function trees(shelf) {
  let d = new Draft();
  d.user("one");
  d.at(null).user("two");
  d.at(null).assistant("three");
  d.user("four");
  shelf.put("several-roots", { plain: true }, d);

  d = new Draft();
  d.user("x", { parentId: "gone" });
  const r = d.user("real", { parentId: null });
  d.user("child of an orphan's sibling", { parentId: "gone" });
  d.at(r).assistant("end");
  shelf.put("orphans", { plain: true }, d);

  d = new Draft();
  d.user("child first", { id: "child", parentId: "parent", timestamp: "2026-01-02T00:00:00.000Z" });
  d.user("then parent", { id: "parent", parentId: null });
  d.assistant("leaf", {}, { parentId: "child" });
  shelf.put("child-before-parent", { plain: true }, d);

  d = new Draft();
  const root = d.user("root");
  for (const [i, at] of ["09", "05", "09", "01", "00", "09"].entries())
    d.at(root).user(`child ${i}`, { timestamp: `2026-01-01T00:00:${at}.000Z` });
  shelf.put("children-out-of-order-and-equal", { plain: true }, d);

  d = new Draft();
  const same = d.user("root");
  for (const at of ["x", "", null, undefined, "2026-13-45"]) d.at(same).user(`child at ${at}`, { timestamp: at });
  shelf.put("children-without-usable-times", { plain: true }, d);

  d = new Draft();
  const wide = d.user("root");
  for (let i = 0; i < 1500; i++) d.at(wide).user(`child ${i}`, { timestamp: new Date(EPOCH + ((i * 7919) % 1500)).toISOString() });
  shelf.put("wide-1500", {}, d);

  d = new Draft();
  for (let i = 0; i < 5000; i++)
    d.add("message", { message: { role: i % 2 ? "assistant" : "user", content: text(`m${i}`), provider: "p", model: "m" } });
  shelf.put("deep-5000", {}, d);

  d = new Draft();
  const lost = d.user("a");
  const l1 = d.label(lost, "one");
  d.user("child of a label");
  d.label("unknown", "nobody");
  d.label(l1, "label of a label");
  d.label(lost, "two");
  d.assistant("b");
  d.label(lost, "");
  d.label(d.leaf, null);
  d.label(lost, "three");
  d.at(lost).user("other branch");
  d.label(lost, "  spaced\n ");
  const self = d.nextId();
  d.label(self, "itself", { id: self });
  shelf.put("labels", { plain: true }, d);

  shelf.put("header-only", { plain: true }, new Draft());
  d = new Draft();
  d.add("model_change", { provider: "p", modelId: "m" });
  d.add("label", { targetId: "x", label: "y" });
  shelf.put("settings-only", {}, d);

  d = new Draft();
  d.user("first");
  d.raw(JSON.stringify({ type: "session", version: 3, id: "second", timestamp: "2027-01-01T00:00:00.000Z", cwd: "/other" }));
  d.assistant("goes on");
  shelf.put("second-header", { peers: ["pi"] }, d);

  d = new Draft();
  for (const parentId of [null, "", undefined, 5, false]) d.user(`parent ${JSON.stringify(parentId)}`, { parentId });
  shelf.put("parent-ids-that-are-none", {}, d);

  d = new Draft();
  d.user("a", { id: "__proto__" });
  d.assistant("b", {}, { id: "constructor" });
  d.label("__proto__", "proto");
  d.user("c", { id: "toString" });
  d.user("d", { id: "0199a3c4-1111-7222-8333-abcdefabcdef" });
  d.user("e", { id: "wörk/ ☃" });
  d.user("f", { id: 'with"quote\\and\nline' });
  shelf.put("unusual-ids", { plain: true }, d);
}

function compactions(shelf) {
  const kept = { null: null, absent: undefined, empty: "", number: 7 };
  for (const [name, value] of Object.entries(kept)) {
    const d = new Draft();
    d.user("a");
    d.assistant("b");
    d.add("compaction", { summary: "S", firstKeptEntryId: value, tokensBefore: 1 });
    d.user("c");
    shelf.put(`compaction-kept-${name}`, { plain: true }, d);
  }

  let d = new Draft();
  const off = d.user("a");
  const side = d.assistant("on a side branch");
  d.at(off).user("main");
  d.compaction(side);
  d.user("c");
  shelf.put("compaction-kept-on-another-branch", { plain: true }, d);

  d = new Draft();
  d.user("a");
  const k1 = d.compaction(d.leaf, { summary: "S1" });
  d.user("b");
  d.compaction(k1, { summary: "S2" });
  d.user("c");
  const late = d.user("d");
  d.compaction(late, { summary: "S3" });
  shelf.put("compaction-keeps-a-compaction-and-ends-the-path", { plain: true }, d);

  d = new Draft();
  d.user("a");
  d.add("compaction", { firstKeptEntryId: "nope" });
  d.user("b");
  shelf.put("compaction-without-summary", { plain: true }, d);

  d = new Draft();
  d.message({ role: "system", content: "s0" });
  const u = d.user("a");
  d.message({ role: "system", content: [{ type: "text", text: "s1" }] });
  d.compaction(u, { summary: "no system message stored" });
  d.message({ role: "system", content: "s2" });
  d.user("b");
  d.compaction(u, { summary: "stored", systemMessage: { role: "system", content: null, sections: { a: "b" }, timestamp: 1.5 } });
  d.user("c");
  d.message({ role: "system", content: "s3" });
  shelf.put("compaction-and-system-messages", {}, d);

  d = new Draft();
  for (let i = 0; i < 30; i++) {
    const id = d.user(`u${i}`);
    d.assistant(`a${i}`);
    if (i % 5 === 4) d.compaction(id, { summary: `S${i}` });
  }
  shelf.put("compaction-many", { plain: true }, d);
}

function edits(shelf) {
  let d = new Draft();
  const u = d.user("u"),
    a = d.assistant([...text("a"), toolCall("c1")]),
    r = d.result("c1"),
    c = d.add("custom_message", { customType: "t", content: "c", display: true });
  const s = d.message({ role: "system", content: "s" }),
    b = d.message({ role: "bashExecution", command: "ls", output: "" }),
    n = d.user(null),
    bs = d.add("branch_summary", { fromId: "root", summary: "B" });
  for (const [targetId, content] of [
    [u, "U2"],
    [a, "A2"],
    [r, "R2"],
    [c, "C2"],
    [s, "S2"],
    [b, "B2"],
    [n, "N2"],
    [bs, "BS2"],
  ])
    d.add("context_edit", { targetId, replacement: { content } });
  d.add("context_edit", { targetId: u, replacement: { content: [{ type: "image", data: "AA==", mimeType: "image/png" }] } });
  d.add("context_edit", { targetId: a, replacement: null });
  d.add("context_edit", { targetId: a, replacement: { content: "back again" } });
  d.add("context_edit", { targetId: "unknown", replacement: null });
  for (const targetId of [r, c, s, b, bs]) d.add("context_edit", { targetId, replacement: null });
  shelf.put("context-edits", {}, d);

  d = new Draft();
  d.user("a");
  const early = d.user("b");
  d.add("context_edit", { targetId: early, replacement: { content: "EARLY" } });
  d.compaction(early);
  d.user("c");
  d.add("context_edit", { targetId: early, replacement: { content: "LATE" } });
  d.at(early).user("branch without the late edit");
  shelf.put("context-edits-and-compaction", {}, d);

  d = new Draft();
  const future = "fu7u2e";
  d.user("a");
  d.add("context_edit", { targetId: future, replacement: { content: "dropped with its range" } });
  d.user("b", { id: future });
  d.compaction(future);
  d.user("c");
  shelf.put("context-edit-in-the-dropped-range", {}, d);

  d = new Draft();
  d.user("a");
  const k = d.compaction(d.leaf, { systemMessage: { role: "system", content: "x" } });
  d.user("b");
  d.add("context_edit", { targetId: k, replacement: { content: "no effect" } });
  d.add("label", { targetId: k, label: "k" });
  d.add("context_edit", { targetId: k, replacement: null });
  shelf.put("context-edit-of-a-compaction", {}, d);

  d = new Draft();
  const t = d.user("a");
  d.add("context_edit", { targetId: t, replacement: {} });
  const t2 = d.assistant("b");
  d.add("context_edit", { targetId: t2, replacement: { content: 5 } });
  shelf.put("context-edit-without-usable-content", {}, d);
}

export function piFiles() {
  const shelf = new Shelf({ set: "hand" });
  shelf.put("every-entry-type", {}, everyEntryType());
  oldFiles(shelf);
  trees(shelf);
  compactions(shelf);
  edits(shelf);
  return shelf.files;
}
