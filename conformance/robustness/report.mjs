// The table as a document. Pure.
import { LIMITS } from "./subjects.mjs";

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
const mark = ({ good }) => ({ true: "", false: "**✗** ", null: "" })[good];

export function markdown({ results, names, notes, facts, date }) {
  const count = (name) => results.filter(({ seen }) => seen[name].good === true).length;
  const run = (name) => results.filter(({ seen }) => seen[name].good !== null).length;
  const lines = [
    "# Robustness",
    "",
    "What offshoot, pi and oh-my-pi do with damaged files, full disks, signals and each other. Each row was run with each",
    "program on the same day and machine, in a fresh folder and process. Written by `cargo xtask robustness --write",
    "docs/robustness.md`, which needs the packages of `conformance/package.json`; offshoot's column is held by",
    "`conformance/robustness.test.mjs` in every CI run.",
    "",
    "Every file row opens the file, builds the context, shows the tree, appends one message and opens again. **✗** marks what",
    "a person would call lost, refused or stuck: an acknowledged entry that is gone or outside the context, something that can",
    "be read and is not, old bytes rewritten, no answer. \"says\" are the codes of `offshoot check`; the peers report nothing.",
    `Limits of each answer: ${LIMITS.seconds} s, ${LIMITS.gigabytes} GB.`,
    "",
    `Run on ${date}.`,
    "",
    "| | |",
    "|---|---|",
    ...facts.map(([what, value]) => `| ${what} | ${cell(value)} |`),
    ...notes.map((note) => `\n${note}.`),
    "",
    `Without trouble: ${names.map((name) => `${name} ${count(name)} of ${run(name)}`).join(", ")}.`,
    "",
    `| row | ${names.join(" | ")} |`,
    `|---|${"---|".repeat(names.length)}`,
    ...results.map(({ row, seen }) => `| (${row.group}) ${cell(row.name)} | ${names.map((name) => mark(seen[name]) + cell(seen[name].text)).join(" | ")} |`),
    "",
  ];
  return lines.join("\n");
}
