// Values made comparable: canonical JSON (sorted keys), digests of it, the first place where two values differ,
// and a nested tree made flat. Knows nothing of peers or of offshoot.
import { createHash } from "node:crypto";

/** Canonical JSON text. What JSON cannot say (undefined, NaN, Infinity) becomes what JSON.stringify makes of it. */
export function canon(value) {
  let text = "";
  const left = [[value]]; // what is to be written, last first: [value], or a finished piece of text
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "string") {
      text += next;
      continue;
    }
    let [item] = next;
    while (item !== null && typeof item === "object" && typeof item.toJSON === "function") item = item.toJSON();
    if (item === null || typeof item !== "object") {
      text += JSON.stringify(item) ?? "null";
    } else if (Array.isArray(item)) {
      left.push("]", ...item.flatMap((inner, i) => (i > 0 ? [",", [inner]] : [[inner]])).reverse(), "[");
    } else {
      const keys = Object.keys(item)
        .filter((key) => item[key] !== undefined)
        .sort();
      const members = keys.flatMap((key, i) => [`${i > 0 ? "," : ""}${JSON.stringify(key)}:`, [item[key]]]);
      left.push("}", ...members.reverse(), "{");
    }
  }
  return text;
}

export function digest(value) {
  return createHash("sha256").update(canon(value)).digest("hex");
}

export function digestBytes(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

const short = (value) => {
  const text = value === undefined ? "(absent)" : canon(value);
  return text.length > 160 ? `${text.slice(0, 157)}...` : text;
};

/** Two long texts, cut to where they part. */
function shortPair(left, right) {
  if (typeof left !== "string" || typeof right !== "string") return [short(left), short(right)];
  let at = 0;
  while (at < left.length && left[at] === right[at]) at++;
  const start = Math.max(0, at - 60);
  return [left, right].map((text) => short((start > 0 ? "..." : "") + text.slice(start, start + 150)));
}

/** `null` when equal as JSON, else {path, left, right} of the first difference in canonical order. */
export function firstDifference(left, right, path = "") {
  if (canon(left ?? null) === canon(right ?? null) && (left === undefined) === (right === undefined)) return null;
  const objects = [left, right].every((v) => v !== null && typeof v === "object");
  if (!objects || Array.isArray(left) !== Array.isArray(right)) {
    const [shortLeft, shortRight] = shortPair(left, right);
    return { path, left: shortLeft, right: shortRight };
  }
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  for (const key of Array.isArray(left) ? keys : [...keys].sort()) {
    const found = firstDifference(left[key], right[key], `${path}/${key}`);
    if (found) return found;
  }
  return null;
}

/**
 * Nested nodes {entry, children, label?, labelTimestamp?} as pre-order rows [depth, id, label, labelTimestamp].
 * Iterative, since trees may be a million deep; `limit` bounds a tree that repeats nodes.
 */
export function flattenTree(roots, limit = 5_000_000) {
  const rows = [];
  const stack = roots.map((node) => [0, node]).reverse();
  while (stack.length > 0) {
    const [depth, node] = stack.pop();
    rows.push([depth, node.entry?.id ?? null, node.label ?? null, node.labelTimestamp ?? null]);
    if (rows.length > limit) throw new Error(`tree has more than ${limit} nodes`);
    for (let i = node.children.length - 1; i >= 0; i--) stack.push([depth + 1, node.children[i]]);
  }
  return rows;
}

/** Ids of rows without children, in tree order, each once. */
export function leavesOf(rows) {
  const leaves = rows.filter((row, i) => row[1] !== null && !(rows[i + 1]?.[0] > row[0])).map((row) => row[1]);
  return [...new Set(leaves)];
}
