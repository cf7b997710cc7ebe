// The extensions that run now, as pi's resource loader lists them. Knows neither how they are loaded nor who asks.

/** @type {() => any[]} */
let list = () => [];

/** From now on these count. */
export function setLoaded(instances) {
  list = instances;
}

/** Those that a further agent finds by itself: no extensions of the command line, and no hooks and tools of 0.31. */
export const foundExtensions = () =>
  list()
    .filter(({ kind, origin, state }) => kind === "extension" && origin !== "flag" && state === "active")
    .map(({ path, tools, commands, flags, handlers }) => ({
      ...{ path, resolvedPath: path, tools: new Map([...tools].map(([name, definition]) => [name, { definition }])) },
      ...{ commands: new Map(commands), flags: new Map(flags), handlers: new Map(handlers) },
    }));

/** The dialogs with the person, of the first extension that runs. */
export const dialogs = () => list().find(({ state }) => state === "active")?.contexts?.event.ui;
