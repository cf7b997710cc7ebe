// Prunes results of tools from what the model is sent: /prune [all | ID] [remove | truncate] and /unprune.
// The rules are entries of the session, so they belong to the branch on which they were made: another branch sends everything.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const TYPE = "tool-result-pruning";
const KEPT = 400;

interface Rule {
  toolResultId: string;
  strategy: "remove" | "truncate" | "keep";
}

/** The rules of the current branch; the last one about a result counts. */
function rulesOf(ctx: ExtensionContext): Map<string, Rule["strategy"]> {
  const rules = new Map<string, Rule["strategy"]>();
  for (const entry of ctx.sessionManager.getBranch()) {
    if (entry.type !== "custom" || entry.customType !== TYPE) continue;
    for (const { toolResultId, strategy } of (entry.data as { rules: Rule[] }).rules) rules.set(toolResultId, strategy);
  }
  return rules;
}

/** Calls whose results are on the current branch, with their sizes, largest first. */
function resultsOf(ctx: ExtensionContext) {
  const results = ctx.sessionManager.getBranch().flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
    const { toolCallId, toolName, content } = entry.message;
    const size = content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
    return [{ toolCallId, toolName, size }];
  });
  return results.sort((a, b) => b.size - a.size);
}

export default function (pi: ExtensionAPI) {
  const record = (rules: Rule[]) => pi.appendEntry(TYPE, { rules });

  pi.registerCommand("prune", {
    description: "Send less of old tool results: /prune [all | call id] [remove | truncate]",
    handler: async (args, ctx) => {
      const [which, strategy = "truncate"] = args.trim().split(/\s+/);
      if (strategy !== "remove" && strategy !== "truncate") return ctx.ui.notify(`There is no way called ${strategy}: use remove or truncate`, "error");
      const results = resultsOf(ctx).filter(({ toolCallId }) => !which || which === "all" || toolCallId === which);
      if (!results.length) return ctx.ui.notify("There is no such tool result on this branch", "warning");
      const chosen = which ? results : await choose(ctx, results);
      if (!chosen.length) return;
      record(chosen.map(({ toolCallId }) => ({ toolResultId: toolCallId, strategy })));
      ctx.ui.notify(`${chosen.length} tool result${chosen.length === 1 ? " is" : "s are"} pruned on this branch`, "info");
    },
  });

  pi.registerCommand("unprune", {
    description: "Send all tool results of this branch whole again",
    handler: async (_args, ctx) => record([...rulesOf(ctx).keys()].map((toolResultId) => ({ toolResultId, strategy: "keep" }))),
  });

  pi.on("context", (event, ctx) => {
    const rules = rulesOf(ctx);
    if (rules.size === 0) return undefined;
    const messages = event.messages.map((message) => {
      const strategy = message.role === "toolResult" ? rules.get(message.toolCallId) : undefined;
      if (message.role !== "toolResult" || !strategy || strategy === "keep") return message;
      const whole = message.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
      const text = strategy === "remove" ? "(this result was pruned)" : `${whole.slice(0, KEPT)}\n(the rest was pruned)`;
      return { ...message, content: [{ type: "text" as const, text }] };
    });
    return { messages };
  });
}

async function choose(ctx: ExtensionContext, results: ReturnType<typeof resultsOf>) {
  const rows = results.slice(0, 20).map(({ toolCallId, toolName, size }) => `${toolName}, ${size} characters (${toolCallId})`);
  const picked = await ctx.ui.select("Which result?", rows);
  return picked ? [results[rows.indexOf(picked)]!] : [];
}
