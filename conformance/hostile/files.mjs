// What is no session, or no regular file, given to every command that reads one; and headers that lead elsewhere.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { chain, file, HEADER } from "../robustness/files.mjs";

/** Commands with a session's file in the place of FILE; what they print is not looked at. */
export const READING = ["show FILE", "tree FILE", "branches FILE", "context FILE --json", "context FILE", "check FILE --json", "check FILE", "entry FILE @", "export FILE --format md -o -", "export FILE --format html -o -", "export FILE --format jsonl -o -", "compact FILE --dry-run", "repair FILE --dry-run", "list --all --json --session-dir FOLDER", "doctor FILE"];
export const WRITING = ["append FILE", "label FILE @ mark", "name FILE words", "switch FILE @-", "fork FILE", "compact FILE", "repair FILE", "migrate FILE", "pop FILE --summary words", "import FILE"];

/** What `append` is given. */
export const ENTRY = '{"type":"message","message":{"role":"user","content":"words"}}\n';

const KINDS = {
  "a FIFO": (at) => execFileSync("mkfifo", [at]),
  "a socket": (at) => execFileSync("python3", ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path.basename(at)], { cwd: path.dirname(at) }),
  "a link to /dev/zero": (at) => fs.symlinkSync("/dev/zero", at),
  "a link to itself": (at) => fs.symlinkSync(path.basename(at), at),
  "a folder": (at) => fs.mkdirSync(at),
};

export const words = (line, names) => line.split(" ").map((word) => names[word] ?? word);

/** One case for each kind: all commands, one after another. */
const kinds = Object.entries(KINDS).map(([kind, make]) => ({
  group: "file",
  name: `${kind} as a session, for every command`,
  promise: "refused at once, nothing waits for it",
  async run(place) {
    const FILE = path.join(place.root, "s.jsonl");
    make(FILE);
    for (const line of [...READING.filter((line) => line.includes("FILE")), ...WRITING]) {
      const isFolderCheck = kind === "a folder" && /^(check|import|doctor)/.test(line);
      const { code } = await place.offshoot(words(line, { FILE }), { input: ENTRY });
      assert.ok(code !== 0 || isFolderCheck || line.startsWith("doctor"), `${line}: accepted`);
    }
  },
}));

/** In a header it stands for a folder of the case, which is outside the store and must stay empty. */
const ELSEWHERE = "/ELSEWHERE";
const IDS = [`${"../".repeat(20)}..${ELSEWHERE}/x`, `${ELSEWHERE}/x`, "..", ".", "", "a/b", "a\0b", "x".repeat(5000), "\u001b[2J", "CON", "-rf", "~", "$(touch stolen)", "id\nwith\nlines", "\u202eid"];
const TIMES = [`${ELSEWHERE}/x`, "../../x", "", "yesterday", "9".repeat(400), "2026-01-01T00:00:00.000Z/../../x"];
const FOLDERS = ["/", "", "..", "relative/folder", "/no/such/folder", "/proc/self", "\u001b[2J", "/a\0b", `/${"x".repeat(5000)}`];

const imported = (member, value) => ({
  group: "header",
  name: `import with the ${member} ${JSON.stringify(value).slice(0, 60)}`,
  promise: "a file of the store or a refusal; nothing is written anywhere else",
  async run(place) {
    const from = path.join(place.root, "foreign.jsonl");
    const elsewhere = path.join(place.root, "elsewhere");
    fs.mkdirSync(elsewhere);
    fs.writeFileSync(from, file(chain()).replace(HEADER, JSON.stringify({ ...JSON.parse(HEADER), [member]: value.replace(ELSEWHERE, elsewhere) })));
    const before = everything(place.root);
    const { code } = await place.offshoot(["import", from]);
    const made = everything(place.root).filter((name) => !before.includes(name));
    const store = path.join(place.data, "sessions") + path.sep;
    assert.equal(made.some((name) => name.endsWith(".jsonl")), code === 0, "a file exactly if it succeeds");
    const outside = made.filter((name) => name.endsWith(".jsonl") && !(path.dirname(path.dirname(name)) + path.sep === store));
    assert.deepEqual(outside, [], "written outside the store");
    assert.deepEqual(fs.readdirSync(elsewhere), [], "written to a path of the header");
  },
});

function everything(folder) {
  return fs.readdirSync(folder, { recursive: true }).map((name) => path.join(folder, name));
}

export const FILES = [...kinds, ...IDS.map((id) => imported("id", id)), ...TIMES.map((time) => imported("timestamp", time)), ...FOLDERS.map((cwd) => imported("cwd", cwd))];
