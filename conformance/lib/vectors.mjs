// The numbered test vectors that are operations: lists for `grow`, run by pi and by offshoot.

const EPOCH = 1767225600000;
const user = (content) => ({ op: "appendMessage", message: { role: "user", content, timestamp: EPOCH } });
const assistant = (text) => ({
  op: "appendMessage",
  message: {
    role: "assistant",
    content: [{ type: "text", text }],
    api: "x",
    provider: "p",
    model: "m",
    stopReason: "stop",
    timestamp: EPOCH,
  },
});
const ref = (n) => ({ $ref: n });

export const OPERATION_VECTORS = {
  "vector-07-labels": [
    user("a"),
    assistant("b"),
    { op: "appendLabelChange", targetId: ref(0), label: "x" },
    { op: "appendLabelChange", targetId: ref(0) },
  ],
  "vector-08-branch": [user("a"), assistant("b"), { op: "branch", entryId: ref(0) }, user("c")],
  "vector-09-empty-summary": [user("a"), assistant("b"), { op: "branchWithSummary", entryId: ref(0), summary: "" }, user("c")],
  "vector-13-first-reply": [user("a"), assistant("b")],
  "vector-14-branched-through-a-label": [
    user("u"),
    assistant("a"),
    { op: "appendLabelChange", targetId: ref(0), label: "mark" },
    user("u2"),
    { op: "appendCompaction", summary: "S", firstKeptEntryId: ref(2), tokensBefore: 9 },
    user("u3"),
    { op: "createBranchedSession", leafId: ref(5) },
  ],
  "vector-15-context-edit": [
    user("u1"),
    assistant("a1"),
    user("u2"),
    { op: "appendCompaction", summary: "S", firstKeptEntryId: ref(2), tokensBefore: 9 },
    user("u3"),
    { op: "appendContextEdit", targetId: ref(2), replacement: { content: "EDIT" } },
    { op: "appendContextEdit", targetId: ref(1), replacement: { content: "blocks" } },
  ],
  "vector-16-summary-from-a-leaf": [user("a"), assistant("b"), { op: "branchWithSummary", entryId: ref(0), summary: "bs" }],
  "vector-16-summary-at-the-root": [user("a"), assistant("b"), { op: "branchWithSummary", entryId: null, summary: "bs" }],
  "vector-16-summary-without-a-leaf": [
    user("a"),
    assistant("b"),
    { op: "resetLeaf" },
    { op: "branchWithSummary", entryId: null, summary: "bs" },
  ],
  "compaction-keeps-nothing": [
    user("a"),
    assistant("b"),
    { op: "appendCompaction", summary: "S", firstKeptEntryId: null, tokensBefore: 9 },
    user("c"),
  ],
  "compaction-gathers-system-messages": [
    {
      op: "appendMessage",
      message: {
        role: "system",
        content: "base",
        sections: { a: "1", b: "2" },
        toolsAdded: [
          { name: "t", description: "d", parameters: {} },
          { name: "gone", description: "d", parameters: {} },
        ],
        timestamp: EPOCH,
      },
    },
    user("a"),
    {
      op: "appendMessage",
      message: {
        role: "system",
        content: [{ type: "text", text: "more" }],
        sections: { a: null, c: "3" },
        toolsRemoved: [{ name: "gone" }],
        timestamp: EPOCH + 1,
      },
    },
    assistant("b"),
    { op: "appendCompaction", summary: "S", firstKeptEntryId: ref(1), tokensBefore: 9 },
    user("c"),
  ],
  names: [
    user("a"),
    assistant("b"),
    { op: "appendSessionInfo", name: "  one\r\n\ntwo " },
    { op: "appendSessionInfo", name: "three" },
    { op: "appendSessionInfo", name: " " },
  ],
  "awkward-text": [
    user('\u2028 \ud83d \u0000\u001f\u007f "\\/ 😀 \u0085'),
    assistant("é\ufeff"),
    { op: "appendCustomEntry", customType: "x", data: { "-0": -0, big: 1e21, small: 1e-7, f: 0.1, nested: [[], {}, null] } },
    { op: "appendCustomEntry", customType: "no data" },
  ],
};
