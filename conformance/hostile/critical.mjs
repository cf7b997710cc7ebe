// Files that run at the next log-in or start, or that let somebody in, under every approval mode, with rules that allow all commands and
// all changes: only a rule for exactly this file covers it.
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { answer } from "./model.mjs";

const MODES = ["auto", "edits", "ask"];
/** A file of each kind, below the home; the data folder of a place is `offshoot`. */
const FILES = {
  "a shell's file": ".bashrc",
  "a shell's file behind a link": ".profile",
  "a log-in file": ".pam_environment",
  "a graphical log-in": ".xprofile",
  "who may log in": ".ssh/authorized_keys",
  "keys of a cloud": ".aws/credentials",
  "an autostart file": ".config/autostart/x.desktop",
  "a systemd unit": ".config/systemd/user/x.service",
  "git's global settings": ".gitconfig",
  "git's other global settings": ".config/git/config",
  "offshoot's settings": "offshoot/settings.json",
  "offshoot's answers about folders": "offshoot/trust.json",
  "an extension of offshoot": "offshoot/extensions/x.ts",
  "a session of offshoot": "offshoot/sessions/x.jsonl",
  "pi's settings": ".pi/agent/settings.json",
  "an extension of omp": ".omp/agent/extensions/x.ts",
};
const LINES = [
  (file) => `echo evil > ${file}`,
  (file) => `echo evil >> "${file}"`,
  (file) => `echo evil | tee -a ${file}`,
  (file) => `cp evil ${file}`,
  (file) => `cp -t ${path.dirname(file)} ${path.basename(file)}`,
  (file) => `mv evil ${file}`,
  (file) => `sed -i s/good/evil/ ${file}`,
  (file) => `cd ${path.dirname(file)} && echo evil > ${path.basename(file)}`,
  (file) => `ln -sf $PWD/evil ${file}`,
  (file) => `dd if=evil of=${file}`,
  (file) => `rm -f ${file}`,
  (file) => `truncate -s 0 ${file}`,
];

function prepare(place, name) {
  const file = path.join(place.home, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  if (name === ".profile") {
    fs.mkdirSync(path.join(place.home, "dotfiles"));
    fs.symlinkSync("dotfiles/profile", file);
  }
  place.write("evil", "evil\n");
  return file;
}

const calls = (name) => [
  { call: "write", arguments: { path: `~/${name}`, content: "evil\n" } },
  { call: "write", arguments: { path: `../${name}`, content: "evil\n" } },
  { call: "edit", arguments: { path: `~/${name}`, oldText: "good", newText: "evil" } },
  ...LINES.flatMap((line) => [`~/${name}`, `$HOME/${name}`].map((file) => ({ call: "bash", arguments: { command: line(file) } }))),
];

const asked = MODES.flatMap((mode) =>
  Object.entries(FILES).map(([kind, name]) => ({
    group: "critical",
    name: `${kind} under ${mode}`,
    promise: "no call changes it unasked, whatever broad rules allow, and reading is free",
    async run(place) {
      const file = prepare(place, name);
      const all = calls(name);
      const isOwnSettings = name === "offshoot/settings.json";
      const numbered = all.map((call, at) => ({ ...call, id: `c${at}` }));
      const read = { call: "read", id: "read", arguments: { path: `~/${name}` } };
      const model = await place.model([answer(...numbered, read), answer("Done.")], { permissions: { allow: ["bash", "edit", "read"] } });
      if (!isOwnSettings) fs.writeFileSync(file, "good\n");
      const before = fs.readFileSync(file);
      const { stdout, stderr } = await place.offshoot(["-p", "go", "--tools", "read,bash,edit,write", "--approval", mode]);
      assert.ok(stdout.includes("Done."), stderr);
      const results = model.results;
      assert.equal(results.length, all.length + 1);
      // An edit whose old text is missing is refused before anyone would be asked.
      const free = all.filter((_, at) => !(results[at].isError && /needs the user's approval|is not in the file/.test(results[at].text)));
      assert.deepEqual(free.map((call, at) => [call.arguments, results[all.indexOf(call)].text.slice(0, 100)]), [], "not asked about");
      assert.equal(results.at(-1).isError, false, results.at(-1).text);
      assert.deepEqual(fs.readFileSync(file), before);
    },
  })),
);

const allowed = ["edit(~/.bashrc)", "bash(cp good ../.bashrc)"].map((rule) => ({
  group: "critical",
  name: `a rule names exactly this: ${rule}`,
  promise: "it runs unasked, and nothing else does",
  async run(place) {
    const file = prepare(place, ".bashrc");
    place.write("good", "good\n");
    const isEdit = rule.startsWith("edit");
    const good = isEdit ? { call: "write", arguments: { path: "~/.bashrc", content: "good\n" } } : { call: "bash", arguments: { command: "cp good ../.bashrc" } };
    const evil = isEdit ? { call: "write", arguments: { path: "~/.profile", content: "evil\n" } } : { call: "bash", arguments: { command: "cp evil ../.bashrc" } };
    const model = await place.model([answer({ ...good, id: "good" }, { ...evil, id: "evil" }), answer("Done.")], { permissions: { allow: [rule] } });
    const { stdout, stderr } = await place.offshoot(["-p", "go", "--tools", "bash,write", "--approval", "auto"]);
    assert.ok(stdout.includes("Done."), stderr);
    assert.deepEqual(model.results.map(({ isError }) => isError), [false, true]);
    assert.equal(fs.readFileSync(file, "utf8"), "good\n");
    assert.ok(!fs.existsSync(path.join(place.home, ".profile")));
  },
}));

export const CRITICAL = [...asked, ...allowed];
