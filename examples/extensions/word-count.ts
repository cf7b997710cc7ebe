// A tool for the model: counts lines, words and characters of files, and reports each file as soon as it is read.
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Text } from "@earendil-works/pi-tui";
import { Type } from "typebox";

interface Count {
  file: string;
  lines: number;
  words: number;
  characters: number;
}

async function count(cwd: string, file: string): Promise<Count> {
  const text = await fs.readFile(path.resolve(cwd, file), "utf8");
  return { file, lines: text.split("\n").length - 1, words: text.split(/\s+/).filter(Boolean).length, characters: text.length };
}

const table = (counts: Count[]) => counts.map(({ file, lines, words, characters }) => `${file}: ${lines} lines, ${words} words, ${characters} characters`).join("\n");

export default function (pi: ExtensionAPI) {
  pi.registerTool({
    name: "word_count",
    label: "Word count",
    description: "Counts the lines, words and characters of text files.",
    promptSnippet: "Count lines, words and characters of files",
    parameters: Type.Object({ paths: Type.Array(Type.String({ description: "A file, relative to the working folder" }), { minItems: 1 }) }),

    async execute(_toolCallId, { paths }, signal, onUpdate, ctx) {
      const counts: Count[] = [];
      for (const file of paths) {
        signal?.throwIfAborted();
        counts.push(await count(ctx.cwd, file));
        onUpdate?.({ content: [{ type: "text", text: table(counts) }], details: { counts } });
      }
      return { content: [{ type: "text", text: table(counts) }], details: { counts } };
    },

    renderCall: ({ paths }, theme) => new Text(theme.fg("toolTitle", theme.bold("word count ")) + theme.fg("accent", (paths ?? []).join(", ")), 0, 0),
    renderResult(result, { expanded }, theme) {
      const { counts = [] } = (result.details ?? {}) as { counts?: Count[] };
      const words = counts.reduce((sum, each) => sum + each.words, 0);
      const summary = theme.fg("success", `${words} words in ${counts.length} file${counts.length === 1 ? "" : "s"}`);
      return new Text(expanded ? `${summary}\n${theme.fg("muted", table(counts))}` : summary, 0, 0);
    },
  });
}
