// Names of the keys in what a terminal sends: legacy sequences, xterm's modifiers, and kitty's protocol.

const SPECIAL = ["escape", "esc", "enter", "return", "tab", "space", "backspace", "delete", "insert", "clear", "home", "end", "pageUp", "pageDown", "up", "down", "left", "right"];
const FUNCTION = Array.from({ length: 12 }, (_, at) => `f${at + 1}`);
const SYMBOLS = {
  ...{ backtick: "`", hyphen: "-", equals: "=", leftbracket: "[", rightbracket: "]", backslash: "\\", semicolon: ";", quote: "'", comma: ",", period: "." },
  ...{ slash: "/", exclamation: "!", at: "@", hash: "#", dollar: "$", percent: "%", caret: "^", ampersand: "&", asterisk: "*", leftparen: "(" },
  ...{ rightparen: ")", underscore: "_", plus: "+", pipe: "|", tilde: "~", leftbrace: "{", rightbrace: "}", colon: ":", lessthan: "<", greaterthan: ">", question: "?" },
};
const MODIFIERS = ["shift", "alt", "ctrl", "super"];
const ORDER = ["ctrl", "shift", "alt", "super"];

const combine = (...modifiers) => (key) => `${modifiers.join("+")}+${key}`;
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const pairs = ORDER.flatMap((first) => ORDER.filter((second) => second !== first).map((second) => [first + capital(second), combine(first, second)]));

export const Key = {
  ...Object.fromEntries([...SPECIAL, ...FUNCTION].map((name) => [name, name])),
  ...SYMBOLS,
  ...Object.fromEntries(ORDER.map((name) => [name, combine(name)])),
  ...Object.fromEntries(pairs),
  ctrlShiftAlt: combine("ctrl", "shift", "alt"),
  ctrlShiftSuper: combine("ctrl", "shift", "super"),
};

const LETTERS = { A: "up", B: "down", C: "right", D: "left", H: "home", F: "end", E: "clear", P: "f1", Q: "f2", R: "f3", S: "f4" };
const TILDE = { 1: "home", 2: "insert", 3: "delete", 4: "end", 5: "pageUp", 6: "pageDown", 7: "home", 8: "end", 11: "f1", 12: "f2", 13: "f3", 14: "f4", 15: "f5", 17: "f6", 18: "f7", 19: "f8", 20: "f9", 21: "f10", 23: "f11", 24: "f12" };
const CODES = { 27: "escape", 13: "enter", 9: "tab", 32: "space", 127: "backspace", 8: "backspace", 57414: "enter" };
const PLAIN = { "\r": "enter", "\n": "enter", "\t": "tab", "\x1b": "escape", " ": "space", "\x7f": "backspace", "\b": "backspace", "\x00": "ctrl+space", "\x1c": "ctrl+\\", "\x1d": "ctrl+]", "\x1e": "ctrl+^", "\x1f": "ctrl+-" };

let kitty = false;
export const setKittyProtocolActive = (active) => void (kitty = active);
export const isKittyProtocolActive = () => kitty;

function withModifiers(key, encoded = 1) {
  const bits = (encoded - 1) & 0b1111;
  const on = new Set(MODIFIERS.filter((_, at) => bits & (1 << at)));
  return [...ORDER.filter((name) => on.has(name)), key].join("+");
}

function nameOfCode(code) {
  if (CODES[code]) return CODES[code];
  const text = String.fromCodePoint(code);
  return /^[\x21-\x7e]$/.test(text) ? text.toLowerCase() : undefined;
}

/** `{key, modifiers, event}` of a sequence; undefined for what is no key. */
function decode(data) {
  let found = /^\x1b\[(\d+)(?::\d*)*(?:;(\d*)(?::(\d))?)?(?:;[\d:]*)?u$/.exec(data);
  if (found) return { key: nameOfCode(Number(found[1])), modifiers: Number(found[2] || 1), event: found[3] };
  found = /^\x1b\[27;(\d+);(\d+)~$/.exec(data);
  if (found) return { key: nameOfCode(Number(found[2])), modifiers: Number(found[1]) };
  found = /^\x1b(?:\[|O)(?:1;(\d+)(?::(\d))?)?([A-FHPQRS])$/.exec(data);
  if (found) return { key: LETTERS[found[3]], modifiers: Number(found[1] || 1), event: found[2] };
  found = /^\x1b\[(\d+)(?:;(\d+)(?::(\d))?)?~$/.exec(data);
  if (found) return { key: TILDE[found[1]], modifiers: Number(found[2] || 1), event: found[3] };
  return undefined;
}

/** The key's name, such as `ctrl+shift+left`; undefined for text that is no single key. */
export function parseKey(data) {
  const decoded = decode(data);
  if (decoded) return decoded.key && withModifiers(decoded.key, decoded.modifiers);
  if (data === "\x1b[Z") return "shift+tab";
  if (PLAIN[data]) return PLAIN[data];
  if (/^[\x21-\x7e]$/.test(data)) return data;
  if (/^[\x01-\x1a]$/.test(data)) return `ctrl+${String.fromCharCode(data.charCodeAt(0) + 96)}`;
  if (data.length === 2 && data[0] === "\x1b") {
    const inner = parseKey(data[1]);
    return inner && (inner.startsWith("ctrl+") ? `ctrl+alt+${inner.slice(5)}` : `alt+${inner}`);
  }
  return undefined;
}

const SAME = { esc: "escape", return: "enter" };

/** A name with its modifiers in one order and its aliases resolved. */
function normal(name) {
  const isPlus = name.endsWith("+") && name.length > 1;
  const pieces = (isPlus ? name.slice(0, -1) : name).split("+").filter(Boolean);
  const key = isPlus || name === "+" ? "+" : pieces.pop();
  const modifiers = ORDER.filter((modifier) => pieces.includes(modifier));
  return [...modifiers, SAME[key] ?? (key.length === 1 ? key.toLowerCase() : key)].join("+").toLowerCase();
}

export function matchesKey(data, name) {
  const key = parseKey(data);
  if (key === undefined) return false;
  if (/^[A-Z]$/.test(key) && normal(name) === `shift+${key.toLowerCase()}`) return true;
  if (data === "\n" && (normal(name) === "ctrl+j" || normal(name) === "shift+enter")) return true;
  if (/^[A-Z]$/.test(key)) return name === key;
  return normal(key) === normal(name);
}

const event = (data) => decode(data)?.event;
export const isKeyRelease = (data) => event(data) === "3";
export const isKeyRepeat = (data) => event(data) === "2";

/** The text of a key that kitty's protocol encoded. */
export function decodeKittyPrintable(data) {
  const found = /^\x1b\[(\d+)(?::(\d*))?(?:;(\d*)(?::\d)?)?u$/.exec(data);
  if (!found || (Number(found[3] || 1) - 1) & ~1) return undefined;
  const code = Number((Number(found[3] || 1) - 1) & 1 && found[2] ? found[2] : found[1]);
  return code >= 32 && code !== 127 ? String.fromCodePoint(code) : undefined;
}

/** Checks of 0.31, one a key. */
const check = (name) => (data) => matchesKey(data, name);
export const [isArrowUp, isArrowDown, isArrowLeft, isArrowRight] = ["up", "down", "left", "right"].map(check);
export const [isEscape, isEnter, isTab, isShiftTab, isBackspace, isDelete, isHome, isEnd, isCtrlC, isCtrlD] =
  ["escape", "enter", "tab", "shift+tab", "backspace", "delete", "home", "end", "ctrl+c", "ctrl+d"].map(check);
