// The lines in which two texts differ, with their numbers, for people and for tools.

/** Longest common runs of lines, by the classic table over what is left between equal ends. */
function changes(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const same = before.slice(0, start).map((text) => [" ", text]);
  const tail = end ? before.slice(-end).map((text) => [" ", text]) : [];
  return [...same, ...(a.length * b.length > 4_000_000 ? [...a.map((text) => ["-", text]), ...b.map((text) => ["+", text])] : middle(a, b)), ...tail];
}

function middle(a, b) {
  const table = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let x = a.length - 1; x >= 0; x -= 1) for (let y = b.length - 1; y >= 0; y -= 1) table[x][y] = a[x] === b[y] ? table[x + 1][y + 1] + 1 : Math.max(table[x + 1][y], table[x][y + 1]);
  const out = [];
  let [x, y] = [0, 0];
  while (x < a.length || y < b.length) {
    if (x < a.length && y < b.length && a[x] === b[y]) out.push([" ", a[(x += 1) - 1]], (y += 1) && null);
    else if (x < a.length && (y === b.length || table[x + 1][y] >= table[x][y + 1])) out.push(["-", a[(x += 1) - 1]]);
    else out.push(["+", b[(y += 1) - 1]]);
  }
  return out.filter(Boolean);
}

const linesOf = (text) => (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

export function generateDiffString(before, after, context = 4) {
  const all = changes(linesOf(before), linesOf(after));
  const width = String(Math.max(linesOf(before).length, linesOf(after).length)).length;
  const near = all.map((_, at) => all.slice(Math.max(0, at - context), at + context + 1).some(([kind]) => kind !== " "));
  let [old, now, skipped] = [0, 0, false];
  /** @type {number | undefined} */
  let first;
  const rows = [];
  all.forEach(([kind, text], at) => {
    if (kind !== "+") old += 1;
    if (kind !== "-") now += 1;
    if (kind !== " ") first ??= now || 1;
    if (kind === "-" && first === now) first = now + 1;
    if (near[at]) rows.push(`${kind}${String(kind === "+" ? now : old).padStart(width)} ${text}`);
    else if (!skipped || rows.at(-1) !== SKIP) rows.push(SKIP);
    skipped = !near[at];
  });
  return { diff: rows.map((row) => (row === SKIP ? ` ${" ".repeat(width)} ...` : row)).join("\n"), firstChangedLine: first };
}

const SKIP = Symbol("lines that are the same");

export function generateUnifiedPatch(file, before, after) {
  const all = changes(linesOf(before), linesOf(after));
  const [old, now] = [linesOf(before).length, linesOf(after).length];
  return `--- ${file}\n+++ ${file}\n@@ -1,${old} +1,${now} @@\n${all.map(([kind, text]) => kind + text).join("\n")}\n`;
}

export const diffLines = (before, after, file) => ({ ...generateDiffString(before, after), patch: generateUnifiedPatch(file, before, after) });
