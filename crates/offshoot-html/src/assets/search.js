// Search over the full text: candidates from the bytes of the lines, then what the entries really say; highlighting.

/** The most hits that are looked for. */
const MOST_HITS = 1000;
/** Text of an entry that is searched. */
const SEARCHED = 4 << 20;

/** All strings of a value, in order, but names, ids, signatures and pictures. */
function* stringsOf(value) {
  const left = [value];
  while (left.length > 0) {
    const here = left.pop();
    if (typeof here === "string") yield here;
    else if (Array.isArray(here)) for (let at = here.length - 1; at >= 0; at--) left.push(here[at]);
    else if (isObject(here)) {
      const inner = Object.entries(here).filter(([name]) => !["id", "parentId", "type", "role", "timestamp", "data", "toolCallId", "thinkingSignature", "textSignature", "mimeType", "usage", "api", "stopReason"].includes(name));
      for (let at = inner.length - 1; at >= 0; at--) left.push(inner[at][1]);
    }
  }
}

function textOfEntry(entry) {
  let text = "";
  for (const part of stringsOf(entry)) {
    text += `${part}\n`;
    if (text.length > SEARCHED) break;
  }
  return text;
}

/** A rule that finds a word in undecoded JSON. Bytes beyond ASCII and escapes are compared as they are written. */
function rawRule(word) {
  const written = JSON.stringify(word).slice(1, -1);
  const bytes = Array.from(new TextEncoder().encode(written), (byte) => `\\x${byte.toString(16).padStart(2, "0")}`);
  // Programs may write anything beyond ASCII as an escape; such words are looked for in every entry that has one.
  const isAscii = /^[\x20-\x7e]*$/.test(word);
  return new RegExp(isAscii ? bytes.join("") : `${bytes.join("")}|\\\\u[0-9a-f]{4}`, "gi");
}

const wordsIn = (query) => query.toLowerCase().split(/\s+/).filter(Boolean);

/** Entries whose text has every word, in the order of the file; `found` is told of each block's. Ends when `isOver`. */
async function searchText(query, isOver, found) {
  const words = wordsIn(query);
  const longest = words.reduce((a, b) => (b.length > a.length ? b : a), "");
  if (longest.length < 2) return;
  const rules = [longest, longest.toUpperCase()].filter((word, at) => at === 0 || !/^[\x20-\x7e]*$/.test(word)).map(rawRule);
  let place = 0;
  let count = 0;
  let tail = "";
  let checked = -1;
  for (let at = 0; at < LINES.blocks.length; at++) {
    const block = LINES.blocks[at];
    if (block.isPicture) {
      tail = "";
      continue;
    }
    const text = tail + new TextDecoder("latin1").decode(await LINES.open(at));
    if (isOver()) return;
    const start = block.start - tail.length;
    const hits = new Set();
    for (const rule of rules) {
      for (const match of text.matchAll(rule)) {
        const position = start + match.index;
        if (position < (nodes[place]?.start ?? 0)) place = 0;
        while (place < nodes.length && nodes[place].start + nodes[place].length <= position) place++;
        if (place < nodes.length && nodes[place].start <= position && place > checked) hits.add(place);
      }
      place = Math.max(0, place - 1);
    }
    const sure = [];
    for (const candidate of [...hits].sort((a, b) => a - b)) {
      checked = Math.max(checked, candidate);
      const said = await searchedText(nodes[candidate]);
      if (isOver()) return;
      if (words.every((word) => said.includes(word))) sure.push(candidate);
    }
    count += sure.length;
    found(sure, (at + 1) / LINES.blocks.length);
    if (count >= MOST_HITS) return;
    tail = text.slice(-longest.length * 6);
  }
}

async function searchedText(node) {
  if (node.who === QUIET) return "";
  try {
    return textOfEntry(JSON.parse(await LINES.text(node.start, node.length))).toLowerCase();
  } catch {
    return "";
  }
}

/** Marks the words of the search in what is drawn, without changing it. */
function lightUp() {
  if (!window.CSS?.highlights) return;
  CSS.highlights.delete("found");
  const words = wordsIn(state.query).filter((word) => word.length > 1);
  if (words.length === 0) return;
  const ranges = [];
  const texts = document.createTreeWalker(byId("talk"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode() && ranges.length < 5000) {
    const text = texts.currentNode.data.toLowerCase();
    if (text.length !== texts.currentNode.data.length) continue;
    for (const word of words) {
      for (let from = text.indexOf(word); from >= 0 && ranges.length < 5000; from = text.indexOf(word, from + word.length)) {
        const range = new Range();
        range.setStart(texts.currentNode, from);
        range.setEnd(texts.currentNode, from + word.length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
