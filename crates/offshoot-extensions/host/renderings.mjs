// Messages, entries and tool calls as extensions draw them: a component is made, asked for its rows once, and let go.
import { report } from "./api.mjs";
import { resize } from "./components.mjs";
import { note } from "./calls.mjs";
import { keybindings } from "./keybindings.mjs";
import { problem } from "./loader.mjs";
import { ship } from "./rows.mjs";
import { theme } from "./theme.mjs";

/** What a tool's renderers keep between two drawings of one call. */
const drawn = new Map();
const MOST_DRAWN = 2000;

export function forgetRenderings() {
  drawn.clear();
}

const rowsOf = (component, width) => (component ? ship(component.render(width), width) : null);

function renderer(table, name) {
  const found = table.get(name);
  if (!found) throw new Error(`there is no renderer of ${name}`);
  return found;
}

function stateOf(toolCallId) {
  if (!drawn.has(toolCallId)) {
    if (drawn.size >= MOST_DRAWN) drawn.delete(drawn.keys().next().value);
    drawn.set(toolCallId, { state: {}, call: undefined, result: undefined });
  }
  return drawn.get(toolCallId);
}

/** The keys of actions, in words. */
const keyText = (action) => keybindings().getKeys(action).join("/");
const hints = { keyText, keyHint: (action, words) => theme.fg("dim", keyText(action)) + theme.fg("muted", ` ${words}`) };

/** Who draws the calls of a tool: the resolvers in the order of their extensions, then the extension that has registered the tool. */
function renderersOf(load, name) {
  const active = load.instances.filter(({ state }) => state === "active");
  const resolvers = active.flatMap(({ toolRenderers }) => toolRenderers);
  const from = (at) => (at < resolvers.length ? resolvers[at](name, () => from(at + 1)) : active.find(({ tools }) => tools.has(name))?.tools.get(name));
  return from(0);
}

export const invocations = {
  messageRenderer(load, { ext, customType, message, expanded, outputPad = 1, width }) {
    resize({ width });
    return rowsOf(renderer(load.instance(ext).messageRenderers, customType)(message, { expanded, outputPad, ...hints }, theme), width);
  },
  entryRenderer(load, { ext, customType, entry, expanded, width }) {
    resize({ width });
    return rowsOf(renderer(load.instance(ext).entryRenderers, customType)(entry, { expanded, ...hints }, theme), width);
  },
  /** A text as all transformers leave it, one after another. One that fails, or returns something else, leaves it as it is. */
  markdown(load, { text, width, messageType = "assistant" }) {
    const context = { messageType, isStreaming: false, availableWidth: width };
    const transforming = load.instances.filter(({ state, markdown }) => state === "active" && markdown?.messageTypes.includes(messageType));
    return transforming.reduce((before, { id, markdown: { transformer } }) => {
      try {
        const changed = transformer(before, context);
        return typeof changed === "string" ? changed : before;
      } catch (error) {
        report(problem(error), "markdown", id);
        return before;
      }
    }, text);
  },
  toolRender(load, record) {
    const { name, toolCallId, args, result, isPartial = false, isError = false, expanded = false, width } = record;
    resize({ width });
    const tool = renderersOf(load, name) ?? {};
    const kept = stateOf(toolCallId);
    const context = (part) => ({
      ...{ args, toolCallId, state: kept.state, lastComponent: kept[part], cwd: load.init.cwd, isPartial, isError, expanded, showImages: false },
      ...{ executionStarted: record.executionStarted ?? true, argsComplete: record.argsComplete ?? true, outputPad: 1, durationMs: undefined, ...hints },
      invalidate: () => note("toolRender.invalidate", { toolCallId }),
    });
    if (tool.renderCall) kept.call = tool.renderCall(args, theme, context("call"));
    if (tool.renderResult && result) kept.result = tool.renderResult(result, { expanded, isPartial }, theme, context("result"));
    return { call: tool.renderCall ? rowsOf(kept.call, width) : null, result: tool.renderResult && result ? rowsOf(kept.result, width) : null };
  },
};
