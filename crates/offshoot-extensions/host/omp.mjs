// Extensions, hooks and custom tools of oh-my-pi 18 on the events and members of pi: one table of what has another name, order or shape.
import * as pi from "./modules/pi-coding-agent.mjs";
import * as typebox from "./modules/typebox.mjs";
import { logger } from "./modules/pi-utils.mjs";
import { schemaOf, z } from "./modules/zod.mjs";

/** Whether the text of an extension says that it is written for oh-my-pi. */
export const isForOmp = (text) => /["']@oh-my-pi\/(pi-coding-agent|pi-agent-core|pi-tui|pi-ai|pi-utils)["'/]/.test(text);

/** An event of oh-my-pi: pi's event, and when it counts. Events that are not here are the same. */
const EVENTS = {
  session_start: { event: "session_start", when: ({ reason }) => reason === "startup" || reason === "reload" },
  session_switch: { event: "session_start", when: ({ reason }) => reason === "new" || reason === "resume" },
  session_branch: { event: "session_start", when: ({ reason }) => reason === "fork" },
  session_before_branch: { event: "session_before_fork" },
  session_shutdown: { event: "session_shutdown", when: ({ reason }) => reason === "quit" },
};

/** Members of ctx that have another name. */
const RENAMED = { hasQueuedMessages: "hasPendingMessages", branch: "fork" };

const NOT_HERE = ["registerFileWriteFallback", "registerHistoryTransform", "registerToolGate"];

/** `ctx` with oh-my-pi's names beside those of pi. */
function ompContext(context) {
  const made = Object.create(context);
  for (const [name, ofPi] of Object.entries(RENAMED)) if (ofPi in context) Object.defineProperty(made, name, { value: (...args) => context[ofPi](...args) });
  return made;
}

/** A tool with the JSON Schema of its parameters. `run` calls it with pi's arguments. */
const toolOf = ({ execute, parameters, ...tool }, owner, run) => ({
  ...bound(tool, owner),
  parameters: schemaOf(parameters),
  execute: (id, params, signal, onUpdate, ctx) => run(id, parsed(parameters, params), signal, onUpdate, ompContext(ctx)),
});

/** Arguments with the defaults of a schema that can parse. */
const parsed = (schema, params) => (typeof schema?.parse === "function" ? schema.parse(params) : params);

const bound = (members, owner) => Object.fromEntries(Object.entries(members).map(([name, value]) => [name, typeof value === "function" ? value.bind(owner) : value]));

/** What every factory of oh-my-pi gets beside the session's members. */
const modules = () => ({ logger, zod: z, typebox, pi: { ...pi, logger } });

/** `pi` for an extension or a hook of oh-my-pi. */
export function ompApi(api) {
  const missing = Object.fromEntries(NOT_HERE.map((name) => [name, () => {}]));
  const made = Object.assign(Object.create(api), missing, modules(), {
    on(event, handler) {
      const { event: now = event, when = () => true } = EVENTS[event] ?? {};
      return api.on(now, (payload, context) => (when(payload) ? handler({ ...payload, type: event }, ompContext(context)) : undefined));
    },
    registerTool: (tool) => api.registerTool(toolOf(tool, tool, (...args) => tool.execute(...args))),
    /** During the end of a run pi would answer a message that is to start nothing. */
    sendMessage: (message, options) => api.sendMessage(message, options?.triggerTurn === false ? { deliverAs: "nextTurn", ...options } : options),
    registerCommand: (name, { handler, ...options }) => api.registerCommand(name, { ...options, handler: (args, context) => handler(args, ompContext(context)) }),
    registerShortcut: (key, { handler, ...options }) => api.registerShortcut(key, { ...options, handler: (context) => handler(ompContext(context)) }),
    /** With one argument the name of the extension, which offshoot shows nowhere. */
    setLabel: (first, label) => (label === undefined ? undefined : api.setLabel(first, label)),
    /** offshoot draws thinking itself. */
    registerAssistantThinkingRenderer: () => {},
  });
  return Object.defineProperty(made, "arktype", {
    get() {
      throw new Error("ExtensionAPI.arktype of oh-my-pi is not in offshoot: use zod or typebox");
    },
  });
}

/** Runs the factory of a custom tool of oh-my-pi and registers what it makes. */
export async function ompToolFactory(factory, instance, api) {
  const { event: context } = instance.contexts;
  const given = { exec: api.exec, hasUI: context.hasUI, events: api.events, ...modules(), pushPendingAction: () => {} };
  Object.defineProperties(given, { cwd: { get: () => context.cwd }, ui: { get: () => context.ui } });
  const made = await factory(given);
  for (const tool of [made].flat().filter(Boolean)) {
    // The update comes before the context, and the signal last.
    api.registerTool(toolOf(tool, tool, (id, params, signal, onUpdate, ctx) => tool.execute(id, params, onUpdate, ctx, signal)));
    if (!tool.onSession) continue;
    const tell = (reason, payload, ctx) => tool.onSession({ reason, previousSessionFile: payload.previousSessionFile }, ompContext(ctx));
    api.on("session_start", (payload, ctx) => tell(SESSION_REASONS[payload.reason], payload, ctx));
    api.on("session_tree", (payload, ctx) => tell("tree", payload, ctx));
    api.on("session_shutdown", (payload, ctx) => (payload.reason === "quit" ? tell("shutdown", payload, ctx) : undefined));
  }
}

const SESSION_REASONS = { startup: "start", reload: "start", new: "switch", resume: "switch", fork: "branch" };
