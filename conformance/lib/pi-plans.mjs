// What pi plans: compactions, branch summaries, messages for a model. The calls into pi's compaction modules are here.
// Entries are named by their place in the file, since ids of old versions are made up at each open.
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { digest } from "./canon.mjs";
import { piPackage } from "./places.mjs";

const load = (file) => import(pathToFileURL(path.join(piPackage(), "dist/core", file)).href);
const { prepareCompaction } = await load("compaction/compaction.js");
const { collectEntriesForBranchSummary, prepareBranchEntries } = await load("compaction/branch-summarization.js");
const { computeFileLists, serializeConversation } = await load("compaction/utils.js");
const { BRANCH_SUMMARY_PREFIX, COMPACTION_SUMMARY_PREFIX, convertToLlm } = await load("messages.js");

/** pi's sentences before summaries, down to the blank line. */
const LEADS = [BRANCH_SUMMARY_PREFIX, COMPACTION_SUMMARY_PREFIX].map((prefix) => prefix.slice(0, prefix.indexOf("\n\n")));

const withoutLeads = (text) => LEADS.reduce((rest, lead) => rest.replaceAll(lead, "(lead)"), text);

/** pi 1.6 leaves a character at the limit out whole; 0.87 takes half of it. */
const HALVED = /[\ud800-\udbff](?=\n\n\[\.\.\. \d+ more characters truncated\])/g;

/** Half a pair of surrogates cannot be sent: it arrives as U+FFFD. */
const sent = (text) => withoutLeads(Buffer.from(text.replaceAll(HALVED, ""), "utf8").toString("utf8"));
/** pi 1.6 leaves thinking out of the text for a summariser; of 0.87 it is left out here. */
const withoutThinking = (message) => (message.role === "assistant" && Array.isArray(message.content) ? { ...message, content: message.content.filter((block) => block?.type !== "thinking") } : message);
const conversation = (messages) => sent(serializeConversation(convertToLlm(messages).map(withoutThinking)));

/** Roles that nobody knows yet have no name in a plan. */
const KNOWN = ["user", "assistant", "toolResult", "system", "bashExecution", "custom", "branchSummary", "compactionSummary"];
const roles = (messages) => messages.map(({ role }) => (KNOWN.includes(role) ? role : null));

const attempt = (work) => {
  try {
    return work();
  } catch (error) {
    return { error: String(error?.message ?? error) };
  }
};

function placesOf(manager) {
  const places = new Map(manager.getEntries().map(({ id }, at) => [id, at]));
  return (id) => (id === null || id === undefined ? null : (places.get(id) ?? null));
}

export function compactionPlans(manager, points, settings) {
  const place = placesOf(manager);
  const ids = manager.getEntries().map(({ id }) => id);
  return points.map(({ at, keep }) =>
    attempt(() => {
      const plan = prepareCompaction(manager.getBranch(ids[at]), { ...settings, keepRecentTokens: keep });
      if (!plan) return null;
      const { readFiles, modifiedFiles } = computeFileLists(plan.fileOps);
      return {
        firstKept: place(plan.firstKeptEntryId),
        isSplitTurn: plan.isSplitTurn,
        tokensBefore: plan.tokensBefore,
        previousSummary: plan.previousSummary ?? null,
        summarize: roles(plan.messagesToSummarize),
        turnPrefix: roles(plan.turnPrefixMessages),
        readFiles,
        modifiedFiles,
        conversation: conversation(plan.messagesToSummarize),
        turnPrefixConversation: conversation(plan.turnPrefixMessages),
        whole: conversation([...plan.messagesToSummarize, ...plan.turnPrefixMessages]),
      };
    }),
  );
}

export function branchPlans(manager, points) {
  const place = placesOf(manager);
  const ids = manager.getEntries().map(({ id }) => id);
  return points.map(({ from, target, budget }) =>
    attempt(() => {
      const { entries, commonAncestorId } = collectEntriesForBranchSummary(manager, ids[from], ids[target]);
      const { messages, fileOps, totalTokens } = prepareBranchEntries(entries, budget);
      return {
        commonAncestor: place(commonAncestorId),
        entries: entries.map(({ id }) => place(id)),
        messages: roles(messages),
        totalTokens,
        ...computeFileLists(fileOps),
        conversation: conversation(messages),
      };
    }),
  );
}

/** Whether a context can be sent as it is: no failed turns, every call answered by the messages right behind it. */
function isSound(messages) {
  let open = [];
  for (const { role, stopReason, content, toolCallId } of messages) {
    if (role === "toolResult") {
      if (!open.includes(toolCallId)) return false;
      open = open.filter((id) => id !== toolCallId);
      continue;
    }
    if (role === "system") continue;
    if (open.length > 0 || ["error", "aborted"].includes(stopReason)) return false;
    if (role === "assistant" && Array.isArray(content)) open = content.filter(({ type }) => type === "toolCall").map(({ id }) => id);
  }
  return open.length === 0;
}

/** The messages of a context as a model takes them, as [role, digest]; null where they would have to be mended first. */
export function llmMessages(manager, points) {
  const ids = manager.getEntries().map(({ id }) => id);
  return points.map((at) =>
    attempt(() => {
      manager.branch(ids[at]);
      const messages = convertToLlm(manager.buildSessionContext().messages);
      if (!isSound(messages)) return null;
      return JSON.parse(withoutLeads(JSON.stringify(messages))).map((message) => [message.role, digest(message)]);
    }),
  );
}
