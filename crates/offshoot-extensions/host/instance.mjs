// What one extension has registered, under the ids and names by which offshoot calls it. It knows nothing of `pi` and of channels.
import { describeServer } from "./servers.mjs";

export const STALE =
  "this pi or ctx belongs to a session or a load that is over: after newSession, fork, switchSession and reload use the ctx that withSession and later events get";

export class Instance {
  /** The id of the next handler, over all extensions of a load. */
  static #nextHandler = 1;

  /** @type {"loading" | "active" | "stale" | "failed"} */
  state = "loading";
  handlers = new Map();
  commands = new Map();
  tools = new Map();
  shortcuts = new Map();
  flags = new Map();
  messageRenderers = new Map();
  entryRenderers = new Map();
  /** @type {Function[]} */
  toolRenderers = [];
  /** @type {{ messageTypes: string[], transformer: Function } | null} */
  markdown = null;
  providers = new Map();
  mcpServers = new Map();
  /** What handlers get, from the load on. @type {any} */
  contexts;

  /** Where it comes from: `user`, `project`, `package`, `flag` or `settings`. @type {string | undefined} */
  origin;

  constructor({ id, path, kind }) {
    this.id = id;
    this.path = path;
    this.kind = kind;
  }

  /** Throws where this load is over: nothing may reach the session that came after it. */
  assertActive() {
    if (this.state === "stale") throw new Error(STALE);
    if (this.state === "failed") throw new Error(`${this.path} failed to load`);
  }

  addHandler(event, handler) {
    const id = Instance.#nextHandler++;
    this.handlers.set(id, { event, handler });
    return id;
  }

  /** One handler less; its id, for offshoot. */
  removeHandler(id) {
    return this.handlers.delete(id);
  }

  /** Everything that is registered, as offshoot reads it. */
  description() {
    return {
      handlers: [...this.handlers].map(([id, { event }]) => ({ id, event })),
      commands: [...this.commands].map(([name, command]) => describeCommand(name, command)),
      tools: [...this.tools.values()].map(describeTool),
      shortcuts: [...this.shortcuts].map(([key, { description }]) => ({ key, description })),
      flags: [...this.flags].map(([name, flag]) => ({ name, ...flag })),
      messageRenderers: [...this.messageRenderers.keys()],
      entryRenderers: [...this.entryRenderers.keys()],
      hasToolRenderer: this.toolRenderers.length > 0,
      markdownTypes: this.markdown?.messageTypes ?? [],
      providers: [...this.providers].map(([name, config]) => describeProvider(name, config)),
      mcpServers: [...this.mcpServers.values()].map(describeServer),
    };
  }
}

export function describeCommand(name, { description, getArgumentCompletions }) {
  return { name, description, hasCompletions: typeof getArgumentCompletions === "function" };
}

export function describeTool(tool) {
  const { name, label, description, parameters, promptSnippet, promptGuidelines, executionMode, renderShell } = tool;
  return {
    ...{ name, label: label ?? name, description, parameters, promptSnippet, promptGuidelines, executionMode, renderShell },
    hasRenderCall: typeof tool.renderCall === "function",
    hasRenderResult: typeof tool.renderResult === "function",
  };
}

/** A provider's data; its functions stay here and are called by name. */
export function describeProvider(name, config) {
  const { streamSimple, refreshModels, oauth, ...data } = config;
  return {
    ...{ name, config: data, hasStream: typeof streamSimple === "function", hasRefreshModels: typeof refreshModels === "function" },
    oauth: oauth ? { name: oauth.name, isSubscription: oauth.isSubscription, usesCallbackServer: oauth.usesCallbackServer, hasModifyModels: Boolean(oauth.modifyModels) } : null,
  };
}
