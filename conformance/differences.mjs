// Where offshoot differs from a peer on purpose. Each row: the peer, what is compared, the files, and why.
// A row that no comparison needs any more fails the run, so the table stays true. docs/format.md repeats it in words.
// Aspects: header, name, leaf, ids, types, entries, tree, labels, context, list, list-order, bytes.

export const DIFFERENCES = [
  {
    peer: "pi",
    aspect: "context",
    files: ["vector-03-v1-index-zero"],
    reason: "index 0 of a version 1 compaction counts the header, so it keeps everything; the peers lose the kept messages",
  },
  {
    peer: "omp",
    aspect: "context",
    files: ["context-notes"],
    reason: "omp wraps notes of an experiment in a prompt of its own; offshoot shows the conversation",
  },
  {
    peer: "pi",
    aspect: "tree",
    files: ["vector-11-duplicate-id"],
    reason: "each stored entry has its own node; the peers show the later of two entries with one id twice and the earlier never",
  },
  {
    peer: "omp",
    aspect: "tree",
    files: ["vector-11-duplicate-id"],
    reason: "as for pi: each stored entry has its own node",
  },
  {
    peer: "pi",
    aspect: "list",
    files: ["content-null-or-absent"],
    reason: "pi leaves a whole session out of its list when one message has no content",
  },
];
