// Messages of a session as a model gets them, and a conversation as text.

const text = (content) => (typeof content === "string" ? content : content.filter(({ type }) => type === "text").map((part) => part.text).join(""));
const asUser = (content, timestamp) => ({ role: "user", content: typeof content === "string" ? [{ type: "text", text: content }] : content, timestamp });

function bash({ command, output, exitCode, cancelled, truncated, fullOutputPath }) {
  const shown = output ? `\`\`\`\n${output}\n\`\`\`` : "(no output)";
  const end = cancelled ? "\n\n(command cancelled)" : exitCode ? `\n\nCommand exited with code ${exitCode}` : "";
  return `Ran \`${command}\`\n${shown}${end}${truncated && fullOutputPath ? `\n\n[Output truncated. Full output: ${fullOutputPath}]` : ""}`;
}

const summary = (introduction, content) => `${introduction}\n\n<summary>\n${content}\n</summary>`;

export function convertToLlm(messages) {
  return messages.flatMap((message) => {
    const { role, timestamp } = message;
    if (role === "bashExecution") return message.excludeFromContext ? [] : [asUser(bash(message), timestamp)];
    if (role === "custom" || role === "hookMessage") return [asUser(message.content, timestamp)];
    if (role === "branchSummary") return [asUser(summary("What happened on a branch that was left:", message.summary), timestamp)];
    if (role === "compactionSummary") return [asUser(summary("What the conversation said before this point:", message.summary), timestamp)];
    return ["user", "assistant", "toolResult", "system"].includes(role) ? [message] : [];
  });
}

const LONGEST_RESULT = 2000;
const cut = (content) => (content.length > LONGEST_RESULT ? `${content.slice(0, LONGEST_RESULT)}\n\n[... ${content.length - LONGEST_RESULT} more characters truncated]` : content);

export function serializeConversation(messages) {
  const parts = messages.flatMap((message) => {
    if (message.role === "user") return text(message.content) ? [`[User]: ${text(message.content)}`] : [];
    if (message.role === "toolResult") return text(message.content) ? [`[Tool result]: ${cut(text(message.content))}`] : [];
    if (message.role !== "assistant") return [];
    const said = message.content.filter(({ type }) => type === "text").map((part) => part.text).join("\n");
    const calls = message.content.filter(({ type }) => type === "toolCall");
    const call = ({ name, arguments: given }) => `${name}(${Object.entries(given).map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(", ")})`;
    return [
      ...(said ? [`[Assistant]: ${said}`] : []),
      ...(calls.length ? [`[Assistant tool calls]: ${calls.map(call).join("; ")}`] : []),
    ];
  });
  return parts.join("\n\n");
}

const SKILL = /^<skill name="(?<name>[^"]+)" location="(?<location>[^"]+)">\n(?<content>[^]*?)\n<\/skill>(?:\n\n(?<rest>[^]+))?$/;

/** The skill that a message of the user begins with, and what follows it; null without one. */
export function parseSkillBlock(message) {
  const groups = SKILL.exec(message)?.groups;
  return groups ? { name: groups.name, location: groups.location, content: groups.content, userMessage: groups.rest?.trim() || undefined } : null;
}
