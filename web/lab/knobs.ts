// Controls: the values of a scenario, each with its description from the schema and the valid alternatives.

import type { Knob, Problem } from "./answers";
import { fill, make } from "./dom";
import { bounds, explained, type Edit, type KeyInfo, type SchemaIndex, type Values } from "./schema";

// Sections that configure the recording and not the network.
const ASIDE = /^(record|name$)/;
// Name of the top-level section.
const TOP = "run";

// `other`: the values of the other variant, which are shown where they differ. `turn`: edits, and the place that has the focus afterwards.
export function knobs(place: HTMLElement, found: Knob[], other: Knob[], schema: SchemaIndex, problems: Problem[], turn: (edits: Edit[], at: string) => void): void {
  const beside = (at: string) => other.find((knob) => knob.at === at)?.value;
  const values: Values = new Map(found.map(({ at, value }) => [at, value]));
  const sections = new Map<string, Knob[]>();
  for (const knob of found.filter((knob) => !ASIDE.test(knob.at))) {
    // A table is a section to which values can be added.
    const section = knob.value === null ? knob.at : knob.at.includes(".") ? knob.at.slice(0, knob.at.lastIndexOf(".")) : "";
    sections.set(section, [...(sections.get(section) ?? []), ...(knob.value === null ? [] : [knob])]);
  }
  const set = (at: string) => (value: string | number | boolean) => turn(schema.turned(at, value, values), at);
  fill(
    place,
    ...[...sections].map(([section, own]) =>
      make(
        "fieldset",
        {},
        make("legend", {}, section || TOP),
        ...own.map((knob) => control(knob, schema.at(knob.at, values), beside(knob.at), problems.filter((problem) => problem.at === knob.at), set(knob.at))),
        settings(section, schema, values, turn),
      ),
    ),
  );
}

// A list of settings that can be added to a table or removed from it.
function settings(section: string, schema: SchemaIndex, values: Values, turn: (edits: Edit[], at: string) => void): HTMLElement | null {
  const at = (key: string) => (section === "" ? key : `${section}.${key}`);
  const missing = schema.missing(section, values).filter(({ key }) => !ASIDE.test(at(key)));
  const optional = schema.optional(section, values).filter((key) => !ASIDE.test(at(key)));
  if (missing.length + optional.length === 0) {
    return null;
  }
  const group = (label: string, options: HTMLElement[]) => (options.length ? make("optgroup", { label }, ...options) : null);
  const choice = make(
    "select",
    {
      id: `settings-${section}`,
      "aria-label": `Add to or remove from ${section || TOP}`,
      change: () => {
        act.hidden = choice.value === "";
        act.textContent = choice.value.startsWith("+") ? "Add" : "Remove";
      },
    },
    make("option", { value: "" }, "Add or remove\u2026"),
    group("Add", missing.map(({ key, help }) => make("option", { value: `+${key}`, title: help }, key))),
    group("Remove (the default applies)", optional.map((key) => make("option", { value: `-${key}` }, key))),
  );
  const act = make("button", {
    hidden: true,
    click: () => {
      const key = choice.value.slice(1);
      const value = choice.value.startsWith("+") ? (missing.find((one) => one.key === key)?.value ?? null) : null;
      turn([{ at: at(key), value }], at(key));
    },
  });
  return make("div", { class: "settings" }, choice, act);
}

function control(knob: Knob, known: KeyInfo, beside: Knob["value"] | undefined, problems: Problem[], set: (value: string | number | boolean) => void): HTMLElement {
  const id = `knob-${knob.at}`;
  const label = knob.at.slice(knob.at.lastIndexOf(".") + 1);
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
    // Shows the first sentence; the tooltip has all of it.
    row.append(make("small", { id: described ?? "", title: explained(known) }, (known.help.split(/(?<=\.)\s/)[0] ?? "") + bounds(known.range)));
  }
  for (const problem of problems) {
    row.append(make("small", { class: "problem", role: "alert" }, problem.message + (problem.expected ? `; expected ${problem.expected}` : "")));
  }
  return row;
}

// A slider from a sixteenth of a quantity to sixteen times as much, in steps with two digits, within its range.
function sliderOf(knob: Knob, label: string, [min, max]: KeyInfo["range"], show: (text: string) => string | number, set: (value: string | number) => void): HTMLInputElement | null {
  const parts = /^\s*(\d+(?:\.\d+)?(?:e-?\d+)?)\s*(.*)$/i.exec(String(knob.value));
  const size = Number(parts?.[1]);
  if (!parts || !(size > 0)) {
    return null;
  }
  const unit = parts[2] ?? "";
  const whole = /^(packets|cells|)$/.test(unit) && Number.isInteger(size);
  const text = (turned: number): string => {
    const value = Number((size * 2 ** turned).toPrecision(2));
    const limited = Math.max(min ?? -Infinity, Math.min(max ?? Infinity, unit === "%" ? Math.min(value, 100) : value));
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
