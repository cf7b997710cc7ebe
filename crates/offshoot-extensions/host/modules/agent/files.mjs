// Frontmatter, languages of files, and changes of one file one after another.
import * as os from "node:os";
import * as path from "node:path";

export const CONFIG_DIR_NAME = ".pi";
export const getAgentDir = () => process.env.PI_CODING_AGENT_DIR ?? path.join(os.homedir(), CONFIG_DIR_NAME, "agent");

const FRONTMATTER = /^---[ \t]*\r?\n([\s\S]*?)\r?\n?---[ \t]*(?:\r?\n|$)/;

function scalar(text) {
  const value = text.trim();
  if (/^(["']).*\1$/.test(value)) return value.slice(1, -1);
  if (value === "" || value === "null" || value === "~") return null;
  if (value === "true" || value === "false") return value === "true";
  if (/^\[.*\]$/.test(value)) return value.slice(1, -1).split(",").map(scalar).filter((item) => item !== null);
  return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
}

/** The simple YAML that frontmatter has: values, lists and texts of several lines. */
function yaml(text) {
  const found = {};
  const lines = text.split(/\r?\n/);
  for (let at = 0; at < lines.length; at += 1) {
    const entry = /^([\w.-]+):\s*(.*)$/.exec(lines[at]);
    if (!entry) continue;
    const inner = [];
    while (at + 1 < lines.length && /^(\s+\S|\s*-\s|\s*$)/.test(lines[at + 1])) inner.push(lines[(at += 1)]);
    const [, name, value] = entry;
    if (/^[|>]/.test(value)) found[name] = inner.map((line) => line.trim()).join(value[0] === "|" ? "\n" : " ").trim();
    else if (value === "" && inner.some((line) => /^\s*-\s/.test(line))) found[name] = inner.filter((line) => /^\s*-\s/.test(line)).map((line) => scalar(line.replace(/^\s*-\s/, "")));
    else if (value === "" && inner.some((line) => line.trim())) found[name] = yaml(inner.map((line) => line.replace(/^ {1,4}/, "")).join("\n"));
    else found[name] = scalar(value);
  }
  return found;
}

export function parseFrontmatter(text) {
  const found = FRONTMATTER.exec(text);
  if (!found) return { frontmatter: {}, body: text };
  return { frontmatter: yaml(found[1]), body: text.slice(found[0].length).trim() };
}

export const stripFrontmatter = (text) => parseFrontmatter(text).body;

const LANGUAGES = {
  ...{ ts: "typescript", tsx: "typescript", mts: "typescript", cts: "typescript", js: "javascript", jsx: "javascript", mjs: "javascript", cjs: "javascript" },
  ...{ py: "python", rs: "rust", go: "go", rb: "ruby", java: "java", kt: "kotlin", swift: "swift", c: "c", h: "c", cpp: "cpp", cc: "cpp", hpp: "cpp", cs: "csharp" },
  ...{ sh: "bash", bash: "bash", zsh: "bash", fish: "fish", json: "json", yaml: "yaml", yml: "yaml", toml: "toml", xml: "xml", html: "html", css: "css", scss: "scss" },
  ...{ sql: "sql", md: "markdown", php: "php", lua: "lua", pl: "perl", r: "r", scala: "scala", hs: "haskell", ex: "elixir", exs: "elixir", erl: "erlang", clj: "clojure" },
  ...{ dockerfile: "dockerfile", makefile: "makefile", cmake: "cmake", proto: "protobuf", graphql: "graphql", vue: "vue", svelte: "svelte", ps1: "powershell", zig: "zig" },
};
export const getLanguageFromPath = (file) => LANGUAGES[path.basename(file).split(".").at(-1)?.toLowerCase() ?? ""];

const queues = new Map();
/** Runs after what was queued for the same file before. */
export async function withFileMutationQueue(file, work) {
  const key = path.resolve(file);
  const before = queues.get(key) ?? Promise.resolve();
  const mine = before.then(work, work);
  const settled = mine.catch(() => {});
  queues.set(key, settled);
  try {
    return await mine;
  } finally {
    if (queues.get(key) === settled) queues.delete(key);
  }
}
