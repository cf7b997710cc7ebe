// Frames, loaders and styles that pi's own interface has and extensions use.
import { theme } from "../../theme.mjs";
import { CancellableLoader, Container, Loader, Spacer, Text } from "../tui/blocks.mjs";
import { Editor } from "../tui/editor.mjs";
import { getKeybindings } from "../tui/keybindings.mjs";
import { wrapTextWithAnsi } from "../tui/width.mjs";

/** A rule over the whole width. */
export class DynamicBorder {
  #colour;

  constructor(colour = (text) => theme.fg("border", text)) {
    this.#colour = colour;
  }

  invalidate() {}

  render(width) {
    return [this.#colour("─".repeat(Math.max(1, width)))];
  }
}

/** A loader between two rules. */
export class BorderedLoader extends Container {
  #loader;
  #signal = new AbortController();

  constructor(tui, style, message, { cancellable = true } = {}) {
    super();
    const border = () => new DynamicBorder((text) => style.fg("border", text));
    const colours = [(text) => style.fg("accent", text), (text) => style.fg("muted", text)];
    this.#loader = cancellable ? new CancellableLoader(tui, ...colours, message) : new Loader(tui, ...colours, message);
    const hint = cancellable ? [new Spacer(1), new Text(keyHint("tui.select.cancel", "cancel"), 1, 0)] : [];
    for (const child of [border(), this.#loader, ...hint, new Spacer(1), border()]) this.addChild(child);
  }

  get signal() {
    return this.#loader.signal ?? this.#signal.signal;
  }

  set onAbort(listener) {
    if (this.#loader instanceof CancellableLoader) this.#loader.onAbort = listener;
  }

  handleInput(data) {
    this.#loader.handleInput?.(data);
  }

  dispose() {
    this.#loader.stop();
  }
}

/** An editor that knows the interface's own keys: those that it does not have go to offshoot. */
export class CustomEditor extends Editor {
  actionHandlers = new Map();
  onEscape;
  onCtrlD;
  onPasteImage;
  onExtensionShortcut;

  constructor(tui, style, keybindings, options) {
    super(tui, style, options);
    this.keybindings = keybindings;
  }

  onAction(action, handler) {
    this.actionHandlers.set(action, handler);
  }

  handleInput(data) {
    if (this.onExtensionShortcut?.(data)) return;
    if (this.keybindings?.matches(data, "app.interrupt")) return void (this.onEscape ?? this.actionHandlers.get("app.interrupt"))?.();
    if (this.keybindings?.matches(data, "app.exit") && this.getText() === "") return void (this.onCtrlD ?? this.actionHandlers.get("app.exit"))?.();
    for (const [action, handler] of this.actionHandlers) {
      if (action !== "app.interrupt" && action !== "app.exit" && this.keybindings?.matches(data, action)) return void handler();
    }
    super.handleInput(data);
  }
}

export const keyText = (name) => getKeybindings().getKeys(name).join("/");
export const rawKeyHint = (key, description) => theme.fg("dim", key) + theme.fg("muted", ` ${description}`);
export const keyHint = (name, description) => rawKeyHint(keyText(name), description);

const paint = (name) => (text) => theme.fg(name, text);
export const getMarkdownTheme = () => ({
  ...{ heading: paint("mdHeading"), link: paint("mdLink"), linkUrl: paint("mdLinkUrl"), code: paint("mdCode"), codeBlock: paint("mdCodeBlock"), hr: paint("mdHr") },
  ...{ codeBlockBorder: paint("mdCodeBlockBorder"), quote: paint("mdQuote"), quoteBorder: paint("mdQuoteBorder"), listBullet: paint("mdListBullet") },
  ...{ bold: (text) => theme.bold(text), italic: (text) => theme.italic(text), underline: (text) => theme.underline(text), strikethrough: (text) => theme.strikethrough(text) },
  highlightCode: (code) => highlightCode(code),
});
export const getSettingsListTheme = () => ({
  label: (text, isSelected) => (isSelected ? theme.fg("accent", text) : text),
  value: (text, isSelected) => theme.fg(isSelected ? "accent" : "muted", text),
  description: paint("dim"),
  cursor: theme.fg("accent", "→ "),
  hint: paint("dim"),
});
export const highlightCode = (code) => code.split("\n").map((line) => theme.fg("mdCodeBlock", line));

/** A diff with its colours. */
export const renderDiff = (diff) =>
  diff.split("\n").map((row) => theme.fg(row[0] === "+" ? "toolDiffAdded" : row[0] === "-" ? "toolDiffRemoved" : "toolDiffContext", row)).join("\n");

/** The last rows of a text on a screen of that width. */
export function truncateToVisualLines(text, most, width, paddingX = 0) {
  const rows = text ? wrapTextWithAnsi(text, Math.max(1, width - 2 * paddingX)).map((row) => " ".repeat(paddingX) + row) : [];
  return { visualLines: rows.slice(-most), skippedCount: Math.max(0, rows.length - most) };
}
