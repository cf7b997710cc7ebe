// pi's session manager as a line server: dump, plans, list, grow, context, fork (one JSON request per line, see README.md).
// Owns the calls into pi. pi may write to a file that it opens, so `dump` always works on a copy.
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { applyOperations, dumpManager } from "./lib/peer.mjs";
import { serve } from "./lib/lines.mjs";
import { branchPlans, compactionPlans, llmMessages } from "./lib/pi-plans.mjs";
import { PROJECT, piPackage, temporaryFolder } from "./lib/places.mjs";

const { SessionManager, buildSessionContext } = await import(pathToFileURL(path.join(piPackage(), "dist/core/session-manager.js")).href);

/** Operation names and fields are those of `offshoot api`; here they become pi's positional arguments. */
const OPERATIONS = {
  appendMessage: (m, o) => m.appendMessage(o.message),
  appendThinkingLevelChange: (m, o) => m.appendThinkingLevelChange(o.thinkingLevel),
  appendModelChange: (m, o) => m.appendModelChange(o.provider, o.modelId),
  appendCompaction: (m, o) => m.appendCompaction(o.summary, o.firstKeptEntryId, o.tokensBefore, o.details, o.fromHook),
  appendCustomEntry: (m, o) => m.appendCustomEntry(o.customType, o.data),
  appendCustomMessageEntry: (m, o) => m.appendCustomMessageEntry(o.customType, o.content, o.display, o.details),
  appendLabelChange: (m, o) => m.appendLabelChange(o.targetId, o.label),
  appendSessionInfo: (m, o) => m.appendSessionInfo(o.name),
  appendUsage: (m, o) => m.appendUsage(o.kind, o.provider, o.model, o.usage, o.note).id,
  appendContextEdit: (m, o) => m.appendContextEdit(o.targetId, o.replacement),
  branch: (m, o) => void m.branch(o.entryId),
  branchWithSummary: (m, o) => m.branchWithSummary(o.entryId, o.summary, o.details, o.fromHook),
  resetLeaf: (m) => void m.resetLeaf(),
  createBranchedSession: (m, o) => m.createBranchedSession(o.leafId),
};

/** Opens a copy of a file for the time of `work(manager)`. */
function withCopy(file, work) {
  const folder = temporaryFolder("pi");
  try {
    const copy = path.join(folder, path.basename(file));
    fs.copyFileSync(file, copy);
    return work(SessionManager.open(copy));
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

const COMMANDS = {
  dump({ file, ...options }) {
    return withCopy(file, (manager) => dumpManager(manager, options));
  },

  plans({ file, compactions, settings, branches, contexts }) {
    return withCopy(file, (manager) => ({
      compactions: compactionPlans(manager, compactions, settings),
      branches: branchPlans(manager, branches),
      contexts: llmMessages(manager, contexts),
    }));
  },

  async list({ dir, cwd }) {
    return cwd === undefined ? await SessionManager.listAll(dir) : await SessionManager.list(cwd, dir);
  },

  async grow({ file, dir, cwd = PROJECT, ops }) {
    const manager = file ? SessionManager.open(file) : SessionManager.create(cwd, dir);
    const ids = await applyOperations(manager, ops, OPERATIONS);
    return { ids, file: manager.getSessionFile(), leafId: manager.getLeafId() };
  },

  /** The pure function over a list of entries; `leafId` absent, null or an id. */
  context({ entries, leafId }) {
    return buildSessionContext(entries, leafId);
  },

  fork({ file, cwd, dir }) {
    return { file: SessionManager.forkFrom(file, cwd, dir).getSessionFile() };
  },
};

await serve(async ({ cmd, ...fields }) => {
  if (!COMMANDS[cmd]) throw new Error(`no command ${cmd}`);
  return COMMANDS[cmd](fields);
});
