// Whether a value fits a JSON Schema, for the keywords that schemas of tools use.

const TYPES = {
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  undefined: (value) => value === undefined,
};

/** What does not fit: `{path, message}`. */
export function Errors(schema, value, path = "") {
  const found = [];
  const fail = (message) => found.push({ path, instancePath: path, message });
  const types = schema.type === undefined ? [] : [schema.type].flat();
  if (types.length && !types.some((type) => TYPES[type]?.(value))) {
    fail(`must be ${types.join(" or ")}`);
    return found;
  }
  if (schema.enum && !schema.enum.includes(value)) fail(`must be one of ${schema.enum.join(", ")}`);
  if ("const" in schema && schema.const !== value) fail(`must be ${JSON.stringify(schema.const)}`);
  if (schema.anyOf && !schema.anyOf.some((each) => Check(each, value))) fail("fits none of the alternatives");
  for (const each of schema.allOf ?? []) found.push(...Errors(each, value, path));
  if (typeof value === "number") {
    if (value < schema.minimum) fail(`must be at least ${schema.minimum}`);
    if (value > schema.maximum) fail(`must be at most ${schema.maximum}`);
  }
  if (typeof value === "string") {
    if (value.length < schema.minLength) fail(`must have at least ${schema.minLength} characters`);
    if (value.length > schema.maxLength) fail(`must have at most ${schema.maxLength} characters`);
    if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) fail(`must fit ${schema.pattern}`);
  }
  if (Array.isArray(value)) found.push(...listErrors(schema, value, path, fail));
  else if (TYPES.object(value)) found.push(...objectErrors(schema, value, path, fail));
  return found;
}

function listErrors({ items, minItems, maxItems }, value, path, fail) {
  if (value.length < minItems) fail(`must have at least ${minItems} items`);
  if (value.length > maxItems) fail(`must have at most ${maxItems} items`);
  return value.flatMap((each, at) => {
    const schema = Array.isArray(items) ? items[at] : items;
    return schema ? Errors(schema, each, `${path}/${at}`) : [];
  });
}

function objectErrors({ required = [], properties = {}, additionalProperties, patternProperties = {} }, value, path, fail) {
  for (const name of required) if (!(name in value)) fail(`must have ${name}`);
  return Object.entries(value).flatMap(([name, each]) => {
    const pattern = Object.entries(patternProperties).find(([source]) => new RegExp(source, "u").test(name))?.[1];
    const schema = properties[name] ?? pattern ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    if (schema) return each === undefined ? [] : Errors(schema, each, `${path}/${name}`);
    return additionalProperties === false ? [{ path: `${path}/${name}`, message: "is not known" }] : [];
  });
}

export const Check = (schema, value) => Errors(schema, value).length === 0;
