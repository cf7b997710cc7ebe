// Markdown as rows: the blocks and spans that answers of models have. It is no full CommonMark.
import { visibleWidth, withBackground, wrapTextWithAnsi } from "./width.mjs";

const plain = (text) => text;

/** Blocks of a text: `{type, …}`. */
function blocks(text) {
  const lines = text.replaceAll("\r\n", "\n").replaceAll("\t", "   ").split("\n");
  const found = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at];
    const fence = /^( {0,3})(`{3,}|~{3,})\s*([^\s`]*)/.exec(line);
    if (fence) {
      const end = lines.findIndex((other, row) => row > at && other.trim().startsWith(fence[2]) && /^[`~]+$/.test(other.trim()));
      const last = end < 0 ? lines.length : end;
      found.push({ type: "code", lang: fence[3], lines: lines.slice(at + 1, last) });
      at = last + 1;
    } else if (!line.trim()) {
      found.push({ type: "blank" });
      at += 1;
    } else if (/^#{1,6}\s/.test(line)) {
      found.push({ type: "heading", depth: /^#+/.exec(line)?.[0].length, text: line.replace(/^#+\s+/, "").replace(/\s+#+\s*$/, "") });
      at += 1;
    } else if (/^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      found.push({ type: "rule" });
      at += 1;
    } else if (/^ {0,3}>/.test(line)) {
      const start = at;
      while (at < lines.length && (/^ {0,3}>/.test(lines[at]) || (lines[at].trim() && at > start))) at += 1;
      found.push({ type: "quote", text: lines.slice(start, at).map((each) => each.replace(/^ {0,3}> ?/, "")).join("\n") });
    } else if (/\|/.test(line) && /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "")) {
      const start = at;
      while (at < lines.length && lines[at].includes("|")) at += 1;
      found.push({ type: "table", rows: [lines[start], ...lines.slice(start + 2, at)].map(cells) });
    } else if (ITEM.test(line)) {
      const start = at;
      const kind = kindOf(line);
      at += 1;
      while (at < lines.length && (kindOf(lines[at]) ?? kind) === kind && (ITEM.test(lines[at]) || /^\s{2,}\S/.test(lines[at]) || (!lines[at].trim() && (ITEM.test(lines[at + 1] ?? "") || /^\s{2,}\S/.test(lines[at + 1] ?? ""))))) at += 1;
      found.push({ type: "list", items: items(lines.slice(start, at)) });
    } else {
      const start = at;
      while (at < lines.length && lines[at].trim() && !/^(#{1,6}\s|```|~~~| {0,3}>)/.test(lines[at]) && !(at > start && ITEM.test(lines[at]))) at += 1;
      found.push({ type: "paragraph", text: lines.slice(start, at).join("\n") });
    }
  }
  return found;
}

const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
/** Lists with numbers and lists without are two, where they are not indented. */
const kindOf = (line) => /^(\d|[-*+]\s)/.exec(line)?.[0].replace(/\d/, "1").trim();
const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());

/** Items with their depth, their mark and their text. */
function items(lines) {
  const found = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) found.push({ indent: item[1].length, mark: item[2], text: item[3] });
    else if (line.trim() && found.length) found.at(-1).text += `\n${line.trim()}`;
  }
  const indents = [];
  for (const item of found) {
    while (indents.length && indents.at(-1) >= item.indent) indents.pop();
    item.depth = indents.length;
    indents.push(item.indent);
  }
  return found;
}

/** Spans within a line. */
function spans(text, theme, base = plain) {
  /** @type {[RegExp, (found: RegExpExecArray) => string][]} */
  const rules = [
    [/^\\([\\`*_{}[\]()#+\-.!~|>])/, ([, letter]) => base(letter)],
    [/^(`+)([\s\S]*?[^`])\1(?!`)/, ([, , code]) => theme.code(code.trim())],
    [/^\*\*([\s\S]+?)\*\*(?!\*)/, ([, inner]) => theme.bold(spans(inner, theme, base))],
    [/^__([\s\S]+?)__(?!\w)/, ([, inner]) => theme.bold(spans(inner, theme, base))],
    [/^~~([\s\S]+?)~~/, ([, inner]) => theme.strikethrough(spans(inner, theme, base))],
    [/^\*(?!\s)([\s\S]+?)\*(?!\*)/, ([, inner]) => theme.italic(spans(inner, theme, base))],
    [/^_(?!\s)([\s\S]+?)_(?!\w)/, ([, inner]) => theme.italic(spans(inner, theme, base))],
    [/^!?\[([^\]]*)\]\(([^)\s]+)[^)]*\)/, ([, label, url]) => link(label, url, theme, base)],
    [/^<(https?:[^>\s]+)>/, ([, url]) => theme.link(theme.underline(url))],
    [/^https?:\/\/[^\s<>)\]]*[^\s<>)\].,;:!?]/, ([url]) => theme.link(theme.underline(url))],
  ];
  let out = "";
  let run = "";
  for (let rest = text; rest; ) {
    /** @type {any} */
    const found = /[\\`*_~[!<h]/.test(rest[0]) ? rules.map(([rule, make]) => [rule.exec(rest), make]).find(([match]) => match) : undefined;
    const isInWord = found && rest[0] === "_" && /\w$/.test(run);
    if (!found || isInWord) {
      run += rest[0];
      rest = rest.slice(1);
      continue;
    }
    if (run) out += base(run);
    run = "";
    out += found[1](found[0]);
    rest = rest.slice(found[0][0].length);
  }
  return out + (run ? base(run) : "");
}

function link(label, url, theme, base) {
  const shown = theme.link(theme.underline(spans(label, theme, base)));
  return label === url || `mailto:${label}` === url ? shown : shown + theme.linkUrl(` (${url})`);
}

function table(rows, theme, base) {
  const styled = rows.map((row, at) => row.map((cell) => (at === 0 ? theme.bold(spans(cell, theme, base)) : spans(cell, theme, base))));
  const bare = rows.map((row) => row.map((cell) => visibleWidth(spans(cell, { ...theme, ...BARE }, plain))));
  const widths = rows[0].map((_, column) => Math.max(...bare.map((row) => row[column] ?? 0)));
  const rule = (left, middle, right) => left + widths.map((width) => "─".repeat(width + 2)).join(middle) + right;
  const line = (row, at) => `│ ${widths.map((width, column) => (styled[at][column] ?? "") + " ".repeat(Math.max(0, width - (bare[at][column] ?? 0)))).join(" │ ")} │`;
  const body = rows.map(line);
  const between = body.slice(1).flatMap((row, at) => (at === 0 ? [row] : [rule("├", "┼", "┤"), row]));
  return [rule("┌", "┬", "┐"), body[0], rule("├", "┼", "┤"), ...between, rule("└", "┴", "┘")];
}

const BARE = Object.fromEntries(["bold", "italic", "code", "link", "linkUrl", "underline", "strikethrough"].map((name) => [name, plain]));

export class Markdown {
  #text;
  #x;
  #y;
  #theme;
  #style;
  #options;

  constructor(text, paddingX, paddingY, theme, defaultTextStyle = undefined, options = {}) {
    [this.#text, this.#x, this.#y, this.#theme, this.#style, this.#options] = [text, paddingX, paddingY, theme, defaultTextStyle, options];
  }

  setText(text) {
    this.#text = text;
  }

  invalidate() {}

  /** The style of text that has none of its own. */
  #base() {
    const { color, bold, italic, strikethrough, underline } = this.#style ?? {};
    const styles = [color, bold && this.#theme.bold, italic && this.#theme.italic, strikethrough && this.#theme.strikethrough, underline && this.#theme.underline];
    return (text) => styles.filter(Boolean).reduce((shown, style) => style(shown), text);
  }

  render(width) {
    if (!this.#text || this.#text.trim() === "") return [];
    const room = Math.max(1, width - 2 * this.#x);
    const text = this.#options.transform?.(this.#text, room) ?? this.#text;
    const margin = " ".repeat(this.#x);
    const rows = this.#rows(text.trim(), room).flatMap((row) => wrapTextWithAnsi(row, room)).map((row) => withBackground(margin + row + margin, width, this.#style?.bgColor));
    const empty = Array.from({ length: this.#y }, () => withBackground("", width, this.#style?.bgColor));
    return [...empty, ...rows, ...empty];
  }

  #rows(text, room) {
    const found = blocks(text);
    return found.flatMap((block, at) => {
      if (block.type === "blank") return [""].slice(found[at - 1]?.type === "blank" ? 1 : 0);
      const next = found[at + 1];
      const isSeparate = next && next.type !== "blank" && (block.type !== "paragraph" || next.type !== "list");
      return [...this.#block(block, room), ...(isSeparate ? [""] : [])];
    });
  }

  #block(block, room) {
    const theme = this.#theme;
    const base = this.#base();
    const makers = {
      heading: () => {
        const text = spans(block.text, theme, plain);
        if (block.depth === 1) return [theme.heading(theme.bold(theme.underline(text)))];
        return [theme.heading(theme.bold(block.depth === 2 ? text : `${"#".repeat(block.depth)} ${text}`))];
      },
      paragraph: () => spans(block.text, theme, base).split("\n"),
      code: () => {
        const indent = theme.codeBlockIndent ?? "  ";
        const shown = theme.highlightCode ? theme.highlightCode(block.lines.join("\n"), block.lang) : block.lines.map((line) => theme.codeBlock(line));
        return [theme.codeBlockBorder(`\`\`\`${block.lang}`), ...shown.map((line) => indent + line), theme.codeBlockBorder("```")];
      },
      quote: () => {
        const rows = wrapTextWithAnsi(spans(block.text, theme, plain), Math.max(1, room - 2));
        return rows.map((row) => theme.quoteBorder("│ ") + theme.quote(theme.italic(row)));
      },
      rule: () => [theme.hr("─".repeat(Math.min(room, 80)))],
      table: () => table(block.rows, theme, base),
      list: () => this.#list(block.items, room, base),
    };
    return makers[block.type]();
  }

  #list(found, room, base) {
    const counts = [];
    return found.flatMap(({ depth, mark, text }) => {
      counts.length = depth + 1;
      counts[depth] = (counts[depth] ?? Number.parseInt(mark, 10) - 1) + 1;
      const bullet = /\d/.test(mark) ? `${counts[depth]}. ` : "- ";
      const indent = "    ".repeat(depth);
      const rows = wrapTextWithAnsi(spans(text, this.#theme, base), Math.max(1, room - indent.length - bullet.length));
      return rows.map((row, at) => indent + (at === 0 ? this.#theme.listBullet(bullet) : " ".repeat(bullet.length)) + row);
    });
  }
}
