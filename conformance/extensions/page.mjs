// docs/extensions-compat.md: what the tables say, as a page. It is only ever written by compat.mjs.
import { shippedNames, stubsOf } from "./stubs.mjs";

const holds = ({ host, program }) => !host?.length && !program?.length;
const cell = (list) => (list === null ? "–" : list.length ? "differs" : "equal");
const first = ({ host, program }) => [...(host ?? []), ...(program ?? [])][0]?.split("\n")[0].slice(0, 160).replaceAll("|", "\\|");

function rows(results, kind) {
  const lines = results.filter((row) => row.kind === kind).map((row) => `| ${row.name} | ${cell(row.host)} | ${cell(row.program)} | ${[row.standIn, first(row)].filter(Boolean).join("; ")} |`);
  return ["| | host | program | remarks |", "|---|---|---|---|", ...lines].join("\n");
}

const count = (results, kind) => {
  const all = results.filter((row) => row.kind === kind);
  return `${all.filter(holds).length} of ${all.length}`;
};

function probes(results) {
  const lines = results.filter(({ kind }) => kind === "probe").map((row) => `| ${row.name} | ${row.about} | ${cell(row.program)} | ${first(row) ?? ""} |`);
  return ["| | uses | program | remarks |", "|---|---|---|---|", ...lines].join("\n");
}

function misbehaviour(bad) {
  const lines = bad.map(({ does, so, without, with: has, lost, wrong }) => `| ${does} | ${wrong.length ? `fails: ${wrong[0]}` : so} | ${without} | ${has} | ${lost} |`);
  return ["| an extension | offshoot | entries without it | with it | lost |", "|---|---|---|---|---|", ...lines].join("\n");
}

export async function page(results, packages, bad) {
  const lacking = await stubsOf();
  const shipped = await shippedNames();
  return `# Extensions of pi under offshoot

\`node conformance/extensions/compat.mjs --write docs/extensions-compat.md\` writes this page. It runs every example hook and custom tool of pi 0.31.1 and every example extension of pi 0.87.1
as npm has it, unchanged, and eight published packages. CI runs a fixed third of it.

- **Host**: the extension under pi's own loader with pi's components, and under offshoot's host with the modules that offshoot ships. The same script of events, commands, keys and answers must lead to the same
  results, rows, questions, notes and entries.
- **Program**: the extension within the whole of pi 0.87.1 and the whole of offshoot over RPC, with the same model. Questions, notes, entries, requests to the model, failures and the exit code must be equal. A hook
  of 0.31.1 is compared with its successor in 0.87.1, because 0.31 asked nobody over RPC. Custom tools of 0.31.1, and
  hooks that only draw, have no such script.

Words for the model that belong to a built-in tool, colours, folders and times may differ.

| | equal |
|---|---|
| hooks of 0.31.1 | ${count(results, "hook")} |
| custom tools of 0.31.1 | ${count(results, "tool")} |
| extensions of 0.87.1 | ${count(results, "extension")} |
| extensions of our own | ${count(results, "probe")} |
| published packages | ${packages.filter(({ list }) => !list.length).length} of ${packages.length} |
| extensions that misbehave, without a loss | ${bad.filter(({ wrong }) => !wrong.length).length} of ${bad.length} |

## Hooks of pi 0.31.1

${rows(results, "hook")}

## Custom tools of pi 0.31.1

${rows(results, "tool")}

## Extensions of pi 0.87.1

${rows(results, "extension")}

## Extensions of our own

They use what no example of pi uses, within the whole of pi and of offshoot.

${probes(results)}

## Extensions that misbehave

Each does its harm while two prompts are answered, the first with a call of \`bash\`, in the whole program. Entries are those of the session's file, with models and thinking levels; an extension may add some of its own, and where a call does not run or a
person stops, the model may be asked less often. Lost is what was said, by a person or the model, and is not in the file. In every row the second prompt is answered.

${misbehaviour(bad)}

## Published packages

Each loads in the whole program, with the modules that offshoot ships, and does its work once against the loopback.

| package | version | use | |
|---|---|---|---|
${packages.map(({ name, use, list, version }) => `| ${name} | ${version} | ${use} | ${list.length ? `fails: ${list[0].split("\n")[0].slice(0, 160).replaceAll("|", "\\|")}` : "works"} |`).join("\n")}

## Names that throw

Every name of pi 0.87.1 and 1.6.0 exists. Those below throw when they are called.

${lacking.map(([name, list]) => `- \`${name}\`: ${list.map((each) => `\`${each}\``).join(", ") || "none"}`).join("\n")}

Of pi's modules offshoot ships ${shipped.map(([module, has, all]) => `${has} of the ${all} values of ${module}`).join(", ")}. The rest throws when it is used, and is pi's own where \`@earendil-works/pi-coding-agent\` is installed beside the extension or in one of the user's folders.
`;
}
