// What an import gives, as pi's loader gives it: a package in CommonJS has its names, its default and its members at once, and a name that
// is not there is undefined.

/** A value of a binding; one that has no value yet, in a cycle, is undefined. */
function peek(target, name) {
  try {
    return target[name];
  } catch (error) {
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}

const isObject = (value) => value !== null && (typeof value === "object" || typeof value === "function");
const isClass = (value) => Function.prototype.toString.call(value).startsWith("class");

/** A function of a default export that is called by its name alone keeps its `this`. */
const owned = (value, owner) => new Proxy(value, { apply: (target, given, args) => Reflect.apply(target, given ?? owner, args) });

const views = new WeakMap();

/** A module as its importers see it. */
export function view(module) {
  if (!isObject(module)) return { __esModule: true, default: module };
  if (!views.has(module)) views.set(module, made(module));
  return views.get(module);
}

function made(module) {
  const members = new Map();
  const member = (name, owner) => {
    const value = peek(owner, name);
    if (typeof value !== "function" || isClass(value)) return value;
    if (members.get(name)?.value !== value) members.set(name, { value, bound: owned(value, owner) });
    return members.get(name).bound;
  };
  return new Proxy(module, {
    get(target, name) {
      if (name === "__esModule") return true;
      const own = peek(target, "default");
      if (name === "default") {
        if (own === null || own === undefined) return target;
        return typeof own.default === "function" && peek(target, "__esModule") ? own.default : own;
      }
      if (name in target) return peek(target, name);
      return isObject(own) && !(own instanceof Promise) ? member(name, own) : undefined;
    },
  });
}

/** A file of JSON as its importers see it. */
export function jsonView(value) {
  return isObject(value) && !Array.isArray(value) ? { ...value, default: value } : { default: value };
}
