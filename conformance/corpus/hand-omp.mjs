// Hand-made files of omp's dialect: with and without the title slot, every entry type.
// Each file holds at least one entry that only omp writes, so that a reader can tell the dialect without a slot.
import { Draft, EPOCH, OmpDraft, Shelf, iso, text, titleSlot, toolCall, usage } from "./draft.mjs";

const THINKING = { type: "thinking", thinking: "hm", thinkingSignature: "c2ln" };

function everyEntryType() {
  const d = new OmpDraft({
    title: "old title",
    titleSource: "auto",
    additionalDirectories: ["/a", "/b"],
    previousSessionFiles: ["/x.jsonl"],
    providerPromptCacheKey: "k",
    parentSession: "0199a3c4-0000-7000-8000-000000000000",
  });
  d.add("title_change", { title: "T", previousTitle: "old title", source: "user", trigger: "rename" });
  d.add("model_change", { model: "openai/gpt/x", role: "smol", resolvedModelIsFallback: false });
  d.add("model_change", { model: "openai/other", role: "fallback", resolvedModelIsFallback: true });
  d.add("thinking_level_change", { thinkingLevel: "high", configured: "auto" });
  d.add("session_init", {
    systemPrompt: "be good",
    task: "do it",
    tools: ["read"],
    outputSchema: { type: "object" },
    agent: "scout",
    spawns: "*",
  });
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
  d.message({
    role: "bashExecution",
    command: "ls",
    output: "x",
    exitCode: 0,
    cancelled: false,
    truncated: false,
    meta: { truncation: null },
    timestamp: EPOCH,
  });
  d.add("model_usage", { purpose: "title", role: "tiny", api: "a", provider: "p", model: "m", usage: usage(), stopReason: "stop" });
  d.add("ttsr_injection", { injectedRules: ["r1", "r3"] });
  d.label(u, "mark");
  d.add("compaction", {
    summary: "S",
    shortSummary: "s",
    firstKeptEntryId: u,
    tokensBefore: 10,
    tokensAfter: 4,
    method: "soft",
    details: { readFiles: [] },
    fromExtension: true,
    preserveData: { other: 1 },
    warning: "little freed",
  });
  d.add("custom", { customType: "foreign_session_import", data: { source: "claude" } });
  d.add("custom_message", { customType: "t", content: "c", display: true, attribution: "user" });
  d.add("mode_change", { mode: "none" });
  d.at(u).add("branch_summary", { fromId: u, summary: "B", details: { a: 1 }, fromExtension: false });
  d.user("go on", {});
  d.add("type_of_tomorrow", { x: 1 });
  return d;
}

function slots(shelf) {
  const body = () => {
    const d = new OmpDraft({ title: "from the header", titleSource: "auto" });
    d.user("hi");
    d.assistant("yes");
    return d.text();
  };
  shelf.put("slot-user-title", {}, titleSlot("A title", "user") + body());
  shelf.put("slot-auto-title", {}, titleSlot('日本語 "quoted" \u2028', "auto") + body());
  shelf.put("slot-empty-title", {}, titleSlot("", undefined) + body());
  shelf.put("slot-header-only", {}, titleSlot("", undefined) + new Draft().text());
  shelf.put("no-slot-title-in-header", {}, body());
  shelf.put("slot-crlf", {}, (titleSlot("A title", "user") + body()).replaceAll("\n", "\r\n"));
}

function settings(shelf) {
  let d = new Draft();
  d.user("a");
  d.assistant("b");
  d.add("model_change", { model: "x/y" });
  d.assistant("c", { provider: "q", model: "r" });
  d.add("model_change", { model: "s/t", role: "slow" });
  d.add("model_change", { model: "u/v", role: null });
  shelf.put("models-explicit-default-stays", {}, d);
  d = new Draft();
  d.user("a");
  d.add("mode_change", { mode: "none" });
  d.assistant("b");
  d.assistant("c", { provider: "q", model: "r", stopReason: "error" });
  d.add("model_change", { model: "", role: "default" });
  d.add("model_change", { model: "s/t", role: "smol" });
  d.message({ role: "assistant", content: [] });
  shelf.put("models-inferred-from-assistants", {}, d);
  d = new OmpDraft();
  d.user("a");
  for (const fields of [
    { thinkingLevel: "high" },
    { thinkingLevel: null, configured: null },
    { configured: "auto" },
    { thinkingLevel: "low", configured: null },
    {},
  ])
    d.add("thinking_level_change", fields);
  shelf.put("thinking-levels", {}, d);
  d = new OmpDraft();
  d.user("a");
  for (const serviceTier of [
    "priority",
    "openai-only",
    "claude-only",
    "flex",
    "nonsense",
    null,
    { google: "auto", openai: "default", anthropic: "scale" },
    { openai: "nonsense" },
    { anthropic: "flex", zzz: 1 },
    ["priority"],
    undefined,
  ])
    d.add("service_tier_change", { serviceTier });
  shelf.put("service-tiers", {}, d);
  d = new OmpDraft();
  d.add("mode_change", { mode: "plan", data: { a: 1 } });
  d.user("a");
  d.add("mode_change", { mode: "vibe" });
  d.add("mode_change", { mode: "plan", data: null });
  d.add("mode_change", {});
  d.add("ttsr_injection", { injectedRules: [] });
  shelf.put("modes", {}, d);
  d = new OmpDraft();
  const u = d.user("a");
  d.add("mode_change", { mode: "plan" });
  d.add("ttsr_injection", { injectedRules: ["x"] });
  d.compaction("nope");
  d.add("reset_boundary");
  d.at(u).add("ttsr_injection", { injectedRules: ["y"] });
  shelf.put("settings-survive-cuts", {}, d);
}

export function ompFiles() {
  const shelf = new Shelf({ set: "hand", dialect: "omp" });
  const slotted = { peers: ["omp"] };
  shelf.put("every-entry-type", {}, everyEntryType());
  shelf.put("every-entry-type-slot", slotted, titleSlot("The title", "user", iso(EPOCH + 9)) + everyEntryType().text());
  const withSlot = new Shelf({ set: "hand", dialect: "omp", peers: ["omp"] });
  slots(withSlot);
  settings(shelf);

  const two = new OmpDraft({ version: 2 });
  two.message({ role: "hookMessage", content: "h", customType: "t", display: true });
  two.assistant("b");
  two.add("mode_change", { mode: "plan" });
  shelf.put("v2", {}, two);
  const one = new Draft({ version: undefined });
  one.old("message", { message: { role: "user", content: "a" } });
  one.old("model_change", { model: "x/y" });
  one.old("message", { message: { role: "assistant", content: text("b"), provider: "p", model: "m" } });
  one.old("compaction", { summary: "S", firstKeptEntryIndex: 1, tokensBefore: 1 });
  one.old("mode_change", { mode: "plan" });
  shelf.put("v1-slot", { v1: true, peers: ["omp"] }, titleSlot("one", "auto") + one.text());
  return [...shelf.files, ...withSlot.files];
}
