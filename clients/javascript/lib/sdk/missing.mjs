// What offshoot does not have, or cannot do for another process: each name says so when it is used.

import { OffshootError } from "../error.mjs";

/** The error of a name that has no body here. */
export function notHere(name, why) {
  return new OffshootError("notHere", `offshoot/sdk does not have ${name}: ${why}`);
}

/** A function of this name that throws. */
function missing(name, why) {
  return () => {
    throw notHere(name, why);
  };
}

/** Gives a class of pi's methods that throw. */
export function withoutMethods(prototype, owner, names, why) {
  for (const name of names) prototype[name] ??= missing(`${owner}.${name}`, why);
}

/** Refuses options that have a value and no effect. */
export function refuse(owner, options, reasons) {
  for (const [name, why] of Object.entries(reasons)) {
    if (options[name] !== undefined) throw notHere(`${owner}: ${name}`, why);
  }
}

/** Says once for each text what has no effect, where a program may go on. */
const said = new Set();
export function warn(text) {
  if (said.has(text)) return;
  said.add(text);
  process.emitWarning(text, "OffshootSdkWarning");
}

export const createCodemodeExtension = missing("createCodemodeExtension", "offshoot has no codemode");
export const createToolSearchExtension = missing("createToolSearchExtension", "offshoot has no tool search");
export const createMcpExtension = missing("createMcpExtension", "offshoot does not start the MCP servers of pi's configuration");

/** What a resource loader without extensions returns. */
export function createExtensionRuntime() {
  return {};
}
