// Pages in a document of jsdom, after their own scripts ran; and the row that tries to get into them.
//
// Nothing of a payload is executed, only found: an element or a handler made of it, or an address that would run it.
import * as fs from "node:fs";
import * as path from "node:path";
import { library, piPackage } from "../lib/places.mjs";
import { LAST_WORDS, hostileSessions, liveIn } from "./hostile.mjs";

/** The document of a page, with the errors of its scripts. Scripts of other servers are pi's own copies of the same. */
export async function documentOf(html) {
  const jsdom = await library("jsdom");
  if (!jsdom) return null;
  const errors = [];
  const virtualConsole = new jsdom.VirtualConsole();
  virtualConsole.on("jsdomError", (error) => errors.push(`${error.detail?.message ?? error.message}`.split("\n")[0]));
  const dom = new jsdom.JSDOM(html.replaceAll(/<script src="https:[^"]*\/(marked|highlight)\.min\.js"[^>]*><\/script>/g, (_, name) => `<script>${vendored(name)}</script>`), {
    url: "https://page.invalid/",
    runScripts: "dangerously",
    pretendToBeVisual: true,
    virtualConsole,
    // What browsers have and jsdom lacks.
    beforeParse: (window) => Object.assign(window, { TextDecoder, TextEncoder, DecompressionStream, print() {}, matchMedia: () => ({ matches: false, addEventListener() {} }), scrollTo() {}, scrollBy() {} }),
  });
  if (dom.window.document.readyState !== "complete") await new Promise((resolve) => dom.window.addEventListener("load", resolve));
  await settled(dom.window.document);
  return { dom, document: dom.window.document, errors, close: () => dom.window.close() };
}

/** When a page has shown what it opens: offshoot's says so in `aria-busy`, other pages show all at once. */
export async function settled(document) {
  for (let look = 0; look < 2000; look++) {
    if (document.querySelector("main")?.getAttribute("aria-busy") !== "true") return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("the page stays busy");
}

const vendored = (name) => fs.readFileSync(path.join(piPackage(), `dist/core/export-html/vendor/${name}.min.js`), "utf8");

/** Presses everything that can be pressed, once: filters, foldings, links of messages. */
function press(document) {
  for (const button of document.querySelectorAll("button, .filter-btn, [data-filter], summary")) {
    if (button.id !== "download" && button.id !== "print") button.click();
  }
  for (const all of document.querySelectorAll('[data-filter="all"]')) all.click();
}

/** The text of a page without its scripts. */
function wordsOf(document) {
  const body = document.body.cloneNode(true);
  for (const script of body.querySelectorAll("script, style")) script.remove();
  return body.textContent;
}

/** What is live on a page, before and after everything was pressed, and what it says. */
export async function look(html) {
  const page = await documentOf(html);
  const before = liveIn(page.document);
  const said = wordsOf(page.document);
  press(page.document);
  await settled(page.document);
  const after = liveIn(page.document);
  const text = said + wordsOf(page.document);
  page.close();
  const both = (what) => new Set([...before[what], ...after[what]]);
  return { fields: both("fields"), links: both("links"), text, errors: page.errors };
}

/** (h) Every field of every entry type. */
export const hostilePages = {
  group: "h",
  name: "hostile session exported to HTML",
  async run(subject, folder) {
    if ((await library("jsdom")) === null) return { good: null, text: "NOT RUN: jsdom is not installed (`npm ci --ignore-scripts` in conformance/)" };
    const { cases, names, addressed } = hostileSessions();
    const [fields, links, shown, policies] = [new Set(), new Set(), new Set(), new Set()];
    const [refused, silent] = [[], []];
    for (const [at, { name, text }] of cases.entries()) {
      const [file, out] = ["jsonl", "html"].map((ending) => path.join(folder, `${at}.${ending}`));
      fs.writeFileSync(file, text);
      try {
        await subject.page(file, out);
      } catch (error) {
        refused.push(`${name}: ${error.message}`);
        continue;
      }
      const html = fs.readFileSync(out, "utf8");
      policies.add(/<meta http-equiv="Content-Security-Policy"/i.test(html));
      const seen = await look(html);
      for (const n of seen.fields) fields.add(n);
      // Where a text is not made of addresses, a link is a field that became an element.
      for (const n of seen.links) (addressed.includes(n) ? links : fields).add(n);
      for (const [n] of seen.text.matchAll(/(?<=pwn\()\d+(?=\))/g)) shown.add(Number(n));
      if (!seen.text.includes(LAST_WORDS)) silent.push(`${name} (${seen.errors[0] ?? "no error"})`);
    }
    const some = (list) => (list.length > 3 ? `${list.slice(0, 3).join("; ")}; …` : list.join("; "));
    const named = (set) => (set.size > 0 ? `: ${some([...set].map((n) => names[n]))}` : "");
    const parts = [`${fields.size} of ${names.length} fields LIVE${named(fields)}`, `${links.size} of ${addressed.length} texts with LIVE links`, `${shown.size} fields shown as text`];
    if (refused.length > 0) parts.push(`${refused.length} of ${cases.length} sessions REFUSED: ${some(refused)}`);
    if (silent.length > 0) parts.push(`${silent.length} of ${cases.length} pages do not show the conversation: ${some(silent)}`);
    parts.push(policies.has(false) ? "no content security policy" : "a content security policy");
    const isGood = fields.size === 0 && links.size === 0 && refused.length === 0 && silent.length === 0 && !policies.has(false);
    return { good: isGood, text: parts.join("; ").replace(/\b0 of \d+ texts with LIVE links/, "no live links").replace(/^0 of (\d+) fields LIVE/, "0 of $1 fields live") };
  },
};
