// `ctx.ui` in the terminal, over RPC and in print mode: what a mode has not, answers as it does in pi.
import { ask } from "./channel.mjs";
import { call, note } from "./calls.mjs";
import { addCompleter, addListener, forgetCompleters } from "./completers.mjs";
import { custom, mountLasting, unmount } from "./components.mjs";
import { editorFactory, editorText, forgetEditor, paste, setEditor, setText } from "./editor.mjs";
import { forgetKeys } from "./keybindings.mjs";
import { named } from "./named.mjs";
import { described, Theme, theme, themeFrom } from "./theme.mjs";

/** An open question: `fallback` where its signal or its mode ends it. */
async function question(host, method, params, /** @type {any} */ { signal, timeout } = {}, fallback) {
  if (!host.hasUI || signal?.aborted) return fallback;
  const asked = call(method, { ...params, ...(timeout === undefined ? {} : { timeout }) }, { signal }).then((value) => value ?? fallback);
  if (!signal) return asked;
  const aborted = new Promise((resolve) => signal.addEventListener("abort", () => resolve(fallback), { once: true }));
  return Promise.race([asked.catch((error) => (signal.aborted ? fallback : Promise.reject(error))), aborted]);
}

/** A component that stays: what was there under the same name goes. */
const lasting = new Map();
function replaceLasting(name, make, args, beforeRender) {
  if (lasting.has(name)) unmount(lasting.get(name));
  lasting.delete(name);
  if (!make) return null;
  const { id, component } = mountLasting(make, args, beforeRender);
  lasting.set(name, id);
  return { id, component };
}

export function forgetLasting() {
  lasting.clear();
  forgetCompleters();
  forgetEditor();
  forgetKeys();
}

export function createUi(host, check) {
  const isTerminal = host.mode === "tui";
  const tell = (method, params) => void (host.hasUI && note(`ui.${method}`, params));
  const show = (method, params) => void (isTerminal && note(`ui.${method}`, params));
  return named(
    "ExtensionUIContext",
    {
      select: (title, options, dialog) => question(host, "ui.select", { title, options }, dialog, undefined),
      confirm: (title, message, dialog) => question(host, "ui.confirm", { title, message }, dialog, false),
      input: (title, placeholder, dialog) => question(host, "ui.input", { title, placeholder }, dialog, undefined),
      editor: (title, prefill) => question(host, "ui.editor", { title, prefill }, {}, undefined),
      notify: (message, type) => tell("notify", { message, type }),
      setStatus: (key, text) => tell("setStatus", { key, text: text ?? null }),
      setTitle: (title) => tell("setTitle", { title }),
      setWorkingMessage: (message) => show("setWorkingMessage", { message: message ?? null }),
      setWorkingVisible: (visible) => show("setWorkingVisible", { visible }),
      setWorkingIndicator: (options) => show("setWorkingIndicator", { options: options ?? null }),
      setHiddenThinkingLabel: (label) => show("setHiddenThinkingLabel", { label: label ?? null }),
      setWidget(key, content, /** @type {any} */ { placement } = {}) {
        if (typeof content !== "function") {
          replaceLasting(`widget:${key}`);
          return tell("setWidget", { key, lines: content ?? null, placement });
        }
        if (isTerminal) tell("setWidget", { key, component: replaceLasting(`widget:${key}`, content, () => [theme])?.id, placement });
      },
      setFooter(factory) {
        if (!isTerminal) return;
        const { data, looks } = footerData();
        show("setFooter", { component: replaceLasting("footer", factory, () => [theme, data], looks)?.id ?? null });
      },
      setHeader(factory) {
        if (isTerminal) show("setHeader", { component: replaceLasting("header", factory, () => [theme])?.id ?? null });
      },
      setEditorComponent(factory) {
        if (isTerminal) setEditor(factory, host.keybindings());
      },
      getEditorComponent: () => editorFactory(),
      custom: async (factory, options) => (isTerminal ? custom(factory, options, { theme, keybindings: host.keybindings }) : undefined),
      onTerminalInput: (listener) => (isTerminal ? addListener(listener) : () => {}),
      addAutocompleteProvider(factory) {
        if (isTerminal) addCompleter(factory);
      },
      // Synchronous in the terminal: what reads the editor next sees it.
      pasteToEditor: (text) => (isTerminal ? void (paste(text) || ask("ui.pasteToEditor", { text })) : tell("setEditorText", { text })),
      setEditorText: (text) => (isTerminal ? void (setText(text) || ask("ui.setEditorText", { text })) : tell("setEditorText", { text })),
      getEditorText: () => (isTerminal ? (editorText() ?? ask("ui.getEditorText") ?? "") : ""),
      theme,
      getAllThemes: () => (isTerminal ? ask("ui.getAllThemes") : []),
      getTheme(name) {
        const found = isTerminal ? ask("ui.getTheme", { name }) : undefined;
        return found ? themeFrom(found) : undefined;
      },
      setTheme(next) {
        if (!isTerminal) return { success: false, error: "the theme can be changed in the terminal only" };
        return ask("ui.setTheme", next instanceof Theme ? described(next) : { name: next?.name ?? next });
      },
      getToolsExpanded: () => (isTerminal ? ask("ui.getToolsExpanded") === true : false),
      setToolsExpanded: (expanded) => void (isTerminal && ask("ui.setToolsExpanded", { expanded })),
    },
    check,
  );
}

/** What a footer shows besides its own: read when it is drawn. `looks` tells it of another branch before it is drawn anew. */
function footerData() {
  const read = () => ask("ui.footerData") ?? {};
  const listeners = new Set();
  let branch;
  const data = {
    getGitBranch: () => (branch = read().gitBranch ?? null),
    getExtensionStatuses: () => new Map(Object.entries(read().statuses ?? {})),
    getAvailableProviderCount: () => new Set(ask("models.getAvailable").map(({ provider }) => provider)).size,
    onBranchChange(listener) {
      branch = read().gitBranch ?? null;
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const looks = () => {
    if (listeners.size === 0) return;
    const before = branch;
    if (data.getGitBranch() !== before) for (const listener of [...listeners]) listener();
  };
  return { data, looks };
}
