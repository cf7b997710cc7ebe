// Colours of code and of terminals' output: text in, pieces of text with a class or a colour out. Knows no entry.

/** Longer texts stay plain. */
const COLOURED = 200_000;

const C = "break case catch class const continue default do else enum extends false finally for function if import in instanceof interface let new null private protected public return static super switch this throw true try typeof undefined var void while async await yield of from export type implements as readonly abstract declare namespace";
const WORDS = {
  c: "auto break case char const constexpr continue default delete do double else enum explicit extern false final float for friend goto if inline int long namespace new nullptr operator override private protected public return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while bool NULL include define ifdef ifndef endif pragma",
  cs: "abstract as async await base bool break case catch char class const continue default delegate do double else enum event false finally float for foreach get if in int interface internal is long namespace new null object out override params private protected public readonly record ref return sealed set short static string struct switch this throw true try typeof using var virtual void while yield",
  go: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var error string int int64 bool byte",
  java: "abstract assert boolean break byte case catch char class const continue default do double else enum extends final finally float for if implements import instanceof int interface long native new null package private protected public record return short static super switch synchronized this throw throws true false try var void volatile while fun val when object override data",
  js: C,
  py: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return self True try while with yield match case",
  rb: "begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require puts",
  rust: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while u8 u16 u32 u64 usize i32 i64 bool str char f64",
  sh: "if then else elif fi for while until do done case esac in function return local export set unset exit echo cd source shift trap read test",
  sql: "select from where insert into values update set delete create table index view drop alter add join left right inner outer on and or not null primary key references order by group having limit offset as distinct union all case when then else end begin commit rollback",
  toml: "true false",
  json: "true false null",
  lua: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while",
  swift: "as break case catch class continue default defer do else enum extension false for func guard if import in init inout internal is let nil private protocol public return self static struct super switch throw throws true try var where while",
};
const ALSO = { h: "c", cc: "c", cpp: "c", hpp: "c", "c++": "c", csharp: "cs", kt: "java", kotlin: "java", scala: "java", golang: "go", javascript: "js", typescript: "js", ts: "js", tsx: "js", jsx: "js", mjs: "js", cjs: "js", mts: "js", python: "py", pyi: "py", ruby: "rb", rs: "rust", bash: "sh", zsh: "sh", shell: "sh", console: "sh", fish: "sh", jsonl: "json", jsonc: "json", json5: "json", yaml: "toml", yml: "toml", ini: "toml", cfg: "toml", php: "js", dart: "js", zig: "rust", css: "css", scss: "css", less: "css", html: "html", xml: "html", svg: "html", vue: "html", svelte: "html" };
const NAMES = { c: "C", cpp: "C++", "c++": "C++", cc: "C++", cs: "C#", csharp: "C#", css: "CSS", go: "Go", html: "HTML", java: "Java", js: "JavaScript", javascript: "JavaScript", mjs: "JavaScript", ts: "TypeScript", tsx: "TypeScript", typescript: "TypeScript", json: "JSON", jsonl: "JSON", kt: "Kotlin", lua: "Lua", md: "Markdown", php: "PHP", py: "Python", python: "Python", rb: "Ruby", ruby: "Ruby", rs: "Rust", rust: "Rust", sh: "Shell", bash: "Shell", zsh: "Shell", sql: "SQL", swift: "Swift", toml: "TOML", xml: "XML", yaml: "YAML", yml: "YAML" };

const HASH = /(?<comment>#[^\n]*)/;
const SLASHES = /(?<comment>\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))/;
const DASHES = /(?<comment>--[^\n]*|\/\*[^]*?(?:\*\/|$))/;
const QUOTED = /(?<string>"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?)/;
const STRINGS = {
  js: /(?<string>"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|`(?:\\[^]|[^`\\])*`?)/,
  go: /(?<string>"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?|`[^`]*`?)/,
  py: /(?<string>[rbfu]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\[^]|[^"\\\n])*"?|'(?:\\[^]|[^'\\\n])*'?))/,
  rust: /(?<string>b?"(?:\\[^]|[^"\\])*"?|b?'(?:\\[^\n]{1,9}|[^'\\\n])')/,
};
const REST = /(?<number>\b(?:0[xob][\da-f_]+|\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?)\w*)|(?<word>[A-Za-z_$][\w$]*)(?<call>(?=!?\())?/;
const HTML = /(?<comment><!-{2}[^]*?(?:-->|$))|(?<keyword><\/?[A-Za-z][\w:-]*|\/?>)|(?<string>"[^"]*"?|'[^'\n]*')/g;
const STYLES = /(?<comment>\/\*[^]*?(?:\*\/|$))|(?<string>"[^"\n]*"?|'[^'\n]*'?)|(?<number>#[\da-f]{3,8}\b|-?\d+(?:\.\d+)?[a-z%]*)|(?<keyword>@[\w-]+)|(?<type>[.#][\w-]+)/gi;

/** A language by the word after a fence or the ending of a file: its rule and its words; undefined if it is not known. */
function languageOf(name) {
  const key = said(name).toLowerCase().split(/[\s,{]/)[0];
  const known = Object.hasOwn(ALSO, key) ? ALSO[key] : key;
  if (known === "html" || known === "css") return { rule: known === "html" ? HTML : STYLES, words: new Set() };
  if (!Object.hasOwn(WORDS, known)) return undefined;
  const comment = ["py", "rb", "sh", "toml"].includes(known) ? HASH : ["sql", "lua"].includes(known) ? DASHES : SLASHES;
  const parts = [comment, Object.hasOwn(STRINGS, known) ? STRINGS[known] : QUOTED, REST];
  return { rule: new RegExp(parts.map((part) => part.source).join("|"), known === "sql" ? "gi" : "g"), words: new Set(WORDS[known].split(" ")), isLoud: known === "sql" };
}

const nameOf = (language) => {
  const key = said(language).toLowerCase().split(/[\s,{]/)[0];
  return Object.hasOwn(NAMES, key) ? NAMES[key] : oneLine(language, 30);
};
const endingOf = (path) => /\.([A-Za-z0-9+]{1,8})$/.exec(said(path))?.[1] ?? "";

/** Code as pieces {text, sort}. */
function* piecesOf(code, language) {
  const known = code.length > COLOURED ? undefined : languageOf(language);
  let done = 0;
  if (known) {
    for (const match of code.matchAll(known.rule)) {
      const { word, call, ...sorts } = match.groups;
      let sort = Object.keys(sorts).find((name) => sorts[name] !== undefined);
      if (word !== undefined) sort = known.words.has(known.isLoud ? word.toLowerCase() : word) ? "keyword" : call !== undefined ? "function" : /^[A-Z][\w$]*[a-z]/.test(word) ? "type" : undefined;
      if (sort === undefined || match[0] === "") continue;
      if (match.index > done) yield { text: code.slice(done, match.index) };
      yield { text: match[0], sort };
      done = match.index + match[0].length;
    }
  }
  if (done < code.length) yield { text: code.slice(done) };
}

/** Fills an element with code in colours. */
function inColours(element, code, language) {
  for (const { text, sort } of piecesOf(code, language)) element.append(sort ? el("span", `k-${sort}`, text) : document.createTextNode(text));
  return element;
}

// Terminals.

const SIXTEEN = ["#3b3f45", "#c0332b", "#2f8f46", "#a87900", "#2f6fd0", "#9b4bb0", "#128a93", "#b9bcc0", "#7b8087", "#e0483e", "#3fae5a", "#c99a12", "#4d8df0", "#b868cf", "#24a8b2", "#e8e9ea"].map(rgbOf);
/** The grounds on which output is hardest to read: in light themes the page, in dark ones the card. */
const LIGHT = [250, 249, 246];
const DARK = [35, 37, 39];

function rgbOf(text) {
  return [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
}

/** One of 256 colours. */
function indexed(at) {
  if (at < 16) return SIXTEEN[at];
  if (at > 231) return Array(3).fill((at - 232) * 10 + 8);
  const step = (value) => (value === 0 ? 0 : value * 40 + 55);
  return [step(Math.floor((at - 16) / 36)), step(Math.floor((at - 16) / 6) % 6), step((at - 16) % 6)];
}

function brightness([r, g, b]) {
  const part = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
}

/** The colour, moved until it can be read on a ground. */
function readable(colour, ground) {
  const end = brightness(ground) > 0.18 ? 0 : 255;
  for (let part = 0; part <= 10; part++) {
    const moved = colour.map((value) => Math.round(value + ((end - value) * part) / 10));
    const [a, b] = [brightness(moved), brightness(ground)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) >= 4.6) return moved;
  }
  return [end, end, end];
}

const inks = new Map();
function ink(colour) {
  const key = colour.join();
  if (!inks.has(key)) inks.set(key, `light-dark(rgb(${readable(colour, LIGHT)}), rgb(${readable(colour, DARK)}))`);
  if (inks.size > 2000) inks.clear();
  return inks.get(key) ?? ink(colour);
}

/** What the codes of one sequence make of a look. Backgrounds are left out: text keeps its contrast. */
function looked(look, codes) {
  const given = codes.split(/[;:]/).map(Number);
  for (let at = 0; at < given.length && at < 32; at++) {
    const code = given[at];
    if (code === 0) look = {};
    else if (code === 1) look = { ...look, isBold: true };
    else if (code === 2 || code === 3 || code === 4) look = { ...look, [["isFaint", "isItalic", "isUnder"][code - 2]]: true };
    else if (code === 22) look = { ...look, isBold: false, isFaint: false };
    else if (code === 23 || code === 24) look = { ...look, [code === 23 ? "isItalic" : "isUnder"]: false };
    else if (code >= 30 && code <= 37) look = { ...look, colour: SIXTEEN[code - 30] };
    else if (code >= 90 && code <= 97) look = { ...look, colour: SIXTEEN[code - 82] };
    else if (code === 39) look = { ...look, colour: undefined };
    else if (code === 38 || code === 48) {
      const isTrue = given[at + 1] === 2;
      const parts = given.slice(at + 2, at + 5);
      const byte = (value) => Number.isInteger(value) && value >= 0 && value <= 255;
      const colour = isTrue ? (parts.length === 3 && parts.every(byte) ? parts : undefined) : byte(parts[0]) ? indexed(parts[0]) : undefined;
      if (code === 38) look = { ...look, colour };
      at += isTrue ? 4 : 2;
    }
  }
  return look;
}

/** Fills an element with the colours that a terminal would show; what else a program does to a screen is spelled out. */
function asTerminal(element, text) {
  const lines = text.replace(/\r+\n/g, "\n");
  if (text.length > COLOURED || !text.includes("\u001b[")) return audit(element, lines);
  let look = {};
  const parts = lines.split(/\u001b\[([\d;:]*)m/);
  parts.forEach((part, at) => {
    if (at % 2 === 1) look = looked(look, part === "" ? "0" : part);
    else if (part !== "") {
      const words = spelled(part);
      if (Object.values(look).every((value) => !value)) return element.append(document.createTextNode(words));
      const span = el("span", ["isBold", "isFaint", "isItalic", "isUnder"].filter((name) => look[name]).map((name) => `a-${name.slice(2).toLowerCase()}`).join(" "), words);
      if (look.colour) span.style.color = ink(look.colour);
      element.append(span);
    }
  });
  return element;
}

/** Text in which nothing is hidden. */
function audit(element, text) {
  element.append(document.createTextNode(spelled(text)));
  return element;
}

function fill(element, text) {
  element.append(document.createTextNode(plain(text)));
  return element;
}
