// The models that offshoot knows, and requests to them with its providers and keys.
import { ask } from "./channel.mjs";
import { call } from "./calls.mjs";
import { named } from "./named.mjs";
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
      getApiKey: async (model) => (await call("models.getApiKey", key(model)))?.apiKey,
      async getApiKeyForProvider(provider) {
        const model = all().find((known) => known.provider === provider);
        return model && (await call("models.getApiKey", key(model)))?.apiKey;
      },
      getProviderAuthStatus: (provider) => ({ configured: ask("models.getAvailable").some((model) => model.provider === provider) }),
      getProviderDisplayName: (provider) => provider,
      isUsingOAuth: (model) => ask("models.isUsingOAuth", key(model)) === true,
      refresh: async () => ({ models: all(), errors: [] }),
      stream,
      streamSimple: stream,
      complete,
      registerProvider: (...args) => api.registerProvider(...args),
      unregisterProvider: (name) => api.unregisterProvider(name),
      getProvider: () => undefined,
      async getProviderAuth(provider) {
        const model = all().find((known) => known.provider === provider);
        return model && ((await call("models.getApiKey", key(model))) ?? undefined);
      },
      getRegisteredProviderConfig: (name) => providers.get(name),
      getRegisteredNativeProvider: () => undefined,
      getRegisteredProviderIds: () => [...providers.keys()],
    },
    check,
  );
}
