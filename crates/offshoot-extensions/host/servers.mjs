// MCP servers that extensions register: the entries are kept here, and offshoot connects them.

let order = 0;

const EXPOSURES = ["codemode", "codemode-deferred", "deferred", "direct", "hidden"];
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value) => isObject(value) && Object.values(value).every((text) => typeof text === "string");
const isCount = (value) => typeof value === "number" && Number.isFinite(value) && value > 0;

/** What is wrong with each member, if it is there. */
const MEMBERS = {
  type: (value) => ["stdio", "http", "streamable-http"].includes(value) || "type is not stdio or http",
  command: (value) => (typeof value === "string" && value !== "") || "command is not a text",
  url: (value) => (typeof value === "string" && /^https?:\/\//.test(value)) || "url is not an address of http or https",
  args: (value) => (Array.isArray(value) && value.every((text) => typeof text === "string")) || "args is not a list of texts",
  env: (value) => isTexts(value) || "env is not an object of texts",
  headers: (value) => isTexts(value) || "headers is not an object of texts",
  cwd: (value) => typeof value === "string" || "cwd is not a text",
  description: (value) => typeof value === "string" || "description is not a text",
  enabled: (value) => typeof value === "boolean" || "enabled is not true or false",
  timeout: (value) => isCount(value) || "timeout is not a number of seconds above 0",
  oauth: (value) => value === false || isObject(value) || "oauth is not an object",
  exposure: (value) => EXPOSURES.includes(value) || `exposure is not one of ${EXPOSURES.join(", ")}`,
  toolExposure: (value) => (isObject(value) && Object.values(value).every((one) => EXPOSURES.includes(one))) || "toolExposure does not map tools to exposures",
};

function trouble(name, config) {
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]+$/.test(name)) return "its name has other characters than letters, digits, _ and -";
  if (!isObject(config)) return "its configuration is not an object";
  if (config.command !== undefined && config.url !== undefined) return "it has both command and url";
  if (config.type === "sse") return "sse is the old transport, which is not spoken";
  if (config.command === undefined && config.url === undefined) return "it has neither command nor url";
  for (const [member, check] of Object.entries(MEMBERS)) {
    const said = config[member] === undefined || check(config[member]);
    if (said !== true) return said;
  }
  return null;
}

const spaceOf = (name) => name.replaceAll("-", "_");

/** The members of `pi` that register servers. `all` gives the instances of the load. */
export function serverMembers(instance, all, { tell, gone }) {
  const registered = () =>
    all()
      .filter(({ state }) => state === "active" || state === "loading")
      .flatMap((one) => [...one.mcpServers.values()])
      .sort((one, other) => one.order - other.order);
  return {
    registerMcpServer(name, config) {
      const wrong = trouble(name, config);
      if (wrong) throw new Error(`the MCP server ${name} of ${instance.path} cannot be registered: ${wrong}`);
      for (const server of registered()) {
        const isOther = server.extensionPath !== instance.path;
        if (server.name === name && isOther) throw new Error(`the MCP server ${name} is registered by ${server.extensionPath} already`);
        if (server.name !== name && spaceOf(server.name) === spaceOf(name)) throw new Error(`the MCP server ${name} has the name of ${server.name} but for - and _`);
      }
      const before = instance.mcpServers.get(name)?.order;
      instance.mcpServers.set(name, { name, config: structuredClone(config), extensionPath: instance.path, order: before ?? ++order });
      tell({ mcpServers: [describeServer(instance.mcpServers.get(name))] });
    },
    unregisterMcpServer(name) {
      if (instance.mcpServers.delete(name)) gone({ mcpServers: [name] });
    },
    getMcpServers: () => registered().map(({ name, config, extensionPath }) => ({ name, config: structuredClone(config), extensionPath })),
  };
}

export function describeServer({ name, config }) {
  return { name, config };
}
