// The buffer calculator: the buffer of a link by every rule, and the rule that applies to the case.

import { Fault, type Problem, type RuleAnswer, type SizingAnswer } from "./answers";
import { fill, make } from "./dom";
import type { Engine } from "./engine";
import { bytes, count, seconds } from "./words";

interface Field {
  key: string;
  label: string;
  value: string;
  // Omitted from the question while empty.
  optional?: boolean;
  // The choices, unless it is a text field: the label, and the value in the question.
  choices?: [string, boolean | string[] | null][];
}

const FIELDS: Field[] = [
  { key: "rate", label: "Rate of the link, or of one channel", value: "1 Gbps" },
  { key: "base_rtt", label: "Round trip without queueing", value: "100 ms" },
  { key: "flows", label: "Long-lived flows", value: "1000" },
  { key: "target", label: "Target utilisation", value: "98 %" },
  { key: "packet_size", label: "Packet size on the wire", value: "1500 B" },
  { key: "access_rate", label: "Access rate of each sender (if known)", value: "", optional: true },
  { key: "paced", label: "Pacing at senders", value: "", choices: [["unknown", null], ["yes, paced", true], ["no, bursts", false]] },
  {
    key: "preset",
    label: "Congestion control",
    value: "",
    choices: [["Reno", null], ["CUBIC", ["linux/cubic"]], ["BBR", ["linux/bbr"]], ["CUBIC and BBR, half each", ["linux/cubic", "linux/bbr"]], ["CUBIC and Reno, half each", ["linux/cubic", "linux/reno"]]],
  },
  { key: "transmitters", label: "Channels that share the buffer", value: "1" },
  { key: "inputs", label: "Input links (for a switch)", value: "", optional: true },
  { key: "window", label: "Largest window in packets (if limited)", value: "", optional: true },
];

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export function sizing(place: HTMLElement, engine: Engine): void {
  const problems = make("div", { role: "alert" });
  const answer = make("div", { id: "sizes", "aria-live": "polite" });
  const inputs = FIELDS.map((field) => ({ field, input: control(field, () => void ask()) }));
  let asked = 0;
  const ask = async () => {
    asked += 1;
    const mine = asked;
    const question = Object.fromEntries(inputs.map(({ field, input }) => [field.key, given(field, input.value.trim())]).filter(([, value]) => value !== null));
    try {
      const answers = await engine.ask<SizingAnswer>({ ask: "sizing", question });
      // A later question may have been answered first.
      if (mine === asked) {
        complain([]);
        fill(answer, ...shown(answers));
      }
    } catch (error) {
      if (!(error instanceof Fault)) {
        throw error;
      }
      if (mine === asked) {
        complain(error.answer.problems);
      }
    }
  };
  // The previous answer remains visible while the question is edited, but is marked as outdated.
  const complain = (found: Problem[]) => {
    for (const { field, input } of inputs) {
      input.setAttribute("aria-invalid", String(found.some(({ at }) => isAt(field, at))));
    }
    answer.classList.toggle("stale", found.length > 0);
    const still = answer.hasChildNodes() ? make("p", {}, "The table below still answers the last valid question.") : null;
    fill(problems, ...(found.length > 0 ? [make("ul", { class: "problem" }, ...found.map(complaint)), still] : []));
  };
  fill(
    place,
    make("h2", {}, "Buffer size calculator"),
    make("p", {}, "All implemented buffer sizing rules, for the same link. They differ because they have different purposes. The table shows the purpose of each rule and whether it applies to your case."),
    make("div", { class: "form short" }, ...inputs.map(({ field, input }) => make("label", { for: input.id }, field.label, input))),
    problems,
    answer,
  );
  void ask();
}

function control(field: Field, change: () => void): HTMLInputElement | HTMLSelectElement {
  const id = `size-${field.key}`;
  return field.choices
    ? make("select", { id, change }, ...field.choices.map(([name], at) => make("option", { value: at }, name)))
    : make("input", { id, value: field.value, autocomplete: "off", change });
}

// The value of a field in the question's syntax; null: empty.
function given(field: Field, text: string): string | number | boolean | string[] | null {
  if (field.choices) {
    return field.choices[Number(text)]?.[1] ?? null;
  }
  if (text === "" && field.optional) {
    return null;
  }
  return NUMBER.test(text) ? Number(text) : text;
}

// Whether an error belongs to a field, or to a part of it, as `base_rtt.uniform` does.
function isAt(field: Field, at: string): boolean {
  return at.split(/[.[]/)[0] === field.key;
}

function complaint(problem: Problem): HTMLElement {
  const label = FIELDS.find((field) => isAt(field, problem.at))?.label ?? problem.at;
  return make("li", {}, [label, problem.message, problem.given && `given ${problem.given}`, problem.expected && `expected ${problem.expected}`, problem.hint].filter(Boolean).join("; "));
}

function shown({ asked, rules, recommended, advice }: SizingAnswer): HTMLElement[] {
  const head = ["Rule", "Packets", "Delay", "Applicability"].map((name) => make("th", { scope: "col" }, name));
  const rows = rules.map((rule) => row(rule, rule.rule === recommended));
  return [
    make("p", { class: "advice" }, advice),
    make("div", { class: "wide" }, make("table", { class: "rules" }, make("caption", {}, asked), make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows))),
  ];
}

function row(rule: RuleAnswer, recommended: boolean): HTMLElement {
  const refused = rule.packets === null;
  const verdict = refused ? "no answer" : rule.applies ? "applies" : "does not apply";
  // The reason of a refusal starts with the verdict, and that of a rule without conditions is no more than the verdict.
  const why = rule.why.startsWith(verdict) ? rule.why : `${verdict}: ${rule.why}`;
  const places = rule.max_packets === null ? count(rule.packets) : `${count(rule.packets)} to ${count(rule.max_packets)}`;
  return make(
    "tr",
    { class: [rule.applies ? "applies" : "", recommended ? "recommended" : ""].join(" ").trim() || undefined, "data-rule": rule.rule },
    make("th", { scope: "row", title: rule.equation }, rule.rule),
    make("td", { class: "n" }, places, rule.bytes !== null && make("small", {}, bytes(rule.bytes))),
    make("td", { class: "n" }, rule.delay_s === null ? "" : seconds(rule.delay_s)),
    make(
      "td",
      {},
      make("span", { class: "why" }, why),
      make("details", {}, make("summary", {}, rule.idea), make("p", {}, `Assumes: ${rule.assumes.join("; ")}.`), make("p", {}, `${rule.equation}. ${rule.source}.`)),
    ),
  );
}
