// An editor of an extension in place of offshoot's: it gets the keys. offshoot keeps its text, sends it, completes it, and does what the editor leaves
// to the program.
import { ask } from "./channel.mjs";
import { note } from "./calls.mjs";
import { mounted, mountLasting, unmount } from "./components.mjs";
import { editorTheme, theme } from "./theme.mjs";

/** How long the colour of the thinking level is kept, in milliseconds. */
const LEVEL_KEPT = 200;
const LEFT = "\x1b[D";

let current;

export const editorFactory = () => current?.factory;

/** The text of the editor, with whole pastes; undefined while offshoot has its own. */
export const editorText = () => current && textOf(current.component);

/** Changes the editor of an extension, if there is one. */
const change = (how) => (text) => {
  if (!current) return false;
  how(current.component, text);
  tell(current);
  return true;
};
export const setText = change((component, text) => component.setText(text));
export const paste = change((component, text) => component.handleInput(`\x1b[200~${text}\x1b[201~`));

export function forgetEditor() {
  current = undefined;
}

const textOf = (component) => component.getExpandedText?.() ?? component.getText();

/** Puts an editor in the place of the one before, with its text; without a factory offshoot's own. */
export function setEditor(factory, keys) {
  const { text = "", history = [], actions = [], padding } = ask("ui.editor") ?? {};
  const kept = editorText() ?? text;
  const before = current;
  if (!factory) {
    current = undefined;
    if (before) unmount(before.id);
    return note("ui.setEditorComponent", { component: null });
  }
  const made = mountLasting(factory, () => [editorTheme(), keys]);
  if (before) unmount(before.id);
  current = { ...made, factory, told: "" };
  connect(current, { kept, history, actions, padding });
  return note("ui.setEditorComponent", { component: made.id });
}

function connect(editor, { kept, history, actions, padding }) {
  const { id, component } = editor;
  mounted(id).afterInput = () => tell(editor);
  component.onChange = () => setImmediate(tell, editor);
  component.onSubmit = (text) => {
    tell(editor);
    if (text.trim()) component.addToHistory?.(text);
    note("editor.submit", { component: id, text });
  };
  if (component.borderColor !== undefined) component.borderColor = borderOf(component);
  if (padding !== undefined) component.setPaddingX?.(padding);
  for (const prompt of history) component.addToHistory?.(prompt);
  if (component.actionHandlers instanceof Map) connectActions(editor, actions);
  if ("focused" in component) component.focused = true;
  component.setText(kept);
  tell(editor);
}

/** What an editor derived from pi's leaves to the program: the actions of keys that are not for writing. */
function connectActions(editor, actions) {
  const { id, component } = editor;
  const act = (action) => () => {
    tell(editor);
    note("editor.action", { component: id, action });
  };
  component.onEscape ??= act("app.interrupt");
  component.onCtrlD ??= act("app.exit");
  component.onPasteImage ??= act("app.clipboard.pasteImage");
  for (const action of actions) if (!component.actionHandlers.has(action)) component.actionHandlers.set(action, act(action));
}

/** The border has the colour of the thinking level, or of shell commands. */
function borderOf(component) {
  let level;
  let asked = 0;
  return (text) => {
    if (Date.now() - asked > LEVEL_KEPT) [level, asked] = [ask("pi.getThinkingLevel"), Date.now()];
    const paint = component.getText().trimStart().startsWith("!") ? theme.getBashModeBorderColor() : theme.getThinkingBorderColor(level);
    return paint(text);
  };
}

/** offshoot hears of the text and of the cursor, where the editor tells it. */
function tell(editor) {
  if (editor !== current) return;
  const { id, component } = editor;
  const text = textOf(component);
  const place = component.getText() === text ? component.getCursor?.() : undefined;
  const before = place && [...text.split("\n").slice(0, place.line), (text.split("\n")[place.line] ?? "").slice(0, place.col)].join("\n");
  const state = { text, cursor: before === undefined ? undefined : Buffer.byteLength(before) };
  const told = JSON.stringify(state);
  if (told === editor.told) return;
  editor.told = told;
  note("editor.changed", { component: id, ...state });
}

export const invocations = {
  /** `after` is how many characters are behind the cursor. */
  "editor.setText"(load, { component, text, after = 0 }) {
    if (current?.id !== component) return {};
    current.component.setText(text);
    for (let at = 0; at < after; at += 1) current.component.handleInput(LEFT);
    tell(current);
    return {};
  },
  /** offshoot has taken its place back. */
  "editor.leave"(load, { component }) {
    if (current?.id !== component) return {};
    unmount(component);
    current = undefined;
    return {};
  },
};
