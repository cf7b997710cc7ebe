// What extensions import from pi-agent-core, where the user has no pi. The agent itself is offshoot: subagents are processes of it.
export { uuidv7 } from "./pi-ai.mjs";
export { serializeConversation } from "./agent/conversation.mjs";
export * from "./agent/truncate.mjs";
