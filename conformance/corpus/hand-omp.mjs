// Hand-made files of omp's dialect: with and without the title slot, every entry type, and the passes of its context building.
// Each file holds at least one entry that only omp writes, so that a reader can tell the dialect without a slot.
import { Draft, EPOCH, Shelf, iso, text, titleSlot, toolCall, usage } from "./draft.mjs";

const THINKING = { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" };
const REDACTED = { type: "redactedThinking", data: "enc" };

/** A draft in omp's dialect: starts with a model change as omp writes it. */
class OmpDraft extends Draft {
  constructor(header) {
    super(header);
    this.add("model_change", { model: "anthropic/claude-x", role: "default", resolvedModelIsFallback: false });
  }

  note(customType = "interrupted-thinking") {
    return this.add("custom_message", { customType, content: "note", display: false, attribution: "agent" });
  }
}

function everyEntryType() {
  const d = new OmpDraft({ title: "old title", titleSource: "auto", additionalDirectories: ["/a", "/b"], previousSessionFiles: ["/x.jsonl"], providerPromptCacheKey: "k", parentSession: "0199a3c4-0000-7000-8000-000000000000" });
  d.add("title_change", { title: "T", previousTitle: "old title", source: "user", trigger: "rename" });
  d.add("model_change", { model: "openai/gpt/x", role: "smol", resolvedModelIsFallback: false });
  d.add("model_change", { model: "openai/other", role: "fallback", resolvedModelIsFallback: true });
  d.add("thinking_level_change", { thinkingLevel: "high", configured: "auto" });
  d.add("session_init", { systemPrompt: "be good", task: "do it", tools: ["read"], outputSchema: { type: "object" }, agent: "scout", spawns: "*" });
  d.add("mode_change", { mode: "plan", data: { planFile: "p.md" } });
  d.add("service_tier_change", { serviceTier: { openai: "flex", anthropic: "priority", else: "x" } });
  d.add("ttsr_injection", { injectedRules: ["r2", "r1", "r2"] });
  d.add("credential_pin", { provider: "anthropic", hash: "ab".repeat(32) });
  const u = d.user([...text("hello"), { type: "image", data: "AAAA", mimeType: "image/png", detail: "high" }], {});
  d.message({ role: "developer", content: "note", attribution: "agent", timestamp: EPOCH });
  d.assistant([THINKING, ...text("yes"), toolCall("c1")], { stopReason: "toolUse", duration: 5, ttft: 1, contextSnapshot: { tokens: 3 } });
  d.result("c1", "out", { attribution: "agent", prunedAt: EPOCH, details: { a: 1 } });
  d.message({ role: "pythonExecution", code: "1+1", output: "2", exitCode: 0, cancelled: false, truncated: false, timestamp: EPOCH });
  d.message({ role: "fileMention", files: [{ path: "a.rs", content: "fn main() {}", lineCount: 1 }], timestamp: EPOCH });
  d.message({ role: "bashExecution", command: "ls", output: "x", exitCode: 0, cancelled: false, truncated: false, meta: { truncation: null }, timestamp: EPOCH });
  d.add("model_usage", { purpose: "title", role: "tiny", api: "a", provider: "p", model: "m", usage: usage(), stopReason: "stop" });
  d.add("ttsr_injection", { injectedRules: ["r1", "r3"] });
  d.label(u, "mark");
  d.add("compaction", { summary: "S", shortSummary: "s", firstKeptEntryId: u, tokensBefore: 10, tokensAfter: 4, method: "soft", details: { readFiles: [] }, fromExtension: true, preserveData: { other: 1 }, warning: "little freed" });
  d.add("custom", { customType: "foreign_session_import", data: { source: "claude" } });
  d.add("custom_message", { customType: "t", content: "c", display: true, attribution: "user" });
  d.add("mode_change", { mode: "none" });
  d.at(u).add("branch_summary", { fromId: u, summary: "B", details: { a: 1 }, fromExtension: false });
  d.user("go on", {});
  d.add("type_of_tomorrow", { x: 1 });
  return d;
}

function slots(shelf) {
  const body = () => { const d = new OmpDraft({ title: "from the header", titleSource: "auto" }); d.user("hi"); d.assistant("yes"); return d.text(); };
  shelf.put("slot-user-title", {}, titleSlot("A title", "user") + body());
  shelf.put("slot-auto-title", {}, titleSlot("日本語 \"quoted\" \u2028", "auto") + body());
  shelf.put("slot-empty-title", {}, titleSlot("", undefined) + body());
  shelf.put("slot-header-only", {}, titleSlot("", undefined) + new Draft().text());
  shelf.put("no-slot-title-in-header", {}, body());
  shelf.put("slot-crlf", {}, (titleSlot("A title", "user") + body()).replaceAll("\n", "\r\n"));
}

function settings(shelf) {
  let d = new Draft(); d.user("a"); d.assistant("b"); d.add("model_change", { model: "x/y" }); d.assistant("c", { provider: "q", model: "r" }); d.add("model_change", { model: "s/t", role: "slow" }); d.add("model_change", { model: "u/v", role: null });
  shelf.put("models-explicit-default-stays", {}, d);
  d = new Draft(); d.user("a"); d.add("mode_change", { mode: "none" }); d.assistant("b"); d.assistant("c", { provider: "q", model: "r", stopReason: "error" }); d.add("model_change", { model: "", role: "default" }); d.add("model_change", { model: "s/t", role: "smol" }); d.message({ role: "assistant", content: [] });
  shelf.put("models-inferred-from-assistants", {}, d);
  d = new OmpDraft(); d.user("a");
  for (const fields of [{ thinkingLevel: "high" }, { thinkingLevel: null, configured: null }, { configured: "auto" }, { thinkingLevel: "low", configured: null }, {}]) d.add("thinking_level_change", fields);
  shelf.put("thinking-levels", {}, d);
  d = new OmpDraft(); d.user("a");
  for (const serviceTier of ["priority", "openai-only", "claude-only", "flex", "nonsense", null, { google: "auto", openai: "default", anthropic: "scale" }, { openai: "nonsense" }, { anthropic: "flex", zzz: 1 }, ["priority"], undefined]) d.add("service_tier_change", { serviceTier });
  shelf.put("service-tiers", {}, d);
  d = new OmpDraft(); d.add("mode_change", { mode: "plan", data: { a: 1 } }); d.user("a"); d.add("mode_change", { mode: "vibe" }); d.add("mode_change", { mode: "plan", data: null }); d.add("mode_change", {}); d.add("ttsr_injection", { injectedRules: [] });
  shelf.put("modes", {}, d);
  d = new OmpDraft(); const u = d.user("a"); d.add("mode_change", { mode: "plan" }); d.add("ttsr_injection", { injectedRules: ["x"] }); d.compaction("nope"); d.add("reset_boundary"); d.at(u).add("ttsr_injection", { injectedRules: ["y"] });
  shelf.put("settings-survive-cuts", {}, d);
}

function messages(shelf) {
  let d = new OmpDraft();
  d.user("q"); d.assistant([THINKING, REDACTED, { type: "text", text: "t", textSignature: "ts" }, toolCall("c1"), toolCall("c2")], { stopReason: "toolUse" }); d.result("c2"); const u = d.user("n");
  d.assistant([toolCall("c3")], { stopReason: "toolUse" }); d.user("after a call without result"); d.result("loose"); d.result("c4"); d.assistant([toolCall("c4")], { stopReason: "toolUse" });
  d.assistant([THINKING, REDACTED, toolCall("c5")], { stopReason: "toolUse" }); d.assistant([REDACTED, toolCall("c6")]); d.at(u).assistant([THINKING, ...text("end")]);
  shelf.put("dangling-tool-calls", {}, d);

  d = new OmpDraft(); d.user("q"); d.assistant([...text("part"), toolCall("c1")], { stopReason: "error", errorMessage: "boom" }); d.result("c1"); d.user("n"); d.assistant("half", { stopReason: "aborted" }); d.assistant([{ type: "thinking", thinking: "half" }], { stopReason: "aborted" }); d.label(d.leaf, "between"); d.note();
  d.user("n2"); d.assistant([toolCall("c9")], { stopReason: "error" }); d.note(); d.assistant([...text("with call"), toolCall("c7")], { stopReason: "aborted" }); d.note("other"); d.result("c7"); d.assistant("cut", { stopReason: "length" });
  shelf.put("failed-turns", {}, d);

  d = new OmpDraft(); d.user("q");
  for (const content of [[], text(" \n"), [{ type: "thinking", thinking: " " }], [{ type: "thinking", thinking: "", thinkingSignature: "s" }], [{ type: "redactedThinking", data: "" }], [REDACTED], [{ type: "fallback", from: { model: "a" }, to: { model: "b" } }], [{ type: "block_of_tomorrow" }], [toolCall("c")], text("x")]) { d.assistant(content, { stopReason: "error" }); d.note(); }
  d.assistant("recovered", { retryRecovery: { attempt: 1 } }); d.assistant("not", { retryRecovery: false }); d.assistant([], { stopReason: "stop" });
  shelf.put("empty-error-turns", {}, d);

  d = new OmpDraft();
  for (const fields of [{ customType: "t", content: "c", display: true, details: { d: 1 }, attribution: "user" }, { customType: "t", content: text("x"), display: false }, { customType: "", content: "e", attribution: "weird" }, { content: null, customType: "n" }, { content: 5, customType: "n" }, { customType: 7, content: "q", display: "yes", details: null, attribution: null }, { customType: "prewalk-plan", content: "hidden" }, { customType: "vibe-mode-context", content: "hidden" }, { customType: "skill-prompt", content: "s", attribution: "user" }]) d.add("custom_message", fields);
  d.message({ role: "custom", customType: "prewalk-plan", content: "a message stays" }); d.message({ role: "hookMessage", content: "h" });
  shelf.put("custom-messages", {}, d);

  d = new OmpDraft(); d.message({ role: "system", content: "s", timestamp: 1 }); const t = d.user(null); d.message({ role: "user" }); d.add("context_edit", { targetId: t, replacement: null }); d.add("session_info", { name: "pi's name" }); d.add("usage", { kind: "x" });
  d.message({ role: "assistant", content: "a string", provider: "p", model: "m" }); d.message({ role: "assistant", content: "an aborted string", stopReason: "aborted" }); d.message({ content: "no role" }); d.message({ role: "role_of_tomorrow", x: 1 }); d.compaction(t, { systemMessage: { role: "system", content: "ignored" } });
  shelf.put("pi-entries-and-odd-content", {}, d);

  d = new OmpDraft(); d.user("a"); d.assistant([THINKING, ...text("x")], { provider: "github-copilot", providerPayload: { type: "openaiResponsesHistory", items: [] } }); d.assistant([THINKING], { provider: "openai", providerPayload: { type: "openaiResponsesHistory", items: [1] } });
  shelf.put("copilot-replay", {}, d);

  d = new OmpDraft(); d.user("a"); d.add("custom", { customType: "experimental_context_notes", data: { version: 1, text: "remember" } }); d.user("b");
  shelf.put("context-notes", {}, d);
  d = new OmpDraft(); d.user("a"); d.add("custom", { customType: "experimental_context_notes", data: { version: 1, text: "remember" } }); d.user("b"); d.add("custom", { customType: "experimental_context_notes", data: { version: 1, text: "" } }); d.add("custom", { customType: "experimental_context_notes", data: { version: 2, text: "x" } });
  shelf.put("context-notes-cleared", { notes: true }, d);

  d = new OmpDraft(); d.user([{ type: "image", data: `blob:sha256:${"0".repeat(64)}`, mimeType: "image/png" }, { type: "image", data: "blob:sha256:../../etc/passwd", mimeType: "image/png" }]); d.assistant("seen");
  shelf.put("blob-missing", {}, d);
}

function cuts(shelf) {
  let d = new OmpDraft(); const a = d.user("a"); d.assistant("b"); d.add("reset_boundary"); const c = d.user("c"); d.assistant("d"); d.add("reset_boundary"); d.at(c).compaction(a); d.user("kept across the boundary"); d.at(c).compaction(c); d.add("reset_boundary"); d.user("after both"); d.add("reset_boundary");
  shelf.put("reset-boundaries", {}, d);

  d = new OmpDraft(); const k = d.user("a"); d.assistant("b"); d.compaction(k, { summary: "S1", shortSummary: null, method: null, tokensAfter: null, warning: null }); d.user("c"); d.compaction(k, { summary: "S2", shortSummary: "two" }); d.user("d"); d.compaction("nope"); d.assistant("e"); d.compaction(d.leaf); d.add("compaction", {}); d.user("f");
  shelf.put("compactions", {}, d);

  const rollover = { details: { kind: "experimental-context-rollover" } };
  d = new OmpDraft(); d.user("u1"); d.assistant("a1"); d.user("u2"); const last = d.assistant("a2"); d.compaction(last, rollover); d.user("n"); d.compaction(last, rollover); d.add("custom_message", { customType: "skill-prompt", content: "skill", display: true, attribution: "user" }); const kept = d.assistant("a3"); d.compaction(kept, rollover); d.compaction("nope", rollover); d.user("z");
  shelf.put("context-rollover", {}, d);

  const openai = (more) => ({ preserveData: { openaiRemoteCompaction: { provider: "openai", replacementHistory: [{ type: "message" }], ...more } } });
  d = new OmpDraft(); const o = d.user("a"); const through = d.assistant("b"); d.user("mid"); d.compaction(o, openai({})); d.user("c"); d.compaction(o, { ...openai({}), providerReplayThroughEntryId: through }); d.user("d"); d.compaction(o, openai({ provider: "" })); d.user("e"); d.compaction(o, openai({ replacementHistory: [1] })); d.user("f");
  shelf.put("openai-remote-compaction", {}, d);

  const anthropic = (more) => ({ preserveData: { anthropicCompaction: { provider: "anthropic", content: "native", encryptedContent: "e", filesText: "f", model: "m", ...more } } });
  d = new OmpDraft(); const n = d.user("a"); d.assistant("b"); d.compaction(n, anthropic({})); d.user("c"); d.compaction("nope", anthropic({ encryptedContent: "" })); d.user("d"); d.compaction(n, anthropic({ content: "" })); d.compaction(d.leaf, anthropic({}));
  shelf.put("anthropic-compaction", {}, d);

  const frame = (data, more = {}) => ({ data, mimeType: "image/png", cols: 1, rows: 1, chars: 1, font: "5x8", variant: "sent", ...more });
  const archive = (more) => ({ method: "snapcompact", preserveData: { snapcompact: { frames: [], totalChars: 3, truncatedChars: 0, ...more } } });
  d = new OmpDraft(); d.user("a");
  for (const more of [{ textHead: "head\u2588two \u000edim\u000f", textTail: "tail" }, { textHead: "head", textTail: "tail", truncatedChars: 9 }, { textTail: "tail", truncatedChars: 9 }, { text: "only text" }, { frames: [frame("AAAA"), frame("BBBB", { detail: "high" })], textHead: "h", textTail: "t" }, { frames: [frame("AAAA"), frame(""), { data: "x" }] }, { frames: [frame(`blob:sha256:${"0".repeat(64)}`), frame("BBBB")], textTail: "t" }, {}]) { d.compaction("nope", archive(more)); d.user("next"); }
  shelf.put("snapcompact-archives", {}, d);
}

export function ompFiles() {
  const shelf = new Shelf({ set: "hand", dialect: "omp" });
  const slotted = { peers: ["omp"] };
  shelf.put("every-entry-type", {}, everyEntryType());
  shelf.put("every-entry-type-slot", slotted, titleSlot("The title", "user", iso(EPOCH + 9)) + everyEntryType().text());
  const withSlot = new Shelf({ set: "hand", dialect: "omp", peers: ["omp"] });
  slots(withSlot);
  settings(shelf);
  messages(shelf);
  cuts(shelf);

  const two = new OmpDraft({ version: 2 }); two.message({ role: "hookMessage", content: "h", customType: "t", display: true }); two.assistant("b"); two.add("mode_change", { mode: "plan" });
  shelf.put("v2", {}, two);
  const one = new Draft({ version: undefined }); one.old("message", { message: { role: "user", content: "a" } }); one.old("model_change", { model: "x/y" }); one.old("message", { message: { role: "assistant", content: text("b"), provider: "p", model: "m" } }); one.old("compaction", { summary: "S", firstKeptEntryIndex: 1, tokensBefore: 1 }); one.old("mode_change", { mode: "plan" });
  shelf.put("v1-slot", { v1: true, peers: ["omp"] }, titleSlot("one", "auto") + one.text());
  return [...shelf.files, ...withSlot.files];
}
