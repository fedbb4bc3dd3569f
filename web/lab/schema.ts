// Queries of the JSON Schema by place in a scenario: help, ranges, words, and the possible entries of a table.

type Schema = { [key: string]: unknown };
export type Scalar = string | number | boolean;
export type Value = Scalar | { [key: string]: Value };
// Null: removes the value.
export type Edit = { at: string; value: Value | null };
// By place; null: an inline or empty table.
export type Values = ReadonlyMap<string, Scalar | null>;

export interface KeyInfo {
  help: string;
  fallback: unknown;
  words: string[];
  // Range of a number: the minimum and maximum, where declared.
  range: [number | null, number | null];
}

// A group has exactly one of these.
const WAYS = ["tcp", "source", "traffic"];

export class SchemaIndex {
  constructor(private readonly root: Schema) {}

  // `values`: the scenario's values. They select between alternatives: with `policy = "red"`, only RED's settings apply.
  at(place: string, values: Values): KeyInfo {
    const { own: found, all } = this.walk(place, values);
    const value = values.get(place);
    const shapes = found.flatMap((schema) => this.shapes(schema));
    const own = shapes.filter((schema) => schema["const"] === undefined || schema["const"] === value);
    const first = (name: string) => own.map((schema) => schema[name]).find((said) => said !== undefined);
    const [help, min, max] = [first("description"), first("minimum"), first("maximum")];
    const words = all.flatMap((schema) => this.shapes(schema)).flatMap(wordsOf);
    return {
      help: typeof help === "string" ? help.replaceAll("`", "") : "",
      fallback: first("default"),
      words: [...new Set(words)],
      range: [typeof min === "number" ? min : null, typeof max === "number" ? max : null],
    };
  }

  // Entries that a table may have and does not have, each with an initial value.
  missing(section: string, values: Values): { key: string; help: string; value: Value }[] {
    const has = keysOf(section, values);
    const found = new Map<string, { key: string; help: string; value: Value }>();
    for (const [key, property] of this.tables(section, values, true).flatMap((table) => Object.entries(propertiesOf(table)))) {
      const value = has.has(key) || found.has(key) || WAYS.includes(key) ? null : this.firstOf(property);
      if (value !== null) {
        found.set(key, { key, help: this.at(join(section, key), values).help, value });
      }
    }
    return [...found.values()];
  }

  // All entries that a table may have, except those it has unless `present`, each with an initial value if there is a simple one.
  keys(section: string, values: Values, present = false): { key: string; value: Value | null; isTable: boolean; isList: boolean }[] {
    const has = present ? new Set<string>() : keysOf(section, values);
    const known = this.tables(section, values, true);
    const properties = (known.length ? known : this.tables(section, values)).flatMap((table) => Object.entries(propertiesOf(table)));
    return [...new Map(properties)].filter(([key]) => !has.has(key)).map(([key, schema]) => {
      const types = this.shapes(schema).map(({ type }) => type);
      return { key, value: this.firstOf(schema), isTable: types.includes("object"), isList: types.includes("array") };
    });
  }

  // Typical values of a place: its words, its default, and the examples in its description.
  suggestions(place: string, values: Values): Scalar[] {
    const own = this.walk(place, values).own;
    const shapes = own.flatMap((schema) => this.shapes(schema));
    const examples = shapes.flatMap((shape) => examplesOf(shape).filter((text) => own.some((schema) => this.accepts(schema, text))));
    const declared = shapes.flatMap(({ default: fallback, examples: typical }) => [fallback, ...(Array.isArray(typical) ? typical : [])]).filter(isScalar);
    const truths = shapes.some(({ type }) => type === "boolean") ? [true, false] : [];
    return [...new Set([...this.at(place, values).words, ...truths, ...declared, ...examples])];
  }

  // Entries that may be removed from a table and have no header of their own in the text.
  optional(section: string, values: Values): string[] {
    const tables = this.tables(section, values, true);
    const needed = new Set(tables.flatMap((table) => requiredOf(table)));
    return [...keysOf(section, values)].filter((key) => !needed.has(key) && !WAYS.includes(key) && values.has(join(section, key)));
  }

  // Edits for a new value at a place, including dependent changes in its table: another policy has other settings, and requires some of
  // them.
  turned(at: string, value: Scalar, values: Values): Edit[] {
    const section = at.includes(".") ? at.slice(0, at.lastIndexOf(".")) : "";
    const [before, after] = [this.tables(section, values), this.tables(section, new Map([...values, [at, value]]))];
    const edits: Edit[] = [{ at, value }];
    const [known, kept] = [new Set(before.flatMap((table) => Object.keys(propertiesOf(table)))), after[0]];
    if (!kept || before[0] === kept) {
      return edits;
    }
    const properties = propertiesOf(kept);
    const needed = requiredOf(kept);
    for (const key of keysOf(section, values)) {
      const place = join(section, key);
      const there = values.get(place);
      if (there === undefined || place === at || !known.has(key)) {
        continue;
      }
      const property = properties[key];
      if (property === undefined || (there !== null && !this.accepts(property, there))) {
        edits.push({ at: place, value: property !== undefined && needed.includes(key) ? this.firstOf(property) : null });
      }
    }
    for (const key of needed.filter((key) => !keysOf(section, values).has(key))) {
      const property = properties[key];
      const first = property === undefined ? null : this.firstOf(property);
      if (first !== null) {
        edits.push({ at: join(section, key), value: first });
      }
    }
    return edits;
  }

  // Schemas that apply to a place: those matching the scenario's values, and all.
  private walk(place: string, values: Values): { own: Schema[]; all: Schema[] } {
    const keys = place === "" ? [] : place.split(/\.|(?=\[)/);
    let own = [this.root];
    let all = [this.root];
    let prefix = "";
    for (const key of keys) {
      all = all.flatMap((schema) => this.shapes(schema)).flatMap((schema) => this.child(schema, key));
      const shapes = own.flatMap((schema) => this.shapes(schema));
      const fitting = shapes.filter((schema) => fits(schema, prefix, values));
      own = (fitting.length ? fitting : shapes).flatMap((schema) => this.child(schema, key));
      prefix += key.startsWith("[") || prefix === "" ? key : `.${key}`;
    }
    return { own, all };
  }

  // The alternatives of a table that match its values; `all`: including its other entries.
  private tables(section: string, values: Values, all = false): Schema[] {
    const shapes = this.walk(section, values).own.flatMap((schema) => this.shapes(schema));
    const has = keysOf(section, values);
    const knows = (schema: Schema) => schema["additionalProperties"] !== false || [...has].every((key) => key in propertiesOf(schema));
    return shapes.filter((schema) => schema["properties"] !== undefined && fits(schema, section, values) && (!all || knows(schema)));
  }

  // An initial value; null: there is no simple one.
  private firstOf(schema: Schema, depth = 0): Value | null {
    const { default: fallback, const: constant, examples } = schema;
    if (isScalar(fallback) && fallback !== "none") {
      return fallback;
    }
    // Declared where the default example is unsuitable: the value must be below or above another, or of a typical size.
    if (Array.isArray(examples)) {
      return examples[0] as Value;
    }
    if (isScalar(constant)) {
      return constant;
    }
    const [word] = wordsOf(schema);
    if (word !== undefined) {
      return word;
    }
    const shapes = this.shapes(schema).slice(1);
    const example = [schema, ...shapes].filter((shape) => shape["pattern"] !== undefined || shape["anyOf"] !== undefined).flatMap((shape) => examplesOf(shape)).filter((text) => this.accepts(schema, text));
    const text = example.find((one) => one.endsWith("%")) ?? example[0];
    if (text !== undefined) {
      return text;
    }
    switch (schema["type"]) {
      case "boolean":
        return true;
      case "integer":
      case "number":
        return typeof schema["minimum"] === "number" && schema["minimum"] > 0 ? schema["minimum"] : 1;
      case "object": {
        // Its keys are names.
        if (schema["patternProperties"] !== undefined) {
          return null;
        }
        const needed = requiredOf(schema).map((name) => [name, this.firstOf(propertiesOf(schema)[name] ?? {}, depth + 1)] as const);
        return depth > 2 || needed.some(([, value]) => value === null) ? null : (Object.fromEntries(needed) as Value);
      }
      default:
        return shapes.map((shape) => this.firstOf(shape, depth + 1)).find((value) => value !== null) ?? null;
    }
  }

  // A preliminary check; the core makes the final decision.
  private accepts(schema: Schema, value: Scalar): boolean {
    return this.shapes(schema).some((shape) => {
      const words = wordsOf(shape);
      if (words.length) {
        return typeof value === "string" && words.includes(value);
      }
      if (typeof shape["pattern"] === "string") {
        return typeof value === "string" && new RegExp(shape["pattern"]).test(value);
      }
      const type = shape["type"];
      return type === (type === "integer" && Number.isInteger(value) ? "integer" : typeof value);
    });
  }

  // Expands a schema: itself, its references, and its alternatives.
  private shapes(schema: Schema, depth = 0): Schema[] {
    if (depth > 12) {
      return [];
    }
    const others: Schema[] = [];
    if (typeof schema["$ref"] === "string") {
      const target = schema["$ref"].replace("#/", "").split("/").reduce<unknown>((at, key) => (at as Schema | undefined)?.[key], this.root);
      if (target) {
        others.push(target as Schema);
      }
    }
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      if (Array.isArray(schema[key])) {
        others.push(...(schema[key] as Schema[]));
      }
    }
    return [schema, ...others.flatMap((other) => this.shapes(other, depth + 1))];
  }

  private child(schema: Schema, key: string): Schema[] {
    if (key.startsWith("[")) {
      return typeof schema["items"] === "object" && schema["items"] ? [schema["items"] as Schema] : [];
    }
    const own = propertiesOf(schema)[key];
    const any = schema["additionalProperties"] || Object.values((schema["patternProperties"] as Schema | undefined) ?? {})[0];
    return [own, own === undefined ? any : undefined].filter((found): found is Schema => typeof found === "object" && found !== null);
  }
}

// The description of a key with its range and default.
export function explained({ help, range, fallback }: KeyInfo): string {
  const written = fallback === undefined || fallback === null ? "" : `  Default: ${typeof fallback === "object" ? JSON.stringify(fallback) : String(fallback)}.`;
  return help + bounds(range) + written;
}

export function bounds([min, max]: KeyInfo["range"]): string {
  return min === null && max === null ? "" : ` ${min === null ? `At most ${max}` : max === null ? `At least ${min}` : `From ${min} to ${max}`}.`;
}

// Whether the scenario's values at a place match this shape: no word differs, and none is missing.
function fits(schema: Schema, place: string, values: Values): boolean {
  return Object.entries(propertiesOf(schema)).every(([name, property]) => {
    const value = values.get(join(place, name));
    const words = wordsOf(property);
    if (value === undefined || value === null) {
      return (property["const"] === undefined && property["pattern"] === undefined) || !requiredOf(schema).includes(name);
    }
    if (typeof property["pattern"] === "string" && typeof value === "string") {
      return new RegExp(property["pattern"]).test(value);
    }
    return words.length === 0 || words.includes(String(value));
  });
}

function wordsOf(schema: Schema): string[] {
  const words = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"]];
  return words.filter((word): word is string => typeof word === "string");
}

function examplesOf(schema: Schema): string[] {
  return [...String(schema["description"] ?? "").matchAll(/`([^`]+)`/g)].map(([, text]) => text ?? "");
}

function propertiesOf(schema: Schema): { [key: string]: Schema } {
  return (schema["properties"] ?? {}) as { [key: string]: Schema };
}

function requiredOf(schema: Schema): string[] {
  return (schema["required"] ?? []) as string[];
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

export function join(section: string, key: string): string {
  return section === "" || key === "" ? section + key : `${section}.${key}`;
}

// The keys of a table.
function keysOf(section: string, values: Values): Set<string> {
  const within = section === "" ? "" : `${section}.`;
  const places = [...values.keys()].filter((at) => at.startsWith(within));
  return new Set(places.map((at) => at.slice(within.length).split(/[.[]/)[0] ?? ""));
}
