// Hooks and custom tools of pi 0.31 on the events and members of today: one table of what had another name or shape.

/** An event of 0.31: today's event, when it counts, and its shape then. Events that are not here are the same. */
const EVENTS = {
  session_start: { event: "session_start", when: ({ reason }) => reason === "startup" || reason === "reload" },
  session_switch: { event: "session_start", when: ({ reason }) => reason === "new" || reason === "resume" },
  session_branch: { event: "session_start", when: ({ reason }) => reason === "fork" },
  session_before_branch: { event: "session_before_fork" },
  session_shutdown: { event: "session_shutdown", when: ({ reason }) => reason === "quit" || reason === "reload" },
  session_compact: { event: "session_compact", shape: ({ fromExtension, ...event }) => ({ ...event, fromHook: fromExtension }) },
  session_tree: { event: "session_tree", shape: ({ fromExtension, ...event }) => ({ ...event, fromHook: fromExtension }) },
};

/** Members of ctx that had another name. */
const RENAMED = { hasQueuedMessages: "hasPendingMessages", branch: "fork" };

/** `ctx` with its names of then beside those of today. */
function oldContext(context) {
  const made = Object.create(context);
  for (const [old, now] of Object.entries(RENAMED)) if (now in context) Object.defineProperty(made, old, { value: (...args) => context[now](...args) });
  Object.defineProperty(made, "ui", { value: oldUi(context) });
  return made;
}

/** `custom` made its component without keybindings. */
function oldUi(context) {
  const ui = Object.create(context.ui);
  ui.custom = (factory) => context.ui.custom((tui, theme, keybindings, done) => factory(tui, theme, done));
  return ui;
}

function on(api, event, handler) {
  const { event: now = event, when = () => true, shape = (each) => each } = EVENTS[event] ?? {};
  return api.on(now, (payload, context) => (when(payload) ? handler({ ...shape(payload), type: event }, oldContext(context)) : undefined));
}

/** `pi` for a hook. */
export function hookApi(api, instance) {
  /** Until a session is there, these did nothing. */
  const later = (act) => (...args) => (instance.state === "loading" ? undefined : act(...args));
  return Object.assign(Object.create(api), {
    on: (event, handler) => on(api, event, handler),
    sendMessage: later((message, options) => api.sendMessage(message, typeof options === "boolean" ? { triggerTurn: options } : options)),
    appendEntry: later(api.appendEntry),
    registerCommand: (name, { handler, ...options }) => api.registerCommand(name, { ...options, handler: (args, context) => handler(args, oldContext(context)) }),
    /** An earlier name of the same. */
    registerCustomMessageRenderer: api.registerMessageRenderer,
  });
}

/** The reasons that a tool heard, by the event of today. */
const SESSION_REASONS = { startup: "start", reload: "start", new: "switch", resume: "switch", fork: "branch" };

/** Runs the factory of a custom tool and registers what it makes. */
export async function toolFactory(factory, instance, api) {
  const { event: context } = instance.contexts;
  const given = { exec: api.exec, hasUI: context.hasUI, events: api.events };
  Object.defineProperties(given, { cwd: { get: () => context.cwd }, ui: { value: oldUi(context) } });
  const made = await factory(given);
  for (const tool of [made].flat()) {
    const { onSession, execute, ...rest } = tool;
    api.registerTool({ ...bound(rest, tool), execute: (id, params, signal, onUpdate, ctx) => execute.call(tool, id, params, onUpdate, oldContext(ctx), signal) });
    if (!onSession) continue;
    const tell = (reason, payload, ctx) => onSession.call(tool, { reason, previousSessionFile: payload.previousSessionFile }, oldContext(ctx));
    api.on("session_start", (payload, ctx) => tell(SESSION_REASONS[payload.reason], payload, ctx));
    api.on("session_tree", (payload, ctx) => tell("tree", payload, ctx));
    api.on("session_shutdown", (payload, ctx) => (payload.reason === "quit" ? tell("shutdown", payload, ctx) : undefined));
  }
}

const bound = (members, owner) => Object.fromEntries(Object.entries(members).map(([name, value]) => [name, typeof value === "function" ? value.bind(owner) : value]));
