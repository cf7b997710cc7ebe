// The session as extensions see it: every member asks its owner, nothing is mirrored here.
import { ask } from "./channel.mjs";
import { named } from "./named.mjs";

const asks = (method, ...names) => (...args) => ask(`session.${method}`, Object.fromEntries(names.map((name, at) => [name, args[at]])));

const READING = {
  ...{ getCwd: asks("getCwd"), getSessionDir: asks("getSessionDir"), getSessionId: asks("getSessionId"), getSessionFile: asks("getSessionFile") },
  getLeafId: () => ask("session.getLeafId") ?? null,
  getHeader: () => ask("session.getHeader") ?? null,
  ...{ getLeafEntry: asks("getLeafEntry"), getEntry: asks("getEntry", "id"), getLabel: asks("getLabel", "id"), getBranch: asks("getBranch", "fromId") },
  ...{ getEntries: asks("getEntries"), getTree: asks("getTree"), getSessionName: asks("getSessionName"), getEntryCount: () => ask("session.getEntries").length },
  ...{ buildContextEntries: asks("buildContextEntries"), buildSessionProjection: asks("buildSessionProjection") },
};

const WRITING = {
  ...READING,
  getChildren: asks("getChildren", "parentId"),
  buildSessionContext: asks("buildSessionContext"),
  isPersisted: () => ask("session.getSessionFile") !== undefined,
  appendMessage: asks("appendMessage", "message"),
  appendThinkingLevelChange: asks("appendThinkingLevelChange", "level"),
  appendModelChange: asks("appendModelChange", "provider", "modelId"),
  appendCustomEntry: asks("appendCustomEntry", "customType", "data"),
  appendCustomMessageEntry: asks("appendCustomMessageEntry", "customType", "content", "display", "details"),
  appendSessionInfo: asks("appendSessionInfo", "name"),
  appendLabelChange: asks("appendLabelChange", "targetId", "label"),
  appendCompaction: asks("appendCompaction", "summary", "firstKeptEntryId", "tokensBefore", "details", "fromHook", "usage"),
  branch: asks("branch", "id"),
  resetLeaf: asks("resetLeaf"),
  branchWithSummary: asks("branchWithSummary", "id", "summary", "details"),
};

export const readableSession = (check) => named("ReadonlySessionManager", READING, check);

/** What `newSession({setup})` hands out. */
export const writableSession = (check) => named("SessionManager", WRITING, check);
