// The keys of components: pi's manager of them, from whichever pi-tui the extensions use.
let manager;

/** Set by the module that has it; a component that asks before anything was imported gets offshoot's own. */
export function useKeybindings(get) {
  manager = get;
}

export const keybindings = () => manager?.() ?? { matches: () => false, getKeys: () => [], getDefinition: () => undefined };
