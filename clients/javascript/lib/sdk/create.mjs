// From pi's options to a running program with a session.

import { existsSync } from "node:fs";
import { resolve } from "node:path";

import { OffshootAgent } from "../agent.mjs";
import { OffshootError } from "../error.mjs";
import { notHere, refuse } from "./missing.mjs";
import { environment } from "./places.mjs";
import { SessionFiles, loaderArgs } from "./resources.mjs";
import { AgentSession } from "./session.mjs";
import { SessionManager } from "./session-manager.mjs";

const REASONS = {
  customTools: "functions of this process cannot run in offshoot's; register the tool in an extension",
  authStorage: "keys are those of offshoot; ModelRuntime.setRuntimeApiKey gives one to a session",
};

/** A program with a session, and pi's object over it. */
export async function createAgentSession(options = {}) {
  const { agent, files } = await start(options);
  const session = new AgentSession(agent, files);
  try {
    for (const [command, members] of options.settingsManager?.forSession().commands ?? []) await agent.call(command, members);
    await session.refresh();
  } catch (error) {
    await session.dispose();
    throw error;
  }
  return { session, extensionsResult: { extensions: [], errors: [], runtime: {} }, modelFallbackMessage: undefined };
}

async function start(options) {
  refuse("createAgentSession", options, REASONS);
  const { sessionManager = SessionManager.create(options.cwd ?? process.cwd()), settingsManager, modelRuntime, resourceLoader } = options;
  if (!(sessionManager instanceof SessionManager)) throw notHere("createAgentSession: sessionManager", "it has to be one of offshoot/sdk");
  const cwd = resolve(options.cwd ?? sessionManager.getCwd());
  if (!existsSync(cwd)) throw new OffshootError("startFailed", `there is no folder ${cwd} for the session`);
  const files = new SessionFiles();
  const args = [
    ...sessionManager.args,
    ...loaderArgs(resourceLoader, files),
    ...(settingsManager?.forSession().args ?? []),
    ...chosen(options),
  ];
  const env = environment(options.agentDir ?? modelRuntime?.agentDir, modelRuntime?.variables());
  try {
    return { agent: await OffshootAgent.start({ args, cwd, env }), files };
  } catch (error) {
    files.remove();
    throw error;
  }
}

/** After the settings: the last option counts. */
function chosen({ model, thinkingLevel, scopedModels, tools, excludeTools, noTools }) {
  const names = (list) => list.map((tool) => (typeof tool === "string" ? tool : tool.name)).join(",");
  return [
    ...(model === undefined ? [] : ["--provider", model.provider, "--model", model.id]),
    ...(thinkingLevel === undefined ? [] : ["--thinking", thinkingLevel]),
    ...(scopedModels?.length ? ["--models", scopedModels.map(({ model: scoped }) => `${scoped.provider}/${scoped.id}`).join(",")] : []),
    ...(noTools === undefined ? [] : [noTools === "builtin" ? "--no-builtin-tools" : "--no-tools"]),
    ...(tools === undefined ? [] : ["--tools", names(tools)]),
    ...(excludeTools === undefined ? [] : ["--exclude-tools", names(excludeTools)]),
  ];
}

/** What the sessions of one folder share. */
export async function createAgentSessionServices({ cwd, ...options }) {
  refuse("createAgentSessionServices", options, { resourceLoaderOptions: "give createAgentSession a resourceLoader" });
  return { cwd: resolve(cwd), ...options, diagnostics: [] };
}

export async function createAgentSessionFromServices({ services, sessionManager, sessionStartEvent: _, ...options }) {
  const { diagnostics: _none, ...shared } = services;
  return createAgentSession({ ...shared, sessionManager, ...options });
}
