// An object that has every name of an interface of pi: ours where we have it, else a stub that throws when it is called.
import table from "./names.json" with { type: "json" };

/** Names that pi has and offshoot does not, per interface: `docs/extensions.md` lists them. */
export const stubs = {};

const NO_ROUTING = "offshoot chooses no model anew for each request, and a router would never be asked";

/** What is missing, by the name that needs it: `docs/extensions.md` says it too. */
export const REASONS = {
  ...{ registerVirtualModel: NO_ROUTING, unregisterVirtualModel: NO_ROUTING },
  classify: "none of offshoot's models is a classifier, which has a wire format of its own",
  generateImages: "none of offshoot's models makes pictures",
};

/** `members` are property descriptors' values or getters; `check` runs before each use. */
export function named(interfaceName, members, check = () => {}) {
  const made = {};
  const known = Object.getOwnPropertyDescriptors(members);
  for (const [name, descriptor] of Object.entries(known)) {
    const { value, get } = descriptor;
    if (get) Object.defineProperty(made, name, { enumerable: true, configurable: true, get: () => (check(), get.call(members)) });
    else if (typeof value === "function") define(made, name, (...args) => (check(), value.apply(members, args)));
    else define(made, name, value);
  }
  stubs[interfaceName] = [];
  for (const name of table.interfaces[interfaceName] ?? []) {
    if (name in made) continue;
    stubs[interfaceName].push(name);
    define(made, name, () => {
      throw new Error(`${interfaceName}.${name} of pi is not in offshoot: ${REASONS[name]}`);
    });
  }
  return made;
}

function define(object, name, value) {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}
