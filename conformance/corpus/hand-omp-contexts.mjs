// Hand-made files of omp's dialect, continued: what its context building repairs, leaves out, cuts and adds.
import { OmpDraft, Shelf, text, toolCall } from "./draft.mjs";

const THINKING = { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" };
const REDACTED = { type: "redactedThinking", data: "enc" };

function messages(shelf) {
  let d = new OmpDraft();
  d.user("q");
  d.assistant([THINKING, REDACTED, { type: "text", text: "t", textSignature: "ts" }, toolCall("c1"), toolCall("c2")], {
    stopReason: "toolUse",
  });
  d.result("c2");
  const u = d.user("n");
  d.assistant([toolCall("c3")], { stopReason: "toolUse" });
  d.user("after a call without result");
  d.result("loose");
  d.result("c4");
  d.assistant([toolCall("c4")], { stopReason: "toolUse" });
  d.assistant([THINKING, REDACTED, toolCall("c5")], { stopReason: "toolUse" });
  d.assistant([REDACTED, toolCall("c6")]);
  d.at(u).assistant([THINKING, ...text("end")]);
  shelf.put("dangling-tool-calls", {}, d);

  d = new OmpDraft();
  d.user("q");
  d.assistant([...text("part"), toolCall("c1")], { stopReason: "error", errorMessage: "boom" });
  d.result("c1");
  d.user("n");
  d.assistant("half", { stopReason: "aborted" });
  d.assistant([{ type: "thinking", thinking: "half" }], { stopReason: "aborted" });
  d.label(d.leaf, "between");
  d.note();
  d.user("n2");
  d.assistant([toolCall("c9")], { stopReason: "error" });
  d.note();
  d.assistant([...text("with call"), toolCall("c7")], { stopReason: "aborted" });
  d.note("other");
  d.result("c7");
  d.assistant("cut", { stopReason: "length" });
  shelf.put("failed-turns", {}, d);

  d = new OmpDraft();
  d.user("q");
  for (const content of [
    [],
    text(" \n"),
    [{ type: "thinking", thinking: " " }],
    [{ type: "thinking", thinking: "", thinkingSignature: "s" }],
    [{ type: "redactedThinking", data: "" }],
    [REDACTED],
    [{ type: "fallback", from: { model: "a" }, to: { model: "b" } }],
    [{ type: "block_of_tomorrow" }],
    [toolCall("c")],
    text("x"),
  ]) {
    d.assistant(content, { stopReason: "error" });
    d.note();
  }
  d.assistant("recovered", { retryRecovery: { attempt: 1 } });
  d.assistant("not", { retryRecovery: false });
  d.assistant([], { stopReason: "stop" });
  shelf.put("empty-error-turns", {}, d);

  d = new OmpDraft();
  for (const fields of [
    { customType: "t", content: "c", display: true, details: { d: 1 }, attribution: "user" },
    { customType: "t", content: text("x"), display: false },
    { customType: "", content: "e", attribution: "weird" },
    { content: null, customType: "n" },
    { content: 5, customType: "n" },
    { customType: 7, content: "q", display: "yes", details: null, attribution: null },
    { customType: "prewalk-plan", content: "hidden" },
    { customType: "vibe-mode-context", content: "hidden" },
    { customType: "skill-prompt", content: "s", attribution: "user" },
  ])
    d.add("custom_message", fields);
  d.message({ role: "custom", customType: "prewalk-plan", content: "a message stays" });
  d.message({ role: "hookMessage", content: "h" });
  shelf.put("custom-messages", {}, d);

  d = new OmpDraft();
  d.message({ role: "system", content: "s", timestamp: 1 });
  const t = d.user(null);
  d.message({ role: "user" });
  d.add("context_edit", { targetId: t, replacement: null });
  d.add("session_info", { name: "pi's name" });
  d.add("usage", { kind: "x" });
  d.message({ role: "assistant", content: "a string", provider: "p", model: "m" });
  d.message({ role: "assistant", content: "an aborted string", stopReason: "aborted" });
  d.message({ content: "no role" });
  d.message({ role: "role_of_tomorrow", x: 1 });
  d.compaction(t, { systemMessage: { role: "system", content: "ignored" } });
  shelf.put("pi-entries-and-odd-content", {}, d);

  d = new OmpDraft();
  d.user("a");
  d.assistant([THINKING, ...text("x")], { provider: "github-copilot", providerPayload: { type: "openaiResponsesHistory", items: [] } });
  d.assistant([THINKING], { provider: "openai", providerPayload: { type: "openaiResponsesHistory", items: [1] } });
  shelf.put("copilot-replay", {}, d);

  d = new OmpDraft();
  d.user("a");
  d.add("custom", { customType: "experimental_context_notes", data: { version: 1, text: "remember" } });
  d.user("b");
  shelf.put("context-notes", {}, d);
  d = new OmpDraft();
  d.user("a");
  d.add("custom", { customType: "experimental_context_notes", data: { version: 1, text: "remember" } });
  d.user("b");
  d.add("custom", { customType: "experimental_context_notes", data: { version: 1, text: "" } });
  d.add("custom", { customType: "experimental_context_notes", data: { version: 2, text: "x" } });
  shelf.put("context-notes-cleared", { notes: true }, d);

  d = new OmpDraft();
  d.user([
    { type: "image", data: `blob:sha256:${"0".repeat(64)}`, mimeType: "image/png" },
    { type: "image", data: "blob:sha256:../../etc/passwd", mimeType: "image/png" },
  ]);
  d.assistant("seen");
  shelf.put("blob-missing", {}, d);
}

function cuts(shelf) {
  let d = new OmpDraft();
  const a = d.user("a");
  d.assistant("b");
  d.add("reset_boundary");
  const c = d.user("c");
  d.assistant("d");
  d.add("reset_boundary");
  d.at(c).compaction(a);
  d.user("kept across the boundary");
  d.at(c).compaction(c);
  d.add("reset_boundary");
  d.user("after both");
  d.add("reset_boundary");
  shelf.put("reset-boundaries", {}, d);

  d = new OmpDraft();
  const k = d.user("a");
  d.assistant("b");
  d.compaction(k, { summary: "S1", shortSummary: null, method: null, tokensAfter: null, warning: null });
  d.user("c");
  d.compaction(k, { summary: "S2", shortSummary: "two" });
  d.user("d");
  d.compaction("nope");
  d.assistant("e");
  d.compaction(d.leaf);
  d.add("compaction", {});
  d.user("f");
  shelf.put("compactions", {}, d);

  const rollover = { details: { kind: "experimental-context-rollover" } };
  d = new OmpDraft();
  d.user("u1");
  d.assistant("a1");
  d.user("u2");
  const last = d.assistant("a2");
  d.compaction(last, rollover);
  d.user("n");
  d.compaction(last, rollover);
  d.add("custom_message", { customType: "skill-prompt", content: "skill", display: true, attribution: "user" });
  const kept = d.assistant("a3");
  d.compaction(kept, rollover);
  d.compaction("nope", rollover);
  d.user("z");
  shelf.put("context-rollover", {}, d);

  const openai = (more) => ({
    preserveData: { openaiRemoteCompaction: { provider: "openai", replacementHistory: [{ type: "message" }], ...more } },
  });
  d = new OmpDraft();
  const o = d.user("a");
  const through = d.assistant("b");
  d.user("mid");
  d.compaction(o, openai({}));
  d.user("c");
  d.compaction(o, { ...openai({}), providerReplayThroughEntryId: through });
  d.user("d");
  d.compaction(o, openai({ provider: "" }));
  d.user("e");
  d.compaction(o, openai({ replacementHistory: [1] }));
  d.user("f");
  shelf.put("openai-remote-compaction", {}, d);

  const anthropic = (more) => ({
    preserveData: {
      anthropicCompaction: { provider: "anthropic", content: "native", encryptedContent: "e", filesText: "f", model: "m", ...more },
    },
  });
  d = new OmpDraft();
  const n = d.user("a");
  d.assistant("b");
  d.compaction(n, anthropic({}));
  d.user("c");
  d.compaction("nope", anthropic({ encryptedContent: "" }));
  d.user("d");
  d.compaction(n, anthropic({ content: "" }));
  d.compaction(d.leaf, anthropic({}));
  shelf.put("anthropic-compaction", {}, d);
  d = new OmpDraft();
  d.user("a");
  const covered = d.assistant("b");
  d.user("came meanwhile");
  d.assistant("so did this");
  d.compaction("", { ...anthropic({}), providerReplayThroughEntryId: covered });
  d.user("c");
  shelf.put("anthropic-snapshot", {}, d);

  const frame = (data, more = {}) => ({ data, mimeType: "image/png", cols: 1, rows: 1, chars: 1, font: "5x8", variant: "sent", ...more });
  const archive = (more) => ({
    method: "snapcompact",
    preserveData: { snapcompact: { frames: [], totalChars: 3, truncatedChars: 0, ...more } },
  });
  d = new OmpDraft();
  d.user("a");
  for (const more of [
    { textHead: "head\u2588two \u000edim\u000f", textTail: "tail" },
    { textHead: "head", textTail: "tail", truncatedChars: 9 },
    { textTail: "tail", truncatedChars: 9 },
    { text: "only text" },
    { frames: [frame("AAAA"), frame("BBBB", { detail: "high" })], textHead: "h", textTail: "t" },
    { frames: [frame("AAAA"), frame(""), { data: "x" }] },
    { frames: [frame(`blob:sha256:${"0".repeat(64)}`), frame("BBBB")], textTail: "t" },
    {},
  ]) {
    d.compaction("nope", archive(more));
    d.user("next");
  }
  shelf.put("snapcompact-archives", {}, d);
}

export function ompContextFiles() {
  const shelf = new Shelf({ set: "hand", dialect: "omp" });
  messages(shelf);
  cuts(shelf);
  return shelf.files;
}
