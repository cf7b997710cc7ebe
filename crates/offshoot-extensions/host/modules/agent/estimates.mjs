// How many tokens messages take by their length, and where a compaction would cut a list of entries. Everything follows from
// characters: four are a token.

const CHARACTERS_OF_A_TOKEN = 4;
/** A picture counts as so many characters. */
const PICTURE = 4800;

function lengthOf(content) {
  if (typeof content === "string") return content.length;
  return content.reduce((sum, { type, text }) => sum + (type === "image" ? PICTURE : type === "text" ? (text ?? "").length : 0), 0);
}

function lengthOfAnswer(content) {
  const length = { text: (part) => part.text.length, thinking: (part) => part.thinking.length, toolCall: (part) => part.name.length + JSON.stringify(part.arguments).length };
  return content.reduce((sum, part) => sum + (length[part.type]?.(part) ?? 0), 0);
}

function lengthOfSystem({ content, sections = {}, toolsAdded }) {
  const parts = Object.values(sections).reduce((sum, part) => sum + (part?.length ?? 0), 0);
  return lengthOf(content) + parts + (toolsAdded ? JSON.stringify(toolsAdded).length : 0);
}

const LENGTHS = {
  system: lengthOfSystem,
  user: ({ content }) => lengthOf(content),
  custom: ({ content }) => lengthOf(content),
  toolResult: ({ content }) => lengthOf(content),
  assistant: ({ content }) => lengthOfAnswer(content),
  bashExecution: ({ command, output }) => command.length + output.length,
  branchSummary: ({ summary }) => summary.length,
  compactionSummary: ({ summary }) => summary.length,
};

/** The tokens of a message; 0 for a role that nobody knows. */
export function estimateTokens(message) {
  return Math.ceil((LENGTHS[message.role]?.(message) ?? 0) / CHARACTERS_OF_A_TOKEN);
}

export function calculateContextTokens({ totalTokens, input, output, cacheRead, cacheWrite }) {
  return totalTokens || input + output + cacheRead + cacheWrite;
}

/** What the last answer that was not broken off has reported. */
export function getLastAssistantUsage(entries) {
  const isReported = ({ role, stopReason, usage }) => role === "assistant" && !["aborted", "error"].includes(stopReason) && usage && calculateContextTokens(usage) > 0;
  return entries.findLast(({ type, message }) => type === "message" && isReported(message))?.message.usage;
}

export function shouldCompact(contextTokens, contextWindow, { enabled, reserveTokens }) {
  return enabled && contextTokens > contextWindow - reserveTokens;
}

/** The messages that an entry is in the context. */
export function sessionEntryToContextMessages(entry) {
  const timestamp = new Date(entry.timestamp).getTime();
  if (entry.type === "message") return [withContent(entry.message)];
  if (entry.type === "custom_message") {
    const { customType, content, display, details } = entry;
    return [{ role: "custom", customType, content: content ?? [], display, details, timestamp }];
  }
  if (entry.type === "branch_summary" && entry.summary) return [{ role: "branchSummary", summary: entry.summary, fromId: entry.fromId, timestamp }];
  if (entry.type !== "compaction") return [];
  const summary = { role: "compactionSummary", summary: entry.summary, tokensBefore: entry.tokensBefore, timestamp };
  return entry.systemMessage ? [entry.systemMessage, summary] : [summary];
}

/** A file may have messages without a content. */
function withContent(message) {
  if (message.content != null || !["system", "user", "assistant", "toolResult"].includes(message.role)) return message;
  return { ...message, content: message.role === "system" ? "" : [] };
}

const BEGINS = ["user", "bashExecution", "custom", "branchSummary", "compactionSummary"];
const hasRole = (entry, roles) => entry.type !== "compaction" && sessionEntryToContextMessages(entry).some(({ role }) => roles.includes(role));
const begins = (entry) => hasRole(entry, BEGINS);
/** Results stay with their call. */
const mayBeFirst = (entry) => hasRole(entry, [...BEGINS, "assistant"]);

/** Where the turn of an entry begins; -1 if it does not begin at or after `startIndex`. */
export function findTurnStartIndex(entries, entryIndex, startIndex) {
  let at = entryIndex;
  while (at >= startIndex && !begins(entries[at])) at -= 1;
  return at >= startIndex ? at : -1;
}

/** The first entry that is kept if the newest `keepRecentTokens` are. */
export function findCutPoint(entries, startIndex, endIndex, keepRecentTokens) {
  const candidates = [];
  for (let at = startIndex; at < endIndex; at += 1) if (mayBeFirst(entries[at])) candidates.push(at);
  if (candidates.length === 0) return { firstKeptEntryIndex: startIndex, turnStartIndex: -1, isSplitTurn: false };
  let cut = candidates[0];
  let kept = 0;
  for (let at = endIndex - 1; at >= startIndex; at -= 1) {
    const tokens = sessionEntryToContextMessages(entries[at]).reduce((sum, message) => sum + estimateTokens(message), 0);
    kept += tokens;
    if (tokens === 0 || kept < keepRecentTokens) continue;
    cut = candidates.find((candidate) => candidate >= at) ?? candidates.at(-1);
    break;
  }
  // Entries without a message stay with those after them.
  while (cut > startIndex && entries[cut - 1].type !== "compaction" && sessionEntryToContextMessages(entries[cut - 1]).length === 0) cut -= 1;
  const turnStartIndex = begins(entries[cut]) ? -1 : findTurnStartIndex(entries, cut, startIndex);
  return { firstKeptEntryIndex: cut, turnStartIndex, isSplitTurn: turnStartIndex !== -1 };
}
