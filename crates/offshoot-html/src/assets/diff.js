// Differences of two texts, line by line, with the words that changed. Pure but for the elements at the end.

/** Larger differences are not looked for: all old lines, then all new ones. */
const COMPARED = 4_000_000;
/** Lines that are shown at first, and with each further step. */
const DIFF_STEP = { first: 60, more: 2000 };

/** Lines as {sign, text}; `context` lines around each change stay. */
function difference(before, after, context = 3) {
  const split = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
  const [old, now] = [split(before), split(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let [a, b] = [old.length, now.length];
  while (a > start && b > start && old[a - 1] === now[b - 1]) [a, b] = [a - 1, b - 1];
  const same = (from, to) => old.slice(from, to).map((text) => ({ sign: " ", text }));
  const lines = [...same(Math.max(0, start - context), start), ...middle(old.slice(start, a), now.slice(start, b)), ...same(a, Math.min(old.length, a + context))];
  return lines;
}

function middle(old, now) {
  const gone = old.map((text) => ({ sign: "-", text }));
  const come = now.map((text) => ({ sign: "+", text }));
  if (old.length === 0 || now.length === 0 || old.length * now.length > COMPARED) return [...gone, ...come];
  const width = now.length + 1;
  const longest = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) longest[i * width + j] = old[i] === now[j] ? longest[(i + 1) * width + j + 1] + 1 : Math.max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
  }
  const lines = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) [lines[lines.length], i, j] = [{ sign: " ", text: old[i] }, i + 1, j + 1];
    else if (j >= now.length || (i < old.length && longest[(i + 1) * width + j] >= longest[i * width + j + 1])) lines.push(gone[i++]);
    else lines.push(come[j++]);
  }
  return lines;
}

/** The lines of a diff as a tool writes it: a sign, perhaps the number of the line, and its text. */
function readDiff(text) {
  return text.split("\n").map((line) => {
    const [, sign, number, rest] = /^([+\- ])( *\d+ )?([^]*)$/.exec(line) ?? [null, " ", undefined, line];
    return { sign, number: number ?? "", text: rest };
  });
}

/** Where two texts differ: [start, end of the first, end of the second], by whole words; null if hardly anything is equal. */
function changed(a, b) {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const isWord = (text, at) => /\w/.test(text[at] ?? "");
  while (start > 0 && isWord(a, start - 1) && (isWord(a, start) || isWord(b, start))) start--;
  while (end > 0 && isWord(a, a.length - end) && (isWord(a, a.length - end - 1) || isWord(b, b.length - end - 1))) end--;
  const equal = start + end;
  return equal * 3 < Math.max(a.trim().length, b.trim().length) ? null : [start, a.length - end, b.length - end];
}

/** Marks the words that changed between removed lines and the added ones after them, pair by pair. */
function markWords(lines) {
  for (let at = 0; at < lines.length; ) {
    const count = (sign, from) => {
      let to = from;
      while (to < lines.length && lines[to].sign === sign) to++;
      return to - from;
    };
    const removed = count("-", at);
    const added = count("+", at + removed);
    if (removed > 0 && removed === added) {
      for (let pair = 0; pair < removed; pair++) {
        const [a, b] = [lines[at + pair], lines[at + removed + pair]];
        const found = a.text.length < 2000 && b.text.length < 2000 ? changed(a.text, b.text) : null;
        if (found) [a.marked, b.marked] = [[found[0], found[1]], [found[0], found[2]]];
      }
    }
    at += Math.max(1, removed + added);
  }
  return lines;
}

/** A diff as an element; what is beyond the first lines opens step by step, all of it. */
function diffBox(lines) {
  const box = el("div", "diff");
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Changes");
  markWords(lines);
  const draw = (from, to) => {
    const made = document.createDocumentFragment();
    for (const { sign, number = "", text, marked } of lines.slice(from, to)) {
      const line = el("div", sign === "+" ? "added" : sign === "-" ? "removed" : "");
      line.append(document.createTextNode(plain(sign + number)));
      if (marked && marked[1] > marked[0]) line.append(document.createTextNode(spelled(text.slice(0, marked[0]))), el("span", "word", spelled(text.slice(...marked))), document.createTextNode(spelled(text.slice(marked[1]))));
      else line.append(document.createTextNode(spelled(text)));
      line.append(document.createTextNode("\n"));
      made.append(line);
    }
    box.append(made);
    if (to < lines.length) {
      const more = button("more", `${counted(lines.length - to, "more line")}`, () => {
        more.remove();
        draw(to, to + DIFF_STEP.more);
      });
      box.append(more);
    }
  };
  draw(0, lines.length > DIFF_STEP.first * 1.5 ? DIFF_STEP.first : lines.length);
  return box;
}
