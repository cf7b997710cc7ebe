// The session files of the robustness probes. Pure: text and bytes out, nothing written.
import { PROJECT } from "../lib/places.mjs";

const stamp = (second) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

export const HEADER = JSON.stringify({ type: "session", version: 3, id: "0199f0a0-0000-7000-8000-000000000001", timestamp: stamp(0), cwd: PROJECT });

export function message(id, parent, text, second = 1, role = "user") {
  const content = [{ type: "text", text }];
  const body = role === "assistant" ? { ...answering, content, timestamp: 1767225600000 } : { role, content, timestamp: 1767225600000 };
  return JSON.stringify({ type: "message", id, parentId: parent, timestamp: stamp(second), message: body });
}

const answering = {
  role: "assistant",
  api: "x",
  provider: "p",
  model: "m",
  usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
  stopReason: "stop",
};

/** Six messages in a row, `m1` to `m6`; a word of each has more than one byte a letter. */
export function chain(count = 6) {
  return Array.from({ length: count }, (_, i) => message(`m${i + 1}`, i === 0 ? null : `m${i}`, `größe ${i + 1} 😀`, i + 1, i % 2 ? "assistant" : "user"));
}

export const file = (lines) => [HEADER].concat(lines).join("\n") + "\n";

const custom = (id, parent, more = {}) => JSON.stringify({ type: "custom", id, parentId: parent, timestamp: stamp(9), customType: "x", ...more });

export function version1(lines) {
  const header = JSON.stringify({ type: "session", id: "0199f0a0-0000-7000-8000-000000000002", timestamp: stamp(0), cwd: PROJECT, provider: "p", modelId: "m", thinkingLevel: "off" });
  const line = (i) => JSON.stringify({ type: "message", timestamp: stamp(i), message: JSON.parse(message("x", null, `line ${i} ${"w".repeat(60)}`, i, i % 2 ? "user" : "assistant")).message });
  return [header, ...Array.from({ length: lines }, (_, i) => line(i + 1))].join("\n") + "\n";
}

const swap = (lines, at, line) => lines.map((old, i) => (i === at ? line : old));

/** Rows that need nothing but a file: what it is called, its bytes, and what offshoot must show: [messages of the context, nodes of the tree]. */
export const FILES = [
  { name: "complete last line, no newline", make: () => file(chain()).trimEnd(), want: [6, 6] },
  { name: "malformed middle line that is nobody's parent", make: () => file([...chain().slice(0, 3), "{malformed", ...chain().slice(3)]), want: [6, 6] },
  { name: "malformed middle line that is a parent", make: () => file(swap(chain(), 2, "{malformed")), want: [3, 5] },
  { name: "a parent damaged inside its text", make: () => file(swap(chain(), 2, chain()[2].replace('"text":"', '"text":'))), want: [5, 6] },
  { name: "invalid UTF-8 in a string", make: () => Buffer.from(file(chain()).replace("größe 3", "\u0001"), "utf8").map((byte) => (byte === 1 ? 0xff : byte)), want: [6, 6] },
  { name: "NUL block at the end", make: () => file(chain()) + "\0".repeat(4096), want: [6, 6] },
  { name: "duplicate id that closes a loop", make: () => file([...chain(), message("m2", "m6", "twice", 8)]), wantTree: 7 },
  { name: "duplicate id, no loop", make: () => file([...chain(), message("m3", "m2", "twice", 8)]), wantTree: 7 },
  { name: "cycle that reaches the leaf", make: () => file([message("a", "c", "1", 1), message("b", "a", "2", 2), message("c", "b", "3", 3), ...[4, 5, 6].map((i) => message(`d${i}`, i === 4 ? "c" : `d${i - 1}`, `${i}`, i))]), want: [6, 6] },
  { name: "leaf that is its own parent", make: () => file([...chain(), message("self", "self", "x", 7)]), want: [1, 7] },
  { name: "orphan leaf", make: () => file([...chain(), message("orphan", "gone", "x", 7)]), want: [1, 7] },
  { name: "header missing", make: () => chain().join("\n") + "\n", refused: true },
  { name: "header malformed", make: () => `${HEADER.slice(0, -8)}\n${chain().join("\n")}\n`, refused: true },
  { name: "header not first", make: () => [...chain(), HEADER].join("\n") + "\n", refused: true },
  { name: "UTF-8 BOM", make: () => `\ufeff${file(chain())}`, want: [6, 6] },
  { name: "line `null`", make: () => file([...chain().slice(0, 3), "null", ...chain().slice(3)]), want: [6, 6] },
  { name: "message entry without message", make: () => file([...chain(), JSON.stringify({ type: "message", id: "empty", parentId: "m6", timestamp: stamp(7) })]), want: [6, 7] },
  { name: "entry without id", make: () => file([...chain(), JSON.stringify({ ...JSON.parse(message("x", "m6", "no id", 7)), id: undefined })]), wantTree: 7 },
  { name: "version 99", make: () => file(chain()).replace('"version":3', '"version":99'), want: [6, 6] },
  { name: "unknown entry type and unknown role", make: () => file([...chain(), custom("u1", "m6").replace('"custom"', '"from_the_future"'), message("u2", "u1", "x", 8, "oracle")]), want: [7, 8] },
  { name: "lone surrogate escape", make: () => file([...chain(), message("lone", "m6", "x", 7).replace('"text":"x"', '"text":"\\ud83d"')]), want: [7, 7] },
  { name: "100,000 nested arrays in one line", make: () => file([...chain(), custom("deep", "m6", { data: "@" }).replace('"@"', "[".repeat(1e5) + "]".repeat(1e5))]), want: [6, 7] },
  { name: "600 KB of text, and a malformed line that makes omp rewrite", make: () => file([...chain(), "{malformed", message("long", "m6", "t".repeat(600_000), 7)]), want: [7, 7], sentinel: "t".repeat(600_000) },
  { name: "chain of 100,000 entries", make: () => file(deep(100_000)), want: [100_000, 100_000], slow: true },
  { name: "chain of 1,000,000 entries", make: () => file(deep(1_000_000)), want: [1_000_000, 1_000_000], slow: true },
  { name: "200,000 children of one node", make: () => file(wide(200_000)), want: [1, 200_001], slow: true },
  { name: "early compaction, 200,000 entries behind it", make: () => file(early(200_000)), want: [200_002, 200_002], slow: true },
  { name: "one line of 120 MB", make: () => file([...chain(), message("huge", "m6", "h".repeat(120 << 20), 7)]), want: [7, 7], slow: true },
  { name: "one line of 600 MB", make: () => huge(600), want: [7, 7], slow: true },
];

function deep(count) {
  return Array.from({ length: count }, (_, i) => message(`e${i}`, i === 0 ? null : `e${i - 1}`, "x", i % 80_000));
}

function wide(count) {
  return [message("root", null, "x")].concat(Array.from({ length: count }, (_, i) => custom(`c${i}`, "root")));
}

function early(count) {
  const first = [message("root", null, "x"), JSON.stringify({ type: "compaction", id: "k", parentId: "root", timestamp: stamp(2), summary: "S", firstKeptEntryId: "root", tokensBefore: 9 })];
  return first.concat(Array.from({ length: count }, (_, i) => message(`e${i}`, i === 0 ? "k" : `e${i - 1}`, "x", i % 80_000)));
}

/** Longer than a JavaScript string may be, so it is bytes. */
function huge(megabytes) {
  const [before, behind] = message("huge", "m6", "@", 7).split("@");
  return Buffer.concat([Buffer.from(file(chain()) + before), Buffer.alloc(megabytes << 20, "h"), Buffer.from(`${behind}\n`)]);
}
