// Providers that an extension has made with pi's `createProvider`, in the shape of those that it describes: their own requests,
// keys and sign-in stay theirs.
import { access } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

const NATIVE = Symbol("native");

/** The provider that was given, of one that was adapted. */
export const nativeOf = (config) => config?.[NATIVE];

const context = {
  env: async (name) => process.env[name] || undefined,
  fileExists: (file) => access(file.replace(/^~(?=\/)/, homedir())).then(() => true, () => false),
};

/** What a person does to sign in, as pi's providers ask for it. */
const interaction = ({ signal, onAuth, onDeviceCode, onPrompt, onSelect, onProgress }) => ({
  signal,
  prompt: (prompt) => (prompt.type === "select" ? onSelect(prompt) : onPrompt(prompt)),
  notify(event) {
    if (event.type === "auth_url") onAuth(event);
    else if (event.type === "device_code") onDeviceCode(event);
    else onProgress(event.message);
  },
});

/** A provider as `registerProvider` describes one by its name. */
export function described(provider) {
  const { id, name, baseUrl, headers, auth } = provider;
  const { apiKey, oauth } = auth ?? {};
  const models = () => provider.getModels().map((model) => ({ ...model, baseUrl: model.baseUrl ?? baseUrl }));
  /** What the sign-in gives to requests. */
  let signedIn;
  const signIn = oauth && {
    name: oauth.name,
    isSubscription: oauth.isSubscription,
    login: (callbacks) => oauth.login(interaction(callbacks)),
    refreshToken: (credentials, signal) => oauth.refresh({ type: "oauth", ...credentials }, signal),
    async getApiKey(credentials) {
      signedIn = await oauth.toAuth({ type: "oauth", ...credentials });
      return signedIn.apiKey;
    },
  };
  const request = async (signal, given) => {
    if (signedIn && given === signedIn.apiKey) return signedIn;
    const found = await apiKey?.resolve({ ctx: context, signal });
    if (!found) throw new Error(`there is no key for ${name}`);
    return found.auth;
  };
  return {
    [NATIVE]: provider,
    ...{ name, baseUrl, headers, models: models(), api: models()[0]?.api, oauth: signIn },
    // Its own key is found at each request.
    ...(apiKey && { apiKey: "extension" }),
    async streamSimple(model, transcript, { apiKey: given, ...options }) {
      const { apiKey: key, headers: more, baseUrl: other } = await request(options.signal, given);
      const place = other ? { ...model, baseUrl: other } : model;
      return provider.streamSimple(place, transcript, { ...options, ...(key ? { apiKey: key } : {}), headers: { ...options.headers, ...more } });
    },
    ...(provider.refreshModels && { refreshModels: async (refresh) => (await provider.refreshModels(refresh), models()) }),
  };
}
