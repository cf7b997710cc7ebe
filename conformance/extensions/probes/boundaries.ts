// Adds to the end of turns and of runs, and asks for more.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  let turns = 0;
  let settled = 0;
  const about = (event: any, ctx: any) =>
    ctx.ui.notify(`${event.type} ${event.outcome} ${event.entries.length} ${event.continue} ${event.context.canContinue} ${event.context.contextMessages.filter((message: any) => message.role !== "system").length}`, "info");
  pi.on("turn_end", (event, ctx) => {
    about(event, ctx);
    const entry = ctx.sessionManager.getEntry((event as any).messageEntryId) as any;
    ctx.ui.notify(`${entry.message.role} ${(event as any).toolResultEntryIds.map((id: string) => (ctx.sessionManager.getEntry(id) as any).message.toolName)}`, "info");
    turns += 1;
    if (turns === 2) return { entries: [{ type: "custom_message", customType: "more", content: "And now?", display: true }], continue: true } as any;
    if (turns === 3) return { entries: [{ type: "context_edit", targetId: (event as any).messageEntryId, replacement: null }] } as any;
    return { entries: [{ type: "custom", customType: "turn", data: { turns } }] } as any;
  });
  pi.on("turn_end", (event, ctx) => about(event, ctx));
  pi.on("agent_before_settle", (event: any, ctx: any) => {
    about(event, ctx);
    settled += 1;
    if (settled === 1) return { entries: [{ type: "custom_message", customType: "again", content: "Once more.", display: false }], continue: true };
    if (settled === 2) return { entries: [{ type: "custom", customType: "settled", data: settled }], continue: true };
  });
}
