// Prints an answer while it comes, then what it cost.
//
//     node talk.mjs PROMPT [PATH-OF-OFFSHOOT]

import { OffshootAgent } from "../../clients/javascript/index.mjs";

const [prompt, program] = process.argv.slice(2);
const agent = await OffshootAgent.start({ program, args: ["--no-session"] });
for await (const event of agent.prompt(prompt)) {
  if (event.type === "message_update") process.stdout.write(event.assistantMessageEvent.delta ?? "");
  if (event.type === "tool_execution_start") console.log(`\n[${event.toolName} ${JSON.stringify(event.args)}]`);
}
const stats = await agent.call("get_session_stats");
console.log(`\n${stats.tokens.total} tokens, $${stats.cost.toFixed(4)}`);
await agent.close();
