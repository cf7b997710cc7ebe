// Where offshoot differs from a peer on purpose. Each row: the peer, what is compared, the files, and why.
// A row that no comparison needs any more fails the run, so the table stays true. `documented` is the row of
// docs/format.md that tells readers.
// `files` names the files, `when(difference, file)` looks at what differs; a row without `files` is for every file.
// A row with `isNewest` is about the newest pi alone, or about the older one alone.
// Aspects: header, name, leaf, ids, types, entries, tree, labels, context, list, list-order, bytes, plan, false-split, branch-edits.

import { IS_NEWEST } from "./lib/places.mjs";

/** The peer's list lacks a session that holds an odd message. */
const isHidden = ({ odd }) => odd === true;

/** The end of a line without the value of `fromId`. */
const withoutFrom = (text) =>
  text
    .slice(text.lastIndexOf("timestamp"))
    .replace(/fromId.{1,4}:.{1,4}[#\w]+/, "")
    .replace(/\.\.\."?$/, "");

/** Two texts that were cut are alike as far as the shorter one goes. */
const alike = (a, b) => a.startsWith(b) || b.startsWith(a);

const ALL = [
  {
    peer: "pi",
    aspect: "context",
    files: ["vector-03-v1-index-zero"],
    reason: "index 0 of a version 1 compaction counts the header, so it keeps everything; the peers lose the kept messages",
    documented: "a version 1 compaction with index 0 keeps everything",
  },
  {
    peer: "omp",
    aspect: "context",
    files: ["context-notes"],
    reason: "omp wraps notes of an experiment in a prompt of its own; offshoot shows the conversation",
    documented: "omp's experimental notes are not wrapped in its prompt",
  },
  {
    peer: "pi",
    aspect: "tree",
    files: ["vector-11-duplicate-id"],
    reason: "each stored entry has its own node; the peers show the later of two entries with one id twice and the earlier never",
    documented: "two entries with one id are two nodes",
  },
  {
    peer: "omp",
    aspect: "tree",
    files: ["vector-11-duplicate-id"],
    reason: "as for pi: each stored entry has its own node",
    documented: "two entries with one id are two nodes",
  },
  {
    peer: "pi",
    aspect: "list",
    when: isHidden,
    reason: "one odd message (no content, none at all) takes a whole session out of pi's list; offshoot lists it",
    documented: "a session with odd messages is listed",
  },
  {
    peer: "omp",
    aspect: "list",
    when: isHidden,
    reason: "as for pi: an odd message takes no session out of the list",
    documented: "a session with odd messages is listed",
  },
  {
    peer: "pi",
    aspect: "list",
    files: ["characters"],
    reason: "a lone surrogate cannot be part of the texts of a list; it is shown as U+FFFD (entries keep it)",
    documented: "a lone surrogate is U+FFFD in names, labels, the texts of a list and requests",
  },
  {
    peer: "pi",
    aspect: "list",
    files: ["repeated-keys"],
    reason: "a message that names its role twice is listed by the first one, which is all that a scan looks at",
    documented: "a message that names its role twice is listed by the first",
  },
  {
    peer: "omp",
    aspect: "list",
    when: ({ summary }) => summary === true,
    reason: "a session without title is named by its last short summary; omp looks for one in the first 4 KB only",
    documented: "an omp session without title is named by its last short summary",
  },
  {
    peer: "omp",
    aspect: "name",
    files: ["pi-entries-and-odd-content"],
    reason: "pi's session_info names a session in omp's dialect too",
    documented: "`session_info` names a session in omp's dialect too",
  },
  {
    peer: "omp",
    aspect: "entries",
    files: ["copilot-replay"],
    reason: "entries are shown as they are stored; omp strips a replayed history when it loads them (contexts agree)",
    documented: "entries of omp's files are shown as they are stored",
  },
  {
    peer: "omp",
    aspect: "context",
    files: ["context-notes-cleared"],
    reason: "as for context-notes: omp wraps notes of an experiment in a prompt of its own",
    documented: "omp's experimental notes are not wrapped in its prompt",
  },
  {
    peer: "omp",
    aspect: "context",
    files: ["anthropic-snapshot"],
    reason: "omp 18.3 keeps what followed the snapshot that the provider's block covers; 18.2, the newest that installs whole, loses it",
    documented: "what follows a snapshot that Anthropic's block covers is kept",
  },
  {
    peer: "omp",
    aspect: "context",
    files: ["snapcompact-archives"],
    reason: "omp unpacks the pictures of an experimental compaction between texts of its own; offshoot gives the summary",
    documented: "omp's picture archives of compactions are not unpacked",
  },
  {
    peer: "omp",
    aspect: "bytes",
    when: ({ left, right }) => [left, right].every((text) => text.includes("fromId")) && alike(withoutFrom(left), withoutFrom(right)),
    reason: "fromId names the leaf that was left, as in pi 0.87 and the documents; omp names the branch point (nothing reads it)",
    documented: "`fromId` names the leaf that was left",
  },
  {
    peer: "pi",
    aspect: "bytes",
    files: ["second-header", "blank-lines", "garbage-between-lines"],
    reason: "a fork copies every line after the header; pi drops those that are no entries",
    documented: "a fork copies every line after the header",
  },
  {
    peer: "pi",
    aspect: "plan",
    files: ["vector-03-v1-index-zero"],
    reason: "as for its context: index 0 keeps everything",
    documented: "a version 1 compaction with index 0 keeps everything",
  },
  {
    peer: "pi",
    aspect: "plan",
    files: ["repeated-keys"],
    reason: "a message that names its role twice counts as what the first says, which is all that a scan looks at",
    documented: "a message that names its role twice is listed by the first",
  },
  {
    peer: "pi",
    aspect: "plan",
    files: ["context-edits", "context-edit-of-a-compaction"],
    reason: "pi leaves system messages out of its estimate if none of them has a timestamp",
    documented: "system messages without a timestamp count as tokens",
  },
  {
    peer: "pi",
    aspect: "plan",
    files: ["compaction-without-summary", "synthesised-from-odd-fields"],
    reason: "pi tells the model `undefined` or a number where a summary is no text",
    documented: "a summary that is no text says nothing to the model",
  },
  {
    peer: "pi",
    aspect: "plan",
    files: ["v4"],
    reason: "pi knows the role hookMessage in version 2 only, and keeps the message from the model elsewhere",
    documented: "a message of role `hookMessage` reaches the model in every version",
  },
  {
    peer: "pi",
    aspect: "false-split",
    reason: "the cut moved back over settings onto an entry that says nothing; the turn before it ended and is not split",
    documented: "settings before a message do not split the turn before it",
  },
  {
    peer: "pi",
    isNewest: false,
    aspect: "branch-edits",
    reason: "edits on the branch that is left count in its summary, as in pi 1.6",
    documented: "a branch summary heeds the edits of the branch",
  },
  {
    peer: "pi",
    isNewest: true,
    aspect: "list",
    when: ({ path }) => path === "/allMessagesText",
    reason: "pi on Node.js 24 takes U+2028 and U+2029 for the end of a line, and leaves the message out",
    documented: "a message with U+2028 or U+2029 is searched with the others",
  },
];

/** Those of the pi that is compared. */
export const DIFFERENCES = ALL.filter(({ isNewest }) => isNewest === undefined || isNewest === IS_NEWEST);
