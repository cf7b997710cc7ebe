// The settings of offshoot as pi's `SettingsManager` hands them out: they are read here, and changed with `/settings`.
import { ask } from "../../channel.mjs";
import { withStatics } from "../../stub.mjs";

const lower = (name) => name[0].toLowerCase() + name.slice(1);

/** The value of a name with dots in nested objects, or of one member. */
function memberOf(settings, name) {
  if (name in settings) return settings[name];
  // `getCompactionEnabled` is `compaction.enabled`.
  const parts = name.split(/(?=[A-Z])/);
  for (let count = parts.length - 1; count > 0; count -= 1) {
    const outer = settings[parts.slice(0, count).join("")];
    if (outer && typeof outer === "object") return outer[lower(parts.slice(count).join(""))];
  }
  return undefined;
}

class Settings {
  #read;
  #overrides = {};

  /** The settings in effect. */
  static create() {
    return managed(new Settings(() => ask("pi.getSettings") ?? {}));
  }

  static inMemory(settings = {}) {
    return managed(new Settings(() => settings));
  }

  constructor(read) {
    this.#read = read;
  }

  all = () => ({ ...this.#read(), ...this.#overrides });
  getGlobalSettings = () => this.all();
  getProjectSettings = () => ({});
  applyOverrides = (overrides) => void Object.assign(this.#overrides, overrides);
  reload = async () => {};
  flush = async () => {};
  drainErrors = () => [];
}

/** Every `get…` of pi's reads a setting, and what would change one throws. */
function managed(settings) {
  return new Proxy(settings, {
    get(target, name) {
      if (typeof name === "symbol" || name in target) return target[name];
      if (/^(get|is)[A-Z]/.test(name)) return () => memberOf(target.all(), lower(name.replace(/^(get|is)/, "")));
      if (name === "then") return undefined;
      return () => {
        throw new Error(`SettingsManager.${name} of pi-coding-agent is not in offshoot: settings are changed with /settings`);
      };
    },
  });
}

export const SettingsManager = withStatics(Settings, "pi-coding-agent", "SettingsManager");
