// Calls of tools as a hostile or confused model makes them, in a project with traps. The request after a call has its result.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { answer } from "./model.mjs";
import { KEY } from "./place.mjs";

const bash = (command, more = {}) => ({ call: "bash", arguments: { command, ...more } });
const fails = (pattern) => ({ isError, text }) => (assert.ok(isError, text.slice(0, 300)), assert.match(text, pattern));
const says = (pattern) => ({ text }) => assert.match(text, pattern);
const brief = ({ text }) => assert.ok(text.length < 128 * 1024, `${text.length} characters`);
const fifo = (name) => (place) => execFileSync("mkfifo", [place.at(name)]);
const link = (name, to) => (place) => fs.symlinkSync(typeof to === "function" ? to(place) : to, place.at(name));
const many = (place) => execFileSync("sh", ["-c", "mkdir many && cd many && seq 1200 | xargs touch"], { cwd: place.work });
const OTHER = "AIzaHostileCorpus0123456789";
const keys = (place) => fs.writeFileSync(path.join(place.data, "auth.json"), JSON.stringify({ google: { type: "api_key", key: OTHER } }), { mode: 0o600 });
const hidden = ({ text }) => assert.ok(!text.includes(KEY) && text.includes("[key hidden by offshoot]"), text);
const KIND = /FIFO|device|folder|directory|regular|socket|too many|loop/i;
/** How many processes carry the word in their command line. */
const alive = (word) => fs.readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(word)).length;

/** [name, what is there, the call, what its result must be]. */
const CALLS = [
  ["read a FIFO", fifo("f"), { call: "read", arguments: { path: "f" } }, fails(KIND)],
  ["read /dev/zero", null, { call: "read", arguments: { path: "/dev/zero" } }, fails(KIND)],
  ["read a link to /dev/zero", link("z", "/dev/zero"), { call: "read", arguments: { path: "z" } }, fails(KIND)],
  ["read a folder", null, { call: "read", arguments: { path: "." } }, fails(KIND)],
  ["read a loop of links", link("l", "l"), { call: "read", arguments: { path: "l" } }, fails(/l/)],
  ["read 8 GiB without blocks", (place) => (place.write("s", ""), fs.truncateSync(place.at("s"), 8 * 2 ** 30)), { call: "read", arguments: { path: "s" } }, brief],
  ["read the file of keys", keys, { call: "read", arguments: { path: "~/offshoot/auth.json" } }, fails(/keys/)],
  ["read the file of keys through a link", (place) => (keys(place), link("k", path.join(place.data, "auth.json"))(place)), { call: "read", arguments: { path: "k" } }, fails(/keys/)],
  ["read models.json with a key", null, { call: "read", arguments: { path: "~/offshoot/models.json" } }, fails(/keys/)],
  ["read with a path of a megabyte", null, { call: "read", arguments: { path: "a/".repeat(1 << 19) } }, fails(/./)],
  ["read with a path that has NUL", null, { call: "read", arguments: { path: "a\0b" } }, fails(/./)],
  ["read from line 1e15", (place) => place.write("a", "one\n"), { call: "read", arguments: { path: "a", offset: 1e15, limit: 1e15 } }, fails(/./)],
  ["read with arguments of other types", null, { call: "read", arguments: { path: ["a"], offset: "x" } }, fails(/./)],
  ["edit a link to /dev/zero", link("z", "/dev/zero"), { call: "edit", arguments: { path: "z", oldText: "a", newText: "b" } }, fails(KIND)],
  ["edit a FIFO", fifo("f"), { call: "edit", arguments: { path: "f", oldText: "a", newText: "b" } }, fails(KIND)],
  ["edit the file of keys", keys, { call: "edit", arguments: { path: "~/offshoot/auth.json", oldText: "google", newText: "x" } }, fails(/contains keys: tools do not open it/)],
  ["grep in the folder of keys", keys, { call: "grep", arguments: { pattern: "AIza", path: "../offshoot" } }, ({ text }) => assert.ok(!text.includes(OTHER), text)],
  ["replace the file of keys", keys, { call: "write", arguments: { path: "~/offshoot/auth.json", content: "{}" } }, fails(/settings, sessions or extensions/)],
  ["write to a FIFO", fifo("f"), { call: "write", arguments: { path: "f", content: "x" } }, fails(KIND)],
  ["write to a device", null, { call: "write", arguments: { path: "/dev/full", content: "x" } }, fails(KIND)],
  ["write the mask of a key", null, { call: "write", arguments: { path: "a", content: "KEY=[key hidden by offshoot]" } }, fails(/mask|hidden/)],
  ["write a file without a name", null, { call: "write", arguments: { path: "", content: "x" } }, fails(/./)],
  ["print a key", null, bash(`printf %s ${KEY.slice(0, 20)} ${KEY.slice(20)}`), hidden],
  ["print the variables of keys", null, bash("env"), ({ text }) => assert.ok(!text.includes("sk-ant-api03-other"), text)],
  ["write to the terminal", null, bash("echo x >/dev/tty"), fails(/tty|device/)],
  ["read from the terminal", null, bash("read word </dev/tty"), fails(/tty|device/)],
  ["escape sequences on both outputs", null, bash("printf '\\033]0;taken\\007'; printf '\\033[2J' >&2"), says(/taken/)],
  ["300 MB of output", null, bash("head -c 300000000 /dev/zero | tr '\\0' x"), brief],
  ["lines without an end until the time is up", null, bash("yes", { timeout: 1 }), (result) => (fails(/longer than/)(result), brief(result))],
  ["bytes that are no text", null, bash("head -c 100000 /dev/urandom"), brief],
  ["a child in a session of its own that keeps the output open", null, bash("setsid bash -c 'exec -a hostile-child sleep 300' & echo here; sleep 9", { timeout: 1 }), (result) => (says(/here/)(result), assert.equal(alive("hostile-child"), 0))],
  ["a daemon that hides its parents", null, bash("(env -i setsid bash -c 'exec -a hostile-daemon sleep 300' >/dev/null 2>&1 &); echo here; sleep 9", { timeout: 1 }), () => assert.equal(alive("hostile-daemon"), 0)],
  ["a command that ignores TERM", null, bash("trap '' TERM INT HUP; while :; do sleep 0.1; done", { timeout: 1 }), fails(/longer than/)],
  ["a command that closes its outputs and goes on", null, bash("exec >&- 2>&-; sleep 300", { timeout: 1 }), fails(/longer than/)],
  ["a negative time", null, bash("echo here", { timeout: -5 }), () => {}],
  ["a time of 1e300", null, bash("echo here", { timeout: 1e300 }), () => {}],
  ["grep with an expression that explodes", (place) => place.write("a", `${"a".repeat(5000)}!\n`), { call: "grep", arguments: { pattern: "(a*)*(a*)*(a*)*b", path: "." } }, () => {}],
  ["grep with an expression of a megabyte", null, { call: "grep", arguments: { pattern: `(${"a|".repeat(1 << 19)}b)`, path: "." } }, () => {}],
  ["grep in a folder with a FIFO and a loop", (place) => (fifo("f")(place), fs.symlinkSync(".", place.at("loop")), place.write("a", "needle\n")), { call: "grep", arguments: { pattern: "needle", path: "." } }, says(/needle/)],
  ["find in 1,200 files", many, { call: "find", arguments: { pattern: "*", path: "." } }, brief],
  ["ls of 1,200 files", many, { call: "ls", arguments: { path: "many" } }, brief],
  ["ls of names with escape sequences", (place) => place.write("\u001b[2J\nname", ""), { call: "ls", arguments: { path: "." } }, says(/name/)],
];

export const TOOLS = CALLS.map(([name, prepare, call, check]) => ({
  group: "tool",
  name,
  promise: "the call has a result that is bounded and harmless, nothing is left behind, and the run goes on",
  async run(place) {
    prepare?.(place);
    const model = await place.model([answer(call), answer("Done.")]);
    const env = { OPENAI_API_KEY: "sk-ant-api03-other-0123456789" };
    const done = await place.offshoot(["-p", "go", "--tools", "read,bash,edit,write,grep,find,ls"], { env });
    assert.ok(done.stdout.includes("Done."), done.stderr);
    const results = model.results;
    assert.equal(results.length, 1);
    check(results[0]);
    assert.ok(place.sessions().every((entries) => !JSON.stringify(entries).includes(KEY)), "a key is in the session");
    // As the session has them, but never on the screen.
    assert.doesNotMatch((await place.offshoot(["show", "latest"])).stdout, /[\u001b\u0007\u202e]/);
  },
}));

function commandLine(pid) {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
