// Grows a small session through `offshoot api`, shows it, and checks what it shows.
//
//     node demo.mjs [PATH-OF-OFFSHOOT]

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { OffshootError, OffshootSessions } from "../../clients/javascript/index.mjs";

const user = (text) => ({ role: "user", content: text, timestamp: 1 });
const assistant = (text) => ({ role: "assistant", content: [{ type: "text", text }], provider: "p", model: "m", timestamp: 2 });
const textOf = ({ content }) => (typeof content === "string" ? content : content.map((block) => block.text ?? "").join(" "));

function printTree(nodes, indent = "") {
  for (const { entry, children, label } of nodes) {
    const text = entry.type === "message" ? textOf(entry.message) : (entry.summary ?? "");
    console.log(`${indent}${entry.id} ${entry.type}${label ? ` [${label}]` : ""} ${text}`.trimEnd());
    printTree(children, `${indent}  `);
  }
}

async function main(offshoot, folder) {
  const session = await offshoot.create({ cwd: folder, sessionDir: folder });
  const { id: question } = await session.appendMessage({ message: user("Why is the build slow?") });
  const { id: first } = await session.appendMessage({ message: assistant("The linker.") });
  await session.appendLabelChange({ targetId: question, label: "the question" });

  // Go back and try something else; the first answer stays where it is.
  await session.branchWithSummary({ entryId: question, summary: "The linker was not it." });
  await session.appendMessage({ message: assistant("The tests.") });

  printTree(await session.getTree());
  const { messages } = await session.buildSessionContext();
  console.log("the model sees:", messages.map(({ role }) => role).join(", "));

  const said = messages.filter((message) => "content" in message).map(textOf);
  assert.deepEqual(said, ["Why is the build slow?", "The tests."]);
  const children = await session.getChildren({ parentId: question });
  assert.deepEqual(children.map(({ type }) => type), ["message", "branch_summary"]);
  assert.deepEqual((await session.getEntry({ id: first })).message, assistant("The linker."));
  assert.equal(await session.getLabel({ id: question }), "the question");

  // Look at what a pick would bring, bring it, and take that back.
  const here = await session.getLeafId();
  const plan = await session.planPick({ selections: [`..${first}`] });
  assert.deepEqual([plan.ontoId, plan.copies.map(({ entryId }) => entryId)], [here, [first]]);
  await session.pick({ plan: plan.plan });
  assert.equal(textOf((await session.getLeafEntry()).message), "The linker.");
  await session.undo();
  assert.deepEqual((await session.buildSessionContext()).messages, messages);
  await session.branch({ entryId: here });

  // What JavaScript's strings can hold, half a surrogate pair, comes back as well.
  const { id: odd } = await session.appendCustomEntry({ customType: "demo", data: { half: "\ud83d" } });
  assert.deepEqual((await session.getEntry({ id: odd })).data, { half: "\ud83d" });

  // Another number on the same file sees the same entries; calls may overlap.
  const other = await offshoot.open({ path: session.sessionFile });
  assert.deepEqual(await Promise.all([other.getEntryCount(), session.getEntryCount()]), [9, 9]);
  const list = await offshoot.listAll({ sessionDir: folder });
  assert.deepEqual(list.map(({ id }) => id), [session.sessionId]);

  await assert.rejects(session.branch({ entryId: "nowhere" }), (error) => {
    console.log("error:", error.message);
    return error instanceof OffshootError && error.kind === "notFound";
  });
}

const folder = await mkdtemp(join(tmpdir(), "offshoot-demo-"));
const offshoot = await OffshootSessions.start({ program: process.argv[2] });
try {
  await main(offshoot, folder);
  console.log("ok");
} finally {
  await offshoot.close();
  await rm(folder, { recursive: true });
}
