// What both peer servers share: the facts taken from an open session manager, and operations with references.
// Knows only the method names that pi's and omp's managers have in common; never opens or writes a file itself.
import { digest, flattenTree, leavesOf } from "./canon.mjs";

const INNER_POINTS = 20;

/** A point of a tree at which a context is asked for: {kind: "open"} | {kind: "null"} | {kind: "id", id}. */
function pointsOf(entryIds, rows) {
  const leaves = leavesOf(rows);
  const isLeaf = new Set(leaves);
  const inner = [...new Set(entryIds)].filter((id) => id !== null && !isLeaf.has(id));
  const step = Math.max(1, inner.length / INNER_POINTS);
  const spread = Array.from({ length: Math.min(INNER_POINTS, inner.length) }, (_, i) => inner[Math.floor(i * step)]);
  return [{ kind: "open" }, { kind: "null" }, ...[...leaves, ...spread].map((id) => ({ kind: "id", id }))];
}

/** Messages repeat from context to context, so their digests are kept by object. */
const digests = new WeakMap();

export function messageDigest(message) {
  if (message === null || typeof message !== "object") return digest(message);
  let known = digests.get(message);
  if (known === undefined) digests.set(message, (known = digest(message)));
  return known;
}

/** A context in the form that is compared: settings as they are, messages as [role, digest]. */
export function packContext(context, full) {
  const { messages, ...settings } = context;
  const packed = { settings, messages: messages.map((message) => [message?.role ?? null, messageDigest(message)]) };
  return full ? { ...packed, full: messages } : packed;
}

/** True where omp would leave something out that pi shows: failed turns and tool calls without a result. */
function needsRepair(messages) {
  const answered = new Set(messages.filter(({ role }) => role === "toolResult").map(({ toolCallId }) => toolCallId));
  const loose = (block) => block.type === "toolCall" && !answered.has(block.id);
  return messages.some(
    ({ role, stopReason, content }) =>
      role === "assistant" && (["error", "aborted"].includes(stopReason) || (Array.isArray(content) && content.some(loose))),
  );
}

/**
 * Messages without what only one of the peers keeps: for files of one dialect that the other peer reads too.
 * `null` where the peers differ on purpose.
 */
export function plainContext(messages) {
  if (needsRepair(messages)) return null;
  return messages.map(({ role, content, summary, toolCallId, customType }) => digest({ role, content, summary, toolCallId, customType }));
}

function contextAt(manager, point, { full, plain }) {
  try {
    if (point.kind === "id") manager.branch(point.id);
    if (point.kind === "null") manager.resetLeaf();
    const context = manager.buildSessionContext();
    return plain ? { ...point, plain: plainContext(context.messages) } : { ...point, ...packContext(context, full) };
  } catch (error) {
    return { ...point, error: String(error?.message ?? error) };
  }
}

/**
 * Facts of an open session: {header, name, entries: [[id, type, digest]], leafId, tree rows, labels: [[id, label]], contexts}.
 * `points` limits the contexts to given points, `full` adds whole messages, `plain` reduces messages to what dialects share.
 */
export function dumpManager(manager, { points, full = false, plain = false, contexts = true } = {}) {
  const entries = manager.getEntries();
  const ids = entries.map((entry) => entry?.id ?? null);
  const tree = flattenTree(manager.getTree());
  const labels = tree.filter((row) => row[2] !== null).map((row) => [row[1], manager.getLabel(row[1]) ?? null]);
  const { id, timestamp, cwd, parentSession } = manager.getHeader();
  const facts = {
    header: { id, timestamp, cwd, parentSession },
    name: manager.getSessionName() ?? null,
    leafId: manager.getLeafId() ?? null,
    entries: entries.map((entry) => [entry?.id ?? null, entry?.type ?? null, digest(entry)]),
    tree,
    labels,
    contexts: [],
  };
  const wanted = contexts ? (points ?? pointsOf(ids, tree)) : [];
  facts.contexts = wanted.map((point) => contextAt(manager, point, { full, plain }));
  return facts;
}

/** Replaces every {$ref: n} by the result of operation n. */
export function resolveReferences(value, results) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, results));
  if (typeof value.$ref === "number") {
    if (results[value.$ref] == null) throw new Error(`operation ${value.$ref} gave no id to refer to`);
    return results[value.$ref];
  }
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolveReferences(item, results)]));
}

/**
 * Runs `ops` through `apply(operation)` -> id or nothing. Answers one result per operation: the id, null, or
 * {error: true} where an operation marked `mayFail` was refused.
 */
export async function runOperations(ops, apply) {
  const results = [];
  for (const { mayFail, ...op } of ops) {
    const resolved = resolveReferences(op, results);
    try {
      results.push((await apply(resolved)) ?? null);
    } catch (error) {
      if (!mayFail) throw new Error(`${op.op}: ${error?.message ?? error}`);
      results.push({ error: true });
    }
  }
  return results;
}

/** `runOperations` on a peer's manager, with a table of functions (manager, operation) -> id or nothing. */
export function applyOperations(manager, ops, table) {
  return runOperations(ops, (op) => {
    if (!table[op.op]) throw new Error(`this peer has no operation ${op.op}`);
    return table[op.op](manager, op);
  });
}
