// pi's SDK over `offshoot --mode rpc`: the names that the SDK examples of pi 1.6.0 use. README.md lists what differs.

export { createAgentSession, createAgentSessionFromServices, createAgentSessionServices } from "./lib/sdk/create.mjs";
export { AgentSessionRuntime, createAgentSessionRuntime } from "./lib/sdk/runtime.mjs";
export { AgentSession } from "./lib/sdk/session.mjs";
export { SessionManager } from "./lib/sdk/session-manager.mjs";
export { SettingsManager } from "./lib/sdk/settings-manager.mjs";
export { DefaultResourceLoader, createSyntheticSourceInfo } from "./lib/sdk/resources.mjs";
export { ModelRuntime, getModel } from "./lib/sdk/models.mjs";
export { getAgentDir } from "./lib/sdk/places.mjs";
export {
  createCodemodeExtension,
  createExtensionRuntime,
  createMcpExtension,
  createToolSearchExtension,
} from "./lib/sdk/missing.mjs";
