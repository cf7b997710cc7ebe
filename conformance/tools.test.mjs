// The tools of pi and of offshoot on the same files and arguments: what they show, what they change, what they tell.
// Wording differs on purpose: texts are compared without the notes in brackets at their end, failures by being failures.
//   OFFSHOOT_TOOL_BIN=../target/tests/examples/tool node --test tools.test.mjs
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { IS_NEWEST, MODULES, piPackage, piRunner, temporaryFolder } from "./lib/places.mjs";
import { Rng } from "./lib/rng.mjs";
import { sampled } from "./lib/sample.mjs";

const program = process.env.OFFSHOOT_TOOL_BIN;
if (!program) throw new Error("set OFFSHOOT_TOOL_BIN to the example `tool` of offshoot-agent");
const pi = (file) => import(pathToFileURL(path.join(piPackage(), "dist/core", file)).href);
const tools = await pi("tools/index.js");
const { applyPatch } = await import(pathToFileURL(path.join(MODULES, "diff/libesm/index.js")).href);
const rng = new Rng(process.env.CONFORMANCE_SEED ?? "tools");
const folder = temporaryFolder("tools");
const home = path.join(folder, "home");

const child = spawn(program, [], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
const waiting = [];
createInterface({ input: child.stdout }).on("line", (line) => waiting.shift().resolve(JSON.parse(line)));
child.on("close", () => waiting.splice(0).forEach(({ reject }) => reject(new Error("the example has ended"))));
const offshoot = (line) =>
  new Promise((resolve, reject) => {
    waiting.push({ resolve, reject });
    child.stdin.write(`${JSON.stringify({ cwd: folder, home, spill: path.join(folder, "spill"), ...line })}\n`);
  });
after(() => {
  child.stdin.end();
  fs.rmSync(folder, { recursive: true, force: true });
});

/** A call through both: pi's result, or a failure, beside offshoot's. */
async function both(tool, args) {
  const theirs = await tools.createTool(tool, folder).execute("id", structuredClone(args)).then(
    (result) => ({ isError: false, ...result }),
    (error) => ({ content: [{ type: "text", text: error.message }], isError: true }),
  );
  return [theirs, await offshoot({ tool, arguments: args })];
}
const texts = (result) => result.content.filter((block) => block.type === "text").map((block) => block.text).join("");
/** Without the last paragraph if that is a note. */
const shown = (result) => texts(result).replace(/(^|\n\n)\[[^\n]*\]$/, "");
const put = (name, content) => fs.writeFileSync(path.join(folder, name), content);
const get = (name) => fs.readFileSync(path.join(folder, name));
const plain = (value) => JSON.parse(JSON.stringify(value ?? null));

test("texts are cut at the same places", async () => {
  const { truncateHead, truncateTail, truncateLine } = await pi("tools/truncate.js");
  let cut = 0;
  for (let round = 0; round < sampled(3000); round++) {
    const pieces = ["a", "é", "日", "😀", "\n", "\n", "\r\n", " ", "word "];
    const text = Array.from({ length: rng.int(0, 60) }, () => rng.pick(pieces)).join("");
    const [lines, bytes] = [rng.int(1, 12), rng.int(1, 80)];
    for (const [truncate, theirs] of [["head", truncateHead], ["tail", truncateTail]]) {
      const expected = theirs(text, { maxLines: lines, maxBytes: bytes });
      cut += expected.truncated;
      assert.deepEqual(await offshoot({ truncate, text, lines, bytes }), expected, JSON.stringify({ truncate, text, lines, bytes }));
    }
  }
  assert.ok(cut > sampled(1000), `only ${cut} texts were cut`);
  for (let length = 490; length < 510; length++) {
    const line = "aé日"[rng.int(0, 2)].repeat(length);
    const expected = truncateLine(line);
    assert.deepEqual(await offshoot({ truncate: "line", text: line }), expected.wasTruncated ? expected.text : null);
  }
});

test("edits find, refuse and change the same", async () => {
  const odd = ["“q”", "‘s’", "a–b", "x\u00a0y", "ﬁ", "tail  ", "\ttab\t", "same", "same", "", "{", "}", "日本", "z1", "z2", "z3"];
  const straight = (text) =>
    text.replace(/[“”]/g, '"').replace(/[‘’]/g, "'").replace(/–/g, "-").replace(/\u00a0/g, " ").replace(/ﬁ/g, "fi").replace(/[ \t]+$/gm, "");
  const tally = { changed: 0, refused: 0, sameDiff: 0 };
  for (let round = 0; round < sampled(1500); round++) {
    const end = rng.pick(["\n", "\n", "\r\n"]);
    const lines = Array.from({ length: rng.int(1, 25) }, () => rng.pick(odd) + rng.pick(["", rng.hex(2)]));
    const content = (rng.chance(0.2) ? "\ufeff" : "") + lines.join(end) + rng.pick(["", end]);
    const edits = Array.from({ length: rng.int(1, 3) }, () => {
      const from = rng.int(0, lines.length - 1);
      const old = lines.slice(from, from + rng.int(1, 3)).join(rng.pick(["\n", end]));
      const text = rng.pick([old, old, straight(old), old.slice(1), `${old}nowhere`]);
      return { oldText: text, newText: rng.pick(["", "new", "new\nlines", text, `${text}!`]) };
    });
    // Blank texts and blank last lines: pi counts wrongly there, see below.
    if (edits.some((edit) => edit.oldText.trim() === "") || /[\r\n][ \t\u00a0]+$/.test(content)) continue;
    const args = { path: "edit.txt", edits };
    put("edit.txt", content);
    const theirs = await tools.createTool("edit", folder).execute("id", structuredClone(args)).catch(() => null);
    const expected = get("edit.txt");
    put("edit.txt", content);
    const ours = await offshoot({ tool: "edit", arguments: args });
    const why = JSON.stringify({ content, edits, ours });
    assert.equal(ours.isError, theirs === null, why);
    assert.deepEqual(get("edit.txt"), expected, why);
    tally[theirs ? "changed" : "refused"]++;
    if (!theirs) continue;
    assert.equal(ours.details.firstChangedLine, theirs.details.firstChangedLine, why);
    // Of two equally short ways to tell a change either may be told; mostly it is the same.
    const changes = (diff) => diff.split("\n").filter((line) => /^[+-]/.test(line)).length;
    assert.equal(changes(ours.details.diff), changes(theirs.details.diff), why);
    const [before, after] = [content, expected.toString()].map((text) => text.replace(/^\ufeff/, "").replace(/\r\n/g, "\n"));
    assert.equal(applyPatch(before, ours.details.patch), after, why);
    const isSame = ours.details.diff === theirs.details.diff && ours.details.patch === theirs.details.patch;
    tally.sameDiff += isSame;
  }
  assert.ok(tally.changed > sampled(300) && tally.refused > sampled(300) && tally.sameDiff > 0.9 * tally.changed, JSON.stringify(tally));
});

test("an edit beside a blank last line, at which pi gives up, is made", async () => {
  put("edit.txt", "“a”\n  ");
  const [theirs, ours] = await both("edit", { path: "edit.txt", edits: [{ oldText: '"a"', newText: "b" }] });
  assert.deepEqual([theirs.isError, ours.isError, get("edit.txt").toString()], [true, false, "b\n  "]);
});

test("an edit keeps the line ends of lines that it does not touch, which pi makes alike", async () => {
  put("edit.txt", "a\r\nb\nc\n");
  await offshoot({ tool: "edit", arguments: { path: "edit.txt", edits: [{ oldText: "a", newText: "x" }] } });
  assert.equal(get("edit.txt").toString(), "x\r\nb\nc\n");
});

test("read shows the same lines and tells the same numbers", async () => {
  let cut = 0;
  for (let round = 0; round < sampled(150); round++) {
    const width = rng.pick([3, 30, 300, 3000]);
    const line = () => rng.pick(["x", "é", "日", " "]).repeat(rng.int(0, width));
    const lines = Array.from({ length: rng.pick([0, 1, 5, 400, 2000, 2600]) }, line);
    if (rng.chance(0.1)) lines.splice(rng.int(0, lines.length), 0, "long".repeat(13_000));
    put("read.txt", lines.join("\n") + rng.pick(["", "\n"]));
    const args = { path: "read.txt" };
    if (rng.chance(0.5)) args.offset = rng.int(1, lines.length + 2);
    if (rng.chance(0.4)) args.limit = rng.int(1, 2500);
    const [theirs, ours] = await both("read", args);
    const why = `${JSON.stringify(args)} ${lines.length} lines: ${texts(ours).slice(-200)} / ${texts(theirs).slice(-200)}`;
    assert.equal(ours.isError, theirs.isError, why);
    if (theirs.isError) continue;
    assert.equal(shown(ours), shown(theirs), why);
    assert.deepEqual(ours.details, plain(theirs.details), why);
    assert.equal(/offset=(\d+)/.exec(texts(ours))?.[1], /offset=(\d+)/.exec(texts(theirs))?.[1], why);
    cut += theirs.details !== undefined;
  }
  assert.ok(cut > sampled(20), `only ${cut} reads were cut`);
});

test("small pictures are passed on as they are, whatever their name", async () => {
  const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
  put("picture.txt", gif);
  const [theirs, ours] = await both("read", { path: "picture.txt" });
  assert.deepEqual(ours.content[1], theirs.content[1]);
});

test("paths are understood alike", async () => {
  fs.mkdirSync(home, { recursive: true });
  for (const [name, spelling] of [
    ["plain.txt", "@plain.txt"],
    ["with space.txt", "with\u00a0space.txt"],
    ["10.15.00\u202fPM.txt", "10.15.00 PM.txt"],
    ["d\u2019e\u0301te\u0301.txt", "d'\u00e9t\u00e9.txt"],
    ["url name.txt", `file://${folder}/url%20name.txt`],
    ["up.txt", "./home/../up.txt"],
  ]) {
    put(name, name);
    const [theirs, ours] = await both("read", { path: spelling });
    // Offshoot adds which file it is.
    assert.deepEqual([texts(theirs), shown(ours)], [name, name], spelling);
  }
});

test("the exact name counts, where pi takes the neighbour", async () => {
  for (const [exact, neighbour] of [["one\u00a0two.txt", "one two.txt"], ["@one.txt", "one.txt"]]) {
    put(exact, "exact");
    put(neighbour, "neighbour");
    const [theirs, ours] = await both("read", { path: exact });
    assert.deepEqual([texts(theirs), texts(ours)], ["neighbour", "exact"]);
    await offshoot({ tool: "write", arguments: { path: exact, content: "changed" } });
    assert.deepEqual([get(exact).toString(), get(neighbour).toString()], ["changed", "neighbour"]);
  }
});

test("write makes the same files", async () => {
  for (const content of ["", "a\n", "é\r\n😀", "\ufeffx"]) {
    const args = { path: "new/folder/file.txt", content };
    const [theirs, ours] = await both("write", args);
    assert.deepEqual([theirs.isError, ours.isError, get(args.path).toString()], [false, false, content]);
  }
  fs.mkdirSync(path.join(folder, "directory"));
  const [theirs, ours] = await both("write", { path: "directory", content: "" });
  assert.deepEqual([theirs.isError, ours.isError], [true, true]);
});

test("bash shows the same end of the output and tells the same numbers", async () => {
  const commands = [
    "true", "echo a; echo b >&2; exit 3", "printf 'no end'", "seq 1 2000", "seq 1 2001", "seq 1 60000", "kill -9 $$",
    "head -c 51200 /dev/zero | tr '\\0' x", "head -c 51201 /dev/zero | tr '\\0' x",
    // Of a last line that is too long pi 0.87 shows nothing.
    ...(IS_NEWEST ? ["seq 1 5; head -c 300000 /dev/zero | tr '\\0' y; echo"] : []),
    "printf '\\377\\303\\251\\033[1m\\r\\n'", "yes é | head -c 150000", "cat", "nonsense-nobody-has 2>/dev/null", "sleep 1000 & echo $! >> left; echo left",
  ];
  const bare = (result) => texts(result).replace(/\n\n(\[[^\n]*\]|Command exited with code \d+)$/, "").replace(/\n\n\[[^\n]*\]$/, "");
  for (const command of commands) {
    const [theirs, ours] = await both("bash", { command });
    const why = `${command}: ${texts(ours).slice(-200)} / ${texts(theirs).slice(-200)}`;
    assert.deepEqual([ours.isError, bare(ours)], [theirs.isError, bare(theirs)], why);
    assert.deepEqual(/code (\d+)/.exec(texts(ours))?.[1], /code (\d+)/.exec(texts(theirs))?.[1], why);
    if (theirs.isError) continue;
    assert.deepEqual(ours.details?.truncation ?? null, plain(theirs.details?.truncation), why);
    if (!theirs.details) continue;
    const whole = [ours, theirs].map((result) => fs.readFileSync(result.details.fullOutputPath));
    assert.ok(whole[0].equals(whole[1]), why);
    fs.rmSync(theirs.details.fullOutputPath);
  }
  for (const id of get("left").toString().trim().split("\n")) process.kill(Number(id));
});

test("a person's commands are recorded alike", async () => {
  const { executeBashWithOperations } = await pi("bash-executor.js");
  const { createLocalBashOperations } = await pi("tools/bash.js");
  const pieces = ["\x1b[31m", "\x1b[0m", "\x1b]0;t\x07", "\x1b(B", "\x1b7", "\x1b[2K", "\r\n", "\n", "\t", "\x00", "\x08", "a", "é", "😀", "7", ";", "[", " "];
  for (let round = 0; round < sampled(120); round++) {
    put("raw", Array.from({ length: rng.int(0, 40) }, () => rng.pick(pieces)).join("") + "end\n");
    const command = `cat raw; exit ${rng.int(0, 2)}`;
    const theirs = await executeBashWithOperations(command, folder, createLocalBashOperations(), {});
    assert.deepEqual(await offshoot({ run: command }), { fullOutputPath: null, ...plain(theirs) }, JSON.stringify(get("raw").toString()));
  }
});

// The model would pay for every state of a progress bar.
test("of a progress bar the last state is recorded, where pi records all as one line", async () => {
  const { executeBashWithOperations } = await pi("bash-executor.js");
  const { createLocalBashOperations } = await pi("tools/bash.js");
  const command = "printf '10%%\\r20%%\\n'";
  const theirs = await executeBashWithOperations(command, folder, createLocalBashOperations(), {});
  assert.deepEqual([(await offshoot({ run: command })).output, theirs.output], ["20%\n", "10%20%\n"]);
});

test("folders are listed in the same order", async () => {
  const names = ["b", "A", "a1", "Z", "_u", "-m", ".hid", "10", "9", "é", "e", "f", "ä", "x y", "x-y", "x_y", "xy", "#h", "~t", "+p", "(b)", "B.txt", "b-2"];
  fs.mkdirSync(path.join(folder, "list/sub"), { recursive: true });
  for (const name of names) put(path.join("list", name), "");
  for (const args of [{ path: "list" }, { path: "list", limit: 5 }, { path: "nothing" }, { path: "list/A" }, { path: "list/sub" }]) {
    const [theirs, ours] = await both("ls", args);
    assert.equal(ours.isError, theirs.isError, JSON.stringify(args));
    if (theirs.isError || args.path === "list/sub") continue;
    assert.deepEqual([shown(ours), ours.details], [shown(theirs), plain(theirs.details)], JSON.stringify(args));
  }
});

test("the same files of instructions are found, in the same order", async () => {
  const names = ["AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD"];
  const questions = Array.from({ length: sampled(40) }, (_, round) => {
    const root = path.join(folder, `project${round}`);
    const cwd = path.join(root, "a/b/c");
    const agentDir = rng.pick([path.join(root, "home"), path.join(root, "a")]);
    for (const place of [agentDir, root, path.join(root, "a"), path.join(root, "a/b"), cwd]) {
      fs.mkdirSync(place, { recursive: true });
      for (const name of names) if (rng.chance(0.3)) fs.writeFileSync(path.join(place, name), `\ufeff${place}/${name}`);
    }
    return { cwd, agentDir };
  });
  // By bun: this module of pi's asks for a newer node than the rest of it.
  const loader = JSON.stringify(path.join(piPackage(), "dist/core/resource-loader.js"));
  const script = `const { loadProjectContextFiles: load } = await import(${loader});
    console.log(JSON.stringify(JSON.parse(process.argv.at(-1)).map(load)));`;
  const answer = spawnSync(piRunner(), ["-e", script, JSON.stringify(questions)], { encoding: "utf8" });
  assert.equal(answer.status, 0, answer.stderr);
  const theirs = JSON.parse(answer.stdout);
  for (const [at, { cwd, agentDir }] of questions.entries()) {
    assert.deepEqual(await offshoot({ context: agentDir, cwd }), { files: theirs[at], unreadable: 0 });
  }
});
