// Runs one row of table-rows.mjs under pi and under offshoot's host, in folders of their own, and says what differs.
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { modelServer } from "./model-server.mjs";
import { EXTENSIONS, examples, installed, oldExamples } from "./places.mjs";
import { HostSubject, PiSubject } from "./subject.mjs";
import { HOOKS, TOOLS } from "./table-hooks.mjs";
import { TABLE } from "./table-rows.mjs";

/** The folders of one run: the example as npm has it, a home, a working folder, programs that stand in. */
function prepare(folder, source, row) {
  const at = (...names) => path.join(folder, ...names);
  for (const each of ["home", "work", "bin", "extension"]) fs.mkdirSync(at(each), { recursive: true });
  const file = at("extension", path.basename(source));
  fs.cpSync(source, file, { recursive: true });
  for (const [file, content] of Object.entries(row.files ?? {})) {
    const target = file.startsWith("/") ? file : file.startsWith("home/") ? at(file) : at("work", file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, content);
  }
  for (const [program, script] of Object.entries(row.programs ?? {})) fs.writeFileSync(at("bin", program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  for (const packageName of row.packages ?? []) link(installed(packageName), at("extension/node_modules", packageName));
  for (const [packageName, code] of Object.entries(row.module ?? {})) {
    fs.mkdirSync(at("extension/node_modules", packageName), { recursive: true });
    fs.writeFileSync(at("extension/node_modules", packageName, "index.js"), code);
    fs.writeFileSync(at("extension/node_modules", packageName, "package.json"), JSON.stringify({ name: packageName, version: "1.0.0", type: "module", exports: "./index.js" }));
  }
  const env = { PATH: `${at("bin")}:${process.env.PATH}`, HOME: at("home"), TZ: "UTC", LANG: "C.UTF-8", NODE_OPTIONS: `--import ${path.join(EXTENSIONS, "seed.mjs")}`, ...(row.isWithoutTicks && { OFFSHOOT_WITHOUT_TICKS: "1" }), ...row.env };
  const cwd = at("work");
  if (row.shell) execFileSync("bash", ["-c", row.shell], { cwd, env, stdio: "ignore" });
  const index = path.join(file, "index.ts");
  return { file: row.asFile ? index : file, cwd, env };
}

function link(target, at) {
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.symlinkSync(target, at);
}

/** Folders, times, frames of animations and made-up names are the same in both. */
function same(value, folder) {
  const text = JSON.stringify(value, (key, each) => (key === "shown" ? undefined : each === undefined ? null : each));
  return JSON.parse(text.replaceAll(folder, "DIR").replaceAll(/pi-rg-\w+/g, "pi-rg-X").replaceAll(/\b1[78]\d{11}\b/g, "0").replaceAll(/bookmark-\d+/g, "bookmark-0").replaceAll(/"alien\w+Counter":\d+/g, '"counter":0'));
}

const SESSION = new Set(["appendEntry", "sendMessage", "sendUserMessage", "setSessionName", "setLabel", "setActiveTools", "setModel", "setThinkingLevel", "newSession", "reload", "compact", "abort", "shutdown", "model"]);

/** What was done with the screen and what with the session, each in its order: between the two the order is no promise. */
const byPart = (log, kind) => {
  // 0.31 asked the model by itself: that request is the model's to see, not the log's.
  const own = kind === "extension" ? log : log.filter(([what]) => what !== "model");
  return { screen: own.filter(([what]) => !SESSION.has(what)), session: own.filter(([what]) => SESSION.has(what)) };
};

async function side(subject, row, { file, cwd, env }, folder, kind) {
  try {
    const scenario = { entries: row.entries, answers: row.answers, flags: row.flags };
    const loaded = await subject.load(file, scenario);
    if (loaded.error) return { error: loaded.error };
    const { tools, events, ...rest } = loaded.ok;
    // Events of 0.31 have today's names at offshoot, and tools listen to the session there.
    const described = kind === "extension" ? { events, ...rest } : rest;
    const named = row.withoutDescriptions ? tools.map(({ name }) => name) : tools;
    const at = (script) => execFileSync("bash", ["-c", script], { cwd, env, encoding: "utf8" });
    const results = await row.run(subject, at);
    return same({ described: { ...described, tools: named }, results, ...byPart(await subject.log(), kind) }, folder);
  } catch (error) {
    return { error: `${error.message}\n${subject.stderr ?? ""}` };
  } finally {
    subject.end();
  }
}

/** The first places where two values differ. */
export function differences(theirs, ours, place = "", found = []) {
  if (found.length >= 6 || isDeepStrictEqual(theirs, ours)) return found;
  const isDeep = typeof theirs === "object" && typeof ours === "object" && theirs && ours && Array.isArray(theirs) === Array.isArray(ours);
  if (!isDeep) found.push(`${place}: pi ${JSON.stringify(theirs)?.slice(0, 300)}, offshoot ${JSON.stringify(ours)?.slice(0, 300)}`);
  else for (const key of new Set([...Object.keys(theirs), ...Object.keys(ours)])) differences(theirs[key], ours[key], `${place}/${key}`, found);
  return found;
}

const find = (folder, name) => [path.join(folder, `${name}.ts`), path.join(folder, name)].find((file) => fs.existsSync(file));
const SOURCES = { extension: (name) => find(examples(), name), hook: (name) => find(path.join(oldExamples(), "hooks"), name), tool: (name) => find(path.join(oldExamples(), "custom-tools"), name) };
const TABLES = { extension: TABLE, hook: HOOKS, tool: TOOLS };

/** What differs for one example; nothing is the aim. */
export async function compareRows(name, folder, node, { kind = "extension", piPackages = [] } = {}) {
  const row = TABLES[kind][name];
  const [theirPlace, ourPlace] = ["pi", "offshoot"].map((who) => path.join(folder, kind, name, who));
  const [their, our] = [theirPlace, ourPlace].map((place) => prepare(place, SOURCES[kind](name), row));
  const model = await modelServer((row.answers?.model ?? []).map((text) => ({ say: [{ text }] })));
  their.env.MODEL_URL = model.url;
  const [theirs, ours] = await Promise.all([
    side(new PiSubject(node, { ...their, kind }), row, their, theirPlace, kind),
    side(new HostSubject(node, { ...our, piPackages, kind }), row, our, ourPlace, kind),
  ]);
  await model.end();
  return theirs.error ? [`pi fails: ${theirs.error}`] : differences(theirs, ours);
}
