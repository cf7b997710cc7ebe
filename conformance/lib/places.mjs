// Where things are on this machine: the two peers, the bun binary, folders for one run. The only file that looks.
import * as fs from "node:fs";
import { createRequire } from "node:module";
import * as os from "node:os";
import * as path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const HERE = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
export const REPOSITORY = path.dirname(HERE);

/** A folder that every machine has: the sessions of the corpus belong to it. */
export const PROJECT = "/usr";

/** Folder with the installed peers. CONFORMANCE_MODULES names another one. */
export const MODULES = process.env.CONFORMANCE_MODULES ?? path.join(HERE, "node_modules");

/** Whether pi is the newest one: newest.test.mjs runs the tests again with it. */
export const IS_NEWEST = process.env.CONFORMANCE_PI === "newest";

export function piPackage() {
  return IS_NEWEST ? newestPi() : path.join(MODULES, "@earendil-works/pi-coding-agent");
}

/** The newest pi, which needs a newer Node.js than the tests. */
export function newestPi() {
  return path.join(MODULES, "pi-1.6");
}

/** A package that pi depends on, such as pi-ai. */
export function besidePi(name) {
  const scoped = path.join("@earendil-works", name);
  return [path.join(piPackage(), "node_modules", scoped), path.join(MODULES, scoped)].find((folder) => fs.existsSync(folder));
}

/** What runs pi's command. bun also runs the older pi on an older Node.js than it asks for. */
export const piRunner = () => (IS_NEWEST ? process.execPath : bunBinary());

/** The Node.js that the newest pi is run with. */
export function newestNode() {
  return path.join(MODULES, "node-24/bin/node");
}

export function ompPackage() {
  return path.join(MODULES, "@oh-my-pi/pi-coding-agent");
}

/** The bun binary of the platform package, or the copy that bun's install script makes of it. */
export function bunBinary() {
  const scope = path.join(MODULES, "@oven");
  const platforms = fs.existsSync(scope) ? fs.readdirSync(scope).map((name) => path.join(scope, name, "bin/bun")) : [];
  const candidates = [process.env.CONFORMANCE_BUN, ...platforms, path.join(MODULES, "bun/bin/bun.exe")];
  const found = candidates.find((file) => file && fs.existsSync(file));
  if (!found) throw new Error(`no bun binary below ${MODULES}: run "npm ci --ignore-scripts" in ${HERE}`);
  return found;
}

/** A package of npm, of this folder or of the named one; null where neither has it. */
export async function library(name) {
  for (const from of [HERE, MODULES]) {
    try {
      return await import(pathToFileURL(createRequire(path.join(from, "any.js")).resolve(name)).href);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return null;
}

export function temporaryFolder(name) {
  return fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), `offshoot-conformance-${name}-`));
}

/** Environment in which no program finds the sessions or settings of the person who runs this. */
export function sealedEnvironment(folder) {
  const at = (name) => path.join(folder, name);
  return {
    TZ: "UTC",
    HOME: folder,
    OFFSHOOT_HOME: at("offshoot"),
    PI_CODING_AGENT_DIR: at("agent"),
    TERM: "dumb",
    NO_COLOR: "1",
    OMP_PROFILE: undefined,
    PI_PROFILE: undefined,
    PI_CONFIG_DIR: undefined,
    PI_CODING_AGENT_SESSION_DIR: undefined,
    XDG_DATA_HOME: at("data"),
    XDG_CACHE_HOME: at("cache"),
    XDG_STATE_HOME: at("state"),
    XDG_CONFIG_HOME: at("config"),
  };
}
