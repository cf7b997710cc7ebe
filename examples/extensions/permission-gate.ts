// Asks before a command that is hard to take back. Without a person to ask, it is refused: the model reads why.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

const RISKY: [RegExp, string][] = [
  [/\bsudo\b/, "runs as root"],
  [/\brm\s+(-\w*[rf]|--recursive|--force)/, "deletes files"],
  [/\bgit\s+(push\s+.*(--force|-f\b)|reset\s+--hard|clean\s+-\w*f)/, "throws work away"],
  [/\b(chmod|chown)\b.*\b777\b/, "opens files to everybody"],
  [/\bcurl\b.*\|\s*(ba|z)?sh\b/, "runs what a server sends"],
];
const ANSWERS = ["Run it", "Refuse", "Refuse and say why"];

export default function (pi: ExtensionAPI) {
  /** Commands that were allowed in this session, word for word. */
  const allowed = new Set<string>();

  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return undefined;
    const { command } = event.input as { command: string };
    const reasons = RISKY.filter(([pattern]) => pattern.test(command)).map(([, reason]) => reason);
    if (reasons.length === 0 || allowed.has(command)) return undefined;
    if (!ctx.hasUI) return { block: true, reason: `This command ${reasons.join(" and ")}, and nobody can be asked.` };

    const answer = await ctx.ui.select(`This command ${reasons.join(" and ")}:\n\n  ${command}\n`, ANSWERS);
    if (answer === ANSWERS[0]) {
      allowed.add(command);
      return undefined;
    }
    const why = answer === ANSWERS[2] ? await ctx.ui.input("Why not?", "what to do instead") : undefined;
    return { block: true, reason: why ? `The user refused: ${why}` : "The user refused this command." };
  });

  pi.registerCommand("allowed", {
    description: "List the risky commands that may run in this session",
    handler: async (_args, ctx) => ctx.ui.notify(allowed.size ? [...allowed].join("\n") : "None was allowed yet", "info"),
  });
}
