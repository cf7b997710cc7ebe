// The models that offshoot knows, and requests to them with its providers and keys.
import { ask } from "./channel.mjs";
import { call } from "./calls.mjs";
import { named } from "./named.mjs";
import { nativeOf } from "./native.mjs";
import { AssistantStream } from "./stream.mjs";

const key = ({ provider, id }) => ({ provider, id });

/** A request to a model through offshoot, as pi's stream of events. */
export function stream(model, context, options = {}) {
  const { signal, onPayload, onResponse, ...plain } = options;
  const events = new AssistantStream();
  const onProgress = (event) => events.push(event);
  call("models.stream", { ...key(model), model, context, options: plain }, { signal, onProgress }).then(
    (message) => events.end(message),
    (error) => events.end(failed(model, error, signal)),
  );
  return events;
}

/** Requests never throw in pi: what went wrong is a message. */
function failed(model, error, signal) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    ...{ role: "assistant", content: [], api: model.api, provider: model.provider, model: model.id, timestamp: Date.now() },
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
    ...{ stopReason: signal?.aborted ? "aborted" : "error", errorMessage: error.message },
  };
}

export const complete = (model, context, options) => stream(model, context, options).result();

async function keyOf(model) {
  const found = await call("models.getApiKey", key(model));
  return found ? { ok: true, ...found } : { ok: false, error: `there is no key for ${model.provider}` };
}

const ofProvider = (models, provider) => (provider === undefined ? models : models.filter((model) => model.provider === provider));
const nameOf = (config) => config?.name ?? config?.oauth?.name;

/** A provider as pi's: its models, and requests to them through offshoot. It has what offshoot knows of it. */
function viewOf(id, models, config) {
  if (models.length === 0) return undefined;
  const name = nameOf(config) ?? id;
  const resolve = async () => {
    const found = await call("models.getApiKey", key(models[0]));
    return found ? { auth: found } : undefined;
  };
  return { id, name, baseUrl: models[0].baseUrl, auth: { apiKey: { name, resolve } }, getModels: () => models, stream, streamSimple: stream };
}

/** `api` registers providers for the extension that asks, `providers` are those that it has registered. */
export function modelRegistry(api, providers, check) {
  const all = () => ask("models.getAll");
  return named(
    "ModelRegistry",
    {
      getAll: all,
      getAvailable: () => ask("models.getAvailable"),
      find: (provider, id) => ask("models.find", { provider, id }),
      hasConfiguredAuth: (model) => ask("models.getAvailable").some(({ provider }) => provider === model.provider),
      getError: () => undefined,
      getApiKeyAndHeaders: keyOf,
      /** 0.31 asked with a model. */
      getApiKey: async (model) => (await call("models.getApiKey", key(model)))?.apiKey ?? undefined,
      async getApiKeyForProvider(provider) {
        const model = all().find((known) => known.provider === provider);
        return (model && (await call("models.getApiKey", key(model)))?.apiKey) ?? undefined;
      },
      getProviderAuthStatus: (provider) => ({ configured: ask("models.getAvailable").some((model) => model.provider === provider) }),
      getProviderDisplayName: (provider) => nameOf(providers.get(provider)) ?? provider,
      isUsingOAuth: (model) => ask("models.isUsingOAuth", key(model)) === true,
      refresh: async () => ({ models: all(), errors: [] }),
      stream,
      streamSimple: stream,
      complete,
      registerProvider: (...args) => api.registerProvider(...args),
      unregisterProvider: (name) => api.unregisterProvider(name),
      getProvider: (provider) => nativeOf(providers.get(provider)) ?? viewOf(provider, all().filter((model) => model.provider === provider), providers.get(provider)),
      async getProviderAuth(provider) {
        const model = all().find((known) => known.provider === provider);
        return model && ((await call("models.getApiKey", key(model))) ?? undefined);
      },
      getRegisteredProviderConfig: (name) => (nativeOf(providers.get(name)) ? undefined : providers.get(name)),
      getRegisteredNativeProvider: (name) => nativeOf(providers.get(name)),
      // Models that answer with other things than words are not in offshoot: `classify` and `generateImages` throw.
      findOfType: (type, provider, id) => (type === "chat" ? ask("models.find", { provider, id }) : undefined),
      getModelOfType: (type, provider, id) => (type === "chat" ? ask("models.find", { provider, id }) : undefined),
      getModelsOfType: (type, provider) => ofProvider(type === "chat" ? all() : [], provider),
      getAvailableOfType: async (type, provider) => ofProvider(type === "chat" ? ask("models.getAvailable") : [], provider),
      getRegisteredProviderIds: () => [...providers.keys()],
    },
    check,
  );
}
