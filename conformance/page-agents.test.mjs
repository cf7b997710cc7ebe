// The agents of a session on its exported page, in a real Chromium: the buttons below their calls, the way into one and back.
//   OFFSHOOT_BIN=../target/debug/offshoot node --test page-agents.test.mjs
import assert from "node:assert/strict";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { PHONE, closeBrowser, idle, inChromium, missing } from "./page/browser.mjs";
import { exportedWith } from "./page/export.mjs";

after(closeBrowser);

const TIME = "2026-01-01T00:00:00.000Z";
const header = (id, parentSession) => ({ type: "session", version: 3, id, timestamp: TIME, cwd: "/w", ...(parentSession ? { parentSession } : {}) });
const entry = (id, parentId, more) => ({ id, parentId, timestamp: TIME, ...more });
const message = (id, parentId, said) => entry(id, parentId, { type: "message", message: { timestamp: 1, ...said } });
const usage = (cost) => ({ input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: cost } });
const answer = (id, parentId, content, cost = 0) => message(id, parentId, { role: "assistant", content, usage: usage(cost), stopReason: "stop" });
const start = (name, data) => entry("s0", null, { type: "custom", customType: "offshoot.child", data: { parentId: "root", toolCallId: "c1", index: 0, name, agent: "scout", depth: 1, limits: {}, task: "look", ...data } });
const end = (parentId, status) => entry("s9", parentId, { type: "custom", customType: "offshoot.child_end", data: { status, output: "", requests: 1, tokens: 15, cost: 0.5 } });
const text = (lines) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** A session whose call has started Alpha and Gamma; Alpha has started Beta. */
const ROOT = text([
  header("root"),
  message("a1", null, { role: "user", content: "give it to others" }),
  answer("a2", "a1", [{ type: "toolCall", id: "c1", name: "task", arguments: { tasks: [{ task: "look" }, { task: "dig" }] } }]),
  message("a3", "a2", { role: "toolResult", toolCallId: "c1", toolName: "task", content: [{ type: "text", text: "done" }], isError: false }),
  answer("a4", "a3", [{ type: "text", text: "Both are done." }]),
]);
const CHILDREN = {
  Alpha: text([
    header("alpha", "/s/root.jsonl"),
    start("Alpha", { parentEntry: "a2" }),
    message("s1", "s0", { role: "user", content: "look <b>here</b>" }),
    answer("s2", "s1", [{ type: "toolCall", id: "k1", name: "task", arguments: { tasks: [{ task: "deeper" }] } }], 0.25),
    message("s3", "s2", { role: "toolResult", toolCallId: "k1", toolName: "task", content: [{ type: "text", text: "deep" }], isError: false }),
    answer("s4", "s3", [{ type: "text", text: "Alpha has seen it." }], 0.25),
    end("s4", "completed"),
  ]),
  "Alpha.Beta": text([
    header("beta", "/s/root/Alpha.jsonl"),
    start("Alpha.Beta", { parentId: "alpha", parentEntry: "s2", toolCallId: "k1", depth: 2 }),
    message("s1", "s0", { role: "user", content: "deeper" }),
    answer("s2", "s1", [{ type: "text", text: "Beta was here." }]),
    end("s2", "completed"),
  ]),
  Gamma: text([header("gamma", "/s/root.jsonl"), start("Gamma", { parentEntry: "a2", index: 1, agent: "task" }), message("s1", "s0", { role: "user", content: "dig" }), end("s1", "failed")]),
};

const buttons = (page) => page.locator("button.agent").allTextContents();
const talk = (page) => page.textContent("#talk");

for (const [where, size] of [["on a desk", undefined], ["on a phone", PHONE]]) {
  test(`in Chromium the agents of a call are opened and left by their buttons ${where}`, { skip: missing }, async () => {
    const { page: file } = exportedWith(ROOT, CHILDREN);
    const { page, wrong, context, go } = await inChromium(file, size);
    const fits = async () => assert.equal(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, "nothing is wider than the screen");
    const click = async (words) => {
      const loaded = page.waitForEvent("load");
      await page.locator("button.agent", { hasText: words }).click();
      await loaded;
      await idle(page);
      await fits();
    };
    assert.deepEqual(await buttons(page), ["◆ Alpha · scout · completed · $0.5000", "◆ Gamma · task · failed"]);
    await fits();
    await click("Alpha");
    assert.match(await talk(page), /look <b>here<\/b>/, "foreign text stays text");
    assert.match(await talk(page), /Alpha has seen it\./);
    assert.doesNotMatch(await talk(page), /Both are done/);
    assert.deepEqual(await buttons(page), ["↩ The session that has started it", "◆ Beta · scout · completed"]);
    await click("Beta");
    assert.match(await talk(page), /Beta was here\./);
    assert.deepEqual(await buttons(page), ["↩ Alpha"]);
    // An address that somebody sends opens the agent at once.
    const address = await page.evaluate("location.hash");
    assert.match(address, /agent=Alpha\.Beta/);
    await go(file);
    await go(file, address);
    await page.reload();
    await idle(page);
    assert.match(await talk(page), /Beta was here\./);
    await click("↩ Alpha");
    await click("The session that has started it");
    assert.match(await talk(page), /Both are done\./);
    // The browser's own way back leads to the agent again.
    const loaded = page.waitForEvent("load");
    await page.goBack();
    await loaded;
    await idle(page);
    assert.match(await talk(page), /Alpha has seen it\./);
    await go(file, "#agent=Nobody");
    await page.reload();
    await idle(page);
    assert.match(await talk(page), /Both are done\./, "an agent that the page does not have is the session itself");
    assert.deepEqual(wrong, []);
    await context.close();
  });
}

test("two calls of one id have the agents of their own entries", { skip: missing }, async () => {
  const call = (id, parentId, words) => answer(id, parentId, [{ type: "toolCall", id: "call_0", name: "task", arguments: { tasks: [{ task: words }] } }]);
  const result = (id, parentId) => message(id, parentId, { role: "toolResult", toolCallId: "call_0", toolName: "task", content: [{ type: "text", text: "done" }], isError: false });
  const root = text([header("root"), message("a1", null, { role: "user", content: "go" }), call("a2", "a1", "one"), result("a3", "a2"), call("a4", "a3", "two"), result("a5", "a4")]);
  const child = (name, parentEntry) => text([header(name, "/s/root.jsonl"), start(name, { parentEntry, toolCallId: "call_0" }), message("s1", "s0", { role: "user", content: name })]);
  const { page: file } = exportedWith(root, { One: child("One", "a2"), Two: child("Two", "a4") });
  const { page, context } = await inChromium(file);
  assert.deepEqual(await buttons(page), ["◆ One · scout · open", "◆ Two · scout · open"]);
  await context.close();
});

test("the page of a branch has the agents of that branch alone", { skip: missing }, async () => {
  const { page: file } = exportedWith(ROOT, CHILDREN, "--at", "a1");
  const { page, context } = await inChromium(file);
  assert.deepEqual(await buttons(page), []);
  await context.close();
});
