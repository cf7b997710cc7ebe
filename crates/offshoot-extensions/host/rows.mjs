// Rows of a component as they leave this process: text, styles and links, nothing that moves a cursor or changes a terminal.

/** pi's components mark the cursor with this sequence of their own. */
export const CURSOR_MARKER = "\x1b_pi:c\x07";

const KEPT = /\x1b\[[\d;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/y;
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])|\x9b[0-?]*[ -/]*[@-~]/y;

function cleanRow(row) {
  let out = "";
  for (let at = 0; at < row.length; ) {
    const code = row.charCodeAt(at);
    if (code === 0x1b || code === 0x9b) {
      KEPT.lastIndex = SEQUENCE.lastIndex = at;
      const kept = KEPT.exec(row);
      const skipped = kept ?? SEQUENCE.exec(row);
      if (kept) out += kept[0];
      at += skipped ? skipped[0].length : 1;
    } else {
      if (code === 9) out += "   ";
      else if (code >= 0x20 && !(code >= 0x7f && code < 0xa0)) out += row[at];
      at += 1;
    }
  }
  return out;
}

/** `{rows, cursor?}` of what a component rendered. */
export function ship(lines, width) {
  if (!Array.isArray(lines)) throw new Error("render did not return an array of lines");
  let cursor;
  const rows = lines.flatMap((line) => String(line).split("\n")).map((line, row) => {
    const at = line.indexOf(CURSOR_MARKER);
    if (at >= 0) cursor = { row, column: Math.min(widthOf(line.slice(0, at)), width) };
    return cleanRow(line.replaceAll(CURSOR_MARKER, ""));
  });
  return cursor ? { rows, cursor } : { rows };
}

let widthOf = (text) => cleanRow(text).replace(/\x1b\[[\d;:]*m/g, "").length;

/** The measure of pi-tui, once its module is there. */
export function measureWith(visibleWidth) {
  widthOf = visibleWidth;
}
