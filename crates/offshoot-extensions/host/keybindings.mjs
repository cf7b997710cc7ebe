// The keys of components: those of the user, as offshoot has read them; else pi's manager of them, from whichever pi-tui the extensions use.
import { ask } from "./channel.mjs";
import { matchesKey } from "./modules/tui/keys.mjs";

let manager;
let known;

/** Set by the module that has it; a component that asks before anything was imported gets offshoot's own. */
export function useKeybindings(get) {
  manager = get;
}

export function forgetKeys() {
  known = undefined;
}

/** What pi's manager has, over the keys of offshoot's terminal. */
class UserKeys {
  #keys;

  constructor(keys) {
    this.#keys = keys;
    manager?.()?.setUserBindings?.(keys);
  }

  getKeys(name) {
    return this.#keys[name] ?? manager?.()?.getKeys(name) ?? [];
  }

  matches(data, name) {
    return this.getKeys(name).some((key) => matchesKey(data, key));
  }

  getDefinition = (name) => manager?.()?.getDefinition(name);
  getConflicts = () => [];
  getUserBindings = () => this.#keys;
  getResolvedBindings = () => this.#keys;
  setUserBindings = (keys) => void (this.#keys = keys);
}

/** The keys of the terminal: a name of each action and its keys; null where there is no terminal. */
function keysOfTerminal() {
  try {
    return ask("ui.keys");
  } catch {
    return null;
  }
}

export function keybindings() {
  const keys = known ?? keysOfTerminal();
  if (!keys) return manager?.() ?? { matches: () => false, getKeys: () => [], getDefinition: () => undefined };
  known ??= new UserKeys(keys);
  return known;
}
