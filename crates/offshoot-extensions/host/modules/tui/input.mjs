// One line that is edited.
import { getKeybindings } from "./keybindings.mjs";
import { decodeKittyPrintable } from "./keys.mjs";
import { CURSOR_MARKER } from "../../rows.mjs";
import { visibleWidth } from "./width.mjs";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const graphemes = (text) => [...segmenter.segment(text)].map(({ segment }) => segment);

/** Where the word before the cursor starts. */
export function wordStart(text, at) {
  return text.slice(0, at).replace(/(\w+|[^\w\s]+)?\s*$/, "").length;
}

export function wordEnd(text, at) {
  return at + (/^\s*(\w+|[^\w\s]+)?/.exec(text.slice(at))?.[0].length ?? 0);
}

/** Text that a key or a paste means; undefined for control keys. */
export function typed(data) {
  const pasted = /^\x1b\[200~([\s\S]*?)\x1b\[201~$/.exec(data);
  if (pasted) return pasted[1];
  const decoded = decodeKittyPrintable(data);
  if (decoded !== undefined) return decoded;
  return /[\x00-\x1f\x7f-\x9f]/.test(data) ? undefined : data;
}

export class Input {
  onSubmit;
  onEscape;
  focused = false;
  #value = "";
  #cursor = 0;
  #options;

  constructor(options = {}) {
    this.#options = options;
  }

  getValue() {
    return this.#value;
  }

  setValue(value) {
    this.#value = value;
    this.#cursor = Math.min(this.#cursor, value.length);
  }

  invalidate() {}

  #replace(start, end, text) {
    this.#value = this.#value.slice(0, start) + text + this.#value.slice(end);
    this.#cursor = start + text.length;
  }

  handleInput(data) {
    const is = (name) => getKeybindings().matches(data, name);
    const [value, at] = [this.#value, this.#cursor];
    const before = at - (graphemes(value.slice(0, at)).at(-1)?.length ?? 0);
    const after = at + (graphemes(value.slice(at))[0]?.length ?? 0);
    const actions = {
      "tui.select.cancel": () => this.onEscape?.(),
      "tui.input.submit": () => this.onSubmit?.(value),
      "tui.editor.deleteCharBackward": () => this.#replace(before, at, ""),
      "tui.editor.deleteCharForward": () => this.#replace(at, after, ""),
      "tui.editor.deleteWordBackward": () => this.#replace(wordStart(value, at), at, ""),
      "tui.editor.deleteWordForward": () => this.#replace(at, wordEnd(value, at), ""),
      "tui.editor.deleteToLineStart": () => this.#replace(0, at, ""),
      "tui.editor.deleteToLineEnd": () => this.#replace(at, value.length, ""),
      "tui.editor.cursorLeft": () => (this.#cursor = before),
      "tui.editor.cursorRight": () => (this.#cursor = after),
      "tui.editor.cursorLineStart": () => (this.#cursor = 0),
      "tui.editor.cursorLineEnd": () => (this.#cursor = value.length),
      "tui.editor.cursorWordLeft": () => (this.#cursor = wordStart(value, at)),
      "tui.editor.cursorWordRight": () => (this.#cursor = wordEnd(value, at)),
    };
    const name = data === "\n" ? "tui.input.submit" : Object.keys(actions).find(is);
    if (name) return void actions[name]();
    const text = typed(data);
    if (text !== undefined) this.#replace(at, at, text.replaceAll(/[\r\n]+/g, ""));
    return undefined;
  }

  render(width) {
    const prompt = this.#options.prompt ?? "> ";
    const room = Math.max(1, width - visibleWidth(prompt));
    const marker = this.focused ? CURSOR_MARKER : "";
    if (!this.#value && this.#options.placeholder) {
      const style = this.#options.placeholderStyle ?? ((text) => text);
      return [`${prompt}${marker}${style(this.#options.placeholder.slice(0, room))}`];
    }
    const cells = graphemes(this.#value);
    const index = graphemes(this.#value.slice(0, this.#cursor)).length;
    const isAtEnd = index >= cells.length;
    let [start, used] = [0, 0];
    const widthUpTo = (from, to) => cells.slice(from, to).reduce((sum, cell) => sum + visibleWidth(cell), 0);
    while (widthUpTo(start, index) + 1 > room) start += 1;
    let end = start;
    for (; end < cells.length && used + visibleWidth(cells[end]) <= room - (isAtEnd ? 1 : 0); end += 1) used += visibleWidth(cells[end]);
    const under = isAtEnd ? " " : cells[index];
    const text = cells.slice(start, index).join("") + marker + `\x1b[7m${under}\x1b[27m` + cells.slice(index + 1, end).join("");
    const shown = widthUpTo(start, end) + (isAtEnd ? 1 : 0);
    return [prompt + text + " ".repeat(Math.max(0, room - shown))];
  }
}
