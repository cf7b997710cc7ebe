// One load of all extensions: it lives until the next `init`. Modules are imported afresh, those of 0.31 only after a reload.
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { createApi, report } from "./api.mjs";
import { note } from "./calls.mjs";
import { ask } from "./channel.mjs";
import { Bus } from "./bus.mjs";
import { unmountAll } from "./components.mjs";
import { createContexts } from "./context.mjs";
import { hookApi, toolFactory } from "./hooks.mjs";
import { Instance } from "./instance.mjs";
import { entryFiles, factoryOf, problem } from "./loader.mjs";
import { keybindings } from "./keybindings.mjs";
import { setLoaded } from "./loaded.mjs";
import { isForOmp, ompApi, ompToolFactory } from "./omp.mjs";
import { readText } from "./read.mjs";
import { forgetModules } from "./modules.mjs";
import { moduleSource, newGeneration, preparePi } from "./resolve.mjs";
import { forgetRenderings } from "./renderings.mjs";
import { editorTheme, setTheme, themeFrom } from "./theme.mjs";
import { forgetLasting } from "./ui.mjs";

/** Extensions run `process.argv[1]` to start another pi. */
const LAUNCHER = fileURLToPath(new URL("./launcher.mjs", import.meta.url));
/** After all others: where there is no pi, offshoot answers to its name. */
const PROGRAMS = fileURLToPath(new URL("./bin", import.meta.url));

function offerPrograms() {
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => folder !== PROGRAMS);
  process.env.PATH = [...folders, PROGRAMS].join(delimiter);
}

/** Other agents that extensions start may do no more than this one. */
export function limit(limits) {
  if (limits) process.env.OFFSHOOT_LIMITS = limits;
}

export class Load {
  instances = [];
  #bus = new Bus((error, event) => report(problem(error), event));

  constructor(init, before) {
    this.init = init;
    this.before = before;
    this.flags = { ...init.flags };
    for (const instance of before?.instances ?? []) if (!this.#survives(instance)) before.#retire(instance);
    unmountAll();
    forgetLasting();
    forgetRenderings();
    if (init.mode === "tui" && init.hasUI) note("ui.reset", {});
    setTheme(themeFrom(init.theme ?? colours(init), themeName()));
    if (init.launcher) process.env.OFFSHOOT_LAUNCHED = init.launcher;
    limit(init.limits);
    process.argv[1] = LAUNCHER;
    offerPrograms();
    if (init.cwd) process.chdir(init.cwd);
    forgetModules();
    newGeneration({ modules: init.piPackages ?? [], extensions: init.extensions });
  }

  /** Hooks and tools of 0.31 keep their state when another session comes: their events say that it came. */
  #survives({ kind, state }) {
    return kind !== "extension" && state === "active" && ["new", "resume", "fork"].includes(this.init.reason);
  }

  #retire(instance) {
    instance.state = "stale";
    this.#bus.forget(instance);
  }

  get host() {
    const { cwd, mode, hasUI } = this.init;
    return {
      ...{ cwd, mode, hasUI, flags: this.flags, keybindings, editorTheme, instances: () => this.instances },
      busOf: (instance) => ({ emit: (channel, data) => this.#bus.emit(channel, data), on: (channel, handler) => this.#bus.on(channel, handler, instance) }),
    };
  }

  setFlags(values) {
    Object.assign(this.flags, values);
  }

  /** Loads one after another, in offshoot's order. */
  async run() {
    const extensions = [];
    setLoaded(() => this.instances);
    for (const extension of this.init.extensions) extensions.push(await this.#load(extension));
    this.before = undefined;
    return { extensions, modules: moduleSource() };
  }

  async #load({ id, path: file, kind = "extension", origin }) {
    const started = performance.now();
    const kept = this.before?.instances.find((instance) => instance.path === file && this.#survives(instance));
    const instance = kept ?? new Instance({ id, path: file, kind });
    Object.assign(instance, { id, origin });
    this.instances.push(instance);
    /** @type {{ message: string } | null} */
    let error = null;
    if (!kept) {
      try {
        await this.#start(instance);
        instance.state = "active";
      } catch (thrown) {
        instance.state = "failed";
        error = problem(thrown);
      }
    }
    const loadMs = Math.round(performance.now() - started);
    const registered = error ? new Instance({ id, path: file, kind }).description() : instance.description();
    return { id, path: file, loadMs, error, ...registered };
  }

  async #start(instance) {
    const api = createApi(instance, this.host);
    instance.contexts = createContexts(instance, api, this.host);
    for (const file of entryFiles(instance.path)) {
      const factory = await factoryOf(file);
      await preparePi(this.init.theme?.name);
      if (isForOmp(readText(file))) {
        await (instance.kind === "tool" ? ompToolFactory(factory, instance, api) : factory(ompApi(api)));
        continue;
      }
      if (instance.kind === "tool") await toolFactory(factory, instance, api);
      else await factory(instance.kind === "hook" ? hookApi(api, instance) : api);
    }
  }

  instance(id) {
    const found = this.instances.find((instance) => instance.id === id);
    if (!found) throw new Error(`there is no extension ${id}`);
    return found;
  }

  handler(id) {
    for (const instance of this.instances) {
      const found = instance.handlers.get(id);
      if (found) return { instance, ...found };
    }
    return null;
  }
}

/** The theme that is chosen, also where nothing is drawn; `system` is that of pi without a choice. */
function themeName() {
  try {
    return ask("pi.getSettings")?.theme ?? "system";
  } catch {
    return "system";
  }
}

/** The colours of the terminal; none elsewhere. */
function colours({ mode, hasUI }) {
  try {
    return mode === "tui" && hasUI ? ask("ui.getTheme", {}) : undefined;
  } catch {
    return undefined;
  }
}
