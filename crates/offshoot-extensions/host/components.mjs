// Components of extensions that are on offshoot's screen: they live here, offshoot asks for rows and passes keys.
import { call, note } from "./calls.mjs";
import { addListener, removeListener } from "./completers.mjs";
import { ship } from "./rows.mjs";
import { lend, takeBack } from "./terminal.mjs";

const all = new Map();
let nextComponent = 1;

/** What is known of a component on the screen. */
export const mounted = (id) => all.get(id);

/** The size of the part of the screen that was rendered last. */
const size = { columns: 80, rows: 24 };

export function resize(/** @type {{ width?: number, height?: number }} */ { width, height }) {
  if (width) size.columns = width;
  if (height) size.rows = height;
}

/** A component on the screen; `report` gets what it throws. */
function mount(entry) {
  const id = nextComponent++;
  all.set(id, { id, ...entry });
  return id;
}

/** Gives it the component once its factory has made it. */
export function place(id, component) {
  const entry = all.get(id);
  if (!entry) return component?.dispose?.();
  entry.component = component;
  invalidate(id);
}

export function unmount(id) {
  const entry = all.get(id);
  if (!all.delete(id)) return;
  entry.component?.dispose?.();
}

/** Several wishes to be rendered in one turn of the loop are one. */
const wishes = new Set();
function invalidate(id) {
  if (wishes.size === 0) setImmediate(() => [...wishes].forEach((each) => wishes.delete(each) && all.has(each) && note("component.invalidate", { component: each })));
  wishes.add(id);
}

/** The terminal and the screen as a factory gets them: enough to ask for a frame, to open overlays and to know the size. */
function tuiFor(id) {
  const entry = () => all.get(id);
  const terminal = {
    get columns() {
      return size.columns;
    },
    get rows() {
      return size.rows;
    },
    kittyProtocolActive: false,
    setTitle: (title) => note("ui.setTitle", { title }),
    // The terminal is offshoot's: what goes past it would be lost or spoil the screen.
    ...Object.fromEntries(["write", "moveBy", "hideCursor", "showCursor", "clearLine", "clearFromCursor", "clearScreen", "setProgress"].map((name) => [name, () => {}])),
  };
  const tui = {
    mode: "regular",
    /** @type {any[]} */
    children: [],
    terminal,
    requestRender: () => invalidate(id),
    renderNow: () => invalidate(id),
    invalidate: () => entry()?.component?.invalidate?.(),
    addChild: (child) => tui.children.push(child),
    removeChild: (child) => (tui.children = tui.children.filter((other) => other !== child)),
    clear: () => (tui.children = []),
    setFocus: (component) => entry() && (entry().focus = component),
    showOverlay: (component, options) => showOverlay(component, options),
    hideOverlay: () => lastOverlay()?.handle.hide(),
    hasOverlay: () => Boolean(lastOverlay()),
    start: takeBack,
    stop: lend,
    addInputListener: addListener,
    removeInputListener: removeListener,
    getShowHardwareCursor: () => false,
    setShowHardwareCursor() {},
    getClearOnShrink: () => false,
    setClearOnShrink() {},
    onTerminalColorSchemeChange: () => () => {},
    setTerminalColorSchemeNotifications() {},
    queryTerminalBackgroundColor: async () => undefined,
    queryTerminalColorScheme: async () => undefined,
    render: (width) => entry()?.component?.render(width) ?? [],
  };
  return tui;
}

const lastOverlay = () => [...all.values()].reverse().find(({ handle }) => handle && !handle.isHidden());

const plainOptions = (options) => JSON.parse(JSON.stringify((typeof options === "function" ? options() : options) ?? {}));

/** Without options an overlay is as wide as its component says. */
const ofComponent = (component) => (component?.width ? { width: component.width } : undefined);

/** What an overlay's owner may do with it. */
function handleOf(id, close) {
  const entry = () => all.get(id);
  const tell = (change) => entry() && note("component.overlay", { component: id, ...change });
  return {
    hide: close,
    setHidden(hidden) {
      if (!entry() || entry().hidden === hidden) return;
      entry().hidden = hidden;
      tell({ hidden });
    },
    isHidden: () => !entry() || Boolean(entry().hidden),
    focus: () => tell({ focused: true }),
    unfocus: () => tell({ focused: false }),
    isFocused: () => Boolean(entry()?.focused),
    getBounds: () => (entry()?.hidden ? undefined : entry()?.bounds),
  };
}

/** An overlay that a component opens by itself; nobody waits for it. */
function showOverlay(component, options) {
  const close = () => {
    unmount(id);
    note("component.done", { component: id });
  };
  const id = mount({ component, visible: options?.visible });
  all.get(id).handle = handleOf(id, close);
  call("ui.custom", { component: id, overlay: true, options: plainOptions(options) }).then(() => unmount(id), () => unmount(id));
  return all.get(id).handle;
}

/** `ui.custom`: shows what the factory makes until it calls `done`; the value is what it gave. */
export function custom(factory, /** @type {any} */ { overlay = false, overlayOptions, onHandle } = {}, { theme, keybindings }) {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const finish = (settle, value) => {
      if (isOver) return;
      isOver = true;
      note("component.done", { component: id });
      unmount(id);
      settle(value);
    };
    const id = mount({ visible: typeof overlayOptions === "object" ? overlayOptions.visible : undefined });
    const done = (value) => finish(resolve, value);
    if (overlay) all.get(id).handle = handleOf(id, () => done(undefined));
    Promise.resolve()
      .then(() => factory(tuiFor(id), theme, keybindings(), done))
      .then((component) => {
        if (isOver) return component?.dispose?.();
        all.get(id).component = component;
        all.get(id).focused = true;
        if (component && "focused" in component) component.focused = true;
        if (overlay) onHandle?.(all.get(id).handle);
        return call("ui.custom", { component: id, overlay, options: plainOptions(overlayOptions ?? ofComponent(component)) }).then(() => finish(resolve, undefined));
      })
      .catch((error) => finish(reject, error));
  });
}

/** A widget, footer, header or editor: there until it is replaced. Its id, for offshoot. */
export function mountLasting(make, args = /** @type {() => any[]} */ (() => []), beforeRender = undefined) {
  const id = mount({ beforeRender });
  const component = make(tuiFor(id), ...args());
  all.get(id).component = component;
  return { id, component };
}

const get = (id) => {
  const entry = all.get(id);
  if (!entry?.component) throw new Error(`there is no component ${id}`);
  return entry;
};

/** What offshoot asks of components, by the kind of its `invoke`. */
export const invocations = {
  "component.render"({ component, width, height, screenWidth = width }) {
    resize({ width: screenWidth, height });
    const entry = get(component);
    entry.beforeRender?.();
    if (entry.visible && !entry.visible(screenWidth, size.rows)) return { rows: [], hidden: true };
    return ship(entry.component.render(width), width);
  },
  "component.input"({ component, data }) {
    // A key may be on its way while a component goes.
    if (!all.get(component)?.component) return { isGone: true };
    const entry = get(component);
    (entry.focus ?? entry.component).handleInput?.(data);
    entry.afterInput?.();
    return {};
  },
  "component.focus"({ component, focused }) {
    const entry = get(component);
    entry.focused = focused;
    if ("focused" in entry.component) entry.component.focused = focused;
    return {};
  },
  "component.invalidate"({ component }) {
    get(component).component.invalidate?.();
    return {};
  },
  /** Where its rows are on the screen. */
  "component.placed"({ component, row, col, width, height }) {
    const entry = all.get(component);
    if (entry) entry.bounds = { row, col, width, height };
    return {};
  },
  "component.dispose"({ component }) {
    unmount(component);
    return {};
  },
};

/** Other colours: what components keep of the old ones goes. */
export function invalidateAll() {
  for (const { component } of all.values()) component?.invalidate?.();
}

/** Everything of a load that is over. */
export function unmountAll() {
  for (const id of [...all.keys()]) unmount(id);
}
