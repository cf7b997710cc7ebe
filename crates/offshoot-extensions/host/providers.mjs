// Providers that extensions register: their streams, their refreshed models and their sign-in.
import { send } from "./channel.mjs";
import { call } from "./calls.mjs";

function providerOf(load, { ext, provider }) {
  const config = load.instance(ext).providers.get(provider);
  if (!config) throw new Error(`there is no provider ${provider}`);
  return config;
}

/** Questions of a sign-in, asked through offshoot. They go when it is `over`: a code may come by itself while a person is asked for it. */
function signIn(provider, signal, over) {
  const asked = (method, /** @type {any} */ { signal: own, ...prompt }) =>
    call(method, { provider, ...prompt }, { signal: AbortSignal.any([signal, over, own].filter(Boolean)) });
  return {
    signal,
    onAuth: (info) => void call("oauth.auth", { provider, ...info }),
    onDeviceCode: (info) => void call("oauth.deviceCode", { provider, ...info }),
    onPrompt: (prompt) => asked("oauth.prompt", prompt),
    onManualCodeInput: () => asked("oauth.prompt", { message: "paste the code or the address here" }),
    onSelect: (prompt) => asked("oauth.select", prompt),
    onProgress: (message) => void call("oauth.progress", { provider, message }),
  };
}

/** Splits steps so that no text ends within a character: its first half waits for the next step of its block. */
function wholeCharacters() {
  const waiting = new Map();
  return (event) => {
    const { type = "", contentIndex } = event;
    const before = waiting.get(contentIndex) ?? "";
    if (type.endsWith("_delta")) {
      const text = before + (event.delta ?? "");
      const last = text.charCodeAt(text.length - 1);
      const end = last >= 0xd800 && last < 0xdc00 ? text.length - 1 : text.length;
      waiting.set(contentIndex, text.slice(end));
      return [{ ...event, delta: text.slice(0, end) }];
    }
    if (!type.endsWith("_end") || !before) return [event];
    waiting.delete(contentIndex);
    return [{ type: type.replace("_end", "_delta"), contentIndex, delta: before }, event];
  };
}

export const invocations = {
  async "provider.stream"(load, record, { abort }) {
    const { id, model, context, options, isHooked, wantsEvents } = record;
    const hooks = {
      onPayload: async (payload) => (isHooked ? ((await call("provider.payload", { payload })) ?? undefined) : undefined),
      onResponse: async ({ status, headers }) => (isHooked ? void (await call("provider.response", { status, headers })) : undefined),
      onProviderStreamEvent: async (data, { provider, api, id: name }) =>
        wantsEvents ? void (await call("provider.streamEvent", { data, provider, api, model: name })) : undefined,
    };
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
    const events = await providerOf(load, record).streamSimple(model, context, { ...given, ...hooks, signal: abort.signal });
    const split = wholeCharacters();
    let last;
    for await (const { partial, message, error, ...event } of events) {
      if (event.type === "done" || event.type === "error") last = message ?? error;
      // The answer so far is the sum of the steps; only the name of a call is nowhere else.
      const started = event.type === "toolcall_start" ? partial?.content?.[event.contentIndex] : undefined;
      const named = started ? { ...event, id: started.id, toolName: started.name } : event;
      for (const update of split(named)) send({ t: "progress", id, update });
    }
    return last ?? (await events.result());
  },
  async "provider.login"(load, record, { abort }) {
    const over = new AbortController();
    try {
      return await providerOf(load, record).oauth.login(signIn(record.provider, abort.signal, over.signal));
    } finally {
      over.abort();
    }
  },
  "provider.refreshToken": (load, record, { abort }) => providerOf(load, record).oauth.refreshToken(record.credentials, abort.signal),
  "provider.getApiKey": (load, record) => providerOf(load, record).oauth.getApiKey(record.credentials),
  "provider.modifyModels": (load, record) => providerOf(load, record).oauth.modifyModels?.(record.models, record.credentials) ?? record.models,
  /** What an extension wants to keep of its list is not kept: the list is read anew. */
  "provider.refreshModels"(load, record, { abort }) {
    const publish = async ({ update }) => (update?.(), true);
    return providerOf(load, record).refreshModels({ signal: abort.signal, publish, allowNetwork: true, force: false, credential: record.credential ?? undefined });
  },
};
