// Schemas as typebox makes them, as far as parameters of tools need them.
export { Check, Errors } from "./schema.mjs";
import { Check, Errors } from "./schema.mjs";

const OPTIONAL = Symbol.for("offshoot.optional");
const optional = (schema, on) => Object.defineProperty({ ...schema }, OPTIONAL, { value: on });
const isOptional = (schema) => schema?.[OPTIONAL] === true;

function object(properties = {}, options = {}) {
  const required = Object.keys(properties).filter((name) => !isOptional(properties[name]));
  return { type: "object", ...(required.length ? { required } : {}), properties, ...options };
}

const typed = (type) => (options = {}) => ({ type, ...options });
const some = (schema, names) => Object.fromEntries(Object.entries(schema.properties).filter(([name]) => names.includes(name)));

export const Type = {
  Object: object,
  String: typed("string"),
  Number: typed("number"),
  Integer: typed("integer"),
  Boolean: typed("boolean"),
  Null: typed("null"),
  Any: (options = {}) => ({ ...options }),
  Unknown: (options = {}) => ({ ...options }),
  Never: (options = {}) => ({ not: {}, ...options }),
  Array: (items, options = {}) => ({ type: "array", items, ...options }),
  Tuple: (items, options = {}) => ({ type: "array", additionalItems: false, items, minItems: items.length, ...options }),
  Literal: (value, options = {}) => ({ type: typeof value, const: value, ...options }),
  Union: (anyOf, options = {}) => ({ anyOf, ...options }),
  Intersect: (allOf, options = {}) => ({ allOf, ...options }),
  Enum: (values, options = {}) => ({ enum: Array.isArray(values) ? values : Object.values(values), ...options }),
  Record: (key, value, options = {}) => ({ type: "object", patternProperties: { [key.pattern ?? "^.*$"]: value }, ...options }),
  Unsafe: (schema = {}) => ({ ...schema }),
  Optional: (schema) => optional(schema, true),
  Required: (schema) => object(Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, optional(each, false)]))),
  Partial: (schema, options = {}) => object(Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, optional(each, true)])), options),
  Pick: (schema, names, options = {}) => object(some(schema, names), options),
  Omit: (schema, names, options = {}) => object(some(schema, Object.keys(schema.properties).filter((name) => !names.includes(name))), options),
  Composite: (schemas, options = {}) => object(Object.assign({}, ...schemas.map(({ properties }) => properties)), options),
  KeyOf: (schema, options = {}) => ({ anyOf: Object.keys(schema.properties).map((name) => ({ type: "string", const: name })), ...options }),
  Readonly: (schema) => schema,
  Ref: (name, options = {}) => ({ $ref: typeof name === "string" ? name : name.$id, ...options }),
  Date: typed("string"),
  RegExp: (pattern, options = {}) => ({ type: "string", pattern: pattern.source ?? pattern, ...options }),
  Undefined: (options = {}) => ({ type: "undefined", ...options }),
};
export const StringEnum = (values, /** @type {any} */ { description, default: value } = {}) => ({ type: "string", enum: [...values], ...(description ? { description } : {}), ...(value === undefined ? {} : { default: value }) });

export const Value = { Check, Errors: (schema, value) => Errors(schema, value), Parse: parse, Decode: parse, Clean: (schema, value) => value, Convert: (schema, value) => value, Default: (schema, value) => value };
function parse(schema, value) {
  const problems = Errors(schema, value);
  if (problems.length) throw new Error(problems.map(({ path, message }) => `${path || "/"} ${message}`).join("; "));
  return value;
}
export const Compile = (schema) => ({ Check: (value) => Check(schema, value), Errors: (value) => Errors(schema, value), Parse: (value) => parse(schema, value) });
export const TypeCompiler = { Compile };
export const Kind = Symbol.for("TypeBox.Kind");
export default Type;
