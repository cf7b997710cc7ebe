// JavaScript with its comments, strings and templates' texts blanked out: enough to ask which names a module uses.

const REGEX_MAY_FOLLOW = /[(,=:[!&|?{};+\-*%~^<>]$|(^|[^\w$.])(return|typeof|case|in|of|delete|void|throw|new|await|yield)$/;

/** The end of a quoted text that begins at `at`. */
function endOfString(code, at) {
  const quote = code[at];
  for (let end = at + 1; end < code.length; end += 1) {
    if (code[end] === "\\") end += 1;
    else if (code[end] === quote || code[end] === "\n") return end + 1;
  }
  return code.length;
}

function endOfRegex(code, at) {
  let inClass = false;
  for (let end = at + 1; end < code.length && code[end] !== "\n"; end += 1) {
    if (code[end] === "\\") end += 1;
    else if (code[end] === "[") inClass = true;
    else if (code[end] === "]") inClass = false;
    else if (code[end] === "/" && !inClass) return end + 1;
  }
  return at + 1;
}

/** A text as it is meant: with what its escapes stand for. */
function written(text) {
  const one = (_, kind) => {
    if (/^[ux]/.test(kind)) return String.fromCodePoint(Number.parseInt(kind.replace(/[^\da-f]/gi, ""), 16));
    return { n: "\n", t: "\t", r: "\r" }[kind] ?? kind.trim();
  };
  return text.includes("\\") ? text.replace(/\\(u\{[\da-f]{1,5}\}|u[\da-f]{4}|x[\da-f]{2}|[^])/gi, one) : text;
}

const spaces = (text) => text.replace(/[^\n]/g, " ");

/** Calls `seen` with each text without a placeholder, and with what stands before it. */
export function strings(code, seen) {
  blank(code, seen);
}

export function blank(code, seen) {
  let out = "";
  let at = 0;
  const templates = [];
  const tell = (text) => seen?.(text, out.slice(-60).trimEnd());
  const skipTo = (end) => {
    out += spaces(code.slice(at, end));
    at = end;
  };
  /** The text of a template up to its end or to the next `${`. */
  const template = () => {
    let end = at;
    for (; end < code.length && code[end] !== "`" && !(code[end] === "$" && code[end + 1] === "{"); end += 1) if (code[end] === "\\") end += 1;
    if (code[end] === "`") {
      if (code[at - 1] === "`") tell(code.slice(at, end));
      return skipTo(end + 1);
    }
    templates.push(0);
    skipTo(end + 2);
  };
  while (at < code.length) {
    const here = code[at];
    const next = code[at + 1];
    if (here === "/" && next === "/") skipTo(code.indexOf("\n", at) < 0 ? code.length : code.indexOf("\n", at));
    else if (here === "/" && next === "*") skipTo(code.indexOf("*/", at + 2) < 0 ? code.length : code.indexOf("*/", at + 2) + 2);
    else if (here === '"' || here === "'") {
      const end = endOfString(code, at);
      tell(written(code.slice(at + 1, end - 1)));
      skipTo(end);
    }
    else if (here === "/" && REGEX_MAY_FOLLOW.test(out.slice(-20).trimEnd())) skipTo(endOfRegex(code, at));
    else if (here === "`") {
      skipTo(at + 1);
      template();
    } else if (templates.length && here === "{") {
      templates[templates.length - 1] += 1;
      out += code[at++];
    } else if (templates.length && here === "}" && templates.at(-1) === 0) {
      templates.pop();
      skipTo(at + 1);
      template();
    } else {
      if (templates.length && here === "}") templates[templates.length - 1] -= 1;
      out += code[at++];
    }
  }
  return out;
}
