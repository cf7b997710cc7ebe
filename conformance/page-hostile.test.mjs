// Sessions that try to get into an exported page, in a real Chromium: nothing of them runs, and the page's policy has nothing
// to forbid. `robustness.test.mjs` looks at the same sessions without a browser.
//   OFFSHOOT_BIN=../target/debug/offshoot node --test page-hostile.test.mjs
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { after, test } from "node:test";
import { REPOSITORY } from "./lib/places.mjs";
import { announced, closeBrowser, idle, inChromium, missing } from "./page/browser.mjs";
import { exported, offshoot } from "./page/export.mjs";
import { HOSTILE_WORDS, hostileSessions } from "./robustness/hostile.mjs";
import { look } from "./robustness/pages.mjs";

after(closeBrowser);
const SAMPLE = path.join(REPOSITORY, "examples/sample-session.jsonl");

test("in Chromium nothing of a hostile session runs, and the policy has nothing to forbid", { skip: missing }, async () => {
  const { cases } = hostileSessions();
  const { page, wrong, context, go } = await inChromium(exported(fs.readFileSync(SAMPLE)).page);
  for (const { name, text } of cases) {
    await go(exported(text).page);
    await page.evaluate("for (const button of document.querySelectorAll('button:not(#download, #print), summary')) button.click()");
    await idle(page);
    assert.deepEqual(await page.evaluate("window.live"), [], name);
    // A picture that is none is an error of the picture, not of the page.
    assert.deepEqual(wrong.filter((line) => !line.includes("net::ERR_INVALID_URL")), [], name);
  }
  await context.close();
});

test("in Chromium nothing runs that is searched for, that an address says, or that a file is called", { skip: missing }, async () => {
  const { cases, names } = hostileSessions();
  assert.ok(cases.length > 150 && names.length >= 1288, `${cases.length} sessions, ${names.length} fields`);
  const { file } = exported(fs.readFileSync(SAMPLE));
  const called = path.join(path.dirname(file), `${HOSTILE_WORDS.file}.jsonl`);
  const said = { type: "message", id: "feed0001", parentId: null, timestamp: "2026-01-01T00:00:00.000Z", message: { role: "user", content: `${HOSTILE_WORDS.search} and ${HOSTILE_WORDS.searchAgain}` } };
  fs.writeFileSync(called, `${fs.readFileSync(SAMPLE, "utf8")}${JSON.stringify(said)}\n`);
  const html = `${file}.hostile.html`;
  offshoot("export", called, "-o", html);
  const { page, wrong, context, go } = await inChromium(html);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#download")]);
  assert.match(download.suggestedFilename(), /jsonl$/);
  for (const words of [HOSTILE_WORDS.search, HOSTILE_WORDS.searchAgain]) {
    await page.locator("#search").fill(words);
    await page.locator("#hits", { hasText: /^1 entry with/ }).waitFor();
    await page.locator("#search").press("Enter");
    await idle(page);
    assert.ok((await page.evaluate("CSS.highlights.get('found').size")) > 0, "what was found is lit up");
  }
  for (const sign of ["#", "?"]) {
    await go(html, `${sign}${new URLSearchParams({ leafId: HOSTILE_WORDS.leaf, targetId: HOSTILE_WORDS.target })}`);
    assert.match(await announced(page), /This page has no entry/);
  }
  await go(html, "#javascript:pwn(6)");
  // What a page of this or of another program left in the browser's storage is checked, too.
  await page.evaluate((words) => localStorage.setItem("offshoot-page", JSON.stringify({ theme: words, width: words, isAway: words })), HOSTILE_WORDS.search);
  await page.reload();
  await idle(page);
  assert.equal(await page.textContent("#theme"), "Theme: auto");
  assert.deepEqual(await page.evaluate("window.live"), []);
  assert.deepEqual(wrong, []);
  await context.close();
});

test("what a theme file says of colours becomes a colour or is refused", async () => {
  const { file } = exported(fs.readFileSync(SAMPLE));
  const folder = path.dirname(file);
  const words = [...Object.values(HOSTILE_WORDS), "</style><script>pwn(7)</script>", "url(javascript:pwn(7))", "red;} body{background:url(//evil.invalid/pwn(7))}", "#12345g", "#ffffff;pwn(7)", "var(--pwn(7))", "expression(pwn(7))", -1, 256, 1e99, [], {}, null, true];
  let [made, refused] = [0, 0];
  for (const [at, word] of words.entries()) {
    for (const theme of [{ export: { pageBg: word } }, { export: { cardBg: "#112233", infoBg: word } }, { vars: { ink: word, [String(word)]: "#112233" }, export: { pageBg: "ink", cardBg: word } }]) {
      const [from, to] = [path.join(folder, `theme-${at}.json`), path.join(folder, `themed-${made + refused}.html`)];
      fs.writeFileSync(from, JSON.stringify({ name: String(word), colors: {}, ...theme }));
      try {
        offshoot("export", file, "-o", to, "--theme", from);
        made += 1;
      } catch (error) {
        assert.match(error.stderr, /theme/, JSON.stringify(theme));
        assert.equal(fs.existsSync(to), false);
        refused += 1;
        continue;
      }
      const style = fs.readFileSync(to, "utf8").match(/<style>([^]*?)<\/style>/)[1];
      assert.doesNotMatch(style, /pwn|evil|expression|javascript/, JSON.stringify(theme));
      assert.match(style, /^(?![^]*@media screen\{:root:not)|@media screen\{:root:not\(\[data-theme\]\)\{(--(page|card|lit):#[0-9a-f]{6};)+color-scheme:(light|dark)\}\}/);
    }
  }
  assert.ok(refused >= 3 * 12 && made > 0, `${refused} refused, ${made} made`);
});

/** A page whose script was changed; its policy allows the changed one, or is gone. */
function careless(html, changes, hasPolicy) {
  const at = html.lastIndexOf("<script>") + "<script>".length;
  const end = html.indexOf("</script>", at);
  const script = html.slice(at, end);
  let changed = script;
  for (const [from, to] of changes) {
    assert.ok(script.includes(from), `the page's script has ${from}`);
    changed = changed.replace(from, () => to);
  }
  const hash = createHash("sha256").update(changed).digest("base64");
  const page = `${html.slice(0, at)}${changed}${html.slice(end)}`;
  return hasPolicy ? page.replace(/script-src '[^']*'/, `script-src 'sha256-${hash}'`) : page.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "");
}

const WORDS = [["if (at % 2 === 0) return document.createTextNode(part);", "if (at % 2 === 0) return Object.assign(document.createElement('span'), { innerHTML: part });"]];
/** What the program lets through of an address is text; the page must make a link of it, and of every scheme. */
const LINKS = [['!["http:", "https:", "mailto:"].includes(url.protocol)', "false"], ["text.split(/(https?:\\/\\/[", "text.split(/((?:https?:\\/\\/|javascript:)["]];
const sessionOf = (name) => hostileSessions().cases.find((one) => one.name === name).text;

test("the scan finds what a careless page lets in", async () => {
  for (const name of ["user, text", "user, text, second tongue"]) {
    const html = fs.readFileSync(exported(sessionOf(name)).page, "utf8");
    assert.equal((await look(html)).fields.size, 0, name);
    assert.ok((await look(careless(html, WORDS, false))).fields.size > 0, `${name}: a live field`);
  }
  for (const name of ["links, user", "addresses, assistant"]) {
    const html = fs.readFileSync(exported(sessionOf(name)).page, "utf8");
    assert.equal((await look(html)).links.size, 0, name);
    assert.ok((await look(careless(html, LINKS, false))).links.size > 0, `${name}: a live link`);
  }
});

test("in Chromium a careless page runs what it is given, and the policy alone would forbid it", { skip: missing }, async () => {
  const { page: file } = exported(sessionOf("user, text"));
  const html = fs.readFileSync(file, "utf8");
  const { page, wrong, context, go } = await inChromium(file);
  assert.deepEqual(await page.evaluate("window.live"), []);
  fs.writeFileSync(`${file}.careless.html`, careless(html, WORDS, false));
  await go(`${file}.careless.html`);
  await page.waitForFunction("window.live.length > 0");
  fs.writeFileSync(`${file}.forbidden.html`, careless(html, WORDS, true));
  await go(`${file}.forbidden.html`);
  assert.deepEqual(await page.evaluate("window.live"), []);
  assert.ok(wrong.some((line) => /TrustedHTML|Content Security Policy/.test(line)), wrong.join("\n"));
  await context.close();
});
