// Completions of extensions, each around the one before; the innermost is offshoot's own. And those who listen to the keys.
import { note } from "./calls.mjs";

let outermost;
let triggers = [];
/** What offshoot itself offers for the text that is being completed. */
let offered = null;

const listeners = new Set();

export function forgetCompleters() {
  outermost = undefined;
  triggers = [];
  listeners.clear();
}

/** offshoot's own completions, around which others are put. */
const own = {
  getSuggestions: async () => offered,
  applyCompletion(lines, cursorLine, cursorCol, item, prefix) {
    const line = lines[cursorLine] ?? "";
    const start = cursorCol - prefix.length;
    const changed = lines.with(cursorLine, line.slice(0, start) + item.value + line.slice(cursorCol));
    return { lines: changed, cursorLine, cursorCol: start + item.value.length };
  },
  shouldTriggerFileCompletion: () => true,
};

export function addCompleter(factory) {
  outermost = factory(outermost ?? own);
  triggers = [...new Set([...triggers, ...(outermost.triggerCharacters ?? [])])];
  note("ui.addAutocompleteProvider", { triggers });
}

/** Every key goes to the listeners first. What ends it. */
export function addListener(listener) {
  listeners.add(listener);
  if (listeners.size === 1) note("ui.terminalInput", { on: true });
  return () => removeListener(listener);
}

export function removeListener(listener) {
  if (listeners.delete(listener) && listeners.size === 0) note("ui.terminalInput", { on: false });
}

export const invocations = {
  async autocomplete(load, { lines, cursorLine, cursorCol, force, own: base }, { abort }) {
    offered = base ?? null;
    return (await outermost?.getSuggestions(lines, cursorLine, cursorCol, { signal: abort.signal, force })) ?? null;
  },
  "autocomplete.apply": (load, { lines, cursorLine, cursorCol, item, prefix }) => outermost?.applyCompletion(lines, cursorLine, cursorCol, item, prefix) ?? null,
  terminalInput(load, { data }) {
    let text = data;
    for (const listener of [...listeners]) {
      const answer = listener(text);
      if (answer?.consume) return { consume: true };
      if (answer?.data !== undefined) text = answer.data;
    }
    return text === data ? {} : { data: text };
  },
};
