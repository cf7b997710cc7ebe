// `pi`: what an extension's factory gets. Registrations go to the instance, everything else to the owner of the session.
import { ask, send } from "./channel.mjs";
import { call } from "./calls.mjs";
import { exec } from "./exec.mjs";
import { describeCommand, describeProvider, describeTool } from "./instance.mjs";
import { named } from "./named.mjs";
import { described } from "./native.mjs";
import { serverMembers } from "./servers.mjs";
import { folderOf } from "./session.mjs";

/** `host` has what all extensions of a load share: flags, the event bus, the working folder. */
export function createApi(instance, host) {
  /** While the factory runs `ready` will say it; later offshoot is told at once. */
  const tell = (members) => {
    if (instance.state === "active") ask("host.registered", { ext: instance.id, ...members });
  };
  const gone = (members) => {
    if (instance.state === "active") ask("host.unregistered", { ext: instance.id, ...members });
  };
  /** The session's members have nobody to answer while an extension is loaded. */
  const session = (method, params) => {
    if (instance.state === "loading") throw new Error(`${method} cannot be called while the extension is loaded: call it in a handler`);
    return ask(method, params);
  };
  return named(
    "ExtensionAPI",
    {
      on(event, handler) {
        if (typeof handler !== "function") throw new TypeError(`the handler of ${event} is not a function`);
        const id = instance.addHandler(event, handler);
        tell({ handlers: [{ id, event }] });
        return () => void (instance.removeHandler(id) && gone({ handlers: [id] }));
      },
      registerTool(tool) {
        if (typeof tool?.parameters !== "object" || tool.parameters === null || Array.isArray(tool.parameters)) {
          throw new Error(`the tool ${tool?.name} of ${instance.path} has no schema of an object as its parameters`);
        }
        instance.tools.set(tool.name, tool);
        tell({ tools: [describeTool(tool)] });
      },
      registerCommand(name, options) {
        instance.commands.set(name, options);
        tell({ commands: [describeCommand(name, options)] });
      },
      registerShortcut(key, options) {
        instance.shortcuts.set(key, options);
        tell({ shortcuts: [{ key, description: options.description }] });
      },
      registerFlag(name, { type, description, default: value }) {
        if (value !== undefined && typeof value !== type) throw new Error(`the default of the flag ${name} is a ${typeof value}, not a ${type}`);
        instance.flags.set(name, { type, description, default: value });
        tell({ flags: [{ name, type, description, default: value }] });
      },
      getFlag: (name) => (instance.flags.has(name) ? (host.flags[name] ?? instance.flags.get(name).default) : undefined),
      registerMessageRenderer(customType, renderer) {
        instance.messageRenderers.set(customType, renderer);
        tell({ messageRenderers: [customType] });
      },
      registerEntryRenderer(customType, renderer) {
        instance.entryRenderers.set(customType, renderer);
        tell({ entryRenderers: [customType] });
      },
      registerMarkdownTransformer(transformer, { messageTypes = ["user", "assistant", "assistant-thinking"] } = {}) {
        instance.markdown = { transformer, messageTypes: [...messageTypes] };
        tell({ markdownTypes: instance.markdown.messageTypes });
      },
      registerToolRenderer(resolver) {
        instance.toolRenderers.push(resolver);
        tell({ hasToolRenderer: true });
      },
      registerProvider(first, config) {
        const [name, provider] = typeof first === "string" ? [first, config] : [first.id, described(first)];
        if (!provider) throw new Error(`the provider ${name} has no configuration`);
        instance.providers.set(name, provider);
        tell({ providers: [describeProvider(name, provider)] });
      },
      unregisterProvider(name) {
        if (instance.providers.delete(name)) gone({ providers: [name] });
      },
      ...serverMembers(instance, host.instances, { tell, gone }),
      sendMessage(message, options) {
        const { customType, content, display, details } = message;
        session("pi.sendMessage", { message: { customType, content, display, details }, options: options ?? {} });
      },
      sendUserMessage: (content, options) => void session("pi.sendUserMessage", { content, options: options ?? {} }),
      appendEntry: (customType, data) => void session("pi.appendEntry", { customType, data }),
      setSessionName: (name) => void session("pi.setSessionName", { name }),
      getSessionName: () => session("pi.getSessionName"),
      setLabel: (entryId, label) => void session("pi.setLabel", { entryId, label }),
      exec: (command, args, options) => exec(command, args, { cwd: instance.state === "loading" ? host.cwd : folderOf(host), ...options }),
      getActiveTools: () => session("pi.getActiveTools"),
      getAllTools: () => session("pi.getAllTools"),
      setActiveTools: (names) => void session("pi.setActiveTools", { names }),
      getCommands: () => session("pi.getCommands"),
      async setModel(model) {
        return (await call("pi.setModel", { provider: model.provider, id: model.id })) === true;
      },
      getSettings: () => session("pi.getSettings"),
      getThinkingLevel: () => session("pi.getThinkingLevel"),
      setThinkingLevel: (level) => void session("pi.setThinkingLevel", { level }),
      events: host.busOf(instance),
    },
    () => instance.assertActive(),
  );
}

/** An error outside of an event: a promise that nobody awaits, a timer. */
export function report(problem, event, ext = null) {
  send({ t: "note", method: "error", params: { ext, event, ...problem } });
}
