// Runs the person's commands in another place, and hears of a compaction that fails.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("user_bash", (event) => {
    if (event.command === "given") return { result: { output: "as given", exitCode: 3, cancelled: false, truncated: false } };
    if (event.command.startsWith("far ")) {
      return {
        operations: {
          async exec(command: string, cwd: string, { onData }: any) {
            onData(Buffer.from(`${command} in ${cwd.split("/").at(-1)}\n`));
            onData(Buffer.from("\u001b[31mred\u001b[0m\n"));
            return { exitCode: 7 };
          },
        },
      } as any;
    }
  });
  pi.on("session_compact_failed", (event: any, ctx) => ctx.ui.notify(`${event.type} ${event.reason} ${event.aborted} ${event.willRetry} ${event.fromExtension} ${typeof event.errorMessage}`, "info"));
}
