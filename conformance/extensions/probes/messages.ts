// Replaces messages before they are recorded, and says in which order it hears of them.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  const note = (ctx: any, text: string) => ctx.ui.notify(text, "info");
  const text = (message: any) => (typeof message.content === "string" ? message.content : message.content.map((part: any) => part.text ?? part.type).join("|"));
  for (const name of ["agent_start", "turn_start", "message_start", "agent_end", "agent_settled"] as const) {
    pi.on(name as any, (event: any, ctx: any) => note(ctx, `${name} ${event.message?.role ?? ""}`));
  }
  pi.on("message_end", (event, ctx) => {
    const { message } = event as any;
    note(ctx, `message_end ${message.role} ${text(message)} after ${ctx.sessionManager.getEntries().filter((entry: any) => entry.type === "message" && entry.message.role !== "system").length}`);
    if (message.role === "toolResult") return { message: { ...message, content: [{ type: "text", text: "another result" }] } };
    if (message.role === "user") return { message: { ...message, content: [{ type: "text", text: `${text(message)} (changed)` }] } };
    if (message.role === "assistant") return { message: { ...message, content: message.content.map((part: any) => (part.type === "text" ? { ...part, text: part.text.toUpperCase() } : part)) } };
  });
  pi.on("message_end", (event, ctx) => note(ctx, `then ${text((event as any).message)}`));
  pi.on("message_end", (event) => ((event as any).message.role === "user" ? { message: { role: "assistant", content: [] } as any } : undefined));
  pi.on("turn_end", (event, ctx) => note(ctx, `turn_end ${event.turnIndex} ${text(event.message)} ${event.toolResults.map(text)}`));
}
