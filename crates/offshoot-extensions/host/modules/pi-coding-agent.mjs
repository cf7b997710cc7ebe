// What extensions import from pi-coding-agent, where the user has no pi.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Bus } from "../bus.mjs";
export { selectListTheme as getSelectListTheme, Theme } from "../theme.mjs";
export * from "./agent/conversation.mjs";
export * from "./agent/estimates.mjs";
export { generateDiffString, generateUnifiedPatch } from "./agent/diff.mjs";
export * from "./agent/files.mjs";
export { createAgentSession, DefaultResourceLoader } from "./agent/further-agents.mjs";
export * from "./agent/look.mjs";
export * from "./agent/tools.mjs";
export * from "./agent/truncate.mjs";
export { SessionManager } from "./agent/session-files.mjs";
export { SettingsManager } from "./agent/settings.mjs";

/** The version of pi whose interface this is. */
export const VERSION = "0.87.1";
export const initTheme = () => {};
/** Where pi's files would be: here, these modules. */
export const getPackageDir = () => process.env.PI_PACKAGE_DIR || fileURLToPath(new URL(".", import.meta.url)).replace(/\/$/, "");
export const CURRENT_SESSION_VERSION = 3;
export const getShellConfig = (shell = "/bin/bash") => ({ shell, args: ["-c"] });

export function createEventBus() {
  const bus = new Bus(() => {});
  return { emit: (channel, data) => bus.emit(channel, data), on: (channel, handler) => bus.on(channel, handler), clear: () => bus.forget(undefined) };
}

/** Through the program that this system has for it. */
export async function copyToClipboard(text) {
  const programs = process.platform === "darwin" ? [["pbcopy"]] : [["wl-copy"], ["xclip", "-selection", "clipboard"], ["xsel", "-ib"]];
  for (const [program, ...args] of programs) {
    const copied = await new Promise((resolve) => {
      const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"] });
      child.on("error", () => resolve(false));
      child.on("close", (code) => resolve(code === 0));
      child.stdin.on("error", () => {});
      child.stdin.end(text);
    });
    if (copied) return;
  }
  throw new Error("no program for the clipboard is installed: wl-copy, xclip or xsel");
}

/** Pictures are sent as they are. */
export const resizeImage = async (image) => ({ ...image, data: image.data, mimeType: image.mimeType, wasResized: false });
export const formatDimensionNote = () => undefined;
