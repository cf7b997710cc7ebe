// Prints an answer while it comes, then what it cost:  node talk.mjs PROMPT [COMMAND …]
import { OffshootAgent } from "./offshoot-agent.mjs";

const [prompt, ...command] = process.argv.slice(2);
const agent = new OffshootAgent(command.length > 0 ? command : ["offshoot", "--mode", "rpc", "--no-session"]);
for await (const event of agent.prompt(prompt)) {
  if (event.type === "message_update") process.stdout.write(event.assistantMessageEvent.delta ?? "");
  if (event.type === "tool_execution_start") console.log(`\n[${event.toolName} ${JSON.stringify(event.args)}]`);
}
const stats = await agent.ask("get_session_stats");
console.log(`\n${stats.tokens.total} tokens, $${stats.cost.toFixed(4)}`);
await agent.close();
