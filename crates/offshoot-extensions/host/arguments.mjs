// Arguments of a tool's call: converted to the types of the tool's schema as pi does, or refused with what does not fit.
import { Check, Errors } from "./modules/schema.mjs";

/** The arguments as the tool gets them. Throws if they do not fit; the model reads the message. */
export function preparedArguments(tool, given) {
  const prepared = tool.prepareArguments ? tool.prepareArguments(given) : given;
  if (typeof tool.parameters !== "object" || tool.parameters === null) return prepared;
  const fitted = converted(tool.parameters, prepared);
  const errors = Errors(tool.parameters, fitted);
  if (!errors.length) return fitted;
  const lines = errors.map(({ path, message }) => `  - ${path.slice(1).replaceAll("/", ".") || "arguments"}: ${message}`);
  throw new Error(`the arguments of ${tool.name} do not fit its schema:\n${lines.join("\n")}\n\nReceived:\n${JSON.stringify(given, null, 2)}`);
}

/** A copy of the value with the schema's types, as far as one can be read as the other. */
function converted(schema, value) {
  for (const each of schema.allOf ?? []) value = converted(each, value);
  const ways = schema.anyOf ?? schema.oneOf;
  if (ways && !ways.some((each) => Check(each, value))) {
    const way = ways.find((each) => Check(each, converted(each, value)));
    if (way) value = converted(way, value);
  }
  const types = [schema.type ?? ("const" in schema ? typeof schema.const : [])].flat();
  if (types.length === 0 || (types.length > 1 && Check({ type: types }, value))) return value;
  for (const type of types) {
    const made = CONVERSIONS[type]?.(value, schema);
    if (made !== undefined && made !== value) return made;
  }
  return value;
}

const CONVERSIONS = {
  number: numberFrom,
  integer: (value) => {
    const number = numberFrom(value);
    return number === undefined ? undefined : Math.trunc(number);
  },
  boolean: (value) => ({ true: true, 1: true, false: false, 0: false, null: false })[isPlain(value) ? String(value) : "–"],
  string: (value) => (isPlain(value) ? String(value) : undefined),
  array: (value, { items }) => (Array.isArray(value) ? value : [value]).map((each, at) => convertedBy(Array.isArray(items) ? items[at] : items, each)),
  object: (value, schema) => (typeof value === "object" && value !== null && !Array.isArray(value) ? Object.fromEntries(members(schema, value)) : undefined),
};

const isPlain = (value) => value === null || ["string", "number", "boolean"].includes(typeof value);
const convertedBy = (schema, value) => (schema ? converted(schema, value) : value);

function numberFrom(value) {
  if (!isPlain(value)) return undefined;
  const number = value === "true" ? 1 : value === "false" ? 0 : Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** The members with their values converted. An optional one that is null, and may not be, is left out. */
function members({ properties = {}, required = [], patternProperties = {}, additionalProperties }, value) {
  const others = Object.values(patternProperties)[0] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
  const own = (name) => (Object.hasOwn(properties, name) ? properties[name] : others);
  const isLeftOut = (name) => value[name] === null && Object.hasOwn(properties, name) && !required.includes(name) && !Check(properties[name], null);
  return Object.keys(value).filter((name) => !isLeftOut(name)).map((name) => [name, convertedBy(own(name), value[name])]);
}
