// Responses of the core, as written by crates/wasm/src/lab.

export interface Problem {
  at: string;
  // Counted from 1, columns in characters; absent where the problem has no place in the text.
  line?: number;
  column?: number;
  end_column?: number;
  message: string;
  given: string | null;
  expected: string | null;
  hint: string | null;
}

export interface FaultAnswer {
  problems: Problem[];
  more: number;
  is_bug: boolean;
}

// An error, in the core's own words.
export class Fault extends Error {
  constructor(readonly answer: FaultAnswer) {
    super(answer.problems.map((problem) => problem.message).join("; "));
  }

  // Where there is no room for a list.
  get sentence(): string {
    const described = ({ at, line, message, given, expected, hint }: Problem) =>
      [message, at && `at ${at}`, line !== undefined && `line ${line}`, given && `given ${given}`, expected && `expected ${expected}`, hint].filter(Boolean).join("; ");
    return this.answer.problems.map(described).join(" \u2014 ");
  }
}

export interface RunSpec {
  toml: string;
  seed: number;
}

export interface Port {
  name: string;
  from: string;
  to: string;
  rate_bps: number;
  transmitters: number;
  delay_s: number;
  buffer: number | null;
  buffer_unit: string;
  // Buffers from these times on.
  buffers_later: [number, number | null][];
  policy: string | null;
}

export interface Flow {
  flow: number;
  group: string;
  index: number;
  from: string;
  to: string;
  forward: number[];
  backward: number[];
  base_rtt_s: number;
  start_s: number;
}

// A number of a closed form, in the unit of the curves that it is compared with.
export interface PredictedLine {
  panel: "cwnd" | "queue" | "goodput";
  // The flow, or the port.
  of: number;
  value: number;
  label: string;
  model: string;
  equation: string;
  source: string;
  assumes: string[];
}

export interface Description {
  name: string;
  duration_s: number;
  warmup_s: number;
  random: boolean;
  ports: Port[];
  groups: { name: string; count: number; law: string | null; packet_bytes: number | null; cells: boolean }[];
  flows: Flow[];
  flow_count: number;
  observed: { flows: number[]; ports: number[]; bin_s: number };
  // `unmodelled`: the parts that no model covers, with the reason.
  predictions: { lines: PredictedLine[]; unmodelled: { at: string; why: string }[] };
  changes_s: number[];
  warnings: Problem[];
  notes: Problem[];
  scenario: string;
}

export interface Knob {
  at: string;
  // Null: an inline or empty table.
  value: string | number | boolean | null;
  from: number;
  to: number;
}

export interface FlowState {
  flow: number;
  cwnd: number | null;
  ssthresh: number | null;
  in_flight: number | null;
  rtt_s: number | null;
  goodput_bps: number | null;
  sent: number;
  lost: number;
  timer_s: number | null;
}

export interface PortState {
  port: number;
  queue: number;
  departed: number | null;
  departed_bits: number;
  marked: number | null;
  discarded: Record<string, number>;
  utilisation: number;
}

export interface Drop {
  time_s: number;
  queue: string;
  port: number;
  flow: number | null;
  group: string;
  index: number;
  reason: string;
  segment: number;
  transmission: number;
}

export interface StateChange {
  time_s: number;
  flow: number | null;
  state: string;
}

export interface RunUpdate {
  now_s: number;
  events: number;
  done: boolean;
  flows: FlowState[];
  ports: PortState[];
  // New points of curves, and the number of points at the end that they replace.
  series: Record<string, { replace: number; x: Float64Array; y: Float64Array }>;
  states: StateChange[];
  drops: Drop[];
  // Time bin, and losses in it by reason.
  lost: [number, number[]][];
  // Six numbers per packet: see crates/wasm/src/lab/session.rs.
  packets?: { of: number; numbers: number[] };
}

export interface Table {
  name: string;
  columns: [string, (number | string | null)[]][];
}

export function columnOf(table: Table | undefined, name: string): (number | string | null)[] | undefined {
  return table?.columns.find(([known]) => known === name)?.[1];
}

export interface Results {
  tables: Table[];
  hash: string;
  scenario: string;
  complete: boolean;
  simulated_s: number;
  events: number;
}

export interface Breakpoints {
  timeout?: boolean;
  loss?: boolean;
  queue_above?: number;
}

export interface WhyAnswer {
  queue: string;
  policy: string | null;
  buffer: number | null;
  unit: string;
  reason: string | null;
  held: number | null;
  time_s: number;
  segment: number;
  transmission: number;
  sent_s: number | null;
  window_when_sent: number | null;
  window_when_lost: number | null;
  after: { time_s: number; after_s: number; what: Record<string, number | string> }[];
  repaired: boolean;
}

export interface DifferenceAnswer {
  same: boolean;
  time_s: number;
  left: { time_s: number; what: string } | null;
  right: { time_s: number; what: string } | null;
}

export interface RuleAnswer {
  rule: string;
  idea: string;
  equation: string;
  source: string;
  assumes: string[];
  // Null if the rule has no answer; `max_packets` is the upper end of a range.
  packets: number | null;
  max_packets: number | null;
  bytes: number | null;
  delay_s: number | null;
  // Whether the rule applies to the question, and the reason.
  applies: boolean;
  why: string;
}

export interface SizingAnswer {
  // The question in one sentence.
  asked: string;
  rules: RuleAnswer[];
  // Null if no buffer reaches the target.
  recommended: string | null;
  advice: string;
}

// In the order of `DropReason::ALL` in the core.
export const REASONS = ["full", "early", "late", "partial", "single", "random", "listed", "policed", "mtu"] as const;
export const REASON_WORDS: Record<string, string> = {
  full: "the buffer was full",
  early: "the policy rejected it although the buffer was not full",
  late: "the policy accepted it and discarded it later",
  partial: "a cell of its frame was lost",
  single: "it is the packet that SPD selected",
  random: "it was lost on the link at random",
  listed: "the scenario lists it for discard",
  policed: "it exceeded the rate of a policer",
  mtu: "it was larger than the MTU of the link",
};
