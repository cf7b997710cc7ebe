// A program against the generated types. It is compiled, not run: a change of a record that breaks it breaks clients.
import type { Event, Message, RpcLines, RpcRequest, RpcResponses } from "../../docs/rpc.d.ts";

type Commands = RpcRequest["type"];

export function sent(line: RpcLines["sent"]): string {
  return JSON.stringify(line);
}

export function words(event: Event): string {
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta") return event.assistantMessageEvent.delta;
  if (event.type === "message_end" && event.message.role === "assistant") return `${event.message.usage.cost.total} USD`;
  return "";
}

export function response(line: RpcLines["read"]): unknown {
  if (line.type !== "response") return undefined;
  return line.success ? line.data : new Error(line.error);
}

export function window(state: RpcResponses["get_state"]): number {
  return state.model.contextWindow - state.messageCount;
}

export function isUser(message: Message): message is Extract<Message, { role: "user" }> {
  return message.role === "user";
}

export const named: Commands[] = ["prompt", "get_state", "pick"];
export const picks = sent({ type: "pick", selections: ["@-"], id: 1 });
// @ts-expect-error a prompt has a message
export const empty = sent({ type: "prompt" });
