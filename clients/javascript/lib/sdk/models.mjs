// Models and keys: the models of the program, and keys that count for the sessions of one runtime.

import { basename, dirname, resolve } from "node:path";

import { notHere } from "./missing.mjs";
import { environment, printed, printedSync } from "./places.mjs";

/** Variables whose names do not follow from the provider's. */
const VARIABLES = { google: "GEMINI_API_KEY", huggingface: "HF_TOKEN", "amazon-bedrock": "AWS_BEARER_TOKEN_BEDROCK" };
const ALL = ["models", "--all", "--json"];

/** A model as pi describes it. */
function ofPi(model) {
  const { provider, id, name, api, contextWindow, maxTokens, thinking = [], images, cost } = model;
  const reasoning = thinking.some((level) => level !== "off");
  return { id, name, api, provider, reasoning, input: images ? ["text", "image"] : ["text"], cost, contextWindow, maxTokens };
}

/** A built-in model, or one of models.json; `undefined` if there is none. */
export function getModel(provider, id) {
  const found = printedSync(ALL).find((model) => model.provider === provider && model.id === id);
  return found && ofPi(found);
}

export class ModelRuntime {
  #models;
  #keys = new Map();
  /** The data folder of the runtime; `undefined` for the usual one. */
  agentDir;

  /** Use `create`. */
  constructor(models, agentDir) {
    this.#models = models;
    this.agentDir = agentDir;
  }

  /** `authPath` and `modelsPath` name files of one folder, which becomes the data folder of the sessions. */
  static async create({ authPath, modelsPath } = {}) {
    const agentDir = folderOf({ "auth.json": authPath, "models.json": modelsPath });
    return new ModelRuntime(await printed(ALL, { env: environment(agentDir) }), agentDir);
  }

  getModel(provider, id) {
    return this.getModels(provider).find((model) => model.id === id);
  }

  getModels(provider) {
    return this.#models.filter((model) => provider === undefined || model.provider === provider).map(ofPi);
  }

  /** Those that can be asked with a key that is there. */
  async getAvailable() {
    return this.#models.filter((model) => model.usable || this.#keys.has(model.provider)).map(ofPi);
  }

  /** Counts for sessions that are created afterwards. A key of auth.json comes before it. */
  async setRuntimeApiKey(provider, key) {
    this.#keys.set(provider, key);
  }

  async removeRuntimeApiKey(provider) {
    this.#keys.delete(provider);
  }

  /** The keys as variables of the program: they are on no command line. */
  variables() {
    const name = (provider) => VARIABLES[provider] ?? `${provider.toUpperCase().replaceAll("-", "_")}_API_KEY`;
    return Object.fromEntries([...this.#keys].map(([provider, key]) => [name(provider), key]));
  }
}

function folderOf(files) {
  const folders = new Set();
  for (const [name, file] of Object.entries(files)) {
    if (file === undefined) continue;
    if (basename(file) !== name) throw notHere(`ModelRuntime.create with ${file}`, `the file has to be called ${name}`);
    folders.add(dirname(resolve(file)));
  }
  if (folders.size > 1) throw notHere("ModelRuntime.create with files of two folders", "both are in one data folder");
  return [...folders][0];
}
