// What extensions import from oh-my-pi's pi-utils.
export { default as chalk } from "./chalk.mjs";

/** oh-my-pi writes these to a file of its own; offshoot keeps no such file. */
/** @type {Record<string, (...args: any[]) => any>} */
export const logger = Object.fromEntries(["error", "warn", "info", "debug", "time", "timeAsync"].map((level) => [level, () => {}]));
logger.time = (_name, act, ...args) => (typeof act === "function" ? act(...args) : undefined);

export const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
export const isEnoent = (error) => error?.code === "ENOENT";
