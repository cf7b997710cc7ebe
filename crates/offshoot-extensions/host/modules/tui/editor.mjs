// Text of several lines that is edited between two rules: what extensions derive their own editors from.
import { CURSOR_MARKER } from "../../rows.mjs";
import { typed, wordEnd, wordStart } from "./input.mjs";
import { getKeybindings } from "./keybindings.mjs";
import { visibleWidth } from "./width.mjs";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const graphemes = (text) => [...segmenter.segment(text)].map(({ segment }) => segment);

/** Pieces of a line of at most `width` columns, broken after blanks where that is possible. */
export function wordWrapLine(line, width) {
  const pieces = [];
  let start = 0;
  let at = 0;
  let used = 0;
  let blank = -1;
  for (const cell of graphemes(line)) {
    const own = visibleWidth(cell);
    if (used + own > width && used > 0) {
      const end = blank > start ? blank : at;
      pieces.push({ text: line.slice(start, end), startIndex: start, endIndex: end });
      used = visibleWidth(line.slice(end, at));
      start = end;
    }
    at += cell.length;
    used += own;
    if (cell === " ") blank = at;
  }
  pieces.push({ text: line.slice(start), startIndex: start, endIndex: line.length });
  return pieces;
}

export class Editor {
  focused = false;
  borderColor;
  onSubmit;
  onChange;
  disableSubmit = false;
  #lines = [""];
  #row = 0;
  #column = 0;
  #theme;
  #padding;
  #most;
  #top = 0;
  #history = [];
  #recalled = -1;
  /** @type {any} */
  tui;

  constructor(tui, theme, { paddingX = 0, autocompleteMaxVisible = 5 } = {}) {
    [this.tui, this.#theme, this.#padding, this.#most] = [tui, theme, paddingX, autocompleteMaxVisible];
    this.borderColor = theme.borderColor;
  }

  getPaddingX = () => this.#padding;
  setPaddingX = (padding) => void (this.#padding = padding);
  getAutocompleteMaxVisible = () => this.#most;
  setAutocompleteMaxVisible = (most) => void (this.#most = most);
  setAutocompleteProvider() {}
  isShowingAutocomplete = () => false;
  invalidate() {}

  addToHistory(text) {
    if (text.trim() && this.#history[0] !== text) this.#history.unshift(text);
  }

  getText() {
    return this.#lines.join("\n");
  }

  getExpandedText() {
    return this.getText();
  }

  getLines() {
    return [...this.#lines];
  }

  getCursor() {
    return { line: this.#row, col: this.#column };
  }

  setText(text) {
    const isOther = text !== this.getText();
    this.#lines = text.replaceAll(/\r\n?/g, "\n").replaceAll("\t", "    ").split("\n");
    this.#row = this.#lines.length - 1;
    this.#column = this.#lines[this.#row].length;
    if (isOther) this.onChange?.(this.getText());
  }

  insertTextAtCursor(text) {
    const rows = text.replaceAll(/\r\n?/g, "\n").split("\n");
    const line = this.#lines[this.#row];
    const tail = line.slice(this.#column);
    const made = [line.slice(0, this.#column) + rows[0], ...rows.slice(1)];
    this.#lines.splice(this.#row, 1, ...made.with(-1, made.at(-1) + tail));
    this.#row += rows.length - 1;
    this.#column = made.at(-1).length;
    this.onChange?.(this.getText());
  }

  #cut(start, end) {
    const line = this.#lines[this.#row];
    this.#lines[this.#row] = line.slice(0, start) + line.slice(end);
    this.#column = start;
    this.onChange?.(this.getText());
  }

  #join(row) {
    if (row < 0 || row + 1 >= this.#lines.length) return;
    const column = this.#lines[row].length;
    this.#lines.splice(row, 2, this.#lines[row] + this.#lines[row + 1]);
    [this.#row, this.#column] = [row, column];
    this.onChange?.(this.getText());
  }

  #vertical(step) {
    if (this.#row + step < 0 || this.#row + step >= this.#lines.length) return this.#recall(-step);
    this.#row += step;
    this.#column = Math.min(this.#column, this.#lines[this.#row].length);
    return undefined;
  }

  /** Earlier texts, with the arrows at the edges. */
  #recall(step) {
    const next = this.#recalled + step;
    if (next < -1 || next >= this.#history.length || (this.#recalled < 0 && this.getText() !== "")) return;
    this.#recalled = next;
    this.setText(next < 0 ? "" : this.#history[next]);
  }

  #submit() {
    if (this.disableSubmit) return;
    const text = this.getText().trim();
    this.#lines = [""];
    [this.#row, this.#column, this.#recalled] = [0, 0, -1];
    this.onChange?.("");
    this.onSubmit?.(text);
  }

  handleInput(data) {
    const is = (name) => getKeybindings().matches(data, name);
    const line = this.#lines[this.#row];
    const at = this.#column;
    const before = at - (graphemes(line.slice(0, at)).at(-1)?.length ?? 0);
    const after = at + (graphemes(line.slice(at))[0]?.length ?? 0);
    const left = () => (at > 0 ? (this.#column = before) : this.#row > 0 && this.#place(this.#row - 1, this.#lines[this.#row - 1].length));
    const right = () => (at < line.length ? (this.#column = after) : this.#row + 1 < this.#lines.length && this.#place(this.#row + 1, 0));
    const actions = {
      "tui.input.newLine": () => this.insertTextAtCursor("\n"),
      "tui.input.submit": () => (line.endsWith("\\") && at === line.length ? (this.#cut(at - 1, at), this.insertTextAtCursor("\n")) : this.#submit()),
      "tui.editor.deleteCharBackward": () => (at > 0 ? this.#cut(before, at) : this.#join(this.#row - 1)),
      "tui.editor.deleteCharForward": () => (at < line.length ? this.#cut(at, after) : this.#join(this.#row)),
      "tui.editor.deleteWordBackward": () => (at > 0 ? this.#cut(wordStart(line, at), at) : this.#join(this.#row - 1)),
      "tui.editor.deleteWordForward": () => this.#cut(at, wordEnd(line, at)),
      "tui.editor.deleteToLineStart": () => this.#cut(0, at),
      "tui.editor.deleteToLineEnd": () => (at < line.length ? this.#cut(at, line.length) : this.#join(this.#row)),
      "tui.editor.cursorLeft": left,
      "tui.editor.cursorRight": right,
      "tui.editor.cursorUp": () => this.#vertical(-1),
      "tui.editor.cursorDown": () => this.#vertical(1),
      "tui.editor.cursorWordLeft": () => (this.#column = wordStart(line, at)),
      "tui.editor.cursorWordRight": () => (this.#column = wordEnd(line, at)),
      "tui.editor.cursorLineStart": () => (this.#column = 0),
      "tui.editor.cursorLineEnd": () => (this.#column = line.length),
    };
    const name = data === "\n" ? "tui.input.newLine" : data === "\r" ? "tui.input.submit" : Object.keys(actions).find(is);
    if (name) return void actions[name]();
    const text = typed(data);
    if (text !== undefined) this.insertTextAtCursor(text);
    return undefined;
  }

  #place(row, column) {
    [this.#row, this.#column] = [row, column];
  }

  renderTopBorder(width, hidden) {
    return this.borderColor(hidden > 0 ? ruleWith(`─── ↑ ${hidden} more `, width) : "─".repeat(width));
  }

  renderBottomBorder(width, hidden) {
    return this.borderColor(hidden > 0 ? ruleWith(`─── ↓ ${hidden} more `, width) : "─".repeat(width));
  }

  render(width) {
    const padding = Math.min(this.#padding, Math.max(0, Math.floor((width - 1) / 2)));
    const room = Math.max(1, width - 2 * padding);
    const layout = padding > 0 ? room : Math.max(1, room - 1);
    const rows = this.#lines.flatMap((line, row) => wordWrapLine(line, layout).map((piece, at, all) => ({ ...piece, row, isLast: at === all.length - 1 })));
    const cursor = rows.findIndex(({ row, startIndex, endIndex, isLast }) => row === this.#row && this.#column >= startIndex && (isLast || this.#column < endIndex));
    const most = Math.max(5, Math.floor((this.tui?.terminal?.rows ?? 24) * 0.3));
    this.#top = Math.max(0, Math.min(this.#top, rows.length - most, cursor), cursor - most + 1);
    const shown = rows.slice(this.#top, this.#top + most);
    const margin = " ".repeat(padding);
    const drawn = shown.map((piece, at) => margin + this.#drawRow(piece, this.#top + at === cursor, room) + margin);
    return [this.renderTopBorder(width, this.#top), ...drawn, this.renderBottomBorder(width, rows.length - this.#top - shown.length)];
  }

  #drawRow({ text, startIndex }, hasCursor, room) {
    const pad = (shown, columns) => shown + " ".repeat(Math.max(0, room - columns));
    if (!hasCursor) return pad(text, visibleWidth(text));
    const at = this.#column - startIndex;
    const under = graphemes(text.slice(at))[0];
    const marker = this.focused ? CURSOR_MARKER : "";
    const row = text.slice(0, at) + marker + `\x1b[7m${under ?? " "}\x1b[0m` + text.slice(at + (under?.length ?? 0));
    return pad(row, visibleWidth(text) + (under ? 0 : 1));
  }
}

const ruleWith = (start, width) => start.slice(0, width) + "─".repeat(Math.max(0, width - visibleWidth(start)));
