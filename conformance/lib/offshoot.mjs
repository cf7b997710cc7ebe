// offshoot as the harness sees it: one long-lived `offshoot api` process and single commands for lists, trees and checks.
// The only file that knows offshoot's method names, parameters and flags; adapt here when they change.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { digest, flattenTree } from "./canon.mjs";
import { LineServer } from "./lines.mjs";
import { packContext, plainContext, runOperations } from "./peer.mjs";
import { PROJECT, sealedEnvironment } from "./places.mjs";

const run = promisify(execFile);

/** offshoot's sentences before summaries. */
const LEADS = [
  "This conversation went down another branch and came back from it. What happened there:",
  "The earlier part of this conversation was compacted. What happened in it:",
];
const withoutLeads = (text) => LEADS.reduce((rest, lead) => rest.replaceAll(lead, "(lead)"), text);

export class Offshoot {
  #command;
  #folder;
  #server = null;

  /** `command` is the program with its leading arguments; `folder` becomes its home and working folder. */
  constructor(command, folder) {
    this.#command = command;
    this.#folder = folder;
  }

  /** One JSON-RPC call. A killed process (a hang) is started again for the next call. */
  api(method, params = {}, timeout = 30_000) {
    if (!this.#server || this.#server.exited) {
      this.#server = new LineServer("offshoot", [...this.#command, "api"], { env: sealedEnvironment(this.#folder), cwd: this.#folder });
    }
    return this.#server.request({ jsonrpc: "2.0", method, params }, timeout);
  }

  async command(args, cwd = this.#folder) {
    const [program, ...leading] = this.#command;
    const env = { ...process.env, ...sealedEnvironment(this.#folder) };
    const { stdout } = await run(program, [...leading, ...args], { env, cwd, maxBuffer: 1 << 30, timeout: 60_000 });
    return stdout;
  }

  async close() {
    await this.#server?.close();
  }

  /** The session infos below `dir`: all of them, or those whose folder is `cwd`. */
  async list(dir, cwd) {
    const args = ["list", "--json", "--text", "--session-dir", dir, ...(cwd === undefined ? ["--all"] : [])];
    return JSON.parse(await this.command(args, cwd));
  }

  /** Compacts a session; false if there was nothing to compact. */
  async compact(file, keep) {
    const size = `--keep-recent-tokens=${keep}`;
    if (JSON.parse(await this.command(["compact", file, "--dry-run", "--json", size])) === null) return false;
    const { id } = JSON.parse(await this.command(["compact", file, "--json", size]));
    return typeof id === "string";
  }

  async tree(file) {
    return flattenTree(JSON.parse(await this.command(["tree", file, "--json"])));
  }

  async context(file) {
    return packContext(JSON.parse(await this.command(["context", file, "--json"])));
  }

  /** Diagnostics of one file. Exit code 4 says "damaged": still an answer. */
  async check(file) {
    const stdout = await this.command(["check", "--json", file]).catch((error) => {
      if (error.code === 4 && error.stdout) return error.stdout;
      throw error;
    });
    return JSON.parse(stdout).flatMap(({ diagnostics }) => diagnostics);
  }

  /** Runs `work(call)` with an open session, `call(method, params)`; closes it afterwards. */
  async withSession(opening, work) {
    const { session, ...facts } = await opening;
    try {
      return await work((method, params = {}) => this.api(method, { session, ...params }), facts);
    } finally {
      await this.api("close", { session }).catch(() => {});
    }
  }

  /**
   * The facts that the peers' `dump` gives (see peer.mjs). `points(entries)` names where contexts are wanted, in ids of
   * this reading; points of kind "open" must come first, since the others move the leaf.
   */
  dump(file, { points = () => [], full = false, plain = false, withTree = true } = {}) {
    return this.withSession(this.api("open", { path: file }), async (call) => {
      const [entries, nested, header, name, leafId] = await Promise.all(
        ["getEntries", "getTree", "getHeader", "getSessionName", "getLeafId"].map((method) =>
          method === "getTree" && !withTree ? [] : call(method),
        ),
      );
      const tree = flattenTree(nested);
      const { id, timestamp, cwd, parentSession } = header;
      const facts = {
        header: { id, timestamp, cwd, parentSession },
        name,
        leafId,
        tree,
        labels: [],
        contexts: [],
        entries: entries.map((entry) => [entry?.id ?? null, entry?.type ?? null, digest(entry)]),
      };
      for (const row of tree) if (row[2] !== null) facts.labels.push([row[1], await call("getLabel", { id: row[1] })]);
      for (const point of points(facts.entries)) facts.contexts.push(await this.#contextAt(call, point, { full, plain }));
      return facts;
    });
  }

  async #contextAt(call, point, { full, plain }) {
    try {
      if (point.kind === "id") await call("branch", { entryId: point.id });
      if (point.kind === "null") await call("resetLeaf");
      const context = await call("buildSessionContext");
      return plain ? { ...point, plain: plainContext(context.messages) } : { ...point, ...packContext(context, full) };
    } catch (error) {
      return { ...point, error: error.message };
    }
  }

  /** What the peers' `plans` gives: entries are named by their place in the file. */
  plans(file, { compactions, settings, branches, contexts }) {
    return this.withSession(this.api("open", { path: file }), async (call) => {
      const ids = (await call("getEntries")).map(({ id }) => id);
      const places = new Map(ids.map((id, at) => [id, at]));
      const place = (id) => (id === null ? null : places.get(id));
      const roles = (messages) => messages.map(({ role }) => role);
      const compaction = async ({ at, keep }) => {
        const plan = await call("prepareCompaction", { leafId: ids[at], settings: { ...settings, keepRecentTokens: keep } });
        if (plan === null) return null;
        const [history, prefix] = [plan.conversation, plan.turnPrefixConversation].map(withoutLeads);
        return {
          firstKept: place(plan.firstKeptEntryId),
          isSplitTurn: plan.isSplitTurn,
          tokensBefore: plan.tokensBefore,
          previousSummary: plan.previousSummary,
          summarize: roles(plan.messagesToSummarize),
          turnPrefix: roles(plan.turnPrefixMessages),
          readFiles: plan.readFiles,
          modifiedFiles: plan.modifiedFiles,
          conversation: history,
          turnPrefixConversation: prefix,
          whole: [history, prefix].filter((part) => part !== "").join("\n\n"),
        };
      };
      const branch = async ({ from, target, budget }) => {
        const plan = await call("prepareBranchSummary", { oldLeafId: ids[from], targetId: ids[target], tokenBudget: budget });
        return {
          commonAncestor: place(plan.commonAncestorId),
          entries: plan.entries.map(place),
          messages: roles(plan.messages),
          totalTokens: plan.totalTokens,
          readFiles: plan.readFiles,
          modifiedFiles: plan.modifiedFiles,
          conversation: withoutLeads(plan.conversation),
        };
      };
      const llm = async (at) => {
        const context = JSON.parse(withoutLeads(await this.command(["context", file, "--llm", "--at", ids[at]])));
        return context.messages.map((message) => [message.role, digest(message)]);
      };
      return {
        // One after the other: each has its own time limit.
        compactions: await sequentially(compactions, compaction),
        branches: await sequentially(branches, branch),
        contexts: await sequentially(contexts, llm),
      };
    });
  }

  /** Applies an operation list to a file, or to a new session in `dir`: the peers' `grow`. */
  grow({ file, dir, cwd = PROJECT }, ops) {
    const opening = file ? this.api("open", { path: file }) : this.api("create", { cwd, sessionDir: dir });
    return this.withSession(opening, async (call) => {
      const ids = await runOperations(ops, async ({ op, ...fields }) => {
        const result = await call(op, fields);
        return typeof result === "string" ? result : (result?.id ?? result?.sessionFile ?? null);
      });
      return { ids, file: await call("getSessionFile"), leafId: await call("getLeafId") };
    });
  }

  /** Without a name, as pi forks, unless one is given. */
  fork(file, dir, { cwd = PROJECT, name = undefined } = {}) {
    return this.withSession(this.api("forkFrom", { sourcePath: file, targetCwd: cwd, sessionDir: dir, name }), async (call) => ({
      file: await call("getSessionFile"),
    }));
  }

  /** The pure function over entries, without a session. */
  contextOf(entries, leafId) {
    return this.api("buildSessionContext", { entries, ...(leafId === undefined ? {} : { leafId }) });
  }
}

async function sequentially(items, work) {
  const results = [];
  for (const item of items) results.push(await work(item));
  return results;
}
