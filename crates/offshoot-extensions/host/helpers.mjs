// What transformed TypeScript calls: its decorators, and `using` for a Node.js that lacks it.

/** Decorators of a class, or of a member of it, from the last to the first. */
export function decorate(decorators, target, key, descriptor) {
  const isMember = arguments.length > 2;
  let made = !isMember ? target : (descriptor === null ? Object.getOwnPropertyDescriptor(target, key) : descriptor);
  for (const decorator of decorators.toReversed()) {
    if (decorator) made = (isMember ? decorator(target, key, made) : decorator(made)) || made;
  }
  if (isMember && made) Object.defineProperty(target, key, made);
  return made;
}

export const decorateParam = (index, decorator) => (target, key) => decorator(target, key, index);

/** @type {any} A package may add `metadata`. */
const reflect = Reflect;

export const decorateMetadata = (key, value) => (typeof reflect.metadata === "function" ? reflect.metadata(key, value) : undefined);

/** What a block has to dispose of. */
export function usingCtx() {
  const open = [];
  const none = {};
  const context = {
    e: none,
    u: (value) => keep(value, false),
    a: (value) => keep(value, true),
    d: () => dispose(),
  };
  function keep(value, waits) {
    if (value === null || value === undefined) {
      if (waits) open.push({ waits });
      return value;
    }
    const end = (waits && value[Symbol.asyncDispose]) || value[Symbol.dispose];
    if (typeof end !== "function") throw new TypeError("Property [Symbol.dispose] is not a function.");
    open.push({ value, end, waits });
    return value;
  }
  const failed = (error) => (context.e = context.e === none ? error : Object.assign(new Error("An error was suppressed during disposal."), { name: "SuppressedError", error, suppressed: context.e }));
  function dispose() {
    while (open.length) {
      const { value, end, waits } = open.pop();
      try {
        const ended = end?.call(value);
        if (waits) return Promise.resolve(ended).then(dispose, (error) => (failed(error), dispose()));
      } catch (error) {
        failed(error);
      }
    }
    if (context.e !== none) throw context.e;
    return undefined;
  }
  return context;
}
