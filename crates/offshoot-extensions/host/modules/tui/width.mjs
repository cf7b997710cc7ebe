// How wide text is on a terminal, and cutting and wrapping it there. Escape sequences take no place and survive every cut.

const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-~])/y;
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const WIDE =
  /^[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]/u;
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{RI}\p{RI}|[#*\d]\ufe0f?\u20e3|\p{Extended_Pictographic}.*\u200d)/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\p{Cc}]+$/u;
const PLAIN = /^[\x20-\x7e]*$/;
const TAB = "   ";

function graphemeWidth(grapheme) {
  if (grapheme === "\t") return TAB.length;
  if (NO_WIDTH.test(grapheme)) return 0;
  return EMOJI.test(grapheme) || WIDE.test(grapheme) ? 2 : 1;
}

/**
 * The parts of a text: escape sequences `{code}` and graphemes `{text, width}`.
 *
 * @returns {Generator<{ code: string, text?: undefined, width?: undefined } | { code?: undefined, text: string, width: number }>}
 */
export function* parts(text) {
  for (let at = 0; at < text.length; ) {
    if (text[at] === "\x1b") {
      SEQUENCE.lastIndex = at;
      const found = SEQUENCE.exec(text);
      if (found) {
        yield { code: found[0] };
        at += found[0].length;
        continue;
      }
    }
    const next = text.indexOf("\x1b", at + 1);
    const run = text.slice(at, next < 0 ? text.length : next);
    if (PLAIN.test(run)) for (const letter of run) yield { text: letter, width: 1 };
    else for (const { segment } of segmenter.segment(run)) yield { text: segment, width: graphemeWidth(segment) };
    at += run.length;
  }
}

export function visibleWidth(text) {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const part of parts(text)) width += part.width ?? 0;
  return width;
}

export const stripTerminalSequences = (text) => [...parts(text)].map((part) => part.text ?? "").join("");

/** The text in at most so many columns; `ellipsis` says that something is missing. */
export function truncateToWidth(text, width, ellipsis = "...", pad = false) {
  const whole = visibleWidth(text);
  if (whole <= width) return pad ? text + " ".repeat(width - whole) : text;
  const mark = truncateMark(ellipsis, width);
  const room = width - visibleWidth(mark);
  let out = "";
  let used = 0;
  for (const part of parts(text)) {
    if (part.code !== undefined) {
      out += part.code;
      continue;
    }
    if (used + part.width > room) break;
    out += part.text;
    used += part.width;
  }
  const cut = mark ? `${out}\x1b[0m${mark}\x1b[0m` : `${out}\x1b[0m`;
  return pad ? cut + " ".repeat(Math.max(0, width - used - visibleWidth(mark))) : cut;
}

const truncateMark = (mark, width) => (visibleWidth(mark) <= width ? mark : sliceByColumn(mark, 0, width));

/** The columns from `start` on, with the styles that hold there. */
export function sliceByColumn(text, start, length) {
  let out = "";
  let at = 0;
  let styles = "";
  for (const part of parts(text)) {
    if (at >= start + length && !part.code) break;
    if (part.code !== undefined) {
      if (at < start) styles += part.code;
      else if (at < start + length) out += part.code;
      continue;
    }
    if (at >= start && at + part.width <= start + length) {
      out += styles + part.text;
      styles = "";
    }
    at += part.width;
  }
  return out;
}

/** Styles that are on, and the sequence that turns them on again. */
class Styles {
  #on = new Map();

  take(code) {
    const parameters = /^\x1b\[([\d;:]*)m$/.exec(code)?.[1];
    if (parameters === undefined) return;
    const numbers = parameters === "" ? ["0"] : parameters.split(";");
    for (let at = 0; at < numbers.length; at += 1) {
      const number = Number(numbers[at] || 0);
      const long = number === 38 || number === 48 ? (numbers[at + 1] === "2" ? 5 : 3) : 1;
      this.#set(number, numbers.slice(at, at + long).join(";"));
      at += long - 1;
    }
  }

  #set(number, text) {
    const slot = slotOf(number);
    if (number === 0) this.#on.clear();
    else if (slot.off) slot.off.forEach((name) => this.#on.delete(name));
    else this.#on.set(slot.name, text);
  }

  get isUnderlined() {
    return this.#on.has("underline");
  }

  again() {
    return this.#on.size ? `\x1b[${[...this.#on.values()].join(";")}m` : "";
  }
}

const ATTRIBUTES = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 5: "blink", 7: "inverse", 8: "hidden", 9: "strike" };
const OFF = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 25: ["blink"], 27: ["inverse"], 28: ["hidden"], 29: ["strike"], 39: ["fg"], 49: ["bg"] };
function slotOf(number) {
  if (OFF[number]) return { off: OFF[number] };
  if (ATTRIBUTES[number]) return { name: ATTRIBUTES[number] };
  const isBackground = (number >= 40 && number <= 48) || (number >= 100 && number <= 107);
  return { name: isBackground ? "bg" : "fg" };
}

/** Words and the blanks between them, each with its width. */
function words(line) {
  const found = [];
  let pending = "";
  for (const part of parts(line)) {
    if (part.code) {
      pending += part.code;
      continue;
    }
    const isBlank = part.text === " " || part.text === "\t";
    const last = found.at(-1);
    const piece = { ...part, code: pending };
    pending = "";
    if (last && last.isBlank === isBlank) last.pieces.push(piece);
    else found.push({ isBlank, pieces: [piece] });
  }
  return { found, rest: pending };
}

/** Rows of at most `width` columns, broken between words where that is possible; styles continue on the next row. */
export function wrapTextWithAnsi(text, width) {
  if (!text) return [""];
  const rows = [];
  const styles = new Styles();
  for (const line of text.split("\n")) wrapLine(line, width, styles, rows);
  return rows;
}

function wrapLine(line, width, styles, rows) {
  let row = styles.again();
  let used = 0;
  let isFirst = true;
  const close = () => {
    rows.push(withoutTrailingBlanks(row) + (styles.isUnderlined ? "\x1b[24m" : ""));
    row = styles.again();
    used = 0;
    isFirst = false;
  };
  const add = ({ code, text, width: own }) => {
    for (const sequence of code.match(/\x1b[^\x1b]*/g) ?? []) styles.take(sequence);
    row += code + text;
    used += own;
  };
  const { found, rest } = words(line);
  for (const { isBlank, pieces } of found) {
    const whole = pieces.reduce((sum, piece) => sum + piece.width, 0);
    if (isBlank && used === 0 && !isFirst) {
      pieces.forEach((piece) => piece.code && add({ code: piece.code, text: "", width: 0 }));
      continue;
    }
    if (used > 0 && used + whole > width) close();
    if (isBlank && used === 0 && !isFirst) {
      pieces.forEach((piece) => piece.code && add({ code: piece.code, text: "", width: 0 }));
      continue;
    }
    for (const piece of pieces) {
      if (used + piece.width > width && used > 0) close();
      add(piece);
    }
  }
  for (const sequence of rest.match(/\x1b[^\x1b]*/g) ?? []) styles.take(sequence);
  row += rest;
  if (used === 0 && !isFirst) rows[rows.length - 1] += rest;
  else rows.push(withoutOverhang(row, width));
}

const withoutTrailingBlanks = (row) => row.replace(/[ \t]+((?:\x1b\[[\d;:]*m)*)$/, "$1");
const withoutOverhang = (row, width) => (visibleWidth(row) > width ? withoutTrailingBlanks(row) : row);

/** A row with a background over its whole width. */
export function withBackground(row, width, background) {
  const padded = row + " ".repeat(Math.max(0, width - visibleWidth(row)));
  return background ? background(padded) : padded;
}
