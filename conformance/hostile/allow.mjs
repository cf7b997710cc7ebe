// Bash lines under approval `ask` with narrow `allow` rules. Each line is a call of its own in a project with traps, and is run by bash if no question
// was due. MARK is a folder outside the project: what runs or writes something that the rule does not name leaves a file there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { answer } from "./model.mjs";

const data = (name) => JSON.parse(fs.readFileSync(new URL(`data/${name}.json`, import.meta.url), "utf8"));
const BATCH = 40;
const ASKED = /needs the user's approval/;

/** A project with a repository of two commits, another repository in `evil`, one without `.git` in `sub/bare`, and programs that touch MARK. */
export function prepare(place) {
  const mark = path.join(place.home, "mark");
  fs.mkdirSync(mark);
  const script = (name, text) => (place.write(name, `#!/bin/sh\n${text}\n`), fs.chmodSync(place.at(name), 0o755));
  const git = (folder, ...words) => execFileSync("git", ["-C", folder, "-c", "user.name=x", "-c", "user.email=x@example.org", ...words], { stdio: "ignore" });
  for (const name of ["a", "b", "x"]) place.write(name, `hello ${name}\nworld\n`);
  for (const name of ["junk", "junk2", "junk3", "sub/file", "src/lib.rs"]) place.write(name, "x\n");
  place.write("big", "hello world\n".repeat(4000));
  place.write("Makefile", "test:\n\t@echo tested\n");
  place.write("package.json", JSON.stringify({ name: "x", version: "1.0.0", scripts: { test: "echo tested" } }));
  place.write(".gitignore", "evil\nevil2\nsub/bare\n*.tar\n");
  place.write("e.sed", `1e touch ${mark}/esed\n`);
  place.write("e.awk", `BEGIN { system("touch ${mark}/eawk") }\n`);
  script("p.sh", `touch ${mark}/psh`);
  script("bin/ls", `touch ${mark}/binls`);
  script("mk", "for last; do :; done; touch $1; cat");
  script("mk-sort", `touch ${mark}/mksort; exec cat`);
  git(place.work, "init", "-q", "-b", "main");
  git(place.work, "add", "-A");
  git(place.work, "commit", "-qm", "first");
  git(place.work, "branch", "side");
  place.write("a", "hello again\nworld\n");
  git(place.work, "commit", "-qam", "second");
  git(place.work, "config", "user.name", "x");
  git(place.work, "config", "user.email", "x@example.org");
  fs.mkdirSync(place.at("evil"));
  git(place.at("evil"), "init", "-q", "-b", "main");
  fs.writeFileSync(place.at("evil", "f"), "f\n");
  git(place.at("evil"), "add", "f");
  git(place.at("evil"), "commit", "-qm", "evil");
  git(place.at("evil"), "config", "core.fsmonitor", `touch ${mark}/fsmonitor; false`);
  git(place.at("evil"), "config", "diff.external", `touch ${mark}/external`);
  fs.appendFileSync(place.at("evil", "f"), "changed\n");
  fs.symlinkSync("evil", place.at("lnk"));
  git(place.work, "init", "-q", "--bare", place.at("sub/bare"));
  git(place.at("sub/bare"), "config", "core.bare", "false");
  git(place.at("sub/bare"), "config", "core.worktree", ".");
  git(place.at("sub/bare"), "config", "core.fsmonitor", `touch ${mark}/bare; false`);
  execFileSync("tar", ["-cf", "t.tar", "a", "b"], { cwd: place.work });
  return mark;
}

/** The results of the lines in their order, and what was made in MARK. */
export async function runLines(place, lines, allow) {
  const mark = prepare(place);
  const filled = lines.map(({ command }) => command.replaceAll("MARK", mark).replaceAll("PROJ", place.work));
  const calls = filled.map((command, index) => answer({ call: "bash", id: `call_${index}`, arguments: { command, timeout: 10 } }));
  const model = await place.model([...calls, answer("Done.")], { permissions: { allow } });
  const done = await place.offshoot(["-p", "go", "--tools", "bash", "--approval", "ask"]);
  assert.ok(done.stdout.includes("Done."), done.stderr);
  assert.equal(model.results.length, lines.length);
  const results = model.results.map(({ isError, text }, index) => ({ ...lines[index], text, isAsked: isError && ASKED.test(text) }));
  return { results, marked: fs.readdirSync(mark, { recursive: true }) };
}

/** Batches of lines, so that a program runs once for many of them. */
function batches(name, { allow, cases }, promise, check) {
  const count = Math.ceil(cases.length / BATCH);
  return Array.from({ length: count }, (_, at) => ({
    group: "allow",
    name: `${name}, ${at + 1} of ${count}`,
    promise,
    async run(place) {
      const { results, marked } = await runLines(place, cases.slice(at * BATCH, (at + 1) * BATCH), allow);
      assert.deepEqual(marked, [], "something ran or was written unasked");
      check(results);
    },
  }));
}

const named = (results) => results.map(({ name, command, text }) => `${name}: ${command}: ${text.slice(0, 100)}`);

/** Each case is a batch of lines. */
export const ALLOW = [
  ...batches("lines that were reported", data("allow-reported"), "a narrow rule runs nothing but what it names", () => {}),
  ...batches("lines from manual pages", data("allow-manual"), "what runs or writes something else is asked about", (results) =>
    assert.deepEqual(named(results.filter(({ isAsked }) => !isAsked)), []),
  ),
  ...batches("lines that people allow", data("allow-ordinary"), "what the rules name runs without a question", (results) =>
    assert.deepEqual(named(results.filter(({ isAsked }) => isAsked)), []),
  ),
];
