// A status line: how many turns the answer took, what it cost so far, and which tool runs now.
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";

const KEY = "turns";

/** What the current branch has cost. */
function cost(ctx: ExtensionContext): number {
  return ctx.sessionManager.getBranch().reduce((sum, entry) => {
    if (entry.type !== "message" || entry.message.role !== "assistant") return sum;
    return sum + entry.message.usage.cost.total;
  }, 0);
}

export default function (pi: ExtensionAPI) {
  let turns = 0;
  const show = (ctx: ExtensionContext, text: string) => {
    const { theme } = ctx.ui;
    const price = cost(ctx);
    ctx.ui.setStatus(KEY, theme.fg("dim", text) + (price > 0 ? theme.fg("muted", `  $${price.toFixed(3)}`) : ""));
  };

  pi.on("session_start", (_event, ctx) => show(ctx, "ready"));
  pi.on("session_tree", (_event, ctx) => show(ctx, "ready"));
  pi.on("agent_start", () => void (turns = 0));
  pi.on("turn_start", (_event, ctx) => show(ctx, `turn ${(turns += 1)}`));
  pi.on("tool_execution_start", ({ toolName }, ctx) => show(ctx, `turn ${turns}: ${toolName}`));
  pi.on("agent_end", (_event, ctx) => show(ctx, turns === 1 ? "one turn" : `${turns} turns`));
  pi.on("session_shutdown", (_event, ctx) => ctx.ui.setStatus(KEY, undefined));
}
