// Schemas as zod makes them, as far as parameters of tools need them: each knows its JSON Schema and parses a value.
import { Errors } from "./schema.mjs";

/** `json` is the schema, `isOptional` and `fallback` what holds where there is no value, `inner` fills in the defaults below. */
class Schema {
  /** @type {any} */ shape;

  /**
   * @param {any} json
   * @param {{isOptional?: boolean, fallback?: any, inner?: (value: any) => any, checks?: any[]}} [members]
   */
  constructor(json, { isOptional = false, fallback = undefined, inner = (value) => value, checks = [] } = {}) {
    this.json = json;
    this.isOptional = isOptional;
    this.fallback = fallback;
    this.inner = inner;
    this.checks = checks;
  }

  #with(json, members = {}) {
    const { isOptional, fallback, inner, checks, shape } = this;
    const made = new Schema({ ...this.json, ...json }, { isOptional, fallback, inner, checks, ...members });
    return Object.assign(made, shape ? { shape } : {});
  }

  describe(description) {
    return this.#with({ description });
  }
  optional() {
    return this.#with({}, { isOptional: true });
  }
  nullish() {
    return this.nullable().optional();
  }
  nullable() {
    const { description, ...json } = this.json;
    return new Schema({ anyOf: [json, { type: "null" }], ...(description ? { description } : {}) }, { ...this, inner: (value) => (value === null ? null : this.inner(value)) });
  }
  default(value) {
    const fallback = typeof value === "function" ? value : () => value;
    return this.#with({ default: fallback() }, { isOptional: true, fallback });
  }
  min(least) {
    return this.#with({ [{ string: "minLength", array: "minItems" }[this.json.type] ?? "minimum"]: least });
  }
  max(most) {
    return this.#with({ [{ string: "maxLength", array: "maxItems" }[this.json.type] ?? "maximum"]: most });
  }
  length(count) {
    return this.min(count).max(count);
  }
  int() {
    return this.#with({ type: "integer" });
  }
  positive() {
    return this.#with({ exclusiveMinimum: 0 });
  }
  nonnegative() {
    return this.min(0);
  }
  nonempty() {
    return this.min(1);
  }
  regex({ source }) {
    return this.#with({ pattern: source });
  }
  url() {
    return this.#with({ format: "uri" });
  }
  email() {
    return this.#with({ format: "email" });
  }
  uuid() {
    return this.#with({ format: "uuid" });
  }
  strict() {
    return this.#with({ additionalProperties: false });
  }
  passthrough() {
    return this.#with({ additionalProperties: true }, { inner: (value) => ({ ...value, ...this.inner(value) }) });
  }
  loose() {
    return this.passthrough();
  }
  strip() {
    return this;
  }
  array() {
    return z.array(this);
  }
  or(other) {
    return z.union([this, other]);
  }
  extend(shape) {
    return z.object({ ...this.shape, ...(shape.shape ?? shape) });
  }
  merge(other) {
    return this.extend(other.shape);
  }
  partial() {
    return z.object(Object.fromEntries(Object.entries(this.shape).map(([name, each]) => [name, each.optional()])));
  }
  pick(names) {
    return z.object(Object.fromEntries(Object.entries(this.shape).filter(([name]) => names[name])));
  }
  omit(names) {
    return z.object(Object.fromEntries(Object.entries(this.shape).filter(([name]) => !names[name])));
  }
  refine(check, told) {
    return this.#with({}, { checks: [...this.checks, [check, typeof told === "string" ? told : (told?.message ?? "is not allowed")]] });
  }
  transform(change) {
    return this.#with({}, { inner: (value) => change(this.inner(value)) });
  }

  /** `{success, data}` or `{success, error}`. */
  safeParse(value) {
    const filled = value === undefined && this.fallback ? this.fallback() : value;
    if (filled === undefined && this.isOptional) return { success: true, data: undefined };
    const issues = Errors(this.json, filled).map(({ path, message }) => ({ path: path.split("/").slice(1), message }));
    for (const [check, message] of issues.length ? [] : this.checks) if (!check(filled)) issues.push({ path: [], message });
    if (!issues.length) return { success: true, data: this.inner(filled) };
    const message = issues.map(({ path, message: why }) => `${path.join(".") || "the value"} ${why}`).join("; ");
    return { success: false, error: Object.assign(new Error(message), { issues }) };
  }

  parse(value) {
    const { success, data, error } = this.safeParse(value);
    if (!success) throw error;
    return data;
  }
}

/** A recursive schema has no end: below this depth anything fits. */
const DEEPEST = 4;
let depth = 0;

const make = (json, members) => new Schema(json, members);
const jsons = (all) => all.map(({ json }) => json);

export const z = {
  string: () => make({ type: "string" }),
  number: () => make({ type: "number" }),
  int: () => make({ type: "integer" }),
  boolean: () => make({ type: "boolean" }),
  null: () => make({ type: "null" }),
  any: () => make({}),
  unknown: () => make({}),
  literal: (value) => make({ const: value, ...(value === null ? {} : { type: typeof value }) }),
  enum: (values) => make({ type: "string", enum: Array.isArray(values) ? [...values] : Object.values(values) }),
  nativeEnum: (values) => make({ enum: Object.values(values) }),
  array: (items) => make({ type: "array", items: items.json }, { inner: (value) => value.map((each) => items.inner(each)) }),
  tuple: (items) => make({ type: "array", items: jsons(items), minItems: items.length, maxItems: items.length }),
  union: (all) => make({ anyOf: jsons(all) }, { inner: (value) => (all.find((each) => each.safeParse(value).success) ?? all[0]).inner(value) }),
  discriminatedUnion: (_key, all) => z.union(all),
  intersection: (first, second) => make({ allOf: jsons([first, second]) }),
  record: (key, value = key) => make({ type: "object", additionalProperties: value.json }),
  lazy(of) {
    if (depth === DEEPEST) return make({});
    depth += 1;
    try {
      return of();
    } finally {
      depth -= 1;
    }
  },
  object(shape = {}) {
    const required = Object.keys(shape).filter((name) => !shape[name].isOptional);
    const properties = Object.fromEntries(Object.entries(shape).map(([name, each]) => [name, each.json]));
    const inner = (value) => {
      const kept = {};
      for (const [name, each] of Object.entries(shape)) {
        const given = value[name] === undefined && each.fallback ? each.fallback() : value[name];
        if (given !== undefined) kept[name] = each.inner(given);
      }
      return kept;
    };
    const made = make({ type: "object", properties, ...(required.length ? { required } : {}) }, { inner });
    return Object.assign(made, { shape });
  },
  strictObject: (shape) => z.object(shape).strict(),
  looseObject: (shape) => z.object(shape).passthrough(),
  toJSONSchema: (schema) => schemaOf(schema),
};

/** The JSON Schema of what a tool has as its parameters: of these schemas, of zod's own, or the schema itself. */
export function schemaOf(schema) {
  if (schema instanceof Schema) return schema.json;
  if (typeof schema?.toJSONSchema === "function") return schema.toJSONSchema();
  return schema;
}
