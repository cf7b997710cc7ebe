// The session as extensions see it: every member asks its owner, nothing is mirrored here.
import { homedir } from "node:os";
import { resolve } from "node:path";
import { ask } from "./channel.mjs";
import { named } from "./named.mjs";

const asks = (method, ...names) => (...args) => ask(`session.${method}`, Object.fromEntries(names.map((name, at) => [name, args[at]])));

/** Where the agent works on the session; the folder of the start if the session names none. */
export const folderOf = (host) => resolve(host.cwd, ask("session.getCwd") || ".");

/** The branch from its last compaction on: that compaction, what it kept, and what came after it. */
function contextEntries() {
  const branch = ask("session.getBranch", {});
  const at = branch.findLastIndex(({ type }) => type === "compaction");
  if (at < 0) return branch;
  const first = branch.findIndex(({ id }) => id === branch[at].firstKeptEntryId);
  const kept = first < 0 ? [] : branch.slice(first, at).filter(({ message }) => message?.role !== "system");
  return [branch[at], ...kept, ...branch.slice(at + 1)];
}

const READING = {
  ...{ getCwd: asks("getCwd"), getSessionDir: asks("getSessionDir"), getSessionId: asks("getSessionId"), getSessionFile: asks("getSessionFile") },
  getLeafId: () => ask("session.getLeafId") ?? null,
  getHeader: () => ask("session.getHeader") ?? null,
  getLeafEntry: asks("getLeafEntry"),
  getEntry: (id) => (typeof id === "string" ? ask("session.getEntry", { id }) : undefined),
  getLabel: (id) => (typeof id === "string" ? ask("session.getLabel", { id }) : undefined),
  getBranch: (fromId) => (typeof (fromId ?? "") === "string" ? ask("session.getBranch", { fromId }) : []),
  ...{ getEntries: asks("getEntries"), getTree: asks("getTree"), getSessionName: asks("getSessionName"), getEntryCount: asks("getEntryCount") },
  getChildren: (parentId) => (parentId === null || typeof parentId === "string" ? ask("session.getChildren", { parentId }) : []),
  buildSessionContext: asks("buildSessionContext"),
  isPersisted: () => (ask("session.getSessionFile") ?? null) !== null,
  usesDefaultSessionDir: () => ask("session.usesDefaultSessionDir", { sessionDir: ask("session.getSessionDir") }),
  buildContextEntries: contextEntries,
  buildSessionProjection() {
    const messagesOf = new Map();
    for (const { sourceEntry, messages } of ask("session.contextEntries")) messagesOf.set(sourceEntry.id, [...(messagesOf.get(sourceEntry.id) ?? []), ...messages]);
    const entries = contextEntries().map((sourceEntry) => ({ sourceEntry, messages: messagesOf.get(sourceEntry.id) ?? [] }));
    const { thinkingLevel, model } = ask("session.buildSessionContext");
    return { entries, messages: entries.flatMap(({ messages }) => messages), thinkingLevel, model };
  },
};

const WRITING = {
  ...READING,
  appendMessage: asks("appendMessage", "message"),
  appendThinkingLevelChange: asks("appendThinkingLevelChange", "thinkingLevel"),
  appendModelChange: asks("appendModelChange", "provider", "modelId"),
  appendCustomEntry: asks("appendCustomEntry", "customType", "data"),
  appendCustomMessageEntry: (customType, content, display = true, details) =>
    ask("session.appendCustomMessageEntry", { customType, content, display, details }),
  appendContextEdit: asks("appendContextEdit", "targetId", "replacement"),
  appendUsage: (kind, provider, model, usage, note) => ask("session.getEntry", { id: ask("session.appendUsage", { kind, provider, model, usage, note }) }),
  appendSessionInfo: asks("appendSessionInfo", "name"),
  appendLabelChange: asks("appendLabelChange", "targetId", "label"),
  appendCompaction: asks("appendCompaction", "summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook", "usage"),
  branch: asks("branch", "entryId"),
  resetLeaf: asks("resetLeaf"),
  branchWithSummary: (entryId, summary, details) => ask("session.branchWithSummary", { entryId, summary, details, fromHook: true }),
};

/** A path as pi reads it. */
const resolved = (path) => resolve(path.replace(/^~(?=\/|$)/, homedir()));

/** What puts another session in the place of the one that is prepared. `setup.isOpen` says whether it still is. */
function replacing(setup) {
  const replace = (name, params) => {
    if (!setup.isOpen) {
      throw new Error(`SessionManager.${name} works only while setup runs: the agent works in the session now, and its next entries would go to another. Use newSession, fork or switchSession of ctx`);
    }
    return ask(`session.${name}`, params) ?? undefined;
  };
  return {
    newSession: (/** @type {any} */ { id, parentSession } = {}) => replace("newSession", { id, parentSession }),
    setSessionFile: (file) => void replace("setSessionFile", { sessionFile: resolved(file) }),
    createBranchedSession: (leafId) => replace("createBranchedSession", { leafId: leafId ?? ask("session.getLeafId") }),
  };
}

export const readableSession = (check) => named("ReadonlySessionManager", READING, check);

/** What `newSession({setup})` hands out. */
export const writableSession = (setup) => named("SessionManager", { ...WRITING, ...replacing(setup) });
