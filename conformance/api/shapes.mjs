// What values the arguments and results of `offshoot api` have: the part of its schema that `rpc.discover` does not say.
// Names of methods and arguments, and which arguments are needed, come from the program.

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const number = { type: "number" };
const flag = { type: "boolean" };
const anything = {};
const nothing = { type: "null" };
const is = (name) => ({ $ref: `#/$defs/${name}` });
const list = (items) => ({ type: "array", items });
const or = (...anyOf) => ({ anyOf });
const orNull = (shape) => or(shape, nothing);
const open = { type: "object", additionalProperties: true };

/** An object; names that end with `?` need not be there. */
function object(members, more = false) {
  const names = Object.keys(members);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace("?", ""), members[name]])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: more,
  };
}

const texts = list(text);
const files = { readFiles: texts, modifiedFiles: texts };
const weighed = { tokens: count, tokensBefore: count };
const messages = list(object({ entryId: text, role: text, tokens: count }));

export const DEFS = {
  SessionNumber: { ...count, description: "The number of an open session." },
  EntryName: { ...text, description: "An entry: its id, a start of it, a label, @, @- or a time." },
  Message: object({ role: text }, true),
  Entry: object({ type: text }, true),
  Opened: object({ session: is("SessionNumber"), sessionId: text, sessionFile: orNull(text) }),
  Appended: object({ id: orNull(text), "diagnostics?": list(is("Diagnostic")) }),
  TreeNode: object({ entry: is("Entry"), children: list(is("TreeNode")), "label?": text, "labelTimestamp?": text }),
  Context: object({ messages: list(is("Message")), thinkingLevel: text }, true),
  SessionInfo: object({
    path: text, id: text, cwd: text, "name?": text, "parentSessionPath?": text, created: text, modified: text,
    messageCount: count, firstMessage: text, allMessagesText: text,
  }),
  Diagnostic: object({
    code: text, severity: { enum: ["note", "warning", "error"] }, line: orNull(count), offset: orNull(count), entryId: orNull(text), message: text,
  }),
  SessionList: or(list(is("SessionInfo")), object({ sessions: list(is("SessionInfo")), diagnostics: list(is("Diagnostic")) })),
  Selection: or(text, object({ turn: text })),
  PickPlan: object({
    ontoId: orNull(text),
    copies: list(object({ entryId: text, type: text, "role?": text, tokens: count, added: flag, gone: anything })),
    leftOut: list(object({ entryId: text, reason: text, message: text })),
    alreadyHere: list(object({ entryId: text, hereId: text })),
    restatedModel: anything, ...weighed, bytes: count, imagesWrittenOut: count, ...files, contextWindow: orNull(count), plan: count,
  }),
  MergePlan: object({
    ontoId: orNull(text),
    merged: object({ base: orNull(text), tip: text, "session?": text }),
    entries: anything, alreadyHere: anything, isRepeated: flag, ...weighed, leftOut: anything, ...files,
    conversation: text, contextWindow: orNull(count), plan: count,
  }),
  Picked: object({ operationId: orNull(text), entryIds: texts }),
  Merged: object({ id: text, summary: text }),
  Undone: object({ operation: anything, from: orNull(text), to: orNull(text), id: orNull(text) }),
  Comparison: object({
    ancestorId: orNull(text),
    sides: list(object({
      tipId: text, entries: count, turns: count, tokens: count, cost: orNull(number), oldest: orNull(text), newest: orNull(text), models: texts,
      ...files, files: list(object({ path: text, reads: count, changes: count })), lastWords: orNull(text),
    })),
    "patches?": list(object({ path: text, patch: orNull(text) })),
  }),
  Forecast: object({
    contextTokens: count, messageTokens: count, overheadTokens: count, cachedTokens: orNull(count), freshTokens: orNull(count),
    cacheExpiresInMs: orNull(number), costNow: orNull(number), costLater: orNull(number),
  }),
  SearchResult: object({
    hits: list(object({
      session: text, agent: text, path: text, entry: orNull(text), offset: count, kind: text, "tool?": text, time: orNull(text), onPath: flag,
      compacted: flag, inside: flag, error: flag, "title?": text, "cwd?": text, snippet: text, ranges: list(list(count)), "alsoIn?": texts,
    })),
    count, more: flag, sessions: count, leftOut: count,
  }),
  CompactionSettings: object({ "enabled?": flag, "reserveTokens?": count, "keepRecentTokens?": count }),
  CompactionPlan: object({
    firstKeptEntryId: orNull(text), isSplitTurn: flag, turnStartEntryId: orNull(text), tokensBefore: count, messageTokensBefore: count,
    tokensKept: count, previousCompactionId: orNull(text), previousSummary: orNull(text), messagesToSummarize: messages,
    turnPrefixMessages: messages, keptMessages: messages, pinned: texts, ...files, conversation: text, turnPrefixConversation: text,
    settings: is("CompactionSettings"),
  }),
  BranchPlan: object({
    commonAncestorId: orNull(text), entries: texts, messages, totalTokens: count, leftOut: count, ...files, conversation: text,
  }),
  ErrorData: object({
    kind: { enum: ["notFound", "ambiguous", "conflict", "locked", "spilled", "damaged", "invalid", "io", "other"] },
    "path?": text, "line?": count, "offset?": count, "candidates?": texts, "processes?": list(count), "spill?": text, "ids?": texts,
  }),
};

/** The value of an argument, by its name. */
export const ARGUMENTS = {
  a: is("EntryName"), b: is("EntryName"), again: flag, attribution: text, configured: anything, content: anything, customType: text, cwd: text,
  data: anything, details: anything, display: flag, dryRun: flag, durability: { enum: ["os", "data", "full"] }, entries: list(open),
  entry: is("EntryName"), entryId: is("EntryName"), firstKeptEntryId: orNull(text), force: flag, from: is("SessionNumber"), fromExtension: flag,
  fromHook: flag, fromId: text, id: text, injectedRules: anything, kind: text, label: text, labels: flag, leafId: is("EntryName"), message: is("Message"),
  mode: text, model: text, modelId: text, name: text, note: text, oldLeafId: is("EntryName"), onto: is("EntryName"), parentId: orNull(text),
  number: count, parentSession: text, patch: flag, path: text, plan: count, preserveData: anything, provider: text, replacement: anything, role: text,
  here: flag, query: text, scan: flag, skip: count, selections: list(is("Selection")), serviceTier: anything, session: is("SessionNumber"), sessionDir: text, settings: flag, shortSummary: text,
  source: is("EntryName"), sourcePath: text, state: flag, summary: text, systemPrompt: text, targetCwd: text, targetId: text, task: anything,
  thinkingLevel: text, tokenBudget: count, tokensBefore: count, tools: anything, usage: anything, withDiagnostics: flag,
};

/** Where one method means something else by the name. */
export const OF_METHOD = {
  appendEntry: { entry: is("Entry") },
  branchWithSummary: { entryId: orNull(is("EntryName")) },
  planMerge: { entries: flag },
  merge: { entries: flag },
  parseSessionEntries: { content: text },
  prepareCompaction: { settings: is("CompactionSettings") },
  prepareBranchSummary: { targetId: orNull(is("EntryName")) },
};

/** Methods whose arguments have further members. */
export const OPEN_METHODS = ["appendSessionInit"];

const entries = list(is("Entry"));
export const RESULTS = {
  "rpc.discover": open,
  create: is("Opened"), open: is("Opened"), continueRecent: is("Opened"), inMemory: is("Opened"), forkFrom: is("Opened"), newSession: is("Opened"),
  close: nothing, list: is("SessionList"), listAll: is("SessionList"), findMostRecentSession: orNull(text),
  search: is("SearchResult"),
  branch: nothing, branchWithSummary: is("Appended"), resetLeaf: nothing, switch: is("Appended"), createBranchedSession: orNull(text),
  planPick: is("PickPlan"), pick: orNull(is("Picked")), planMerge: or(is("MergePlan"), is("PickPlan")),
  merge: orNull(or(is("Merged"), is("Picked"))), planUncompact: orNull(is("PickPlan")), uncompact: orNull(is("Picked")), undo: orNull(is("Undone")),
  compare: is("Comparison"), forecast: is("Forecast"), giveBack: texts, recreate: nothing,
  getLeafId: orNull(text), getLeafEntry: orNull(is("Entry")), findEntry: orNull(text), getEntry: orNull(is("Entry")), getChildren: entries,
  getBranch: entries, getTree: list(is("TreeNode")), getEntries: entries, getEntryCount: count, getHeader: open, getLabel: orNull(text),
  getSessionName: orNull(text), getSessionFile: orNull(text), getSessionId: text, getCwd: text, getSessionDir: orNull(text), isPersisted: flag,
  getDiagnostics: list(is("Diagnostic")),
  prepareCompaction: orNull(is("CompactionPlan")), prepareBranchSummary: is("BranchPlan"),
  buildSessionContext: is("Context"), parseSessionEntries: list(anything), migrateSessionEntries: list(open), loadEntriesFromFile: list(open),
};

/** The result of a method. */
export const resultOf = (name) => RESULTS[name] ?? (name.startsWith("append") ? is("Appended") : undefined);
