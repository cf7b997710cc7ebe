// Notes every event of a run in its order, with the members that it has, also those without a value.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const EVENTS = [
  "session_start", "input", "before_agent_start", "agent_start", "turn_start", "message_start", "message_end", "context", "context_with_system", "before_provider_headers", "before_provider_request",
  "after_provider_response", "tool_execution_start", "tool_call", "tool_result", "tool_execution_end", "turn_end", "agent_end", "agent_before_settle", "agent_settled",
];
/** Members that pi 1.6 has and offshoot does not yet, or the other way round. */
const OTHERS = ["durationMs", "nestedCalls", "rawStopReason", "responseId", "structuredContent", "thinkingLevel", "willRetry"];

/** Whether a built-in tool has details is its own. */
const members = (object: any) =>
  Object.keys(object).filter((name) => !OTHERS.includes(name)).sort().map((name) => (object[name] === undefined && name !== "details" ? `${name}?` : name)).join();

export default function (pi: ExtensionAPI) {
  const seen: string[] = [];
  for (const name of EVENTS) {
    pi.on(name as any, (event: any, ctx: any) => {
      // The built-in tools show people things of their own.
      const { details: _, ...message } = event.message ?? {};
      seen.push(`${name} {${members(event)}} ${message.role ?? ""} {${members(message)}}`);
      if (name === "agent_settled") for (const line of seen.splice(0)) ctx.ui.notify(line, "info");
    });
  }
}
