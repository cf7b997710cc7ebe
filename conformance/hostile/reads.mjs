// Lines for the shell under approval `ask` without any rule: those that only read run, near misses are asked about. MARK is a folder outside the
// project: what runs or writes something leaves a file there.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { prepare } from "./allow.mjs";
import { answer } from "./model.mjs";

const BATCH = 60;
const ASKED = /needs the user's approval/;
const data = (name) => JSON.parse(fs.readFileSync(new URL(`data/${name}.json`, import.meta.url), "utf8"));
const lines = (name) => Object.entries(data(name)).flatMap(([group, all]) => all.map((command) => ({ group, command })));
/** Programs of the table that may be missing here, outside the project. */
const STAND_INS = ["rg", "fd", "tree", "jq", "gawk", "mawk", "xxd", "column", "hexdump", "file"];

/** The project of the rules that allow, with links out of it, a pipe and a file of keys. */
function project(place) {
  const mark = prepare(place);
  place.write("data.json", '{"name":"x","items":[{"id":1},{"id":2}],"1":1}\n');
  place.write("with space", "hello\n");
  fs.writeFileSync(path.join(place.work, "../outside"), "outside\n");
  const keys = path.join(place.home, "offshoot", "auth.json");
  fs.mkdirSync(path.dirname(keys), { recursive: true });
  fs.writeFileSync(keys, "{}", { mode: 0o600 });
  fs.symlinkSync("/etc", place.at("link"));
  fs.symlinkSync("../outside", place.at("out"));
  fs.symlinkSync(keys, place.at("keylink"));
  execFileSync("mkfifo", [place.at("fifo")]);
  const programs = path.join(place.home, "programs");
  fs.mkdirSync(programs);
  for (const name of STAND_INS) {
    const file = path.join(programs, name);
    fs.writeFileSync(file, "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  }
  return { mark, keys, env: { PATH: `${process.env.PATH}:${programs}` } };
}

async function run(place, { mark, keys, env }, commands, mode) {
  const fill = (command) =>
    command.replaceAll("MARK", mark).replaceAll("PROJ", place.work).replaceAll("KEYDIR", path.dirname(keys)).replaceAll("KEYS", keys);
  const calls = commands.map((command, index) => answer({ call: "bash", id: `c${index}`, arguments: { command: fill(command), timeout: 20 } }));
  const model = await place.model([...calls, answer("Done.")], {});
  const done = await place.offshoot(["-p", "go", "--tools", "bash", "--approval", mode], { env });
  assert.ok(done.stdout.includes("Done."), done.stderr);
  assert.equal(model.results.length, commands.length);
  return model.results.map(({ isError, text }, index) => ({ command: commands[index], text, isAsked: isError && ASKED.test(text), isRefused: isError && /is refused/.test(text) }));
}

const shown = (results) => results.map(({ command, text }) => `${command}: ${text.slice(0, 160)}`);

function batches(name, all, promise, check) {
  const count = Math.ceil(all.length / BATCH);
  return Array.from({ length: count }, (_, at) => ({
    group: "reads",
    name: `${name}, ${at + 1} of ${count}`,
    promise,
    async run(place) {
      const made = project(place);
      const before = execFileSync("git", ["-C", place.work, "for-each-ref"], { encoding: "utf8" });
      fs.utimesSync(place.at("b"), 0, 0);
      const index = fs.readFileSync(place.at(".git/index"));
      const results = await run(place, made, all.slice(at * BATCH, (at + 1) * BATCH).map(({ command }) => command), "ask");
      assert.deepEqual(fs.readdirSync(made.mark, { recursive: true }), [], "something ran or was written unasked");
      assert.equal(execFileSync("git", ["-C", place.work, "for-each-ref"], { encoding: "utf8" }), before);
      assert.ok(index.equals(fs.readFileSync(place.at(".git/index"))), "the index was written");
      check(results);
    },
  }));
}

/** What makes git more than a reader, each in a repository of its own, with what it would run. */
const GIT_LINES = ["git status", "git diff", "git diff HEAD~1", "git log -p -1", "git log -1 --format=%h", "git show", "git blame a", "git branch -a", "git stash list", "git ls-files -m"];
const git = (place, ...words) => execFileSync("git", ["-C", place.work, ...words], { stdio: "ignore" });
const trap = (place, mark) => {
  place.write("trap.sh", `#!/bin/sh\ntouch ${mark}/trap\ncat\n`);
  fs.chmodSync(place.at("trap.sh"), 0o755);
  return place.at("trap.sh");
};
/** Settings of the repository: every line is asked about. */
const REPOSITORY = {
  "core.fsmonitor": (program) => program,
  "core.hooksPath": () => ".",
  "core.pager": (program) => program,
  "core.attributesFile": () => "attributes",
  "core.sshCommand": (program) => program,
  "core.worktree": () => "..",
  "diff.external": (program) => program,
  "diff.x.command": (program) => program,
  "diff.x.textconv": (program) => program,
  "filter.x.clean": (program) => program,
  "filter.x.process": (program) => program,
  "gpg.program": (program) => program,
  "gpg.ssh.program": (program) => program,
  "log.showSignature": () => "true",
  "format.pretty": () => "%G?",
  "pager.log": (program) => program,
  "alias.st": (program) => `!${program}`,
  "include.path": () => "../other-config",
  "includeIf.onbranch:main.path": () => "../other-config",
  "extensions.partialClone": () => "origin",
  "remote.origin.promisor": () => "true",
  "remote.origin.partialclonefilter": () => "blob:none",
  "merge.x.driver": (program) => program,
  "submodule.recurse": () => "true",
  "status.submoduleSummary": () => "true",
  "core.alternateRefsCommand": (program) => program,
};
/** The person's own settings: lines run, and these do not. */
const OWN = {
  "core.fsmonitor": REPOSITORY["core.fsmonitor"],
  "core.pager": REPOSITORY["core.pager"],
  "diff.external": REPOSITORY["diff.external"],
  "diff.x.command": REPOSITORY["diff.x.command"],
  "diff.x.textconv": REPOSITORY["diff.x.textconv"],
  "filter.x.clean": REPOSITORY["filter.x.clean"],
  "filter.x.process": REPOSITORY["filter.x.process"],
  "gpg.program": REPOSITORY["gpg.program"],
  "log.showSignature": REPOSITORY["log.showSignature"],
  "format.pretty": () => "format:%G?",
  "pager.log": REPOSITORY["pager.log"],
  "core.hooksPath": (program) => path.dirname(program),
};

/** Pagers run on a terminal only. */
const ON_A_TERMINAL = ["core.pager", "pager.log"];
/** By these gpg runs, for commits with a signature. */
const SIGNED = { "gpg.program": ["log.showSignature", "true"], "log.showSignature": ["gpg.program"], "format.pretty": ["gpg.program"] };

/** Puts a signature into the last commit. */
function sign(place) {
  const text = execFileSync("git", ["-C", place.work, "cat-file", "commit", "HEAD"], { encoding: "utf8" });
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n\n";
  const signed = execFileSync("git", ["-C", place.work, "hash-object", "-t", "commit", "-w", "--stdin"], { input: text.replace("\n\n", `\n${signature}`), encoding: "utf8" }).trim();
  git(place, "update-ref", "refs/heads/main", signed);
}

function dirty(place) {
  fs.writeFileSync(place.at(".gitattributes"), "* diff=x filter=x\n");
  fs.appendFileSync(place.at("a"), "more\n");
}

const ofRepository = Object.entries(REPOSITORY).map(([key, value]) => ({
  group: "reads",
  name: `${key} of the repository`,
  promise: "git is asked about, and the question names the key",
  async run(place) {
    const made = project(place);
    dirty(place);
    fs.writeFileSync(place.at("other-config"), "[core]\n\tpager = x\n");
    git(place, "config", key, value(trap(place, made.mark)));
    const results = await run(place, made, GIT_LINES, "ask");
    assert.deepEqual(shown(results.filter(({ isAsked }) => !isAsked)), []);
    assert.ok(key === "core.worktree" || results.every(({ text }) => text.toLowerCase().includes(key.split(".")[0].toLowerCase())), shown(results).join("\n"));
    assert.deepEqual(fs.readdirSync(made.mark), []);
  },
}));

const ofPerson = Object.entries(OWN).map(([key, value]) => ({
  group: "reads",
  name: `${key} of the person`,
  promise: "git reads, and runs no program",
  async run(place) {
    const made = project(place);
    dirty(place);
    const program = trap(place, made.mark);
    fs.copyFileSync(program, path.join(path.dirname(program), "post-index-change"));
    fs.appendFileSync(path.join(place.home, ".gitconfig"), "");
    const own = (name, text) => execFileSync("git", ["config", "--file", path.join(place.home, ".gitconfig"), name, text]);
    own(key, value(program));
    if (SIGNED[key]) {
      sign(place);
      own(SIGNED[key][0], SIGNED[key][1] ?? program);
    }
    const results = await run(place, made, GIT_LINES, "ask");
    assert.deepEqual(shown(results.filter(({ isAsked }) => isAsked)), []);
    assert.deepEqual(fs.readdirSync(made.mark), []);
    if (ON_A_TERMINAL.includes(key)) return;
    const environment = { ...process.env, HOME: place.home, GIT_CONFIG_GLOBAL: path.join(place.home, ".gitconfig") };
    for (const line of GIT_LINES) spawnSync("sh", ["-c", line], { cwd: place.work, env: environment, stdio: "ignore" });
    assert.deepEqual(fs.readdirSync(made.mark), ["trap"], "the trap is none");
  },
}));

export const READS = [
  ...batches("lines that only read", lines("reads-pass"), "they run without a question and change nothing", (results) =>
    assert.deepEqual(shown(results.filter(({ isAsked }) => isAsked)), []),
  ),
  ...batches("near misses", lines("reads-ask"), "each is asked about, and none runs", (results) =>
    assert.deepEqual(shown(results.filter(({ isAsked }) => !isAsked)), []),
  ),
  ...ofRepository,
  ...ofPerson,
];
