// A stand-in for offshoot made of the two peers: what the harness is tested with. Speaks `api`, `list`, `tree`, `context` and
// `check` as offshoot does. FAKE_FAULT plants one fault, which the harness must find; nothing else here is ever wrong on purpose.
import * as fs from "node:fs";
import * as path from "node:path";
import { serve } from "./lib/lines.mjs";
import { PROJECT, ompPackage, piPackage, temporaryFolder } from "./lib/places.mjs";

const pi = await import(path.join(piPackage(), "dist/core/session-manager.js"));
const omp = await import(path.join(ompPackage(), "src/session/session-manager.ts"));
const FAULT = process.env.FAKE_FAULT ?? "";
const OMP_TYPES = new Set([
  "title",
  "title_change",
  "mode_change",
  "service_tier_change",
  "ttsr_injection",
  "session_init",
  "credential_pin",
  "model_usage",
  "reset_boundary",
]);

type Fields = Record<string, any>;

function dialectOf(file: string): "pi" | "omp" {
  for (const line of fs.readFileSync(file, "utf8").split("\n")) {
    let record: any;
    try {
      record = JSON.parse(line);
    } catch {
      continue;
    }
    if (OMP_TYPES.has(record?.type) || (record?.type === "model_change" && typeof record.model === "string")) return "omp";
  }
  return "pi";
}

async function load(dialect: string, file: string): Promise<any> {
  return dialect === "pi"
    ? pi.SessionManager.open(file)
    : omp.SessionManager.open(file, path.dirname(file), undefined, { suppressBreadcrumb: true });
}

const scratch = temporaryFolder("fake");
process.on("exit", () => fs.rmSync(scratch, { recursive: true, force: true }));
let opened = 0;

/** One open session. Reads work on a copy, since the peers may write on open; the first write moves to the file itself. */
class Session {
  private constructor(
    public dialect: string,
    private file: string,
    private copy: string | null,
    public manager: any,
  ) {}

  static async open(file: string): Promise<Session> {
    const copy = path.join(scratch, String(opened++), path.basename(file));
    fs.mkdirSync(path.dirname(copy), { recursive: true });
    fs.copyFileSync(file, copy);
    const dialect = dialectOf(copy);
    return new Session(dialect, file, copy, await load(dialect, copy));
  }

  static of(dialect: string, manager: any): Session {
    return new Session(dialect, manager.getSessionFile(), null, manager);
  }

  async writable(): Promise<any> {
    if (this.copy === null) return this.manager;
    const leaf = this.manager.getLeafId();
    if (this.dialect === "pi" && !fs.readFileSync(this.copy).subarray(0, fs.statSync(this.file).size).equals(fs.readFileSync(this.file))) {
      fs.copyFileSync(this.file, `${this.file}.v1.bak`);
    }
    if (this.dialect === "pi") fs.copyFileSync(this.copy, this.file);
    this.manager = await load(this.dialect, this.file);
    this.copy = null;
    if (leaf === null) this.manager.resetLeaf();
    else if (leaf !== this.manager.getLeafId() && this.manager.getEntry(leaf)) this.manager.branch(leaf);
    return this.manager;
  }

  /** The source keeps its bytes, though pi upgrades an old one. */
  async branched(leafId: string): Promise<string> {
    const source = this.copy === null ? this.manager.getSessionFile() : this.file;
    const bytes = fs.readFileSync(source);
    const manager = await this.writable();
    const file = manager.createBranchedSession(leafId);
    fs.writeFileSync(source, bytes);
    fs.rmSync(`${source}.v1.bak`, { force: true });
    return file;
  }
}

const READS: Record<string, (m: any, f: Fields) => unknown> = {
  getEntries: (m) => m.getEntries(),
  getTree: (m) => faultyTree(m.getTree()),
  getHeader: (m) => m.getHeader(),
  getSessionName: (m) => m.getSessionName(),
  getLeafId: (m) => m.getLeafId(),
  getLabel: (m, f) => m.getLabel(f.id),
  getSessionFile: (m) => m.getSessionFile(),
  branch: (m, f) => m.branch(f.entryId),
  resetLeaf: (m) => m.resetLeaf(),
  buildSessionContext: (m) => faultyContext(m.buildSessionContext()),
};

const WRITES: Record<string, (m: any, f: Fields, isPi: boolean) => unknown> = {
  appendMessage: (m, f) => m.appendMessage(FAULT === "append" ? { ...f.message, extra: 1 } : f.message),
  appendThinkingLevelChange: (m, f) => m.appendThinkingLevelChange(f.thinkingLevel, f.configured),
  appendModelChange: (m, f, isPi) => (isPi ? m.appendModelChange(f.provider, f.modelId) : m.appendModelChange(f.model, f.role)),
  appendCompaction: (m, f, isPi) =>
    isPi
      ? m.appendCompaction(f.summary, f.firstKeptEntryId, f.tokensBefore, f.details, f.fromHook)
      : m.appendCompaction(f.summary, f.shortSummary, f.firstKeptEntryId, f.tokensBefore, {
          details: f.details,
          fromExtension: f.fromHook,
        }),
  appendCustomEntry: (m, f) => m.appendCustomEntry(f.customType, f.data),
  appendCustomMessageEntry: (m, f) => m.appendCustomMessageEntry(f.customType, f.content, f.display, f.details, f.attribution),
  appendLabelChange: (m, f) => m.appendLabelChange(f.targetId, f.label),
  appendSessionInfo: (m, f) => m.appendSessionInfo(f.name),
  appendUsage: (m, f) => m.appendUsage(f.kind, f.provider, f.model, f.usage, f.note).id,
  appendContextEdit: (m, f) => m.appendContextEdit(f.targetId, f.replacement),
  appendSessionInit: (m, f) => m.appendSessionInit({ systemPrompt: f.systemPrompt, task: f.task, tools: f.tools }),
  appendTtsrInjection: (m, f) => m.appendTtsrInjection(f.injectedRules),
  branchWithSummary: (m, f) => m.branchWithSummary(f.entryId, f.summary, f.details, f.fromHook),
};

function faultyContext(context: any): any {
  if (FAULT === "drop-message") return { ...context, messages: context.messages.slice(0, -1) };
  if (FAULT === "timestamp")
    return {
      ...context,
      messages: context.messages.map((m: any) => (m?.role === "compactionSummary" ? { ...m, timestamp: m.timestamp + 1 } : m)),
    };
  if (FAULT === "thinking") return { ...context, thinkingLevel: context.thinkingLevel === "off" ? undefined : context.thinkingLevel };
  return context;
}

function faultyTree(roots: any[]): any[] {
  if (FAULT === "child-order") for (const root of roots) root.children.reverse();
  if (FAULT === "label-time") for (const root of roots) root.labelTimestamp &&= "2020-01-01T00:00:00.000Z";
  return roots;
}

const sessions = new Map<number, Session>();

function keep(session: Session): Fields {
  const handle = sessions.size + 1;
  sessions.set(handle, session);
  return { session: handle, sessionId: session.manager.getSessionId(), sessionFile: session.manager.getSessionFile() };
}

/** Uses the session's own path: a fork or a new session in the folder of the real file, not of a copy. */
async function call(method: string, fields: Fields): Promise<unknown> {
  if (method === "open") return keep(await Session.open(fields.path));
  if (method === "create") return keep(Session.of("pi", pi.SessionManager.create(fields.cwd, fields.sessionDir)));
  if (method === "forkFrom") return keep(Session.of("pi", await fork(fields)));
  if (method === "buildSessionContext" && fields.entries) return pi.buildSessionContext(fields.entries, fields.leafId);
  const session = sessions.get(fields.session);
  if (!session) throw new Error(`no session ${fields.session}`);
  if (method === "close") {
    if (session.dialect === "omp") await session.manager.flush();
    sessions.set(fields.session, undefined as any);
    return null;
  }
  if (method === "getSessionFile")
    return session.dialect === "pi" ? (await session.writable()).getSessionFile() : session.manager.getSessionFile();
  if (method === "createBranchedSession") return { sessionFile: await session.branched(fields.leafId) };
  if (READS[method]) return READS[method](session.manager, fields) ?? null;
  if (!WRITES[method]) throw new Error(`no method ${method}`);
  return { id: WRITES[method](await session.writable(), fields, session.dialect === "pi") };
}

/** offshoot upgrades an old file before it forks it, pi does so only when it opens one: the fork of an upgraded copy. */
async function fork({ sourcePath, targetCwd, sessionDir }: Fields): Promise<any> {
  const copy = (await Session.open(sourcePath)).manager.getSessionFile();
  const file = pi.SessionManager.forkFrom(copy, targetCwd, sessionDir).getSessionFile();
  fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace(JSON.stringify(copy), JSON.stringify(sourcePath)));
  return pi.SessionManager.open(file);
}

/** pi's list as node runs it: under bun, pi also splits lines at U+2028 and loses messages. */
function piList(dir: string, cwd?: string): any[] {
  const request = `${JSON.stringify({ id: 1, cmd: "list", dir, cwd })}\n`;
  const { stdout } = Bun.spawnSync(["node", path.join(import.meta.dir, "peer-pi.mjs")], { stdin: Buffer.from(request) });
  return JSON.parse(stdout.toString()).result;
}

async function list(args: string[]): Promise<unknown> {
  const dir = args[args.indexOf("--session-dir") + 1];
  const isOmp = fs.readdirSync(dir).some((name) => name.endsWith(".jsonl") && dialectOf(path.join(dir, name)) === "omp");
  const infos = isOmp
    ? (await omp.SessionManager.list(PROJECT, dir)).map(({ title, ...info }: any) => ({ ...info, name: title }))
    : piList(dir, args.includes("--all") ? undefined : process.cwd());
  return FAULT === "list"
    ? infos.map((info: any, i: number) => (i === 0 ? { ...info, messageCount: info.messageCount + 1, name: "x" } : info))
    : infos;
}

const [command, ...args] = process.argv.slice(2);
if (command === "api") {
  await serve(async ({ method, params }: any) => (await call(method, params)) ?? null);
} else {
  const manager = command === "list" ? null : (await Session.open(args.find((arg) => !arg.startsWith("--"))!)).manager;
  const answers: Record<string, () => unknown> = {
    list: () => list(args),
    tree: () => manager.getTree(),
    context: () => manager.buildSessionContext(),
    check: () => [],
  };
  console.log(JSON.stringify(await answers[command]()));
}
