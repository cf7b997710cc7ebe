// One event or one invocation: finds the function of the extension, runs it with its context, and says what came of it.
import { preparedArguments } from "./arguments.mjs";
import { closureOf, currentDispatch, within } from "./calls.mjs";
import { invocations as completers } from "./completers.mjs";
import { invalidateAll, invocations as components } from "./components.mjs";
import { invocations as editors } from "./editor.mjs";
import { isUnread, payloadOf, sentText } from "./large.mjs";
import { problem } from "./loader.mjs";
import { withNested } from "./nested.mjs";
import { invocations as providers } from "./providers.mjs";
import { invocations as renderings } from "./renderings.mjs";
import { writableSession } from "./session.mjs";
import { ask, send } from "./channel.mjs";
import { setTheme, themeFrom } from "./theme.mjs";
import { invocations as operations, keepOperations } from "./operations.mjs";

const { stringify } = JSON;

/** Members of events that a handler changes in place, by the event's type. */
const CHANGEABLE = {
  tool_call: "input",
  before_provider_headers: "headers",
  before_provider_request: "payload",
  before_agent_start: "systemPromptOptions",
  message_end: "message",
  context: "messages",
  context_with_system: "messages",
};
const WITH_SIGNAL = new Set(["session_before_compact", "session_before_tree"]);
const BOUNDARIES = new Set(["turn_end", "agent_before_settle"]);

async function event(load, record, line, { abort }) {
  const payload = payloadOf(record);
  const found = load.handler(record.handler);
  if (!found) return { ok: null };
  const { instance } = found;
  instance.assertActive();
  restore(payload, abort.signal);
  const context = payload.type === "project_trust" ? instance.contexts.trust : instance.contexts.event;
  const changeable = CHANGEABLE[payload.type];
  const value = await found.handler(payload, context);
  const ok = payload.type === "user_bash" ? keepOperations(value) : (value ?? null);
  if (!changeable || (isUnread(payload) && !ok?.messages)) return { ok: changeable ? null : ok };
  const changed = payload[changeable];
  const isAsSent = (sentText(payload) ?? line).includes(stringify(changed));
  return merged(payload.type, ok, isAsSent ? undefined : changed);
}

/** What a handler returned, with what it changed in place. */
function merged(type, ok, changed) {
  if (type === "before_provider_request") return { ok: ok ?? changed ?? null };
  if (type === "context" || type === "context_with_system") return { ok: ok?.messages ? ok : changed ? { messages: changed } : null };
  if (changed === undefined) return { ok };
  if (type === "message_end") return { ok: ok?.message ? ok : { message: changed } };
  return type === "tool_call" ? { ok, input: changed } : { ok: { ...ok, [CHANGEABLE[type]]: changed } };
}

/** Members that pi's events have without a value: `in` finds them, JSON does not carry them. A list without pictures is none. */
const OPTIONAL = {
  input: ["images", "streamingBehavior"],
  before_agent_start: ["images"],
  tool_result: ["details", "usage"],
};
const OPTIONAL_OF_RESULTS = ["details", "usage"];

function restoreOptional(payload) {
  complete(payload, OPTIONAL[payload.type] ?? []);
  if (payload.images?.length === 0) payload.images = undefined;
  const { message, toolResults = [] } = payload;
  for (const result of [message, ...toolResults]) if (result?.role === "toolResult") complete(result, OPTIONAL_OF_RESULTS);
}

function complete(object, names) {
  for (const name of names) if (!(name in object)) object[name] = undefined;
}

/** What cannot be written as JSON: members without a value, a signal, the sets of files of a summary, and the context of a boundary. */
function restore(payload, signal) {
  restoreOptional(payload);
  if (BOUNDARIES.has(payload.type) && !("context" in payload)) setBoundaryContext(payload);
  if (!WITH_SIGNAL.has(payload.type)) return;
  payload.signal = signal;
  const { fileOps } = payload.preparation ?? {};
  for (const name of Object.keys(fileOps ?? {})) if (Array.isArray(fileOps[name])) fileOps[name] = new Set(fileOps[name]);
}

/** The context is read once, when a handler looks at it. */
function setBoundaryContext(payload) {
  const { entries } = payload;
  const set = (value) => Object.defineProperty(payload, "context", { configurable: true, enumerable: true, writable: true, value });
  const get = () => {
    set(ask("ctx.boundaryContext", { entries }));
    return payload.context;
  };
  Object.defineProperty(payload, "context", { configurable: true, enumerable: true, get, set });
}

const invocations = {
  ...components,
  ...renderings,
  ...providers,
  ...operations,
  ...completers,
  ...editors,
  /** The terminal has other colours now. */
  theme(load, { theme }) {
    setTheme(themeFrom(theme));
    invalidateAll();
    return null;
  },
  async command(load, { ext, name, args }) {
    const instance = load.instance(ext);
    await required(instance.commands, name, "command").handler(args ?? "", instance.contexts.command);
    return null;
  },
  completions: async (load, { ext, name, prefix }) => (await required(load.instance(ext).commands, name, "command").getArgumentCompletions?.(prefix)) ?? null,
  async shortcut(load, { ext, key }) {
    const instance = load.instance(ext);
    await required(instance.shortcuts, key, "shortcut").handler(instance.contexts.event);
    return null;
  },
  prepareArguments: (load, { ext, name, args }) => preparedArguments(required(load.instance(ext).tools, name, "tool"), args),
  async tool(load, { id, ext, name, toolCallId, params }, { abort }) {
    const instance = load.instance(ext);
    const tool = required(instance.tools, name, "tool");
    const update = (partial) => send({ t: "progress", id, update: partial });
    const isSequential = (other) => load.instances.some(({ tools }) => tools.get(other)?.executionMode === "sequential");
    const run = (context) => tool.execute(toolCallId, params, abort.signal, update, context);
    return withNested(toolCallId, instance.contexts.tool, { signal: abort.signal, isSequential }, run);
  },
  async setup(load, { of }) {
    const open = { isOpen: true };
    try {
      await closureOf(of, "setup")(writableSession(open));
    } finally {
      open.isOpen = false;
    }
    return null;
  },
  /** The context is that of the same extension in the new load. */
  async withSession(load, { of }) {
    const owner = load.instances.find(({ state, path }) => state === "active" && path === closureOf(of, "path"));
    if (!owner) throw new Error("the extension that asked for another session did not load in it");
    await closureOf(of, "withSession")(owner.contexts.replaced);
    return null;
  },
};

function required(table, name, noun) {
  const found = table.get(name);
  if (!found) throw new Error(`there is no ${noun} ${name}`);
  return found;
}

const open = new Map();

export const dispatchers = {
  /** `{ok}` or `{error}`; a handler that is still running when it is cancelled sees its signal. */
  run(load, record, line) {
    return within(record.id, async () => {
      const dispatch = currentDispatch();
      open.set(record.id, dispatch);
      try {
        if (!load) throw new Error("no extension is loaded");
        if (record.t === "event") return await event(load, record, line, dispatch);
        const invocation = invocations[record.kind];
        if (!invocation) throw new Error(`unknown kind ${record.kind}`);
        const takesRecord = record.kind in components;
        return { ok: (await (takesRecord ? invocation(record) : invocation(load, record, dispatch))) ?? null };
      } catch (error) {
        return { error: problem(error) };
      } finally {
        open.delete(record.id);
      }
    });
  },
  cancel: (id) => open.get(id)?.abort.abort(),
};

