// Sessions whose header names another folder: a file that was handed over decides where the agent stands, and writes there.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { RpcPeer } from "../lib/rpc.mjs";
import { sealedEnvironment } from "../lib/places.mjs";
import { answer } from "./model.mjs";

const AWAY = "is not in this one";
const GONE = "is not there any more";
const EITHER = `${AWAY}|${GONE}`;
/** An import has no folder to put it in. */
const NO_NAME = `${EITHER}|could not create folder`;

/** [name, the header's `cwd`, where the agent then works]: a folder, or the words with which the session is refused. */
const HEADERS = [
  ["the root", () => "/", AWAY],
  ["the root, spelled oddly", () => "//./", AWAY],
  ["the home folder", (place) => place.home, AWAY],
  ["a folder above", () => "..", AWAY],
  ["two folders above", () => "../..", AWAY],
  ["a folder beside", (place) => path.join(place.home, "beside"), AWAY],
  ["a folder beside, by a relative path", () => "../beside", AWAY],
  ["a folder whose name begins like this one's", (place) => `${place.work}-too`, AWAY],
  ["offshoot's own folder", (place) => place.data, AWAY],
  ["a folder above, through one below", (place) => `${place.work}/sub/../..`, AWAY],
  ["a link here that leads away", (place) => place.at("out"), AWAY],
  ["a folder behind a link that leads away", (place) => place.at("out", "deep"), AWAY],
  ["above a link that leads away", (place) => `${place.at("out")}/..`, AWAY],
  ["a link to the root", (place) => place.at("root"), AWAY],
  ["a link to a link that leads away", (place) => place.at("again"), AWAY],
  ["a loop of links", (place) => place.at("loop"), EITHER],
  ["a file", (place) => place.at("file"), GONE],
  ["a folder that is gone", (place) => place.at("gone"), GONE],
  ["a folder above, then a name that is gone", () => "../gone/../beside", EITHER],
  ["a device", () => "/dev/null", GONE],
  ["a process's own root", () => "/proc/self/root", AWAY],
  ["the home folder, as shells write it", () => "~", EITHER],
  ["a path of 100,000 characters", () => `/${"a/".repeat(50_000)}`, NO_NAME],
  ["a path with NUL", (place) => `${place.work}\0/sub`, NO_NAME],
  ["this folder", (place) => place.work, (place) => place.work],
  ["this folder, with a slash", (place) => `${place.work}/`, (place) => place.work],
  ["a folder below", (place) => place.at("sub"), (place) => place.at("sub")],
  ["a folder below, by a relative path", () => "sub", (place) => place.at("sub")],
  ["a link elsewhere that leads below", (place) => path.join(place.home, "in"), (place) => place.at("sub")],
  ["nothing", () => "", (place) => place.work],
  ["no text", () => 5, (place) => place.work],
  ["no folder at all", () => undefined, (place) => place.work],
];

function prepare(place, cwd) {
  for (const folder of ["beside/deep", "work/sub", "work-too"]) fs.mkdirSync(path.join(place.home, folder), { recursive: true });
  for (const [name, to] of [["work/out", "../beside"], ["work/root", "/"], ["work/again", "out"], ["work/loop", "loop"], ["in", "work/sub"]]) fs.symlinkSync(to, path.join(place.home, name));
  place.write("file", "");
  const header = { type: "session", version: 3, id: "11111111-1111-4111-8111-111111111111", timestamp: "2026-11-01T00:00:00.000Z", cwd };
  const message = { type: "message", id: "aaaaaaaa", parentId: null, timestamp: "2026-11-01T00:00:00.000Z", message: { role: "user", content: "go", timestamp: 1 } };
  return place.write("foreign.jsonl", `${JSON.stringify(header)}\n${JSON.stringify(message)}\n`);
}

/** Every file `made` in a folder and below; links lead nowhere. */
function made(place, folder = place.home) {
  const entries = fs.readdirSync(folder, { withFileTypes: true });
  return entries.flatMap((entry) => {
    const file = path.join(folder, entry.name);
    return entry.isDirectory() ? made(place, file) : entry.name === "made" ? [file] : [];
  });
}

/** The ways to a session: what is run, and whether it is refused there with a code. */
const WAYS = {
  "--session": async (place, file, more) => place.offshoot(["-p", "--approval", "edits", ...more, "--session", file, "go on"]),
  "an import and its id": async (place, file, more) => {
    const { stderr } = await place.offshoot(["import", file]);
    return place.offshoot(["-p", "--approval", "edits", ...more, "--session", "11111111", "go on"]).then((done) => ({ ...done, stderr: stderr + done.stderr }));
  },
};

const headers = Object.entries(WAYS).flatMap(([way, go]) =>
  HEADERS.map(([name, cwd, then]) => ({
    group: "folder",
    name: `a header names ${name}, by ${way}`,
    promise: "the agent works in the folder of the start or below it, or nothing is opened and the words name a way",
    async run(place) {
      const file = prepare(place, cwd(place));
      const model = await place.model([answer({ call: "write", arguments: { path: "made", content: "x" } }), answer("Done.")]);
      const { code, stdout, stderr } = await go(place, file, []);
      if (typeof then === "function") {
        assert.ok(stdout.includes("Done."), stderr);
        assert.deepEqual(made(place), [path.join(then(place), "made")]);
        return;
      }
      assert.notEqual(code, 0, "it was opened");
      assert.match(stderr, new RegExp(then));
      const isImported = !stderr.includes("could not create folder");
      if (isImported) assert.match(stderr, /--session-folder/);
      const isInTheRoot = fs.existsSync("/made");
      fs.rmSync("/made", { force: true });
      assert.deepEqual([made(place), model.requests.length, isInTheRoot], [[], 0, false]);
      if (!isImported) return;
      // As the words say, it is continued here.
      await go(place, file, ["--session-folder", "."]);
      assert.deepEqual(made(place), [place.at("made")]);
    },
  })),
);

const switching = HEADERS.map(([name, cwd, then]) => ({
  group: "folder",
  name: `a header names ${name}, by RPC's switch_session`,
  promise: "a switch that leads elsewhere fails with words, and the session stays",
  async run(place) {
    const file = prepare(place, cwd(place));
    await place.model([answer("Done.")]);
    const peer = new RpcPeer(place.program, ["--mode", "rpc", "--approval", "edits"], { cwd: place.work, env: { PATH: process.env.PATH, ...sealedEnvironment(place.home) } });
    const switched = await peer.ask({ type: "switch_session", sessionPath: file });
    const state = await peer.ask({ type: "get_state" });
    await peer.end();
    assert.equal(switched.success, typeof then === "function", JSON.stringify(switched));
    assert.equal(state.data.sessionId.startsWith("11111111"), switched.success);
    if (!switched.success) assert.match(switched.error, /`sessionFolder`/);
  },
}));

export const FOLDERS = [...headers, ...switching];
