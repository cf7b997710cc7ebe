// Providers that extensions register: their streams, their refreshed models and their sign-in.
import { send } from "./channel.mjs";
import { call } from "./calls.mjs";

function providerOf(load, { ext, provider }) {
  const config = load.instance(ext).providers.get(provider);
  if (!config) throw new Error(`there is no provider ${provider}`);
  return config;
}

/** Questions of a sign-in, asked through offshoot. */
const signIn = (provider, signal) => ({
  signal,
  onAuth: (info) => void call("oauth.auth", { provider, ...info }),
  onDeviceCode: (info) => void call("oauth.deviceCode", { provider, ...info }),
  onPrompt: (prompt) => call("oauth.prompt", { provider, ...prompt }, { signal }),
  onManualCodeInput: () => call("oauth.prompt", { provider, message: "paste the code or the address here" }, { signal }),
  onSelect: (prompt) => call("oauth.select", { provider, ...prompt }, { signal }),
  onProgress: (message) => void call("oauth.progress", { provider, message }),
});

export const invocations = {
  async "provider.stream"(load, record, { abort }) {
    const { id, model, context, options } = record;
    const events = await providerOf(load, record).streamSimple(model, context, { ...options, signal: abort.signal, onPayload: (payload) => payload, onResponse() {} });
    let last;
    for await (const event of events) {
      if (event.type === "done" || event.type === "error") last = event.message ?? event.error;
      send({ t: "progress", id, update: event });
    }
    return last ?? (await events.result());
  },
  "provider.login": (load, record, { abort }) => providerOf(load, record).oauth.login(signIn(record.provider, abort.signal)),
  "provider.refreshToken": (load, record, { abort }) => providerOf(load, record).oauth.refreshToken(record.credentials, abort.signal),
  "provider.getApiKey": (load, record) => providerOf(load, record).oauth.getApiKey(record.credentials),
  "provider.modifyModels": (load, record) => providerOf(load, record).oauth.modifyModels?.(record.models, record.credentials) ?? record.models,
  "provider.refreshModels": (load, record, { abort }) => providerOf(load, record).refreshModels({ signal: abort.signal, publish() {} }),
};
