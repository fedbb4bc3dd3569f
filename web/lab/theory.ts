// Predictions of closed forms: lines over the curves, and a text with each model and its assumptions.

import type { Description, PredictedLine } from "./answers";
import { flowColour, ink } from "./colours";
import type { ReferenceLine } from "./curves";
import { make } from "./dom";
import { digits, rate } from "./words";

// Values that differ by less are drawn as one line.
const ALIKE = 0.01;

// One line for flows with the same value, otherwise one each in the colour of its flow.
export function referenceLines(description: Description, panel: PredictedLine["panel"]): ReferenceLine[] {
  const { predictions, observed } = description;
  const lines = predictions.lines.filter((line) => line.panel === panel);
  return [...new Set(lines.map((line) => line.label))].flatMap((label) => {
    const named = lines.filter((line) => line.label === label);
    const [first] = named;
    if (first && named.every(({ value }) => Math.abs(value - first.value) <= ALIKE * first.value)) {
      return [{ value: first.value, label: named.length > 1 ? `${label}, each` : label, colour: () => ink("--ink") }];
    }
    return named.map(({ of, value }, place) => ({ value, label: place === 0 ? label : "", colour: () => (panel === "queue" ? ink("--ink") : flowColour(observed.flows.indexOf(of))) }));
  });
}

export function theory(description: Description): HTMLElement {
  const { lines, unmodelled } = description.predictions;
  const excluded = unmodelled.map(({ at, why }) => make("p", {}, `No model covers ${at}: ${why}.`));
  const kinds = [...new Map(lines.map((line) => [`${line.panel} ${line.model} ${line.label}`, line])).values()];
  const entries = kinds.flatMap((kind) => {
    const distinct = [...new Set(named(lines, kind).map(valueOf))];
    return [
      make("dt", { "data-panel": kind.panel, "data-label": kind.label, "data-values": JSON.stringify(named(lines, kind).map(({ of, value }) => [of, value])) }, make("b", {}, `${kind.label}: ${distinct.slice(0, 8).join(", ")}`), ` (${kind.model})`),
      make("dd", {}, `${kind.equation}. ${kind.source}.`),
      kind.assumes.length ? make("dd", {}, `Assumes: ${kind.assumes.join("; ")}.`) : null,
    ];
  });
  const more = make("p", {}, "tailback predict prints the same predictions for all flows and links.");
  return make("details", { class: "theory" }, make("summary", {}, "Theory"), ...excluded, lines.length ? make("dl", {}, ...entries) : null, more);
}

function named(lines: PredictedLine[], { model, label, panel }: PredictedLine): PredictedLine[] {
  return lines.filter((line) => line.label === label && line.model === model && line.panel === panel);
}

function valueOf({ panel, value }: PredictedLine): string {
  switch (panel) {
    case "cwnd":
      return `${digits(value, 4)} segments`;
    case "queue":
      return `${digits(value, 4)} packets`;
    case "goodput":
      return rate(value);
  }
}
