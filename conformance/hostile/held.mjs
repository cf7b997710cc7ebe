// Every file that a project holds and offshoot reads, as what is no file or never ends. The folder is not trusted, trusted for
// this run, and trusted for good; it is opened with a prompt, and with the commands that read such files too.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { node } from "../extensions/places.mjs";
import { answer } from "./model.mjs";

const KINDS = {
  "a FIFO": (at) => execFileSync("mkfifo", [at]),
  "a link to /dev/zero": (at) => fs.symlinkSync("/dev/zero", at),
  "a link to a terminal": (at) => fs.symlinkSync("/dev/tty", at),
  "a socket": (at) => execFileSync("python3", ["-c", "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])", path.basename(at)], { cwd: path.dirname(at) }),
  "a file of 8 GiB without blocks": (at) => (fs.writeFileSync(at, ""), fs.truncateSync(at, 8 * 2 ** 30)),
};

const settings = (value) => ({ ".offshoot/settings.json": JSON.stringify(value) });
const MANIFEST = { "pkg/package.json": '{"name":"pkg","pi":{"extensions":["x.ts"],"skills":["s.md"],"prompts":["p.md"],"themes":["t.json"]}}' };

/** The file, and what else has to be there so that it counts. */
const PLACES = [
  ...[".offshoot", ".pi"].flatMap((base) => [
    [`${base}/extensions/x.ts`],
    [`${base}/extensions/x/index.js`],
    [`${base}/extensions/x/package.json`],
    [`${base}/extensions/beside.txt`, { [`${base}/extensions/x.ts`]: "export default () => {};" }],
    [`${base}/hooks/x.ts`],
    [`${base}/tools/x/index.ts`],
    [`${base}/skills/s.md`],
    [`${base}/skills/s/SKILL.md`],
    [`${base}/skills/.gitignore`, { [`${base}/skills/s/SKILL.md`]: "---\nname: s\ndescription: d\n---\n" }],
    [`${base}/skills/s/.fdignore`, { [`${base}/skills/s/SKILL.md`]: "---\nname: s\ndescription: d\n---\n" }],
    [`${base}/prompts/p.md`],
    [`${base}/commands/p.md`],
    [`${base}/SYSTEM.md`],
    [`${base}/APPEND_SYSTEM.md`],
    [`${base}/themes/t.json`, settings({ theme: "t", themes: ["themes"] })],
    [`${base}/settings.json`],
    [`${base}/extensions`],
  ]),
  [".agents/skills/s/SKILL.md"],
  [".agents/skills/s.md"],
  ["AGENTS.md"],
  ["AGENTS.override.md"],
  [".offshoot/packages-lock.json", settings({ packages: ["../pkg", "npm:some"] })],
  [".offshoot/packages/npm/some/package.json", settings({ packages: ["npm:some"] })],
  ["pkg/package.json", settings({ packages: ["../pkg"] })],
  ...["x.ts", "s.md", "p.md", "t.json"].map((name) => [`pkg/${name}`, { ...MANIFEST, ...settings({ packages: ["../pkg"], theme: "t" }) }]),
  ["listed/x.ts", settings({ extensions: ["../listed/x.ts"] })],
  ["listed/x.ts", settings({ hooks: ["../listed"] })],
  ["listed/s.md", settings({ skills: ["../listed"] })],
  ["listed/p.md", settings({ prompts: ["../listed/p.md"] })],
  ["listed/t.json", settings({ themes: ["../listed/t.json"], theme: "t" })],
  [".git/HEAD"],
  [".git/config", { ".git/HEAD": "ref: refs/heads/main\n" }],
  [".git/commondir", { ".git/HEAD": "ref: refs/heads/main\n" }],
];

const ONCE = [["--no-trust"], ["--trust"], []];
const COMMANDS = [["packages"], ["doctor"], ["--help"], ["config"], ["-e", "HERE", "-p", "hi"]];

export const HELD = PLACES.flatMap(([name, others = {}]) =>
  Object.entries(KINDS).map(([kind, make]) => ({
    group: "held",
    name: `${name}${Object.keys(others).length ? ` beside ${Object.keys(others).at(-1)}` : ""}: ${kind}`,
    promise: "nothing waits for it and nothing reads it to an end that it has not; the start goes on",
    async run(place) {
      for (const [file, text] of Object.entries(others)) place.write(file, text);
      fs.mkdirSync(path.dirname(place.at(name)), { recursive: true });
      make(place.at(name));
      const model = await place.model(Array(ONCE.length).fill(answer("Here I am.")));
      const env = { PI_NODE: node() };
      for (const trust of ONCE) {
        // Without an option the stored answer counts.
        fs.writeFileSync(path.join(place.data, "trust.json"), JSON.stringify({ [fs.realpathSync(place.work)]: true }));
        const done = await place.offshoot([...trust, "-p", "say something"], { env });
        assert.ok(done.stdout.includes("Here I am."), `${trust}: no answer: ${done.stderr}`);
        // A limit of memory ended what nothing else ended.
        assert.doesNotMatch(done.stderr, /memory|in time/i);
      }
      assert.equal(model.requests.length, ONCE.length);
      if (kind !== "a FIFO") return;
      for (const words of COMMANDS) await place.offshoot(words.map((word) => (word === "HERE" ? place.at(name) : word)), { env });
    },
  })),
);
