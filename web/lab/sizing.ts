// The calculator: how much buffer does a link need, by every rule?

import { Fault, type RuleAnswer } from "./answers";
import { fill, make } from "./dom";
import type { Engine } from "./engine";
import { count, seconds } from "./words";

const FIELDS: { key: string; label: string; value: string; whole?: boolean; optional?: boolean }[] = [
  { key: "rate", label: "Rate of the link, or of one channel", value: "1 Gbps" },
  { key: "base_rtt", label: "Round trip without queueing", value: "100 ms" },
  { key: "flows", label: "Long-lived flows", value: "1000", whole: true },
  { key: "target", label: "Utilisation that is wanted", value: "98 %" },
  { key: "packet", label: "Packet on the wire", value: "1500 B" },
  { key: "transmitters", label: "Channels that share the buffer", value: "1", whole: true },
  { key: "inputs", label: "Inputs (if it is a switch)", value: "", whole: true, optional: true },
  { key: "window", label: "Largest window, in packets (if it limits)", value: "", whole: true, optional: true },
];

export function sizing(place: HTMLElement, engine: Engine): void {
  const answer = make("div", { "aria-live": "polite" });
  const inputs = FIELDS.map((field) => make("input", { id: `size-${field.key}`, value: field.value, autocomplete: "off", change: () => void ask() }));
  const ask = async () => {
    const question: Record<string, string | number> = {};
    FIELDS.forEach((field, at) => {
      const text = inputs[at]?.value.trim() ?? "";
      if (text !== "" || !field.optional) {
        question[field.key] = field.whole && /^\d+$/.test(text) ? Number(text) : text;
      }
    });
    try {
      const { rules } = await engine.ask<{ rules: RuleAnswer[] }>({ ask: "sizing", question });
      fill(answer, table(rules));
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      fill(
        answer,
        make("ul", { class: "problem" }, ...error.answer.problems.map((problem) => make("li", {}, [problem.at, problem.message, problem.given ? `given ${problem.given}` : "", problem.expected ? `expected ${problem.expected}` : ""].filter(Boolean).join("; ")))),
      );
    }
  };
  fill(
    place,
    make("h2", {}, "How much buffer?"),
    make("p", {}, "Every published rule that the core knows, for the same link. They differ because they answer different questions: what each is for and what it assumes stands beside it."),
    make("div", { class: "form" }, ...FIELDS.map((field, at) => make("label", { for: `size-${field.key}` }, field.label, inputs[at] ?? null))),
    answer,
  );
  void ask();
}

function table(rules: RuleAnswer[]): HTMLElement {
  const row = (rule: RuleAnswer) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", title: rule.equation }, rule.rule.replaceAll("_", " ")),
      make("td", { class: "n" }, rule.packets === null ? "\u2013" : count(rule.packets)),
      make("td", { class: "n" }, rule.delay_s === null ? "" : seconds(rule.delay_s)),
      make("td", {}, rule.refused ?? rule.idea, make("br"), make("small", {}, `Assumes: ${rule.assumes.join("; ")}. ${rule.source}.`)),
    );
  const head = ["rule", "packets", "delay", "what the buffer is for, and what it assumes"].map((name) => make("th", { scope: "col" }, name));
  return make("div", { class: "wide" }, make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rules.map(row))));
}
