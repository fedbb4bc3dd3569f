// Explanation of a loss in sentences.

import { REASON_WORDS, type DifferenceAnswer, type Drop, type WhyAnswer } from "./answers";
import { make } from "./dom";
import { count, digits, seconds } from "./words";

export function lossNamed(drop: Drop): string {
  return `${segmentNamed(drop)} at ${drop.queue}`;
}

function segmentNamed(drop: Drop): string {
  return `segment ${count(drop.segment)} of ${drop.group} ${drop.index}`;
}

export function explained(drop: Drop, why: WhyAnswer, units: string): HTMLElement[] {
  const size = why.buffer === null ? "an unlimited buffer" : `a buffer of ${count(why.buffer)} ${why.unit === "bytes" ? "bytes" : units}`;
  const held = why.held === null ? "" : `  It held ${count(why.held)}.`;
  const sent =
    why.sent_s === null
      ? "It was sent before the recorded interval."
      : `It was sent ${seconds(drop.time_s - why.sent_s)} before${why.window_when_sent === null ? "" : `, from a window of ${digits(why.window_when_sent)} segments`}${why.transmission > 1 ? `, for the ${ordinal(why.transmission)} time` : ""}.`;
  const steps = why.after.map(({ after_s, what }) => make("li", {}, make("span", {}, `+${seconds(after_s)}`), step(what)));
  return [
    make("p", {}, `At ${seconds(drop.time_s, 6)}, ${drop.queue} (${why.policy ?? "user code"}, ${size}) discarded ${segmentNamed(drop)}: ${REASON_WORDS[why.reason ?? drop.reason] ?? drop.reason}.${held}`),
    make("p", {}, sent),
    make("h3", {}, "The sender's reaction"),
    why.after.length ? make("ol", {}, ...steps) : make("p", {}, "No reaction was recorded: it is a datagram source, or the run ended."),
    make("p", { class: "aside" }, why.repaired ? "This repaired the loss." : why.after.length ? "The loss was not repaired within the recorded interval." : ""),
  ];
}

function step(what: Record<string, number | string>): string {
  const number = (name: string) => Number(what[name]);
  if ("already" in what) {
    const busy = what["already"] === "timeout" ? "was in a timeout" : "was in fast recovery";
    return `${busy} already, ${seconds(number("since_s"))} before, for segment ${count(number("ack"))}: a sender reduces its window once for all losses of one window`;
  }
  if ("duplicate" in what) {
    return `received the ${ordinal(number("duplicate"))} duplicate acknowledgement: the receiver still expects segment ${count(number("ack"))}`;
  }
  if ("resent" in what) {
    return "retransmitted the segment";
  }
  if ("window" in what) {
    return `reduced its window from ${digits(number("before"))} to ${digits(number("window"))} segments`;
  }
  if ("ssthresh" in what) {
    return `set its slow-start threshold to ${digits(number("ssthresh"))} segments`;
  }
  if ("acked" in what) {
    return `received an acknowledgement of everything before segment ${count(number("acked"))}`;
  }
  const states: Record<string, string> = { slow_start: "entered slow start", congestion_avoidance: "entered congestion avoidance", recovery: "entered fast recovery", timeout: "had a timeout: its timer expired", done: "received the last acknowledgement" };
  return states[String(what["state"])] ?? String(what["state"]);
}

function ordinal(number: number): string {
  return ["", "first", "second", "third"][number] ?? `${number}th`;
}

export function difference(answer: DifferenceAnswer): string {
  if (answer.same) {
    return "A and B behave identically up to the end of the shorter run: their difference has no effect.";
  }
  const side = (name: string, row: { time_s: number; what: string } | null) => (row ? `in ${name}, ${row.what} at ${seconds(row.time_s, 9)}` : `in ${name} no event`);
  return `First difference at ${seconds(answer.time_s, 9)}: ${side("A", answer.left)}; ${side("B", answer.right)}.`;
}
