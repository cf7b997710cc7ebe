// Names of files, and what a start without a screen waits for or looks for: the file that was named is the file that is
// touched, whatever stands beside it.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as https from "node:https";
import * as path from "node:path";
import { answer } from "../hostile/model.mjs";

const NBSP = "\u00a0";
const NARROW = "\u202f";
const AUTHORITY = path.join(import.meta.dirname, "authority");

/** Runs calls, one an answer, and gives their results. */
async function call(place, ...calls) {
  const model = await place.model([...calls.map(([name, args], at) => answer({ call: name, id: `call_${at}`, arguments: args })), answer("done")]);
  const done = await place.offshoot(["-p", "go", "--tools", "read,write,edit,ls,grep,find"]);
  assert.equal(done.code, 0, done.stderr);
  assert.equal(model.results.length, calls.length);
  return model.results;
}
const edit = (file, before, after) => ["edit", { path: file, edits: [{ oldText: before, newText: after }] }];
const read = (place, name) => fs.readFileSync(place.at(name), "utf8");

/** What the model gets of an attached file. */
async function attach(place, word) {
  const model = await place.model([answer("seen")]);
  const done = await place.offshoot(["-p", "look", word]);
  return { ...done, asked: model.last };
}

export const REPORTS = [
  ...["\u00a0", "\u3000", "\u2003", "\u202f"].map((blank) => ({
    kind: "path",
    report: "can1357/oh-my-pi#12805",
    name: `a name with U+${blank.codePointAt(0).toString(16).padStart(4, "0")} beside one with a blank`,
    promise: "read, edit, write, grep and ls touch the exact name; the neighbour keeps its bytes",
    async run(place) {
      const exact = `a${blank}b.txt`;
      place.write("a b.txt", "neighbour");
      place.write(exact, "exact");
      const results = await call(place, ["read", { path: exact }], edit(exact, "exact", "edited"), ["grep", { pattern: "edited", path: exact }], ["write", { path: `new${blank}x`, content: "new" }], ["write", { path: exact, content: "written" }]);
      assert.equal(results[0].text, "exact");
      assert.deepEqual(results.map(({ isError }) => isError), [false, false, false, false, false]);
      assert.deepEqual([read(place, "a b.txt"), read(place, exact), read(place, `new${blank}x`)], ["neighbour", "written", "new"]);
      assert.ok(results[4].text.includes(exact), results[4].text);
    },
  })),
  {
    kind: "path",
    report: "can1357/oh-my-pi#12805",
    name: "a folder whose name begins with @ beside one without",
    promise: "the exact name counts; a new file below a folder that does not exist is refused with both names",
    async run(place) {
      place.write("types/i.ts", "plain");
      place.write("@types/i.ts", "at");
      place.write("src/x.ts", "source");
      const results = await call(place, ["write", { path: "@types/i.ts", content: "changed" }], ["read", { path: "@src/x.ts" }], ["write", { path: "@src/new.ts", content: "x" }], edit("@src/x.ts", "source", "other"));
      assert.deepEqual([read(place, "types/i.ts"), read(place, "@types/i.ts"), read(place, "src/x.ts")], ["plain", "changed", "source"]);
      assert.match(results[1].text, /^source\n\n\[the path as given does not exist; this is "/);
      assert.ok(results[2].isError && results[2].text.includes("src/new.ts") && results[2].text.includes("./@src/new.ts"), results[2].text);
      assert.ok(results[3].isError && results[3].text.includes(`${place.at("src/x.ts")}" exists`), results[3].text);
      assert.ok(!fs.existsSync(place.at("src/new.ts")) && !fs.existsSync(place.at("@src")));
    },
  },
  {
    kind: "path",
    report: "anthropics/claude-code#59381",
    name: "macOS's names as people type them",
    promise: "what exists is found under the blank, the apostrophe and the letters of a keyboard, and the result names it",
    async run(place) {
      const names = [
        [`Snimek v${NBSP}13.05.05.png.txt`, "Snimek v 13.05.05.png.txt"],
        [`Shot 9.22.20${NARROW}PM.txt`, "Shot 9.22.20 PM.txt"],
        ["Capture d\u2019e\u0301cran.txt", "Capture d'\u00e9cran.txt"],
        ["caf\u00e9.txt", "cafe\u0301.txt"],
      ];
      for (const [there] of names) place.write(there, `<${there.length}>`);
      const results = await call(place, ...names.map(([, typed]) => ["read", { path: typed }]));
      for (const [at, [there]] of names.entries()) assert.ok(results[at].text.startsWith(`<${there.length}>\n\n[the path as given does not exist; this is`), results[at].text);
    },
  },
  {
    kind: "path",
    report: "earendil-works/pi#8877",
    name: "an exact name with a narrow blank before p.m., of a system in another language",
    promise: "the name as given is opened; no file of that name with a plain blank is needed or made",
    async run(place) {
      const name = `Captura a las 3.00.00${NARROW}p.m..txt`;
      place.write(name, "pixels");
      const results = await call(place, ["read", { path: place.at(name) }], ["ls", {}], edit(name, "pixels", "more"));
      assert.equal(results[0].text, "pixels");
      assert.equal(results[1].text, name);
      assert.deepEqual(fs.readdirSync(place.work), [name]);
      assert.equal(read(place, name), "more");
    },
  },
  {
    kind: "path",
    report: "anthropics/claude-code#85673",
    name: "a file dropped into the prompt, whose narrow blank has become a plain one",
    promise: "the attached file is found and named as it is on disk",
    async run(place) {
      const name = `Screenshot at 9.22.20${NARROW}PM.txt`;
      place.write(name, "the words of it");
      const { code, asked } = await attach(place, `@${place.at("Screenshot at 9.22.20 PM.txt")}`);
      assert.equal(code, 0);
      assert.ok(asked.includes("the words of it") && asked.includes(name), asked.slice(0, 2000));
    },
  },
  {
    kind: "path",
    report: "anomalyco/opencode#41833",
    name: "several odd blanks in folder and file, for every tool that reads",
    promise: "read, ls, grep and find get there from the plain spelling; the text says what the real name is",
    async run(place) {
      const [folder, file] = [`Мои${NBSP}снимки`, `экран${NBSP}— 10.07${NARROW}PM.txt`];
      place.write(`${folder}/${file}`, "needle");
      const [typed, typedFile] = ["Мои снимки", "экран — 10.07 PM.txt"];
      const results = await call(place, ["read", { path: `${typed}/${typedFile}` }], ["ls", { path: typed }], ["grep", { pattern: "needle", path: typed }], ["find", { pattern: "*.txt", path: typed }]);
      for (const { isError, text } of results) assert.ok(!isError && text.includes("\\u00a0"), text);
      assert.ok(results[1].text.startsWith(file) && results[2].text.includes(":1: needle") && results[3].text.startsWith(file));
    },
  },
  {
    kind: "path",
    report: "mpfaffenberger/code_puppy#911",
    name: "two files that look like the name, and neither is it",
    promise: "none is guessed: the error names both, in a form that can be told apart",
    async run(place) {
      place.write(`a${NBSP}b.txt`, "one");
      place.write(`a${NARROW}b.txt`, "two");
      const results = await call(place, ["read", { path: "a b.txt" }], edit("a b.txt", "one", "x"));
      for (const { isError, text } of results) assert.ok(isError && text.includes("a\\u00a0b.txt") && text.includes("a\\u202fb.txt"), text);
      assert.deepEqual([read(place, `a${NBSP}b.txt`), read(place, `a${NARROW}b.txt`)], ["one", "two"]);
    },
  },
  {
    kind: "path",
    report: "bug-ops/zeph#5410",
    name: "write and edit of ~/… while a folder called ~ is there",
    promise: "it is the home directory; ./~ is the folder; the result names the absolute path",
    async run(place) {
      place.write("~/note.txt", "folder");
      const results = await call(place, ["write", { path: "~/note.txt", content: "home" }], edit("~/note.txt", "home", "at home"), edit("./~/note.txt", "folder", "in the folder"));
      const atHome = path.join(place.home, "note.txt");
      assert.deepEqual([fs.readFileSync(atHome, "utf8"), read(place, "~/note.txt")], ["at home", "in the folder"]);
      assert.ok(results[0].text.includes(atHome) && results[1].text.includes(atHome), results[0].text);
    },
  },
  {
    kind: "path",
    report: "openclaw/openclaw#30847",
    name: "~/… in every tool that reads, and for a session's file",
    promise: "all mean the home directory, and no folder called ~ is made",
    async run(place) {
      fs.writeFileSync(path.join(place.home, "own.txt"), "needle");
      const results = await call(place, ["read", { path: "~/own.txt" }], ["grep", { pattern: "needle", path: "~/own.txt" }], ["ls", { path: "~" }], ["find", { pattern: "own.*", path: "~/" }]);
      for (const { isError, text } of results) assert.ok(!isError && (text.includes("needle") || text.includes("own.txt")), text);
      await place.model([answer("hello")]);
      assert.equal((await place.offshoot(["--session=~/talk.jsonl", "-p", "hi"])).code, 0);
      assert.ok(fs.existsSync(path.join(place.home, "talk.jsonl")) && !fs.existsSync(place.at("~")));
    },
  },
  {
    kind: "path",
    report: "can1357/oh-my-pi#2909",
    name: "an attached file with blanks, quotes or an @ in its name",
    promise: "the name is taken as it is, to the last character",
    async run(place) {
      for (const name of ["my notes.txt", '"quoted".txt', "@at.txt", "trailing ", "per%20cent.txt", "back\\slash.txt", "two  blanks.txt"]) {
        place.write(name, `words of ${name.length}`);
        place.write("at.txt", "the other one");
        const { code, asked, stderr } = await attach(place, `@${name}`);
        assert.ok(code === 0 && asked.includes(`words of ${name.length}`), `${name}: ${stderr}`);
      }
    },
  },
  {
    kind: "path",
    report: "github/copilot-cli#4271",
    name: "find with a pattern of several parts, with and without ./",
    promise: "the pattern counts from the folder searched; * is one level",
    async run(place) {
      for (const name of ["2026/07/26.md", "2026/07/deep/27.md", "other/2026/07/28.md", "inbox.md"]) place.write(name, "x");
      const results = await call(place, ...["2026/07/26.md", "2026/07/*.md", "./2026/07/*.md", "**/07/*.md", "2026/**/*.md", "./inbox.md"].map((pattern) => ["find", { pattern }]));
      assert.deepEqual(
        results.map(({ text }) => text),
        ["2026/07/26.md", "2026/07/26.md", "2026/07/26.md", "2026/07/26.md\nother/2026/07/28.md", "2026/07/26.md\n2026/07/deep/27.md", "inbox.md"],
      );
    },
  },
  {
    kind: "path",
    report: "anthropics/claude-agent-sdk-typescript#386",
    name: "find with a pattern of several parts and a folder, beside a decoy of the same name",
    promise: "what lies below the folder searched is found, and nothing else",
    async run(place) {
      place.write("root/registry/signals/a.md", "x");
      place.write("registry/signals/decoy.md", "x");
      const pattern = "registry/signals/*.md";
      const results = await call(place, ["find", { pattern, path: "root" }], ["find", { pattern }], ["find", { pattern: `${place.at("root")}/**/*.md` }], ["grep", { pattern: "x", path: "root", glob: `./${pattern}` }]);
      assert.deepEqual(
        results.map(({ text }) => text),
        ["registry/signals/a.md", "registry/signals/decoy.md", "root/registry/signals/a.md", "registry/signals/a.md:1: x"],
      );
    },
  },
  {
    kind: "path",
    report: "anthropics/claude-code#25143",
    name: "find with a part that begins with a dot",
    promise: "a hidden folder that the pattern names is searched",
    async run(place) {
      place.write(".flightops/ARTIFACTS.md", "x");
      const results = await call(place, ...[".flightops/ARTIFACTS.md", ".flightops/*", "./.flightops/*.md", "**/artifacts.md"].map((pattern) => ["find", { pattern }]));
      for (const { text } of results) assert.equal(text, ".flightops/ARTIFACTS.md");
    },
  },
  {
    kind: "process",
    report: "earendil-works/pi#5571",
    name: "-p and --mode json with a pipe on standard input that stays open and silent",
    promise: "the run says what it waits for and how to go on without, and goes on when the pipe ends",
    async run(place) {
      for (const words of [["-p", "hi"], ["--mode", "json", "-p", "hi"]]) {
        const model = await place.model([answer("hello")]);
        const when = (child) => {
          let told = "";
          child.stderr.on("data", (piece) => {
            told += piece;
            if (told.includes("--no-stdin")) child.stdin.end();
          });
        };
        const done = await place.offshoot(words, { input: null, when });
        assert.equal(done.code, 0, done.stderr);
        assert.match(done.stderr, /waiting for the end of standard input/);
        assert.equal(model.requests.length, 1);
      }
    },
  },
  {
    kind: "process",
    report: "google-antigravity/antigravity-cli#76",
    name: "a program that starts it and never closes standard input",
    promise: "with --no-stdin it answers and ends while the pipe is open",
    async run(place) {
      await place.model([answer("pong")]);
      const done = await place.offshoot(["-p", "ping", "--no-stdin"], { input: null });
      assert.deepEqual([done.code, done.stdout, done.stderr], [0, "pong\n", ""]);
    },
  },
  ...["anomalyco/opencode#1694", "continuedev/continue#6164"].map((report, at) => ({
    kind: "process",
    report,
    name: at === 0 ? "a company's own authority in NODE_EXTRA_CA_CERTS" : "NODE_EXTRA_CA_CERTS that cannot be used, or that names more than certificates",
    promise: at === 0 ? "its servers are trusted, and without the variable they are not" : "what is wrong with the file is said, and what can be used of it counts",
    async run(place) {
      const file = path.join(AUTHORITY, "ca.pem");
      const server = https.createServer({ key: fs.readFileSync(path.join(AUTHORITY, "server.key")), cert: fs.readFileSync(path.join(AUTHORITY, "server.pem")) }, (request, response) => {
        request.resume().on("end", () => response.writeHead(200, { "content-type": "text/event-stream" }).end(answer("trusted")));
      });
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      try {
        await place.model([]);
        const models = path.join(place.data, "models.json");
        fs.writeFileSync(models, fs.readFileSync(models, "utf8").replace(/http:\/\/127\.0\.0\.1:\d+/, `https://127.0.0.1:${server.address().port}`));
        const ask = (roots) => place.offshoot(["-p", "hi"], { env: roots ? { NODE_EXTRA_CA_CERTS: roots } : {} });
        if (at === 0) {
          assert.equal((await ask()).code, 6, "an unknown authority is not trusted");
          const done = await ask(file);
          assert.deepEqual([done.stdout, done.stderr], ["trusted\n", ""]);
          return;
        }
        const mixed = place.write("mixed.pem", `# the company's\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${fs.readFileSync(file, "utf8")}`);
        const done = await ask(mixed);
        assert.equal(done.stdout, "trusted\n");
        assert.match(done.stderr, /NODE_EXTRA_CA_CERTS names .*1 of its certificates cannot be used/);
        for (const wrong of [place.at("missing.pem"), place.work, place.write("words", "no certificate")]) {
          const refused = await ask(wrong);
          assert.equal(refused.code, 6);
          assert.match(refused.stderr, /NODE_EXTRA_CA_CERTS names /);
        }
      } finally {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    },
  })),
  {
    kind: "process",
    report: "can1357/oh-my-pi#11565",
    name: "-c in a folder that was renamed",
    promise: "it says that it found no session of this folder and how to see others; no stored session changes",
    async run(place) {
      await place.model([answer("hello")]);
      await place.offshoot(["-p", "the first words"]);
      const [before] = place.sessions();
      const moved = `${place.work}-renamed`;
      fs.renameSync(place.work, moved);
      place.work = moved;
      const done = await place.offshoot(["-c", "-p", "and now"]);
      assert.match(done.stderr, /no session of .*-renamed was found to continue: this is a new one/);
      assert.match(done.stderr, /list --all/);
      assert.ok(place.sessions().some((session) => JSON.stringify(session) === JSON.stringify(before)));
    },
  },
  {
    kind: "process",
    report: "earendil-works/pi#2853",
    name: "a session by its id after its folder was renamed",
    promise: "the error names the folder that is gone, and the command that continues a copy here works",
    async run(place) {
      const model = await place.model([answer("hello")]);
      await place.offshoot(["-p", "the first words"]);
      const [[{ id }]] = place.sessions();
      const moved = `${place.work}-renamed`;
      fs.renameSync(place.work, moved);
      const gone = place.work;
      place.work = moved;
      const refused = await place.offshoot(["--session", id, "-p", "and now"]);
      assert.ok(refused.code === 3 && refused.stderr.includes(gone) && refused.stderr.includes(`offshoot --fork ${id}`), refused.stderr);
      assert.equal((await place.offshoot(["--fork", id, "-p", "and now"])).code, 0);
      assert.ok(model.last.includes("the first words"));
    },
  },
];
