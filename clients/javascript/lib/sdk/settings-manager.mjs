// Settings that a session gets beside those of the user's files. The files are read, never written.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { warn } from "./missing.mjs";
import { getAgentDir } from "./places.mjs";

/** Settings that can be given to one session: as arguments of the program, or as commands after its start. */
const ARGUMENTS = {
  defaultProvider: (value) => ["--provider", value],
  defaultModel: (value) => ["--model", value],
  defaultThinkingLevel: (value) => ["--thinking", value],
  defaultTools: (value) => ["--tools", value.join(",")],
};
const COMMANDS = {
  "compaction.enabled": (enabled) => ["set_auto_compaction", { enabled }],
  "retry.enabled": (enabled) => ["set_auto_retry", { enabled }],
  steeringMode: (mode) => ["set_steering_mode", { mode }],
  followUpMode: (mode) => ["set_follow_up_mode", { mode }],
};

export class SettingsManager {
  #files;
  #overrides;
  #errors = [];

  constructor(files, overrides, errors) {
    this.#files = files;
    this.#overrides = overrides;
    this.#errors = errors;
  }

  /** Over the user's own file. */
  static create(_cwd, agentDir = getAgentDir()) {
    const file = join(agentDir, "settings.json");
    if (!existsSync(file)) return new SettingsManager({}, {}, []);
    try {
      return new SettingsManager(JSON.parse(readFileSync(file, "utf8")), {}, []);
    } catch (error) {
      return new SettingsManager({}, {}, [{ scope: "global", error }]);
    }
  }

  /** The settings of the user's files count all the same: the program reads them. */
  static inMemory(settings = {}) {
    return new SettingsManager({}, structuredClone(settings), []);
  }

  getGlobalSettings() {
    return structuredClone(this.#files);
  }

  getProjectSettings() {
    return {};
  }

  applyOverrides(overrides) {
    this.#overrides = merged(this.#overrides, overrides);
  }

  setDefaultThinkingLevel(level) {
    this.applyOverrides({ defaultThinkingLevel: level });
  }

  setDefaultModelAndProvider(provider, model) {
    this.applyOverrides({ defaultProvider: provider, defaultModel: model });
  }

  setDefaultProvider(provider) {
    this.applyOverrides({ defaultProvider: provider });
  }

  setDefaultModel(model) {
    this.applyOverrides({ defaultModel: model });
  }

  /** Setters count for the sessions that are created with this manager: there is nothing to write. */
  async flush() {}

  async reload() {}

  drainErrors() {
    return this.#errors.splice(0);
  }

  /** The arguments and the commands that give a session the settings. What cannot be given is said once. */
  forSession() {
    const args = [];
    const commands = [];
    for (const [key, value] of flat(this.#overrides)) {
      if (key === "defaultTools" && value.some((name) => name.startsWith("+"))) warn(`${key} with + has no effect over RPC`);
      else if (key in ARGUMENTS) args.push(...ARGUMENTS[key](value));
      else if (key in COMMANDS) commands.push(COMMANDS[key](value));
      else warn(`the setting ${key} of this program has no effect: offshoot reads it from its own settings.json only`);
    }
    return { args, commands };
  }
}

function merged(old, more) {
  const all = { ...old };
  for (const [key, value] of Object.entries(more)) {
    all[key] = isObject(value) && isObject(old[key]) ? merged(old[key], value) : value;
  }
  return all;
}

function* flat(settings, prefix = "") {
  for (const [key, value] of Object.entries(settings)) {
    if (isObject(value)) yield* flat(value, `${prefix}${key}.`);
    else if (value !== undefined) yield [`${prefix}${key}`, value];
  }
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
