// What extensions import from pi-tui, where the user has no pi: components, keys, widths.
import { useKeybindings } from "../keybindings.mjs";
import { CURSOR_MARKER, measureWith } from "../rows.mjs";
import { getKeybindings } from "./tui/keybindings.mjs";
import { visibleWidth } from "./tui/width.mjs";

useKeybindings(getKeybindings);
measureWith(visibleWidth);

export { CURSOR_MARKER };
export * from "./tui/blocks.mjs";
export * from "./tui/editor.mjs";
export * from "./tui/fuzzy.mjs";
export * from "./tui/image.mjs";
export { Input } from "./tui/input.mjs";
export * from "./tui/keybindings.mjs";
export * from "./tui/keys.mjs";
export * from "./tui/lists.mjs";
export * from "./tui/markdown.mjs";
export { sliceByColumn, stripTerminalSequences, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "./tui/width.mjs";
export const isFocusable = (component) => Boolean(component && "focused" in component);
