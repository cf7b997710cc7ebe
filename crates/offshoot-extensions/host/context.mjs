// `ctx`: what handlers, commands and tools get. Every member asks the owner of the session; after a reload or another session they throw.
import { ask } from "./channel.mjs";
import { call, currentDispatch, note } from "./calls.mjs";
import { modelRegistry } from "./models.mjs";
import { named } from "./named.mjs";
import { folderOf, readableSession } from "./session.mjs";
import { createUi } from "./ui.mjs";

/** The contexts of one extension in one load. `host` has the mode, the theme and the working folder. */
export function createContexts(instance, api, host) {
  const check = () => instance.assertActive();
  const ui = createUi(host, check);
  const sessionManager = readableSession(check);
  const registry = modelRegistry(api, instance.providers, check);
  const context = {
    ui,
    ...{ mode: host.mode, hasUI: host.hasUI, sessionManager, modelRegistry: registry },
    get cwd() {
      return folderOf(host);
    },
    get model() {
      return ask("ctx.getModel");
    },
    get thinkingLevel() {
      return ask("pi.getThinkingLevel");
    },
    get scopedModels() {
      return ask("ctx.getScopedModels") ?? [];
    },
    get signal() {
      return ask("ctx.isIdle") ? undefined : currentDispatch()?.abort.signal;
    },
    isIdle: () => ask("ctx.isIdle"),
    isProjectTrusted: () => ask("ctx.isProjectTrusted"),
    hasPendingMessages: () => ask("ctx.hasPendingMessages"),
    abort: () => note("ctx.abort", {}),
    shutdown: () => note("ctx.shutdown", {}),
    getContextUsage: () => ask("ctx.getContextUsage"),
    getSystemPrompt: () => ask("ctx.getSystemPrompt"),
    compact(/** @type {any} */ { customInstructions, onComplete, onError } = {}) {
      call("ctx.compact", { customInstructions }).then(onComplete, (error) => onError?.(error));
    },
    // Beyond pi.
    pick: (selections) => call("ctx.pick", { entries: [selections].flat() }),
    merge: (entryId, /** @type {any} */ { customInstructions } = {}) => call("ctx.merge", { entryId, instructions: customInstructions }),
    forecast: (entryId) => call("ctx.forecast", { entryId }),
  };
  const { path } = instance;
  const control = {
    getSystemPromptOptions: () => ask("ctx.getSystemPromptOptions"),
    waitForIdle: () => call("ctx.waitForIdle", {}),
    newSession: (/** @type {any} */ { parentSession, setup, withSession } = {}) =>
      replace("ctx.newSession", { parentSession, hasSetup: Boolean(setup) }, { setup, withSession, path }),
    fork: (entryId, /** @type {any} */ { position = "before", withSession } = {}) => replace("ctx.fork", { entryId, position }, { withSession, path }),
    switchSession: (file, /** @type {any} */ { withSession } = {}) => replace("ctx.switchSession", { path: file }, { withSession, path }),
    navigateTree: (targetId, options = {}) => call("ctx.navigateTree", { targetId, ...options }),
    reload: () => call("ctx.reload", {}).then(() => undefined),
  };
  const replacement = {
    async sendMessage(message, options) {
      api.sendMessage(message, options);
    },
    async sendUserMessage(content, options) {
      api.sendUserMessage(content, options);
    },
  };
  const descriptors = (...parts) => Object.defineProperties({}, Object.assign({}, ...parts.map(Object.getOwnPropertyDescriptors)));
  const tool = {
    // Each call gets its own: see `nested.mjs`.
    async executeTool() {
      throw new Error("executeTool belongs to a call: use the ctx that `execute` got");
    },
    get tools() {
      const active = ask("pi.getActiveTools");
      return ask("pi.getAllTools").filter(({ name }) => active.includes(name));
    },
  };
  return {
    event: named("ExtensionContext", context, check),
    tool: named("ExtensionToolContext", descriptors(context, tool), check),
    command: named("ExtensionCommandContext", descriptors(context, control), check),
    replaced: named("ReplacedSessionContext", descriptors(context, control, replacement), check),
    trust: { cwd: host.cwd, mode: host.mode, hasUI: host.hasUI, ui: { select: ui.select, confirm: ui.confirm, input: ui.input, notify: (message, type) => note("ui.notify", { message, type }) } },
  };
}

/** A call that puts another session in place of this one: its closures run in between, when offshoot invokes them. */
function replace(method, params, closures) {
  return call(method, { ...params, hasWithSession: Boolean(closures.withSession) }, { closures });
}
