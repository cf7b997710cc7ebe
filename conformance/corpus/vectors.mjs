// The numbered test vectors of the format's description that are files: each with the roles its context must have.
// Vectors that are operations live in lib/vectors.mjs. Expectations here do not come from a peer: they check the peers too.
import { Draft, Shelf, iso, EPOCH } from "./draft.mjs";

const S = "compactionSummary",
  U = "user",
  A = "assistant";

function oldSession() {
  return new Draft({ version: undefined });
}

function oldMessages(draft, ...turns) {
  for (const turn of turns) {
    const role = turn.startsWith("u") ? "user" : "assistant";
    const content = role === "user" ? turn : [{ type: "text", text: turn }];
    draft.old("message", { message: { role, content, ...(role === "assistant" ? { provider: "p", model: "m" } : {}), timestamp: EPOCH } });
  }
}

function oldCompaction(index, before) {
  const draft = oldSession();
  oldMessages(draft, ...before);
  draft.old("compaction", { summary: "sum", firstKeptEntryIndex: index, tokensBefore: 5 });
  oldMessages(draft, "u9");
  return draft;
}

export function vectorFiles() {
  const shelf = new Shelf({ set: "vector" });
  let d = new Draft();
  d.user("a");
  d.assistant("b");
  shelf.put("vector-01-two-messages", { roles: [U, A], plain: true }, d);

  shelf.put("vector-02-v1-kept-index", { v1: true, roles: [S, A, U, U] }, oldCompaction(2, ["u1", "a1", "u2"]));
  shelf.put("vector-03-v1-index-zero", { v1: true, roles: [S, U] }, oldCompaction(0, ["u1"]));
  shelf.put("vector-04-v1-index-ahead", { v1: true, roles: [S, U] }, oldCompaction(3, ["u1"]));

  d = new Draft();
  const a5 = d.user("a"),
    b5 = d.assistant("b");
  d.compaction(a5, { summary: "S1" });
  d.user("c");
  d.assistant("d");
  d.compaction(b5, { summary: "S2" });
  d.user("e");
  shelf.put("vector-05-second-compaction", { roles: [S, A, U, A, U], plain: true }, d);

  d = new Draft();
  d.user("a");
  d.assistant("b");
  d.compaction("nope");
  d.user("c");
  shelf.put("vector-06-kept-unknown", { roles: [S, U], plain: true }, d);
  d = new Draft();
  d.user("a");
  d.compaction(undefined, { id: "0wn", firstKeptEntryId: "0wn" });
  d.user("c");
  shelf.put("vector-06-kept-own-id", { roles: [S, U], plain: true }, d);

  d = new Draft();
  const a7 = d.user("a");
  d.assistant("b");
  d.label(a7, "x");
  d.label(a7, undefined);
  shelf.put("vector-07-label-cleared", { roles: [U, A], plain: true }, d);

  d = new Draft();
  const a8 = d.user("a");
  d.assistant("b");
  d.at(a8).user("c");
  shelf.put("vector-08-branch", { roles: [U, U], plain: true }, d);

  d = new Draft();
  const a9 = d.user("a");
  d.assistant("x");
  d.at(a9).add("branch_summary", { fromId: a9, summary: "" });
  d.user("c");
  shelf.put("vector-09-empty-summary", { roles: [U, U], plain: true }, d);

  d = new Draft();
  d.user("a");
  d.at("zzz").user("c");
  d.user("d");
  shelf.put("vector-10-orphan", { roles: [U, U], plain: true }, d);

  d = new Draft();
  const a11 = d.user("a");
  d.user("first b", { id: "dup" });
  d.at(a11).assistant("second b", {}, { id: "dup" });
  d.user("c");
  shelf.put("vector-11-duplicate-id", { roles: [U, A, U], plain: true }, d);

  d = new Draft();
  const a14 = d.user("u");
  d.assistant("a");
  const l14 = d.label(a14, "mark");
  d.user("u2");
  d.compaction(l14);
  d.user("u3");
  shelf.put("vector-14-kept-is-a-label", { roles: [S, U, U], plain: true }, d);

  d = new Draft();
  d.user("u1");
  const u15 = d.user("u2");
  d.compaction(u15);
  d.user("u3");
  d.add("context_edit", { targetId: u15, replacement: { content: "EDIT" } });
  shelf.put("vector-15-context-edit", { roles: [S, U, U] }, d);

  const v18 = oldSession();
  oldMessages(v18, "u1", "a1", "u2", "a2");
  shelf.put("vector-18-v1-four-messages", { v1: true, roles: [U, A, U, A] }, v18);

  d = new Draft({ version: 2 });
  d.add("model_change", { provider: "anthropic", modelId: "claude-x" });
  d.add("thinking_level_change", { thinkingLevel: "medium" });
  d.user("hello");
  for (let i = 0; i < 4; i++) d.assistant([], { stopReason: "error", errorMessage: "connection refused", timestamp: EPOCH + i });
  shelf.put("vector-19-settings-root-and-retries", { v2: true, roles: [U, A, A, A, A] }, d);

  // Old lines keep their own timestamps when they are upgraded.
  const kept = oldSession();
  oldMessages(kept, "u1");
  kept.raw(JSON.stringify({ type: "custom", customType: "x", timestamp: iso(EPOCH - 5000) }));
  shelf.put("vector-02-v1-times-kept", { v1: true, roles: [U] }, kept);
  return shelf.files;
}
