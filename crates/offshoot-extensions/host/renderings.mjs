// Messages, entries and tool calls as extensions draw them: a component is made, asked for its rows once, and let go.
import { resize } from "./components.mjs";
import { note } from "./calls.mjs";
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

export const invocations = {
  messageRenderer(load, { ext, customType, message, expanded, outputPad = 1, width }) {
    resize({ width });
    return rowsOf(renderer(load.instance(ext).messageRenderers, customType)(message, { expanded, outputPad }, theme), width);
  },
  entryRenderer(load, { ext, customType, entry, expanded, width }) {
    resize({ width });
    return rowsOf(renderer(load.instance(ext).entryRenderers, customType)(entry, { expanded }, theme), width);
  },
  markdown: (load, { ext, text, context }) => load.instance(ext).markdown(text, context),
  toolRender(load, record) {
    const { ext, name, toolCallId, args, result, isPartial = false, isError = false, expanded = false, width } = record;
    resize({ width });
    const tool = renderer(load.instance(ext).tools, name);
    const kept = stateOf(toolCallId);
    const context = (part) => ({
      ...{ args, toolCallId, state: kept.state, lastComponent: kept[part], cwd: load.init.cwd, isPartial, isError, expanded, showImages: false },
      ...{ executionStarted: record.executionStarted ?? true, argsComplete: record.argsComplete ?? true, outputPad: 1, durationMs: undefined },
      invalidate: () => note("toolRender.invalidate", { toolCallId }),
    });
    if (tool.renderCall) kept.call = tool.renderCall(args, theme, context("call"));
    if (tool.renderResult && result) kept.result = tool.renderResult(result, { expanded, isPartial }, theme, context("result"));
    return { call: tool.renderCall ? rowsOf(kept.call, width) : null, result: tool.renderResult && result ? rowsOf(kept.result, width) : null };
  },
};
