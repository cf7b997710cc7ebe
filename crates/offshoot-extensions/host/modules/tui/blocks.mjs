// Components without keys: text, boxes, containers, space, loaders.
import { getKeybindings } from "./keybindings.mjs";
import { truncateToWidth, visibleWidth, withBackground, wrapTextWithAnsi } from "./width.mjs";

export class Container {
  children = [];

  addChild(component) {
    this.children.push(component);
  }

  removeChild(component) {
    const at = this.children.indexOf(component);
    if (at >= 0) this.children.splice(at, 1);
  }

  clear() {
    this.children = [];
  }

  invalidate() {
    for (const child of this.children) child.invalidate?.();
  }

  render(width) {
    return this.children.flatMap((child) => child.render(width));
  }
}

export class Text {
  #text;
  #x;
  #y;
  #background;

  constructor(text = "", paddingX = 1, paddingY = 1, background = undefined) {
    [this.#text, this.#x, this.#y, this.#background] = [text, paddingX, paddingY, background];
  }

  setText(text) {
    this.#text = text;
  }

  setCustomBgFn(background) {
    this.#background = background;
  }

  invalidate() {}

  render(width) {
    if (!this.#text || this.#text.trim() === "") return [];
    const margin = " ".repeat(this.#x);
    const room = Math.max(1, width - 2 * this.#x);
    const rows = wrapTextWithAnsi(this.#text.replaceAll("\t", "   "), room).map((row) => withBackground(margin + row + margin, width, this.#background));
    const empty = Array.from({ length: this.#y }, () => withBackground("", width, this.#background));
    return [...empty, ...rows, ...empty];
  }
}

/** Children on a background, with a margin. */
export class Box extends Container {
  #x;
  #y;
  #background;

  constructor(paddingX = 1, paddingY = 1, background = undefined) {
    super();
    [this.#x, this.#y, this.#background] = [paddingX, paddingY, background];
  }

  setBgFn(background) {
    this.#background = background;
  }

  render(width) {
    const rows = super.render(Math.max(1, width - 2 * this.#x)).map((row) => " ".repeat(this.#x) + row);
    if (!rows.length) return [];
    const margin = Array(this.#y).fill("");
    return [...margin, ...rows, ...margin].map((row) => withBackground(row, width, this.#background));
  }
}

export class Spacer {
  #lines;

  constructor(lines = 1) {
    this.#lines = lines;
  }

  setLines(lines) {
    this.#lines = lines;
  }

  invalidate() {}

  render() {
    return Array(this.#lines).fill("");
  }
}

/** One row; what does not fit is cut. */
export class TruncatedText {
  #text;
  #x;
  #y;

  constructor(text, paddingX = 0, paddingY = 0) {
    [this.#text, this.#x, this.#y] = [text, paddingX, paddingY];
  }

  invalidate() {}

  render(width) {
    const margin = " ".repeat(this.#x);
    const room = Math.max(1, width - 2 * this.#x);
    const row = margin + truncateToWidth(this.#text.split("\n")[0], room) + margin;
    const padded = row + " ".repeat(Math.max(0, width - visibleWidth(row)));
    const empty = Array(this.#y).fill(" ".repeat(width));
    return [...empty, padded, ...empty];
  }
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** A spinner with a message. */
export class Loader extends Text {
  #ui;
  #colours;
  #message;
  #frames = FRAMES;
  #interval = 80;
  #frame = 0;
  #clock;

  constructor(ui, spinnerColor, messageColor, message = "Loading...", indicator = undefined) {
    super("", 1, 0);
    [this.#ui, this.#colours, this.#message] = [ui, { spinnerColor, messageColor }, message];
    this.setIndicator(indicator);
    this.start();
  }

  render(width) {
    const frame = this.#frames[this.#frame % Math.max(1, this.#frames.length)];
    const { spinnerColor, messageColor } = this.#colours;
    this.setText(frame ? `${spinnerColor(frame)} ${messageColor(this.#message)}` : messageColor(this.#message));
    return ["", ...super.render(width)];
  }

  start() {
    this.stop();
    if (this.#frames.length < 2) return;
    this.#clock = setInterval(() => {
      this.#frame += 1;
      this.#ui.requestRender();
    }, this.#interval);
  }

  stop() {
    clearInterval(this.#clock);
  }

  setMessage(message) {
    this.#message = message;
    this.#ui.requestRender();
  }

  setIndicator(indicator) {
    this.#frames = indicator?.frames ?? FRAMES;
    this.#interval = indicator?.intervalMs ?? 80;
  }
}

/** A loader that Escape stops. */
export class CancellableLoader extends Loader {
  #abort = new AbortController();
  onAbort;

  get signal() {
    return this.#abort.signal;
  }

  get aborted() {
    return this.signal.aborted;
  }

  handleInput(data) {
    if (!getKeybindings().matches(data, "tui.select.cancel")) return;
    this.#abort.abort();
    this.onAbort?.();
  }

  dispose() {
    this.stop();
  }
}
