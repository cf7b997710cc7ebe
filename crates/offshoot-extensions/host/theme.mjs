// The theme as extensions use it: colours by name, and the escape sequences for them. offshoot sends the colours of its own theme.

const SGR = { bold: [1, 22], italic: [3, 23], underline: [4, 24], inverse: [7, 27], strikethrough: [9, 29] };
const LEVELS = { off: "thinkingOff", minimal: "thinkingMinimal", low: "thinkingLow", medium: "thinkingMedium", high: "thinkingHigh", xhigh: "thinkingXhigh", max: "thinkingMax" };
const STEPS = [0, 95, 135, 175, 215, 255];

/** Used until offshoot has sent its own: the colours of a dark terminal. */
const FALLBACK = {
  ...{ accent: 109, border: 67, borderAccent: 73, borderMuted: 239, success: 143, error: 167, warning: 179, muted: 244, dim: 242, text: "" },
  ...{ toolTitle: "", toolOutput: 244, customMessageLabel: 140, mdHeading: 179, mdLink: 109, mdCode: 109, toolDiffAdded: 143, toolDiffRemoved: 167, toolDiffContext: 244 },
};
const FALLBACK_BG = { selectedBg: 237, userMessageBg: 236, customMessageBg: 235, toolPendingBg: 235, toolSuccessBg: 235, toolErrorBg: 235 };

const nearest = (value) => STEPS.reduce((best, step, at) => (Math.abs(step - value) < Math.abs(STEPS[best] - value) ? at : best), 0);

/** The parameters of an SGR sequence for a colour: a number of the 256, `#rrggbb`, or the terminal's own. */
function sgr(colour, layer, mode) {
  const plain = layer === "fg" ? "39" : "49";
  const start = layer === "fg" ? "38" : "48";
  if (colour === "" || colour === undefined || colour === null) return plain;
  if (typeof colour === "number") return `${start};5;${colour}`;
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  if (mode === "truecolor") return `${start};2;${red};${green};${blue}`;
  return `${start};5;${16 + 36 * nearest(red) + 6 * nearest(green) + nearest(blue)}`;
}

export class Theme {
  #fg;
  #bg;
  #mode;

  constructor(fgColors = FALLBACK, bgColors = FALLBACK_BG, mode = "truecolor", /** @type {any} */ { name, sourcePath } = {}) {
    this.#fg = fgColors;
    this.#bg = bgColors;
    this.#mode = mode;
    this.name = name;
    this.sourcePath = sourcePath;
  }

  fg(colour, text) {
    return `${this.getFgAnsi(colour)}${text}\x1b[39m`;
  }

  bg(colour, text) {
    return `${this.getBgAnsi(colour)}${text}\x1b[49m`;
  }

  getFgAnsi(colour) {
    return `\x1b[${sgr(this.#fg[colour], "fg", this.#mode)}m`;
  }

  getBgAnsi(colour) {
    return `\x1b[${sgr(this.#bg[colour], "bg", this.#mode)}m`;
  }

  /** The colours by their names, as offshoot reads them. */
  described() {
    return { name: this.name, fg: this.#fg, bg: this.#bg };
  }

  getColorMode() {
    return this.#mode;
  }

  getThinkingBorderColor(level) {
    return (text) => this.fg(LEVELS[level] ?? "thinkingOff", text);
  }

  getBashModeBorderColor() {
    return (text) => this.fg("bashMode", text);
  }
}

for (const [name, [on, off]] of Object.entries(SGR)) {
  Theme.prototype[name] = function style(text) {
    return `\x1b[${on}m${text}\x1b[${off}m`;
  };
}

/** `{name, fg, bg, mode}` of offshoot as a theme. */
export function themeFrom(data, /** @type {string | undefined} */ name = undefined) {
  if (!data?.fg) return new Theme(FALLBACK, FALLBACK_BG, "truecolor", { name });
  return new Theme({ ...FALLBACK, ...data.fg }, { ...FALLBACK_BG, ...data.bg }, data.mode ?? "truecolor", { name: data.name });
}

export const described = (theme) => theme.described();

/** The one in use. It changes in place, so that components which keep it follow. */
let current = new Theme();
/** @type {Theme & Record<keyof typeof SGR, (text: string) => string>} */
export const theme = new Proxy(/** @type {any} */ (Theme.prototype), {
  get: (_, name) => (typeof current[name] === "function" ? current[name].bind(current) : current[name]),
});
export function setTheme(next) {
  current = next;
}

/** Styles of an editor that an extension puts in place of offshoot's. */
export const editorTheme = () => ({ borderColor: (text) => theme.fg("borderMuted", text), selectList: selectListTheme() });

export const selectListTheme = () => ({
  ...{ selectedPrefix: (text) => theme.fg("accent", text), selectedText: (text) => theme.fg("accent", text) },
  ...{ description: (text) => theme.fg("muted", text), scrollInfo: (text) => theme.fg("muted", text), noMatch: (text) => theme.fg("muted", text) },
});
