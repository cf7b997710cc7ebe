// An extension in pi's terminal and in offshoot's, in tmux: the same keys, and the rows that the extension draws. Margins and colours are each program's own.
//   OFFSHOOT_BIN=… node extensions/terminal.mjs [NAME…]
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { piPackage, temporaryFolder } from "../lib/places.mjs";
import { modelServer } from "./model-server.mjs";
import { examples, node } from "./places.mjs";
import { prepare } from "./rpc-run.mjs";

const SIZE = ["-x", "80", "-y", "30"];
const LIMIT = 40_000;

/** Rows that a pattern names. */
const matching = (pattern) => (screen) => screen.filter((row) => pattern.test(row));
/** Rows from the last one that `first` names, to the last that `last` does. */
const between = (first, last) => (screen) => {
  const end = screen.findLastIndex((row) => last.test(row));
  const start = screen.slice(0, end).findLastIndex((row) => first.test(row));
  return end < 0 || start < 0 ? [] : screen.slice(start, end + 1);
};
const RULE = /^─{20,}/;

/** What is typed once the extension is there; `rows` are compared when those of pi are `enough`. */
export const SCREENS = [
  { name: "widget-placement", rows: matching(/(Above|Below) editor widget/), enough: 2 },
  { name: "status-line", rows: matching(/Ready$/), enough: 1 },
  { name: "modal-editor", ready: /INSERT/, keys: ["hello world", "Escape", "h", "h", "x"], rows: between(RULE, /NORMAL/), enough: 3, until: /hello word/ },
  { name: "rainbow-editor", ready: RULE, keys: ["an ultrathink prompt"], rows: matching(/ultrathink/), enough: 1 },
  { name: "border-status-editor", ready: /ctx/, keys: ["hello"], rows: matching(/ctx|hello/), enough: 2, until: /hello/ },
  { name: "tic-tac-toe", keys: ["/tic-tac-toe", "Enter"], rows: matching(/[│┌├└┬┼┴]|Arrow|move|turn/i), enough: 5 },
  { name: "todo", keys: ["/todos", "Enter"], rows: matching(/Todo|todos|Escape/), enough: 2 },
  { name: "custom-footer", keys: ["/footer", "Enter"], rows: matching(/↑0 ↓0/), enough: 1 },
  { name: "custom-header", rows: matching(/[█▀▄]/), enough: 4 },
  { name: "message-renderer", keys: ["/status all is well", "Enter"], rows: matching(/all is well/), enough: 1 },
  { name: "entry-renderer", keys: ["/status-card all is well", "Enter"], rows: matching(/all is well/), enough: 1 },
  { name: "working-indicator", keys: ["/working-indicator dots", "Enter"], rows: matching(/Indicator: /), enough: 1 },
];

class Screen {
  constructor(socket, name, { cwd, env }, command) {
    Object.assign(this, { socket, name });
    const variables = Object.entries({ ...env, TERM: "xterm-256color" }).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
    this.tmux("new-session", "-d", "-s", name, ...SIZE, "-c", cwd, ...variables, command.map((word) => `'${word}'`).join(" "));
  }

  tmux = (...args) => execFileSync("tmux", ["-L", this.socket, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  rows = () => this.tmux("capture-pane", "-p", "-t", this.name).split("\n").map((row) => row.trimEnd());

  async until(isWanted) {
    for (const since = Date.now(); ; await pause(100)) {
      const rows = this.rows();
      if (isWanted(rows) || Date.now() - since > LIMIT) return rows;
    }
  }

  async type(keys) {
    for (const key of keys) {
      this.tmux("send-keys", "-t", this.name, ...(/^(Enter|Escape)$/.test(key) ? [key] : ["-l", key]));
      await pause(600);
    }
  }
}

/** The rows of both programs. */
export async function drawn(row, folder, program) {
  const server = await modelServer([]);
  const at = path.join(folder, row.name);
  const file = path.join(examples(), `${row.name}.ts`);
  const shell = "git init -q -b main";
  const files = { [path.join(at, "offshoot/data/settings.json")]: '{"piFolder":"off"}' };
  const places = { pi: prepare(path.join(at, "pi"), { shell }, ".pi/agent", server.url), offshoot: prepare(path.join(at, "offshoot"), { shell, files }, "data", server.url) };
  const model = ["--provider", "test", "--model", "m1", "--no-session", "-e", file];
  const commands = { pi: [node(), path.join(piPackage(), "dist/cli.js"), ...model], offshoot: [program, ...model] };
  const socket = `offshoot-${process.pid}-${row.name}`;
  const screens = Object.entries(commands).map(([name, command]) => new Screen(socket, name, { ...places[name], env: { ...places[name].env, PI_NODE: node(), PI_OFFLINE: "1" } }, command));
  const seen = async (screen) => {
    const ready = row.ready ?? /m1/;
    await screen.until((rows) => rows.some((each) => ready.test(each)));
    await pause(1500);
    await screen.type(row.keys ?? []);
    const rows = await screen.until((all) => row.rows(all).length >= row.enough && (!row.until || all.some((each) => row.until.test(each))));
    return row.rows(rows).map((each) => each.trim());
  };
  try {
    const [pi, offshoot] = await Promise.all(screens.map(seen));
    return { pi, offshoot };
  } finally {
    screens[0].tmux("kill-server");
    await server.end();
  }
}

if (process.argv[1] === import.meta.filename) {
  if (!process.env.OFFSHOOT_BIN) throw new Error("set OFFSHOOT_BIN");
  const folder = temporaryFolder("extensions-terminal");
  const chosen = SCREENS.filter(({ name }) => process.argv.length < 3 || process.argv.includes(name));
  for (const row of chosen) {
    const { pi, offshoot } = await drawn(row, folder, path.resolve(process.env.OFFSHOOT_BIN));
    const isEqual = pi.length >= row.enough && JSON.stringify(pi) === JSON.stringify(offshoot);
    console.log(`${row.name}: ${isEqual ? `${pi.length} rows equal` : `differs\n${JSON.stringify({ pi, offshoot }, null, 1)}`}`);
  }
  fs.rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}
