// The clients of offshoot: sessions (`offshoot api`) and the agent (`offshoot --mode rpc`).

export { OffshootAgent } from "./lib/agent.mjs";
export { OffshootError } from "./lib/error.mjs";
export { findProgram } from "./lib/find.mjs";
export { OffshootSessions, Session } from "./lib/sessions.mjs";
