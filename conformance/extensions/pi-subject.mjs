// pi's own loader and components, driven by lines on standard input: the other side of subject.mjs. Runs under the Node that pi asks for.
// The session, the questions' answers and the model are the scenario's; nothing of pi's agent runs.
import * as path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

/** "hook" and "tool" are loaded by pi 0.31.1, with its own modules. */
const KIND = process.env.SUBJECT_KIND ?? "extension";
const isOld = KIND !== "extension";
const pi = (file) => import(pathToFileURL(path.join(process.env.PI_PACKAGE, "dist", file)).href);
const tui = await import(process.env.PI_TUI);
const { loadExtensions } = isOld ? {} : await pi("core/extensions/loader.js");
const themes = await pi("modes/interactive/theme/theme.js");
themes.initTheme("dark", false);
let keybindings;
if (!isOld) {
  const { KeybindingsManager } = await pi("core/keybindings.js");
  keybindings = new KeybindingsManager();
  tui.setKeybindings(keybindings);
}

/** A hook or a custom tool of 0.31 in the shape that the verbs below expect. */
async function loadOld(file) {
  const none = { handlers: new Map(), commands: new Map(), tools: new Map(), shortcuts: new Map(), flags: new Map(), messageRenderers: new Map() };
  if (KIND === "hook") {
    const { loadHooks } = await pi("core/hooks/loader.js");
    const { hooks: [hook], errors } = await loadHooks([file], process.cwd());
    hook?.setSendMessageHandler((message, triggerTurn) => (log("sendMessage", message.customType, message.content, triggerTurn ?? false), append({ type: "custom_message", ...message })));
    hook?.setAppendEntryHandler((customType, data) => (log("appendEntry", customType, data ?? null), append({ type: "custom", customType, data })));
    return { errors, extensions: [{ ...none, ...hook }], runtime: {} };
  }
  const { loadCustomTools } = await pi("core/custom-tools/loader.js");
  const { tools, errors, setUIContext } = await loadCustomTools([file], process.cwd(), []);
  setUIContext(ui, true);
  const adapted = tools.map(({ tool }) => [tool.name, { definition: { ...tool, execute: (id, params, signal, onUpdate, ctx) => tool.execute(id, params, onUpdate, ctx, signal) } }]);
  return { errors, extensions: [{ ...none, tools: new Map(adapted), onSession: tools[0]?.tool.onSession }], runtime: { flagValues: new Map() } };
}

const state = { log: [], entries: [], answers: {}, shown: [], active: ["read", "bash", "edit", "write"], name: undefined, editor: "", model: undefined, idle: true };
const log = (what, ...values) => void state.log.push([what, ...values]);
const append = (entry) => {
  const id = String(state.entries.length + 1).padStart(8, "0");
  state.entries.push({ ...entry, id, parentId: state.entries.at(-1)?.id ?? null, timestamp: new Date(0).toISOString() });
  return id;
};
const answer = (method) => (state.answers[method] ?? []).shift();
const ask = (method, fallback) => async (...params) => {
  log(method, ...params.filter((value) => typeof value !== "object" || Array.isArray(value)));
  const value = answer(method);
  return value === undefined || value === null ? fallback : value;
};

const terminal = { rows: 24, columns: 80, write() {}, kittyProtocolActive: false };
const screen = {
  mode: "regular", children: [], terminal, requestRender() {}, invalidate() {}, setFocus(component) { const top = state.shown.at(-1); if (top) top.focus = component; },
  addChild() {}, removeChild() {}, start() { log("start"); }, stop() { log("stop"); }, hideOverlay() {}, hasOverlay: () => false, addInputListener: () => () => {}, removeInputListener() {},
  showOverlay(component, options) {
    const entry = { component, options };
    state.shown.push(entry);
    return { hide: () => remove(entry), setHidden(hidden) { entry.hidden = hidden; }, isHidden: () => Boolean(entry.hidden), focus() {}, unfocus() {}, isFocused: () => state.shown.at(-1) === entry, getBounds: () => undefined };
  },
};
const remove = (entry) => {
  const at = state.shown.indexOf(entry);
  if (at >= 0) state.shown.splice(at, 1);
  entry.component?.dispose?.();
};
const lasting = (name) => (factory, ...args) => {
  if (typeof factory !== "function") return log(name, factory ? "set" : "default");
  log(name, "component");
  state.lasting = { ...state.lasting, [name]: factory(screen, ...args) };
};
const footerData = { getGitBranch: () => "main", getExtensionStatuses: () => new Map(), getAvailableProviderCount: () => 1, onBranchChange: () => () => {} };

const ui = {
  select: ask("select"), confirm: ask("confirm", false), input: ask("input"), editor: ask("editor"),
  notify: (message, type = "info") => log("notify", message, type),
  setStatus: (key, text) => log("setStatus", key, plain(text) ?? null),
  setWidget: (key, content, options) => (typeof content === "function" ? lasting("setWidget")(content, themes.theme) : log("setWidget", key, content?.map(plain) ?? null, options?.placement ?? "aboveEditor")),
  setFooter: (factory) => lasting("setFooter")(factory, themes.theme, footerData),
  setHeader: (factory) => lasting("setHeader")(factory, themes.theme),
  setEditorComponent: (factory) => lasting("setEditorComponent")(factory, themes.getEditorTheme(), keybindings),
  getEditorComponent: () => undefined,
  setTitle: (title) => log("setTitle", title),
  setWorkingMessage: (message) => log("setWorkingMessage", message ?? null),
  setWorkingVisible: (visible) => log("setWorkingVisible", visible),
  setWorkingIndicator: (options) => log("setWorkingIndicator", options ? { ...options, frames: options.frames?.map(plain) } : null),
  setHiddenThinkingLabel: (label) => log("setHiddenThinkingLabel", label ?? null),
  onTerminalInput: () => () => {},
  addAutocompleteProvider: (factory) => void (state.completer = factory({ getSuggestions: async () => null, applyCompletion: (lines, cursorLine, cursorCol) => ({ lines, cursorLine, cursorCol }), shouldTriggerFileCompletion: () => true })),
  pasteToEditor: (text) => void ((state.editor += text), log("pasteToEditor", text)),
  setEditorText: (text) => void ((state.editor = text), log("setEditorText", text)),
  getEditorText: () => state.editor,
  theme: themes.theme, getAllThemes: () => [], getTheme: () => undefined,
  setTheme: (theme) => (log("setTheme", theme.name ?? theme), { success: true }),
  getToolsExpanded: () => false, setToolsExpanded: (expanded) => log("setToolsExpanded", expanded),
  custom: (made, { overlay, overlayOptions, onHandle } = {}) => new Promise((resolve, reject) => {
    const entry = { options: overlay ? (typeof overlayOptions === "function" ? overlayOptions() : overlayOptions) : undefined };
    let over = false;
    const done = (value) => { if (!over) { over = true; remove(entry); resolve(value); } };
    const factory = isOld ? (a, b, c, d) => made(a, b, d) : made;
    Promise.resolve().then(() => factory(screen, themes.theme, keybindings, done)).then((component) => {
      if (over) return component?.dispose?.();
      entry.component = component;
      if (component && "focused" in component) component.focused = true;
      state.shown.push(entry);
      onHandle?.({ hide: () => done(undefined), setHidden(hidden) { entry.hidden = hidden; }, isHidden: () => Boolean(entry.hidden), focus() {}, unfocus() {}, isFocused: () => true, getBounds: () => undefined });
    }).catch(reject);
  }),
};
function plain(text) {
  return typeof text === "string" ? text.replace(/\x1b\[[\d;:]*m|\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)/g, "") : text;
}

const model = { provider: "test", id: "m1", name: "m1", api: "anthropic-messages", baseUrl: process.env.MODEL_URL, contextWindow: 200000, maxTokens: 8000, input: ["text"], reasoning: false, cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 } };
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
const said = (text) => ({ role: "assistant", content: [{ type: "text", text }], api: model.api, provider: "test", model: "m1", usage, stopReason: "stop", timestamp: 0 });
const complete = async (_model, context) => (log("model", context.messages.map(({ role }) => role)), said(answer("model") ?? "An answer."));
const sessionManager = {
  getCwd: () => process.cwd(), getLeafId: () => state.entries.at(-1)?.id ?? null, getLeafEntry: () => state.entries.at(-1), getEntries: () => state.entries, getBranch: () => state.entries,
  getEntry: (id) => state.entries.find((entry) => entry.id === id), getSessionFile: () => "/tmp/session.jsonl", getSessionId: () => "s", getSessionName: () => state.name, getHeader: () => null, getLabel: () => undefined,
  buildSessionProjection: () => ({ entries: state.entries, messages: state.entries.filter(({ type }) => type === "message").map(({ message }) => message) }),
};
const context = {
  ui, mode: "tui", hasUI: true, cwd: process.cwd(), sessionManager, model, scopedModels: [], thinkingLevel: "off", signal: undefined,
  modelRegistry: { find: () => model, getAll: () => [model], getAvailable: () => [model], hasConfiguredAuth: () => true, complete, getApiKeyAndHeaders: async () => ({ ok: true, apiKey: "k", headers: {} }), getApiKey: async ({ provider }) => (provider === "test" ? "k" : undefined) },
  isIdle: () => state.idle, isProjectTrusted: () => true, abort: () => log("abort"), hasPendingMessages: () => false, shutdown: () => log("shutdown"),
  getContextUsage: () => ({ tokens: 1000, contextWindow: 200000, percent: 0.5 }), compact: (options) => (log("compact", options?.customInstructions ?? null), void Promise.resolve({}).then(options?.onComplete)), getSystemPrompt: () => "Be helpful.",
  getSystemPromptOptions: () => ({}), waitForIdle: async () => {}, reload: async () => log("reload"),
  newSession: async ({ parentSession, setup, withSession } = {}) => (log("newSession", Boolean(parentSession)), await setup?.(sessionManager), await withSession?.({ ...context, sendMessage: async (message) => void log("sendMessage", message.customType), sendUserMessage: async (content) => void log("sendUserMessage", content) }), { cancelled: false }),
  fork: async () => ({ cancelled: false }), switchSession: async () => ({ cancelled: false }), navigateTree: async () => ({ cancelled: false }),
};

let extension;
const pending = new Map();
/** Waits until the work is over, or a component is shown that waits for keys. */
async function untilShown(work) {
  const before = state.shown.length;
  let over = false;
  const settled = work.then((value) => ((over = true), { ok: value ?? null }), (error) => ((over = true), { error: error.message }));
  for (let turn = 0; turn < 400 && !over && state.shown.length <= before; turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  if (over) return settled;
  pending.set("work", settled);
  return { ok: null, shown: true };
}

const rows = (width) => {
  const { component } = state.shown.at(-1) ?? {};
  return component ? component.render(width) : null;
};
const tool = (name) => extension.tools.get(name).definition;
const renderContext = (args, more) => ({ args, toolCallId: "c1", invalidate() {}, lastComponent: undefined, state: {}, cwd: process.cwd(), executionStarted: true, argsComplete: true, isPartial: false, expanded: false, showImages: false, isError: false, ...more });

const does = {
  async load({ file, scenario }) {
    Object.assign(state, { answers: scenario.answers ?? {}, editor: scenario.editor ?? "" });
    for (const entry of scenario.entries ?? []) append(entry);
    const result = isOld ? await loadOld(file) : await loadExtensions([file], process.cwd());
    if (result.errors.length) return { error: result.errors[0].error };
    [extension] = result.extensions;
    for (const [name, value] of Object.entries(scenario.flags ?? {})) result.runtime.flagValues.set(name, value);
    Object.assign(result.runtime, {
      sendMessage: (message, options) => (log("sendMessage", message.customType, message.content, options?.triggerTurn ?? false), append({ type: "custom_message", ...message })),
      sendUserMessage: (content, options) => log("sendUserMessage", content, options?.deliverAs ?? null),
      appendEntry: (customType, data) => (log("appendEntry", customType, data ?? null), append({ type: "custom", customType, data })),
      setSessionName: (name) => (log("setSessionName", name), (state.name = name)), getSessionName: () => state.name, setLabel: (id, label) => log("setLabel", id, label ?? null),
      getActiveTools: () => state.active, getAllTools: () => [...["read", "bash", "edit", "write", "grep", "find", "ls"], ...extension.tools.keys()].map((name) => ({ name, description: name, parameters: {} })),
      setActiveTools: (names) => (log("setActiveTools", names), (state.active = names)), refreshTools: () => {},
      getCommands: () => [...extension.commands.keys()].map((name) => ({ name, source: "extension", description: "", sourceInfo: { path: file, source: "local", scope: "temporary", origin: "top-level" } })),
      setModel: async () => (log("setModel"), true), getThinkingLevel: () => "off", setThinkingLevel: (level) => log("setThinkingLevel", level),
    });
    return { ok: does.described() };
  },
  described: () => ({
    events: [...extension.handlers].flatMap(([name, list]) => list.map(() => name)).sort(),
    commands: [...extension.commands.values()].map(({ name, description }) => ({ name, description })),
    tools: [...extension.tools.values()].map(({ definition: { name, label, description, parameters } }) => ({ name, label, description, parameters })),
    shortcuts: [...extension.shortcuts.keys()], flags: [...extension.flags.values()].map(({ name, type }) => ({ name, type })),
  }),
  async event({ payload }) {
    const results = [];
    for (const handler of extension.handlers.get(payload.type) ?? []) {
      const given = structuredClone(payload);
      if (/before_(compact|tree)$/.test(payload.type)) given.signal = new AbortController().signal;
      try {
        const value = await handler(given, context);
        results.push({ ok: value ?? null, ...(payload.type === "tool_call" && JSON.stringify(given.input) !== JSON.stringify(payload.input) ? { input: given.input } : {}), ...(payload.systemPromptOptions && JSON.stringify(given.systemPromptOptions) !== JSON.stringify(payload.systemPromptOptions) ? { options: given.systemPromptOptions } : {}) });
      } catch (error) {
        results.push({ error: error.message });
      }
    }
    return results;
  },
  command: ({ name, args }) => untilShown(Promise.resolve().then(() => extension.commands.get(name).handler(args, context)).then(() => null)),
  shortcut: ({ key }) => untilShown(Promise.resolve().then(() => extension.shortcuts.get(key).handler(context)).then(() => null)),
  completions: async ({ name, prefix }) => (await extension.commands.get(name).getArgumentCompletions?.(prefix)) ?? null,
  async tool({ name, params }) {
    const updates = [];
    const definition = tool(name);
    const given = definition.prepareArguments ? definition.prepareArguments(params) : params;
    const outcome = await untilShown(Promise.resolve().then(() => definition.execute("c1", given, new AbortController().signal, (update) => updates.push(update), context)));
    return outcome.shown ? outcome : { ...outcome, updates: updates.length > 0 };
  },
  rows: ({ width }) => rows(width),
  lasting: ({ name, width }) => state.lasting?.[name]?.render(width) ?? null,
  lastingInput: ({ name, data }) => void state.lasting[name].handleInput(data),
  keys: ({ data }) => {
    const top = state.shown.at(-1);
    if (top) (top.focus ?? top.component).handleInput?.(data);
    return null;
  },
  finish: async () => {
    const outcome = await Promise.race([pending.get("work") ?? { ok: null }, new Promise((resolve) => setTimeout(resolve, 3000, { hangs: true }))]);
    pending.delete("work");
    return outcome;
  },
  message: ({ message, expanded, width }) => extension.messageRenderers.get(message.customType)?.(message, { expanded, outputPad: 1 }, themes.theme)?.render(width) ?? null,
  entry: ({ entry, expanded, width }) => extension.entryRenderers?.get(entry.customType)?.(entry, { expanded }, themes.theme)?.render(width) ?? null,
  toolRows: ({ name, args, result, expanded, isPartial, isError, width }) => ({
    call: tool(name).renderCall?.(args, themes.theme, renderContext(args, { expanded, isPartial, isError })).render(width) ?? null,
    result: (result && tool(name).renderResult?.(result, { expanded, isPartial }, themes.theme, renderContext(args, { expanded, isPartial, isError })).render(width)) ?? null,
  }),
  complete: async ({ lines, line, column }) => (await state.completer?.getSuggestions(lines, line, column, { signal: new AbortController().signal })) ?? null,
  session: async ({ reason }) => void (await extension.onSession?.({ reason, previousSessionFile: undefined }, context)),
  set: ({ values }) => (Object.assign(state, values), null),
  log: () => state.log.splice(0),
};

createInterface({ input: process.stdin }).on("line", async (line) => {
  const { id, does: what, ...given } = JSON.parse(line);
  let outcome;
  try {
    outcome = { ok: (await does[what](given)) ?? null };
  } catch (error) {
    outcome = { error: error.message };
  }
  process.stdout.write(`${JSON.stringify({ id, ...outcome })}\n`);
}).on("close", () => process.exit(0));
