// Sessions that try to get into a page: a payload in every field of every entry type, of the types that fields have and of
// wrong ones, in two tongues; in code of every language, colours, diffs, addresses, sources, names of files. Pure. Each payload
// carries the number of its field, so that whoever finds it live knows where it came from.
import { PROJECT } from "../lib/places.mjs";

const stamp = (second) => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();
/** What the last entry of every session says: a page that does not show it shows nothing. */
export const LAST_WORDS = "the last words";
const ENVELOPE = { id: "b", parentId: "a", timestamp: stamp(2) };

/** How a payload is written: with its number. */
const TONGUES = [
  // Ends text, attributes in either quote, and a tag; then an element of its own.
  (n) => `${n}'"onfocus=pwn(${n}) x=><img src=x onerror=pwn(${n})>`,
  // Ends what holds plain text; then frames, drawings, addresses, a terminal's link and colour, templates of programs.
  (n) => `</script></style></title></textarea></noscript>--><svg onload=pwn(${n})><iframe srcdoc="<script>parent.pwn(${n})</script>"></iframe><a href="javascript:pwn(${n})">a</a>\u001b]8;;javascript:pwn(${n})\u0007b\u001b]8;;\u0007\u001b[38;2;1;2;3;url(javascript:pwn(${n}))mc\u001b[0m{{constructor.constructor('pwn(${n})')()}}\${pwn(${n})}`,
];

/** Names of fields by number; a payload's number is its place here. */
class Fields {
  names = [];
  /** Numbers of texts that are nothing but addresses. */
  addressed = [];

  payload(name, tongue = this.tongue) {
    return TONGUES[tongue](this.names.push(name) - 1);
  }

  /** Addresses that run, in every way Markdown writes a link. */
  links(name) {
    const n = this.names.push(name) - 1;
    this.addressed.push(n);
    const addresses = [`javascript:pwn(${n})`, `JaVaScRiPt:pwn(${n})`, `java\tscript:pwn(${n})`, `\u0001javascript:pwn(${n})`, `&#106;avascript:pwn(${n})`, `data:text/html,<b onclick=pwn(${n})>`, `vbscript:pwn(${n})`];
    const quoted = `[q](https://x.y/"onfocus=pwn(${n})x=") ![q](https://x.y/'onfocus=pwn(${n})) [t](https://x.y "\\"onfocus=pwn(${n}) x=")`;
    return [...addresses.map((to) => `[a](${to}) [b](<${to}>) ![c](${to}) <${to}>`), `[r][ref]\n\n[ref]: ${addresses[0]}\n`, quoted, `\`\`\`js" onfocus=pwn(${n}) x="\ncode\n\`\`\``].join("\n\n");
  }

  /** Addresses that are spelt so that readers of addresses disagree, and addresses that stand alone in a text. */
  addresses(name) {
    const n = this.names.push(name) - 1;
    this.addressed.push(n);
    const spelt = [`javascript&colon;pwn(${n})`, `java&#10;script:pwn(${n})`, `java%0ascript:pwn(${n})`, `\u00a0javascript:pwn(${n})`, `feed:javascript:pwn(${n})`, `view-source:javascript:pwn(${n})`, `blob:javascript:pwn(${n})`, `data:image/svg+xml,<svg onload=pwn(${n})>`, `data:text/html;base64,PHNjcmlwdD5wd24oKTwvc2NyaXB0Pg==#pwn(${n})`, `about:blank#pwn(${n})`, `filesystem:pwn(${n})`, `file:///etc/passwd?pwn(${n})`, `//evil.invalid/pwn(${n})`, `\\\\evil.invalid\\pwn(${n})`, `ws://evil.invalid/pwn(${n})`, `intent://x#Intent;S.pwn(${n});end`];
    const alone = [`https://x.y/"onfocus=pwn(${n})`, `https://x.y/'><img/src=x/onerror=pwn(${n})>`, `https://javascript:pwn(${n})@x.y/`, `http://[::1]:99999/pwn(${n})`, `javascript://x.y/%0apwn(${n})`, `https://x.y/\u202eexe.gpj?pwn(${n})`, `www.x.y/pwn(${n})`];
    return [...spelt.map((to) => `[a](${to}) ![b](${to}) [c][d${n}]\n\n[d${n}]: <${to}> "'onfocus=pwn(${n})"`), ...alone, `<${alone[0]}>`, `[${"[".repeat(200)}](javascript:pwn(${n}))`].join("\n\n");
  }

  /** Code of one language, with a payload as words, string, comment and name. */
  code(language) {
    const [a, b] = [this.payload(`code, ${language}`, 0), this.payload(`code, ${language}, second tongue`, 1)];
    const inner = b.replaceAll("\n", " ");
    return `\`\`\`${language}\n${a}\nlet x = "${inner}"; // ${inner}\n# ${inner}\n/* ${inner} */ <!-- ${inner} --> '${inner}' function ${a}() {}\n\`\`\``;
  }
}

/** The same shape with a payload for each `0`. */
function filled(fields, name, shape) {
  if (shape === 0) return fields.payload(name);
  if (Array.isArray(shape)) return shape.map((item, at) => filled(fields, `${name}[${at}]`, item));
  if (typeof shape === "object" && shape !== null) return Object.fromEntries(Object.entries(shape).map(([key, value]) => [key === "0" ? fields.payload(`${name} key`) : key, filled(fields, `${name}.${key}`, value)]));
  return shape;
}

const USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const GOOD = { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, totalTokens: 4, cost: { input: 1, output: 1, cacheRead: 1, cacheWrite: 1, total: 4 } };
const IMAGE = { type: "image", mimeType: 0, data: 0 };
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const answer = (more) => ({ role: "assistant", api: "x", provider: "p", model: "m", usage: GOOD, stopReason: "stop", timestamp: 1, ...more });
const calling = (name, args, id = "c1") => answer({ content: [{ type: "toolCall", id, name, arguments: args }], stopReason: "toolUse" });
const result = (more) => ({ role: "toolResult", toolCallId: "c1", toolName: "read", content: [{ type: "text", text: "x" }], isError: false, timestamp: 1, ...more });

const ARGUMENTS = { command: 0, path: 0, file_path: 0, offset: 0, limit: 0, content: 0, pattern: 0, glob: 0, timeout: 0, oldText: 0, newText: 0, old_string: 0, new_string: 0, edits: [{ oldText: 0, newText: 0 }], query: 0, url: 0, 0: 0 };
const WRONG = Object.fromEntries(Object.keys(ARGUMENTS).map((key, at) => [key, at % 2 ? [0] : { toString: 0, length: 0 }]));
const TOOLS = ["bash", "read", "write", "edit", "grep", "find", "ls", "novel"];

/** Messages by name: shapes in which a `0` stands for a payload. */
const MESSAGES = {
  "user, text": { role: "user", content: 0, timestamp: 0 },
  "user, blocks": { role: "user", content: [{ type: "text", text: 0, textSignature: 0 }, IMAGE, { type: 0, text: 0 }, { type: "text", text: [0] }], attachments: [{ id: 0, type: "image", fileName: 0, mimeType: 0, content: 0, extractedText: 0 }] },
  "user, good picture, wrong type": { role: "user", content: [{ type: "image", mimeType: 0, data: PIXEL }] },
  "user, picture of scripts": { role: "user", content: [{ type: "image", mimeType: "image/svg+xml", data: 0 }, { type: "image", mimeType: "image/png", data: 0 }, { type: "image", mimeType: ["image/png"], data: [0] }] },
  "assistant, all": answer({ api: 0, provider: 0, model: 0, responseModel: 0, responseId: 0, stopReason: 0, errorMessage: 0, content: [{ type: "text", text: 0 }, { type: "thinking", thinking: 0, thinkingSignature: 0 }, { type: 0 }, { type: "redactedThinking", data: 0 }], timestamp: 0 }),
  "assistant, failed": answer({ content: [], stopReason: "error", errorMessage: 0 }),
  "assistant, usage": answer({ content: [{ type: "text", text: "x" }], usage: USAGE }),
  "assistant, cost": answer({ content: [{ type: "text", text: "x" }], usage: { ...GOOD, cost: 0 } }),
  "assistant, string": answer({ content: 0 }),
  "assistant, calls": answer({ content: [{ type: "toolCall", id: 0, name: 0, arguments: 0, thoughtSignature: 0 }, { type: "toolCall", id: 0, name: 0, arguments: [0] }, { type: "toolCall", id: "x", name: "bash", arguments: 0, intent: 0 }], stopReason: "toolUse" }),
  "tool result": result({ toolCallId: 0, toolName: 0, content: [{ type: "text", text: 0 }, IMAGE, { type: 0 }], details: { diff: 0, truncation: { truncated: 0, totalLines: 0 }, fullOutputPath: 0 }, isError: 0 }),
  "tool result, string": result({ content: 0, details: 0 }),
  bashExecution: { role: "bashExecution", command: 0, output: 0, exitCode: 0, cancelled: 0, truncated: 0, fullOutputPath: 0, excludeFromContext: 0, timestamp: 0 },
  "bashExecution, exit code": { role: "bashExecution", command: "x", output: "x", exitCode: 0, cancelled: false, truncated: false, timestamp: 1 },
  pythonExecution: { role: "pythonExecution", code: 0, output: 0, exitCode: 0, cancelled: 0, truncated: 0, meta: 0, timestamp: 0 },
  "custom message": { role: "custom", customType: 0, content: 0, display: 0, details: 0 },
  hookMessage: { role: "hookMessage", customType: 0, content: [{ type: "text", text: 0 }, IMAGE], display: true },
  branchSummary: { role: "branchSummary", summary: 0, fromId: 0 },
  compactionSummary: { role: "compactionSummary", summary: 0, tokensBefore: 0, shortSummary: 0 },
  fileMention: { role: "fileMention", files: [{ path: 0, content: 0, lineCount: 0, byteSize: 0, skippedReason: 0, image: IMAGE }] },
  system: { role: "system", content: 0, sections: { 0: 0 }, toolsAdded: [{ name: 0, description: 0, parameters: { type: 0, properties: { 0: { type: 0, description: 0 } } } }], toolsRemoved: [{ name: 0 }] },
  developer: { role: "developer", content: 0, attribution: 0 },
  "unknown role": { role: 0, content: 0 },
  "role of a wrong type": { role: [0], content: { 0: 0 } },
};

/** Other entries by name, the same way. */
const ENTRIES = {
  model_change: { type: "model_change", provider: 0, modelId: 0 },
  "model_change of omp": { type: "model_change", model: 0, role: 0 },
  "model_change of wrong types": { type: "model_change", provider: [0], modelId: { 0: 0 } },
  thinking_level_change: { type: "thinking_level_change", thinkingLevel: 0, configured: 0 },
  compaction: { type: "compaction", summary: 0, shortSummary: 0, firstKeptEntryId: 0, tokensBefore: 0, tokensAfter: 0, method: 0, warning: 0, details: { readFiles: [0], modifiedFiles: [0] }, fromHook: 0, usage: USAGE },
  "compaction, tokens": { type: "compaction", summary: "x", firstKeptEntryId: "a", tokensBefore: 0 },
  branch_summary: { type: "branch_summary", fromId: 0, summary: 0, details: { readFiles: [0] }, fromHook: 0 },
  custom: { type: "custom", customType: 0, data: { 0: 0 } },
  custom_message: { type: "custom_message", customType: 0, content: 0, display: true, details: 0, attribution: 0 },
  "custom_message, blocks": { type: "custom_message", customType: 0, content: [{ type: "text", text: 0 }, IMAGE], display: 0 },
  label: { type: "label", targetId: "a", label: 0 },
  "label of nothing": { type: "label", targetId: 0, label: [0] },
  session_info: { type: "session_info", name: 0 },
  usage: { type: "usage", kind: 0, provider: 0, model: 0, usage: USAGE, note: 0 },
  context_edit: { type: "context_edit", targetId: 0, replacement: { content: 0 } },
  ttsr_injection: { type: "ttsr_injection", injectedRules: [0] },
  session_init: { type: "session_init", systemPrompt: 0, task: 0, tools: [0], agent: 0, outputSchema: { 0: 0 } },
  mode_change: { type: "mode_change", mode: 0, data: 0 },
  service_tier_change: { type: "service_tier_change", serviceTier: { 0: 0 } },
  title_change: { type: "title_change", title: 0, previousTitle: 0, source: 0, trigger: 0 },
  credential_pin: { type: "credential_pin", provider: 0, hash: 0 },
  model_usage: { type: "model_usage", purpose: 0, role: 0, api: 0, provider: 0, model: 0, usage: USAGE, stopReason: 0, errorMessage: 0 },
  reset_boundary: { type: "reset_boundary", note: 0 },
  "unknown type": { type: 0, payload: 0 },
  "envelope of text": { type: "message", id: 0, parentId: 0, timestamp: 0, message: { role: "user", content: "x" } },
  "envelope of wrong types": { type: "message", id: [0], parentId: { 0: 0 }, timestamp: [0], message: { role: "user", content: "x" } },
};

const LANGUAGES = ["", "c", "cs", "css", "go", "html", "java", "js", "json", "lua", "md", "php", "py", "rb", "rust", "sh", "sql", "swift", "toml", "xml", "constructor", "__proto__", "toString"];
/** Names that programs may give to what a call was asked to change. */
const EDITS = { oldText: 0, newText: 0, old_string: 0, new_string: 0, old_text: 0, new_text: 0 };

/** {cases: [{name, text}], names, addressed}: sessions of a few lines, one for each shape, in both tongues; the names of all
 * fields; the numbers of those that are texts full of addresses. */
export function hostileSessions() {
  const fields = new Fields();
  const header = { type: "session", version: 3, id: "0199f0a0-0000-7000-8000-00000000000a", timestamp: stamp(0), cwd: PROJECT };
  const first = { type: "message", id: "a", parentId: null, timestamp: stamp(1), message: { role: "user", content: "first", timestamp: 1 } };
  const last = (parentId) => ({ type: "message", id: "z", parentId, timestamp: stamp(9), message: answer({ content: [{ type: "text", text: LAST_WORDS }] }) });
  const session = (name, entries, head = header) => ({ name, text: [head, ...entries].map((line) => JSON.stringify(line)).join("\n") + "\n" });
  const message = (id, parentId, second, said) => ({ type: "message", id, parentId, timestamp: stamp(second), message: said });
  const cases = [];
  for (fields.tongue = 0; fields.tongue < TONGUES.length; fields.tongue++) {
    const named = (name) => (fields.tongue === 0 ? name : `${name}, second tongue`);
    for (const [name, shape] of Object.entries(MESSAGES)) {
      cases.push(session(named(name), [first, { type: "message", ...ENVELOPE, message: filled(fields, named(name), shape) }, last("b")]));
    }
    for (const [name, shape] of Object.entries(ENTRIES)) {
      const entry = { ...ENVELOPE, ...filled(fields, named(name), shape) };
      cases.push(session(named(name), [first, entry, last(typeof entry.id === "string" ? entry.id : "a")]));
    }
    for (const tool of TOOLS) {
      for (const [sort, shape] of [["text", ARGUMENTS], ["wrong types", WRONG]]) {
        const name = named(`${tool} call, ${sort}`);
        cases.push(session(name, [first, message("b", "a", 2, calling(tool, filled(fields, name, shape))), message("c", "b", 3, filled(fields, `${name}, result`, result({ toolName: tool, details: { diff: 0 }, content: [{ type: "text", text: 0 }] }))), last("c")]));
      }
    }
    const head = filled(fields, named("header"), { id: 0, timestamp: 0, cwd: 0, parentSession: 0, provider: 0, modelId: 0, thinkingLevel: 0, branchedFrom: 0, title: 0 });
    cases.push(session(named("read call, offset alone"), [first, message("b", "a", 2, calling("read", { path: "x", offset: fields.payload(named("read call, offset alone")) })), last("b")]));
    cases.push(session(named("header"), [first, last("a")], { ...header, ...head }));
    cases.push(session(named("sources"), [first, { ...message("b", "a", 2, { role: "user", content: "copied" }), pickedFrom: filled(fields, named("pickedFrom"), { session: 0, id: 0 }) }, { type: "branch_summary", id: "c", parentId: "b", timestamp: stamp(3), fromId: fields.payload(named("fromId")), summary: "x", details: filled(fields, named("merged"), { merged: { base: 0, tip: 0 }, readFiles: [0], modifiedFiles: [0] }) }, { ...message("d", "c", 4, { role: "user", content: "copied" }), pickedFrom: fields.payload(named("pickedFrom, text")) }, last("d")]));
    cases.push(session(named("diffs"), [first, message("b", "a", 2, calling("edit", { path: "x", edits: [filled(fields, named("edits"), EDITS), filled(fields, named("edits again"), EDITS)], ...filled(fields, named("edit"), EDITS) })), message("c", "b", 3, result({ toolName: "edit", details: { diff: ["-", "+", " ", "- 12 ", "+ 12 ", "@@ "].map((sign) => `${sign}${fields.payload(named(`diff, ${sign}`))}`).join("\n") } })), last("c")]));
    const colours = ["31", "38;5;9", "38;2;9;9;9", "38:2::9:9:9", "38;5", "38;2;999;-1;1e9", "1;2;3;4;7;9", "0".repeat(2000), "38;2;1;2"].map((codes) => `\u001b[${codes}m${fields.payload(named(`colour ${codes.slice(0, 20)}`))}\u001b[0m\r${codes.slice(0, 5)}`);
    cases.push(session(named("colours"), [first, message("b", "a", 2, calling("bash", { command: "x" })), message("c", "b", 3, result({ toolName: "bash", content: [{ type: "text", text: colours.join("\n") }] })), last("c")]));
    // Two branches: each is named by its words, and the tree has a row for each.
    cases.push(session(named("branches"), [first, message("b", "a", 2, { role: "user", content: fields.payload(named("branch")) }), message("c", "b", 3, answer({ content: [{ type: "text", text: fields.payload(named("branch, answer")) }] })), message("d", "a", 4, { role: "user", content: fields.payload(named("other branch")) }), { type: "label", id: "e", parentId: "d", timestamp: stamp(5), targetId: "b", label: fields.payload(named("branch, label")) }, last("e")]));
  }
  for (const language of LANGUAGES) cases.push(session(`code, ${language || "none"}`, [first, message("b", "a", 2, answer({ content: [{ type: "text", text: fields.code(language) }, { type: "toolCall", id: "c1", name: "write", arguments: { path: `x.${language}`, content: fields.code(language) } }] })), last("b")]));
  const said = {
    user: (text) => message("b", "a", 2, { role: "user", content: text }),
    assistant: (text) => message("b", "a", 2, answer({ content: [{ type: "text", text }, { type: "thinking", thinking: text }] })),
    custom: (text) => ({ type: "custom_message", ...ENVELOPE, customType: "x", content: text, display: true }),
    branchSummary: (text) => ({ type: "branch_summary", ...ENVELOPE, fromId: "a", summary: text }),
    compaction: (text) => ({ type: "compaction", ...ENVELOPE, summary: text, firstKeptEntryId: "a", tokensBefore: 1 }),
  };
  for (const [name, entry] of Object.entries(said)) {
    cases.push(session(`links, ${name}`, [first, entry(fields.links(`links, ${name}`)), last("b")]));
    cases.push(session(`addresses, ${name}`, [first, entry(fields.addresses(`addresses, ${name}`)), last("b")]));
  }
  return { cases, names: fields.names, addressed: fields.addressed };
}

/** A name of a file, words for a search and an address that try the same; each with a number of its own. */
export const HOSTILE_WORDS = { file: TONGUES[0](1).replaceAll("/", ""), search: TONGUES[0](2), searchAgain: TONGUES[1](3), leaf: TONGUES[0](4), target: TONGUES[1](5) };

/** What of the payloads is live in a document, by number: as elements or handlers, and as addresses. */
export function liveIn(document) {
  const found = { fields: new Set(), links: new Set() };
  const numbers = (text) => Array.from(text.matchAll(/pwn\((\d+)/g), (match) => Number(match[1]));
  const roots = [document, ...Array.from(document.querySelectorAll("template"), (template) => template.content)];
  for (const element of roots.flatMap((root) => Array.from(root.querySelectorAll("*")))) {
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) for (const n of numbers(value)) found.fields.add(n);
      if (/^(srcdoc|style)$/i.test(name) && /[<(]/.test(value)) for (const n of numbers(value)) found.fields.add(n);
      // A picture's address runs nothing. Control characters and white space do not count, as browsers read addresses.
      const isAddress = /^(href|src|action|formaction|data|xlink:href)$/i.test(name) && !["img", "source", "video", "audio"].includes(element.localName);
      if (isAddress && /^(javascript|vbscript|data):/i.test(value.replace(/[\u0000-\u0020]/g, ""))) for (const n of numbers(decode(value))) found.links.add(n);
    }
    if (element.localName === "script" && element.childNodes.length > 0 && !element.hasAttribute("type")) {
      if (element.textContent.length < 500) for (const n of numbers(element.textContent)) found.fields.add(n);
    }
  }
  return found;
}

function decode(address) {
  try {
    return decodeURIComponent(address);
  } catch {
    return address;
  }
}
