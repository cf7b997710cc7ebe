// Agents that an extension starts through pi's SDK, where the user has no pi: each is a process `offshoot --mode rpc`, which the client for
// JavaScript runs. It is loaded when the first one is wanted.
import { dialogs, foundExtensions } from "../../loaded.mjs";

/** Their modules are unpacked beside the host's. */
const client = (name) => import(new URL(`../../client/sdk/${name}.mjs`, import.meta.url).href);

/** What a further agent finds of extensions, skills, templates and context files. */
export class DefaultResourceLoader {
  #options;
  /** @type {any} */
  #own;
  /** @type {any[]} */
  #extensions = [];

  /** `agentDir` is pi's folder, and offshoot has its own. Settings and events are those of the further process. */
  constructor(/** @type {any} */ { agentDir: _folder, settingsManager: _settings, eventBus: _events, extensionsOverride, ...options } = {}) {
    this.#options = { extensionsOverride, ...options };
  }

  async reload() {
    const { extensionsOverride, ...options } = this.#options;
    const { additionalExtensionPaths = [], noExtensions } = options;
    const all = noExtensions ? [] : foundExtensions();
    const named = additionalExtensionPaths.map((path) => ({ path, resolvedPath: path, tools: new Map(), commands: new Map(), flags: new Map(), handlers: new Map() }));
    const base = { extensions: [...named, ...all], errors: [], runtime: {} };
    this.#extensions = (extensionsOverride?.(base) ?? base).extensions;
    const chosen = extensionsOverride ? { noExtensions: true, additionalExtensionPaths: this.#extensions.map(({ path }) => path) } : {};
    useThisProgram();
    const { DefaultResourceLoader: Loader } = await client("resources");
    this.#own = new Loader({ ...options, ...chosen });
    await this.#own.reload();
  }

  /** The client's, for a session. */
  async forSession() {
    if (!this.#own) await this.reload();
    return this.#own;
  }

  getExtensions = () => ({ extensions: this.#extensions, errors: [], runtime: {} });
  getSkills = () => this.#own?.getSkills() ?? { skills: [], diagnostics: [] };
  getPrompts = () => this.#own?.getPrompts() ?? { prompts: [], diagnostics: [] };
  getThemes = () => ({ themes: [], diagnostics: [] });
  getAgentsFiles = () => this.#own?.getAgentsFiles() ?? { agentsFiles: [] };
  getSystemPrompt = () => this.#own?.getSystemPrompt();
  getAppendSystemPrompt = () => this.#own?.getAppendSystemPrompt() ?? [];
}

/** The client starts the program that runs this host. */
function useThisProgram() {
  process.env.OFFSHOOT_BIN ||= process.env.OFFSHOOT_LAUNCHED;
}

/** pi's `createAgentSession`. What the further agent's extensions ask goes to the person of this one. */
export async function createAgentSession(/** @type {any} */ options = {}) {
  const { agentDir: _folder, authStorage: _keys, modelRegistry: _models, modelRuntime: _runtime, settingsManager: _settings, sessionManager, resourceLoader, ...rest } = options;
  useThisProgram();
  const [{ createAgentSession: create }, { SessionManager }] = await Promise.all([client("create"), client("session-manager")]);
  const cwd = rest.cwd ?? sessionManager?.getCwd() ?? process.cwd();
  const loader = resourceLoader instanceof DefaultResourceLoader ? await resourceLoader.forSession() : resourceLoader;
  const made = await create({ ...rest, cwd, sessionManager: chosenSession(SessionManager, sessionManager, cwd), ...(loader && { resourceLoader: loader }) });
  await made.session.bindExtensions({ uiContext: dialogs() });
  return made;
}

/** The client's choice of a session, for a manager of this host. */
function chosenSession(SessionManager, manager, cwd) {
  if (manager === undefined) return SessionManager.create(cwd);
  const file = manager.getSessionFile();
  if (file !== undefined) return SessionManager.open(file, undefined, cwd);
  return manager.isPersisted() ? SessionManager.create(cwd, manager.getSessionDir() || undefined) : SessionManager.inMemory(cwd);
}
