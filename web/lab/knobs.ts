// Knobs: the values that stand in a scenario, each with what the schema says of it.

import type { Knob, Problem } from "./answers";
import { fill, make } from "./dom";

type Schema = { [key: string]: unknown };

interface Known {
  help: string;
  fallback: unknown;
  words: string[];
  // Of a number: the least and the most that it may be, as far as that is said.
  range: [number | null, number | null];
}

// What the JSON Schema says of the place of a scenario.
export class Places {
  constructor(private readonly root: Schema) {}

  // `values`: what stands in the scenario. It decides between alternatives: what `policy = "red"` is not says nothing of RED's settings.
  at(place: string, values: ReadonlyMap<string, Knob["value"]>): Known {
    const keys = place.split(/\.|(?=\[)/);
    let found = [this.root];
    let all = [this.root];
    let prefix = "";
    for (const key of keys) {
      all = all.flatMap((schema) => this.shapes(schema)).flatMap((schema) => this.child(schema, key));
      const shapes = found.flatMap((schema) => this.shapes(schema));
      const fitting = shapes.filter((schema) => fits(schema, prefix, values));
      found = (fitting.length ? fitting : shapes).flatMap((schema) => this.child(schema, key));
      prefix += key.startsWith("[") || prefix === "" ? key : `.${key}`;
    }
    const value = values.get(place);
    const shapes = found.flatMap((schema) => this.shapes(schema));
    const own = shapes.filter((schema) => schema["const"] === undefined || schema["const"] === value);
    const first = (name: string) => own.map((schema) => schema[name]).find((said) => said !== undefined);
    const [help, least, most] = [first("description"), first("minimum"), first("maximum")];
    const words = all.flatMap((schema) => this.shapes(schema)).flatMap((schema) => (Array.isArray(schema["enum"]) ? schema["enum"] : typeof schema["const"] === "string" ? [schema["const"]] : []));
    return {
      help: typeof help === "string" ? help.replaceAll("`", "") : "",
      fallback: first("default"),
      words: [...new Set(words.filter((word): word is string => typeof word === "string"))],
      range: [typeof least === "number" ? least : null, typeof most === "number" ? most : null],
    };
  }

  // What a schema stands for: itself, what it refers to, and its alternatives.
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
    const own = (schema["properties"] as Schema | undefined)?.[key];
    const any = schema["additionalProperties"] || Object.values((schema["patternProperties"] as Schema | undefined) ?? {})[0];
    return [own, own === undefined ? any : undefined].filter((found): found is Schema => typeof found === "object" && found !== null);
  }
}

// Whether what stands in the scenario at a place can be of this shape: none of its words is another.
function fits(schema: Schema, place: string, values: ReadonlyMap<string, Knob["value"]>): boolean {
  const properties = (schema["properties"] ?? {}) as Record<string, Schema>;
  return Object.entries(properties).every(([name, property]) => {
    const value = values.get(place === "" ? name : `${place}.${name}`);
    const word = property["const"] ?? (Array.isArray(property["enum"]) ? property["enum"] : undefined);
    return value === undefined || word === undefined || (Array.isArray(word) ? word.includes(value) : word === value);
  });
}

// Sections whose values say what is recorded, not what happens.
const ASIDE = /^(record|name$)/;

// `other`: those of the variant beside this one, which are told where they differ.
export function knobs(place: HTMLElement, found: Knob[], other: Knob[], places: Places, problems: Problem[], turn: (at: string, value: string | number | boolean) => void): void {
  const beside = (at: string) => other.find((knob) => knob.at === at)?.value;
  const values = new Map(found.map(({ at, value }) => [at, value]));
  const sections = new Map<string, Knob[]>();
  for (const knob of found.filter((knob) => !ASIDE.test(knob.at))) {
    const section = knob.at.includes(".") ? knob.at.slice(0, knob.at.lastIndexOf(".")) : "run";
    sections.set(section, [...(sections.get(section) ?? []), knob]);
  }
  fill(
    place,
    ...[...sections].map(([section, own]) =>
      make("fieldset", {}, make("legend", {}, section), ...own.map((knob) => control(knob, places.at(knob.at, values), beside(knob.at), problems.filter((problem) => problem.at === knob.at), turn))),
    ),
  );
}

function control(knob: Knob, known: Known, beside: Knob["value"] | undefined, problems: Problem[], turn: (at: string, value: string | number | boolean) => void): HTMLElement {
  const id = `knob-${knob.at}`;
  const label = knob.at.slice(knob.at.lastIndexOf(".") + 1);
  const set = (value: string | number | boolean) => turn(knob.at, value);
  const described = known.help ? `${id}-help` : undefined;
  const row = make("div", { class: problems.length ? "knob wrong" : "knob" }, make("label", { for: id }, label));
  if (typeof knob.value === "boolean") {
    const box = make("input", { type: "checkbox", id, "aria-describedby": described, change: () => set(box.checked) });
    box.checked = knob.value;
    row.append(box);
  } else if (known.words.length > 1 && typeof knob.value === "string" && known.words.includes(knob.value)) {
    const choice = make(
      "select",
      { id, "aria-describedby": described, change: () => set(choice.value) },
      ...known.words.map((word) => make("option", { value: word, selected: word === knob.value }, word)),
    );
    row.append(choice);
  } else {
    const typed = (text: string) => (typeof knob.value === "number" && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text);
    const field = make("input", { id, type: "text", value: String(knob.value), spellcheck: "false", autocomplete: "off", "aria-describedby": described, change: () => set(typed(field.value)) });
    row.append(field);
    const slider = sliderOf(knob, label, known.range, (text) => {
      field.value = text;
      return typed(text);
    }, set);
    if (slider) {
      row.append(slider);
    }
  }
  if (beside !== undefined && beside !== knob.value) {
    row.append(make("small", { class: "differs" }, `in A: ${beside}`));
  }
  if (known.help) {
    const [least, most] = known.range;
    const range = least === null && most === null ? "" : ` ${least === null ? `At most ${most}` : most === null ? `At least ${least}` : `From ${least} to ${most}`}.`;
    const fallback = known.fallback === undefined || known.fallback === null ? "" : ` If not given: ${typeof known.fallback === "object" ? JSON.stringify(known.fallback) : String(known.fallback)}.`;
    // The first sentence; all of it to whoever points at it.
    row.append(make("small", { id: described ?? "", title: known.help + range + fallback }, (known.help.split(/(?<=\.)\s/)[0] ?? "") + range));
  }
  for (const problem of problems) {
    row.append(make("small", { class: "problem", role: "alert" }, problem.message + (problem.expected ? `; expected ${problem.expected}` : "")));
  }
  return row;
}

// From a sixteenth of a quantity to sixteen times as much, in steps that have two digits, within its range.
function sliderOf(knob: Knob, label: string, [least, most]: Known["range"], show: (text: string) => string | number, set: (value: string | number) => void): HTMLInputElement | null {
  const parts = /^\s*(\d+(?:\.\d+)?(?:e-?\d+)?)\s*(.*)$/i.exec(String(knob.value));
  const size = Number(parts?.[1]);
  if (!parts || !(size > 0)) {
    return null;
  }
  const unit = parts[2] ?? "";
  const whole = /^(packets|cells|)$/.test(unit) && Number.isInteger(size);
  const text = (turned: number): string => {
    const value = Number((size * 2 ** turned).toPrecision(2));
    const limited = Math.max(least ?? -Infinity, Math.min(most ?? Infinity, unit === "%" ? Math.min(value, 100) : value));
    return `${whole ? Math.max(1, Math.round(limited)) : limited}${unit ? ` ${unit}` : ""}`;
  };
  const slider = make("input", {
    type: "range",
    min: -4,
    max: 4,
    step: 0.25,
    value: 0,
    "aria-label": `${label}, from a sixteenth to sixteen times`,
    input: () => show(slider.value === "0" ? String(knob.value) : text(Number(slider.value))),
    change: () => set(slider.value === "0" ? knob.value as string | number : show(text(Number(slider.value)))),
  });
  return slider;
}
