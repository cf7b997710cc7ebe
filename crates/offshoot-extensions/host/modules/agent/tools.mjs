// The built-in tools as extensions make them. Without options they are offshoot's own; with operations they work elsewhere.
import { spawn } from "node:child_process";
import * as fs from "node:fs/promises";
import * as path from "node:path";
import { call } from "../../calls.mjs";
import { diffLines } from "./diff.mjs";
import { withFileMutationQueue } from "./files.mjs";
import { doubtful, exact, existing } from "./paths.mjs";
import { DEFAULT_MAX_BYTES, DEFAULT_MAX_LINES, truncateHead, truncateTail } from "./truncate.mjs";

const string = (description) => ({ type: "string", description });
const number = (description) => ({ type: "number", description });
const object = (required, properties) => ({ type: "object", ...(required.length ? { required } : {}), properties });
const content = (text, details) => ({ content: [{ type: "text", text }], ...(details ? { details } : {}) });
const FILE = string("Path of the file, relative or absolute.");

/** Name, words for the model and parameters of each. */
const TOOLS = {
  read: [
    "Reads a text file or a picture (PNG, JPEG, GIF, WebP). Text is cut after 2000 lines or 50 KB; a note at the end gives the next offset.",
    object(["path"], { path: FILE, offset: number("First line to read, counted from 1."), limit: number("Maximum number of lines.") }),
  ],
  bash: [
    "Runs a shell command in the working directory and returns its standard output and standard error. Long output is cut to its last 2000 lines or 50 KB.",
    object(["command"], { command: string("The bash command."), timeout: number("Time-out in seconds, after which the command and all that it started are killed.") }),
  ],
  edit: [
    "Replaces exact text in a file. Each oldText must occur exactly once; edits must not overlap or build on one another.",
    object(["path", "edits"], {
      path: FILE,
      edits: { type: "array", description: "The replacements.", items: object(["oldText", "newText"], { oldText: string("The text to replace, unique in the file."), newText: string("The replacement.") }) },
    }),
  ],
  write: ["Creates a file, or overwrites an existing one. Missing parent directories are created.", object(["path", "content"], { path: FILE, content: string("The complete content of the file.") })],
  grep: [
    "Searches file contents for a pattern and returns matching lines with paths and line numbers. Respects .gitignore.",
    object(["pattern"], {
      ...{ pattern: string("A regular expression, or plain text if literal is set."), path: string("Directory or file to search."), glob: string("Only files that match this glob.") },
      ...{ ignoreCase: { type: "boolean", description: "Ignore case." }, literal: { type: "boolean", description: "Treat the pattern as plain text." } },
      ...{ context: number("Lines of context before and after each match."), limit: number("Maximum number of matches.") },
    }),
  ],
  find: [
    "Finds files and directories by glob pattern and returns their paths. Respects .gitignore.",
    object(["pattern"], { pattern: string("Glob pattern."), path: string("Directory to search."), limit: number("Maximum number of paths.") }),
  ],
  ls: ["Lists a directory by name; directories end with a slash.", object([], { path: string("Directory to list."), limit: number("Maximum number of names.") })],
};
const SNIPPETS = { read: "Read files", bash: "Run shell commands", edit: "Change parts of files", write: "Create or overwrite files", grep: "Search file contents", find: "Find files", ls: "List directories" };

/** `exec` of a shell on this machine. */
export function createLocalBashOperations(/** @type {any} */ { shellPath } = {}) {
  return {
    exec: (command, cwd, /** @type {any} */ { onData, signal, timeout, env } = {}) =>
      new Promise((resolve, reject) => {
        const child = spawn(shellPath ?? "/bin/bash", ["-c", command], { cwd, env: env ?? process.env, stdio: ["ignore", "pipe", "pipe"], detached: true });
        let why;
        const stop = (reason) => {
          why ??= reason;
          try {
            // Without an id it never began, and there is no group to end.
            if (child.pid === undefined) return;
            process.kill(-child.pid, "SIGKILL");
          } catch {
            child.kill("SIGKILL");
          }
        };
        const clock = timeout > 0 ? setTimeout(stop, timeout * 1000, `timeout:${timeout}`) : undefined;
        const abort = () => stop("aborted");
        signal?.addEventListener("abort", abort, { once: true });
        for (const stream of [child.stdout, child.stderr]) stream.on("data", onData);
        child.on("error", reject);
        child.on("close", (exitCode) => {
          clearTimeout(clock);
          signal?.removeEventListener("abort", abort);
          if (why) reject(new Error(why));
          else resolve({ exitCode });
        });
        if (signal?.aborted) abort();
      }),
  };
}

async function bash(cwd, { command, timeout }, { operations, commandPrefix, spawnHook, shellPath }, signal, onUpdate) {
  const plain = { command: commandPrefix ? `${commandPrefix}\n${command}` : command, cwd, env: { ...process.env } };
  const context = spawnHook ? spawnHook(plain) : plain;
  let output = "";
  const onData = (data) => {
    output += data.toString();
    onUpdate?.(content(truncateTail(output).content));
  };
  const shown = (end = "") => {
    const cut = truncateTail(output.replaceAll("\r", ""));
    const note = cut.truncated ? `\n\n[the last ${cut.outputLines} of ${cut.totalLines} lines]` : "";
    return { text: (cut.content || "(no output)") + note + (end ? `\n\n${end}` : ""), truncation: cut.truncated ? cut : undefined };
  };
  onUpdate?.(content(""));
  let exitCode;
  try {
    ({ exitCode } = await (operations ?? createLocalBashOperations({ shellPath })).exec(context.command, context.cwd, { onData, signal, timeout, env: context.env }));
  } catch (error) {
    const after = /^timeout:(.*)$/.exec(error.message)?.[1];
    const end = after ? `Command timed out after ${after} seconds` : error.message === "aborted" ? "Command aborted" : error.message;
    throw new Error(shown(end).text);
  }
  if (exitCode) throw new Error(shown(`Command exited with code ${exitCode}`).text);
  const { text, truncation } = shown();
  return content(text, truncation && { truncation });
}

/** How an extension's operations are asked whether something exists. */
const asking = (operations) => {
  if (operations.exists) return (file) => operations.exists(file);
  return operations.access && ((file) => operations.access(file));
};

const LOCAL_FILES = {
  readFile: (file) => fs.readFile(file),
  writeFile: (file, text) => fs.writeFile(file, text),
  mkdir: (folder) => fs.mkdir(folder, { recursive: true }).then(() => undefined),
  access: (file) => fs.access(file),
  detectImageMimeType: async (file) => ({ ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp" })[path.extname(file).toLowerCase()],
};

async function read(cwd, { path: file, offset, limit }, { operations = LOCAL_FILES }) {
  const full = await existing(cwd, file, asking(operations));
  await operations.access?.(full);
  const bytes = await operations.readFile(full);
  const mimeType = await operations.detectImageMimeType?.(full);
  if (mimeType) return { content: [{ type: "text", text: `Read image file [${mimeType}]` }, { type: "image", data: Buffer.from(bytes).toString("base64"), mimeType }] };
  const whole = bytes.toString("utf8");
  if (offset === undefined && limit === undefined && !truncateHead(whole).truncated) return content(whole);
  const lines = whole.split("\n");
  const start = Math.max(0, (offset ?? 1) - 1);
  if (start >= lines.length) throw new Error(`offset ${offset} is past the end of ${file}, which has ${lines.length} lines`);
  const wanted = lines.slice(start, limit === undefined ? undefined : start + limit);
  const cut = truncateHead(wanted.join("\n"), { maxLines: DEFAULT_MAX_LINES, maxBytes: DEFAULT_MAX_BYTES });
  const shown = cut.truncated ? cut.outputLines : wanted.length;
  const rest = lines.length - start - shown;
  const note = rest > 0 ? `\n\n[${rest} more lines in file. Use offset=${start + shown + 1} to continue.]` : "";
  return content(cut.content + note, cut.truncated ? { truncation: cut } : undefined);
}

async function write(cwd, { path: file, content: text }, { operations = LOCAL_FILES }) {
  const meant = await doubtful(cwd, file, asking(operations));
  if (meant !== undefined) throw new Error(`cannot write ${file}: its folder does not exist, and ${meant} looks like the file that is meant; ./${file} is a new file of that name`);
  const full = exact(cwd, file);
  await operations.mkdir(path.dirname(full));
  await operations.writeFile(full, text);
  return content(`Successfully wrote to ${full === path.resolve(cwd, file) ? file : full}`);
}

async function edit(cwd, { path: file, edits }, { operations = LOCAL_FILES }) {
  const full = exact(cwd, file);
  try {
    await operations.access?.(full);
  } catch (error) {
    const other = await existing(cwd, file, asking(operations));
    throw other === full ? error : new Error(`${error.message}; a file named ${JSON.stringify(other)} exists: use exactly this name if you mean it`);
  }
  const before = (await operations.readFile(full)).toString("utf8");
  const places = edits.map(({ oldText, newText }) => {
    const start = before.indexOf(oldText);
    if (oldText === "" || start < 0) throw new Error(`the old text of an edit is not in ${file}: it must be there character by character`);
    if (before.indexOf(oldText, start + 1) >= 0) throw new Error(`the old text of an edit is in ${file} more than once: add lines around it`);
    return { start, end: start + oldText.length, newText };
  });
  places.sort((a, b) => a.start - b.start);
  if (places.some(({ start }, index) => index > 0 && start < places[index - 1].end)) throw new Error(`edits of ${file} overlap: make one of them`);
  let after = before;
  for (const { start, end, newText } of places.toReversed()) after = after.slice(0, start) + newText + after.slice(end);
  await operations.writeFile(full, after);
  return content(`Successfully replaced ${edits.length} block(s) in ${file}.`, diffLines(before, after, file));
}

async function ls(cwd, { path: folder = ".", limit = 500 }, { operations }) {
  const full = await existing(cwd, folder, asking(operations ?? { access: fs.access }));
  const names = operations ? await operations.readdir(full) : await fs.readdir(full);
  const isFolder = async (name) => (operations ? (await operations.stat(path.join(full, name))).isDirectory() : (await fs.stat(path.join(full, name)).catch(() => ({ isDirectory: () => false }))).isDirectory());
  const sorted = [...names].sort((a, b) => a.toLowerCase().localeCompare(b.toLowerCase()));
  const shown = await Promise.all(sorted.slice(0, limit).map(async (name) => ((await isFolder(name)) ? `${name}/` : name)));
  return content(shown.join("\n") || "(empty directory)");
}

async function find(cwd, { pattern, path: folder = ".", limit = 1000 }, { operations }) {
  if (!operations?.glob) return run("find", cwd, { pattern, path: folder, limit });
  const full = await existing(cwd, folder, asking(operations));
  const found = await operations.glob(pattern, full, { ignore: ["**/node_modules/**", "**/.git/**"], limit });
  return content(found.map((file) => path.relative(full, path.resolve(full, file))).join("\n") || "No files found matching pattern");
}

const grep = (cwd, params) => run("grep", cwd, params);

/** A tool of offshoot, with its sandbox and its limits. */
async function run(name, cwd, params, toolCallId, signal, onUpdate) {
  const result = await call("tools.run", { name, cwd, toolCallId, params }, { signal, onProgress: onUpdate });
  if (result.isError) throw new Error(result.content.filter(({ type }) => type === "text").map(({ text }) => text).join("\n"));
  return { content: result.content, ...(result.details ? { details: result.details } : {}) };
}

const LOCAL = { read, bash, edit, write, grep, find, ls };

function make(name) {
  const [description, parameters] = TOOLS[name];
  return (cwd, options = {}) => ({
    ...{ name, label: name, description, parameters, promptSnippet: SNIPPETS[name], promptGuidelines: [], constrainedSampling: false, executionMode: undefined },
    prepareArguments: (given) => given,
    execute(toolCallId, params, signal, onUpdate) {
      signal?.throwIfAborted();
      const isPlain = !options.operations && !options.spawnHook && !options.commandPrefix && !options.shellPath;
      if (isPlain) return run(name, cwd, params, toolCallId, signal, onUpdate);
      const work = () => LOCAL[name](cwd, params, options, signal, onUpdate);
      return name === "edit" || name === "write" ? withFileMutationQueue(exact(cwd, params.path), work) : work();
    },
  });
}

const makers = Object.fromEntries(Object.keys(TOOLS).map((name) => [name, make(name)]));
export const { read: createReadTool, bash: createBashTool, edit: createEditTool, write: createWriteTool, grep: createGrepTool, find: createFindTool, ls: createLsTool } = makers;
export const { read: createReadToolDefinition, bash: createBashToolDefinition, edit: createEditToolDefinition, write: createWriteToolDefinition } = makers;
export const { grep: createGrepToolDefinition, find: createFindToolDefinition, ls: createLsToolDefinition } = makers;
const several = (...names) => (cwd, options = {}) => names.map((name) => makers[name](cwd, options[name]));
export const createCodingTools = several("read", "bash", "edit", "write");
export const createReadOnlyTools = several("read", "grep", "find", "ls");
export const defineTool = (tool) => tool;
const isResult = (name) => ({ toolName }) => toolName === name;
export const [isBashToolResult, isReadToolResult, isEditToolResult, isWriteToolResult, isGrepToolResult, isFindToolResult, isLsToolResult] =
  ["bash", "read", "edit", "write", "grep", "find", "ls"].map(isResult);
export const isToolCallEventType = (name, { toolName }) => toolName === name;
