// omp's session manager as a line server: dump, list, grow, fork (run by bun; one JSON request per line, see README.md).
// Owns the calls into omp. omp may write to a file that it opens, so `dump` always works on a copy.
import * as fs from "node:fs";
import * as path from "node:path";
import { applyOperations, dumpManager } from "./lib/peer.mjs";
import { serve } from "./lib/lines.mjs";
import { PROJECT, ompPackage, temporaryFolder } from "./lib/places.mjs";

const { SessionManager } = await import(path.join(ompPackage(), "src/session/session-manager.ts"));
const QUIET = { suppressBreadcrumb: true };

type Fields = Record<string, any>;

/** Operation names and fields are those of `offshoot api`; here they become omp's positional arguments. */
const OPERATIONS: Record<string, (manager: any, o: Fields) => unknown> = {
  appendMessage: (m, o) => m.appendMessage(o.message),
  appendThinkingLevelChange: (m, o) => m.appendThinkingLevelChange(o.thinkingLevel, o.configured),
  appendModelChange: (m, o) => m.appendModelChange(o.model, o.role),
  appendCompaction: (m, o) =>
    m.appendCompaction(o.summary, o.shortSummary, o.firstKeptEntryId, o.tokensBefore, {
      details: o.details,
      fromExtension: o.fromHook,
      method: o.method,
      tokensAfter: o.tokensAfter,
      preserveData: o.preserveData,
    }),
  appendCustomEntry: (m, o) => m.appendCustomEntry(o.customType, o.data),
  appendCustomMessageEntry: (m, o) => m.appendCustomMessageEntry(o.customType, o.content, o.display, o.details, o.attribution),
  appendLabelChange: (m, o) => m.appendLabelChange(o.targetId, o.label),
  appendSessionInit: (m, o) => m.appendSessionInit({ systemPrompt: o.systemPrompt, task: o.task, tools: o.tools }),
  appendTtsrInjection: (m, o) => m.appendTtsrInjection(o.injectedRules),
  appendModeChange: (m, o) => m.appendModeChange(o.mode, o.data),
  appendServiceTierChange: (m, o) => m.appendServiceTierChange(o.serviceTier),
  appendResetBoundary: (m) => m.appendResetBoundary(),
  appendCredentialPin: (m, o) => m.appendCredentialPin(o.provider, o.hash),
  appendMessageToBranch: (m, o) => m.appendMessageToBranch(o.message, o.parentId),
  setSessionName: async (m, o) => void (await m.setSessionName(o.name, o.source)),
  branch: (m, o) => void m.branch(o.entryId),
  branchWithSummary: (m, o) => m.branchWithSummary(o.entryId, o.summary, o.details, o.fromHook),
  resetLeaf: (m) => void m.resetLeaf(),
  createBranchedSession: (m, o) => m.createBranchedSession(o.leafId),
};

const COMMANDS: Record<string, (fields: Fields) => unknown> = {
  async dump({ file, ...options }) {
    const folder = temporaryFolder("omp");
    try {
      const copy = path.join(folder, path.basename(file));
      fs.copyFileSync(file, copy);
      return dumpManager(await SessionManager.open(copy, folder, undefined, QUIET), options);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  },

  async list({ dir, cwd = PROJECT }) {
    return SessionManager.list(cwd, dir);
  },

  async grow({ file, dir, cwd = PROJECT, ops }) {
    const manager = file ? await SessionManager.open(file, path.dirname(file), undefined, QUIET) : SessionManager.create(cwd, dir);
    const ids = await applyOperations(manager, ops, OPERATIONS);
    await manager.flush();
    return { ids, file: manager.getSessionFile(), leafId: manager.getLeafId() };
  },

  async fork({ file, cwd, dir }) {
    const manager = await SessionManager.forkFrom(file, cwd, dir, undefined, QUIET);
    await manager.flush();
    return { file: manager.getSessionFile() };
  },
};

await serve(async ({ cmd, ...fields }: Fields) => {
  if (!COMMANDS[cmd]) throw new Error(`no command ${cmd}`);
  return COMMANDS[cmd](fields);
});
