// Which keys do what in components. Names of actions and their usual keys are pi's.
import { matchesKey } from "./keys.mjs";

const define = (description, ...defaultKeys) => ({ defaultKeys, description });
export const TUI_KEYBINDINGS = {
  "tui.editor.cursorUp": define("up a line", "up"),
  "tui.editor.cursorDown": define("down a line", "down"),
  "tui.editor.cursorLeft": define("left", "left", "ctrl+b"),
  "tui.editor.cursorRight": define("right", "right", "ctrl+f"),
  "tui.editor.cursorWordLeft": define("left by a word", "alt+left", "ctrl+left", "alt+b"),
  "tui.editor.cursorWordRight": define("right by a word", "alt+right", "ctrl+right", "alt+f"),
  "tui.editor.cursorLineStart": define("start of the line", "home", "ctrl+home", "ctrl+a"),
  "tui.editor.cursorLineEnd": define("end of the line", "end", "ctrl+end", "ctrl+e"),
  "tui.editor.pageUp": define("a page up", "pageUp"),
  "tui.editor.pageDown": define("a page down", "pageDown"),
  "tui.editor.deleteCharBackward": define("delete before the cursor", "backspace"),
  "tui.editor.deleteCharForward": define("delete at the cursor", "delete", "ctrl+d"),
  "tui.editor.deleteWordBackward": define("delete a word before", "ctrl+w", "alt+backspace"),
  "tui.editor.deleteWordForward": define("delete a word after", "alt+d", "alt+delete"),
  "tui.editor.deleteToLineStart": define("delete to the line's start", "ctrl+u"),
  "tui.editor.deleteToLineEnd": define("delete to the line's end", "ctrl+k"),
  "tui.input.newLine": define("a new line", "shift+enter", "ctrl+j"),
  "tui.input.submit": define("send", "enter"),
  "tui.input.tab": define("complete", "tab"),
  "tui.input.copy": define("copy", "ctrl+c"),
  "tui.select.up": define("up", "up"),
  "tui.select.down": define("down", "down"),
  "tui.select.pageUp": define("a page up", "pageUp"),
  "tui.select.pageDown": define("a page down", "pageDown"),
  "tui.select.confirm": define("choose", "enter"),
  "tui.select.cancel": define("cancel", "escape", "ctrl+c"),
  "app.interrupt": define("stop", "escape"),
  "app.clear": define("clear the editor", "ctrl+c"),
  "app.exit": define("leave", "ctrl+d"),
  "app.suspend": define("suspend", "ctrl+z"),
  "app.thinking.cycle": define("next thinking level", "shift+tab"),
  "app.model.cycleForward": define("next model", "ctrl+p"),
  "app.model.cycleBackward": define("previous model", "shift+ctrl+p"),
  "app.model.select": define("choose a model", "ctrl+l"),
  "app.tools.expand": define("show more of the tools", "ctrl+o"),
  "app.thinking.toggle": define("show thinking", "ctrl+t"),
  "app.editor.external": define("open an editor", "ctrl+g"),
  "app.message.followUp": define("queue a message", "alt+enter"),
  "app.message.dequeue": define("take queued messages back", "alt+up"),
  "app.clipboard.pasteImage": define("paste an image", "ctrl+v"),
};

export class KeybindingsManager {
  #definitions;
  #user;

  constructor(definitions = TUI_KEYBINDINGS, userBindings = {}) {
    this.#definitions = definitions;
    this.#user = userBindings;
  }

  getKeys(name) {
    const keys = this.#user[name] ?? this.#definitions[name]?.defaultKeys ?? [];
    return [keys].flat();
  }

  matches(data, name) {
    return this.getKeys(name).some((key) => matchesKey(data, key));
  }

  getDefinition(name) {
    return this.#definitions[name];
  }

  getConflicts() {
    return [];
  }

  setUserBindings(bindings) {
    this.#user = bindings;
  }

  getUserBindings() {
    return this.#user;
  }

  getResolvedBindings() {
    return Object.fromEntries(Object.keys(this.#definitions).map((name) => [name, this.getKeys(name)]));
  }
}

let manager = new KeybindingsManager();
export const getKeybindings = () => manager;
export const setKeybindings = (next) => void (manager = next);
