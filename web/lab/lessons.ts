// Six lessons, each with a scenario and three tasks. Predictions are judged by the measurement, not by the text here.

import type { Results } from "./answers";
import atm from "./lessons/atm.toml";
import bufferbloat from "./lessons/bufferbloat.toml";
import fairness from "./lessons/fairness.toml";
import many_flows from "./lessons/many_flows.toml";
import sawtooth from "./lessons/sawtooth.toml";
import slow_start from "./lessons/slow_start.toml";
import { valueOf } from "./tables";

export interface Choice {
  text: string;
  // The choice is correct if the measured value is at least `from` and below `to`.
  from: number;
  to: number;
}

export interface Task {
  // The change, and the question.
  ask: string;
  change: [string, string][];
  // Computed from the changed run and the original one.
  measure: (changed: Results, before: Results) => number | null;
  describe: (value: number) => string;
  choices: Choice[];
  because: string;
}

export interface Lesson {
  name: string;
  title: string;
  text: string[];
  look: string;
  toml: string;
  tasks: Task[];
}

const flows = (results: Results, column: string, row = 0) => valueOf(results, "flows", column, row);
const queue = (results: Results, column: string) => valueOf(results, "queues", column);
const over = (one: number | null, other: number | null) => (one === null || other === null || other === 0 ? null : one / other);
const share = (value: number) => `${(value * 100).toFixed(1)} %`;
const times = (value: number) => `${value.toFixed(2)} times`;

const GROWTH: Choice[] = [
  { text: "it falls", from: 0, to: 0.95 },
  { text: "it stays about the same", from: 0.95, to: 1.05 },
  { text: "it grows, but does not double", from: 1.05, to: 2 },
  { text: "it doubles, or more", from: 2, to: 99 },
];

export const LESSONS: Lesson[] = [
  {
    name: "slow_start",
    title: "Slow start",
    text: [
      "A sender does not know the rate of the path. It starts with a few segments and adds one for each acknowledged segment, so that its window doubles every round trip until a packet is lost or all data are sent.",
      "Run it slowly and watch: a burst of packets is sent, and each returning acknowledgement releases two packets.",
    ],
    look: "the window, which doubles every 100 ms, and the queue at the end",
    toml: slow_start,
    tasks: [
      {
        ask: "Start with 16 segments instead of 4, which is two doublings more. How much sooner is the transfer complete?",
        change: [["initial_window = 4", "initial_window = 16"]],
        measure: (changed, before) => over(minus(flows(before, "completion_time_s"), flows(changed, "completion_time_s")), flows(before, "base_rtt_s")),
        describe: (value) => `${value.toFixed(2)} round trips sooner`,
        choices: [
          { text: "not at all", from: -99, to: 0.5 },
          { text: "about one round trip", from: 0.5, to: 1.5 },
          { text: "about two round trips", from: 1.5, to: 2.5 },
          { text: "four times as fast: more than two round trips", from: 2.5, to: 999 },
        ],
        because: "The window grows from 4 through 8 to 16 in two round trips. A start with 16 saves these, as long as it causes no additional loss.",
      },
      {
        ask: "Send a tenth of the data, 40 kB, over a link that is ten times as fast. What is the utilisation of the fast link until the transfer is complete?",
        change: [['"400 kB"', '"40 kB"'], ['"10 Mbps"', '"100 Mbps"']],
        measure: (changed) => over(40_000 * 8, (flows(changed, "completion_time_s") ?? Number.NaN) * 1e8),
        describe: (value) => `${share(value)} of the link`,
        choices: [
          { text: "nearly all", from: 0.8, to: 9 },
          { text: "about a tenth", from: 0.05, to: 0.8 },
          { text: "about one percent", from: 0, to: 0.05 },
        ],
        because: "A short transfer ends in slow start. It takes several round trips at any link rate, because the sender waits for acknowledgements.",
      },
      {
        ask: "Halve the round trip to 50 ms. How long does the transfer take, compared with before?",
        change: [['propagation_rtt = "100 ms"', 'propagation_rtt = "50 ms"']],
        measure: (changed, before) => over(flows(changed, "completion_time_s"), flows(before, "completion_time_s")),
        describe: (value) => `${times(value)} as long`,
        choices: [
          { text: "the same", from: 0.95, to: 9 },
          { text: "shorter, but more than half as long", from: 0.55, to: 0.95 },
          { text: "half as long, or less", from: 0, to: 0.55 },
        ],
        because: "The doublings take half as long. The serialisation of the data, 0.33 s, does not depend on the round trip.",
      },
    ],
  },
  {
    name: "sawtooth",
    title: "The sawtooth and the bandwidth-delay product",
    text: [
      "Reno adds one segment per round trip and halves its window at a loss. The window therefore oscillates between W/2 and W, where W is the capacity of pipe and buffer together.",
      "The pipe holds rate times round trip, the bandwidth-delay product (BDP): 10 Mbit/s times 100 ms are 83 packets of 1500 bytes.",
    ],
    look: "the window and the queue: the link idles where the window is below the BDP",
    toml: sawtooth,
    tasks: [
      {
        ask: "Remove nearly all of the buffer: 5 packets. What is the utilisation?",
        change: [['"83 packets"', '"5 packets"']],
        measure: (changed) => queue(changed, "utilisation"),
        describe: share,
        choices: [
          { text: "below 50 %", from: 0, to: 0.5 },
          { text: "about 75 %", from: 0.5, to: 0.88 },
          { text: "about 95 %", from: 0.88, to: 0.98 },
          { text: "all of it", from: 0.98, to: 2 },
        ],
        because: "Without a buffer the window oscillates between half of the BDP and all of it: three quarters on average.",
      },
      {
        ask: "Double the buffer to 166 packets. What is the mean round trip, compared with the base round trip of 100 ms?",
        change: [['"83 packets"', '"166 packets"']],
        measure: (changed) => over(flows(changed, "mean_rtt_s"), flows(changed, "base_rtt_s")),
        describe: (value) => `${times(value)} the base round trip`,
        choices: [
          { text: "the same", from: 0, to: 1.2 },
          { text: "up to twice", from: 1.2, to: 2 },
          { text: "more than twice", from: 2, to: 99 },
        ],
        because: "The link was full already. Buffer beyond one BDP only adds a standing queue.",
      },
      {
        ask: "Make the link ten times as fast, 100 Mbit/s, with the old buffer of 83 packets. What is the utilisation in this minute?",
        change: [['"10 Mbps"', '"100 Mbps"']],
        measure: (changed) => queue(changed, "utilisation"),
        describe: share,
        choices: [
          { text: "all of it", from: 0.98, to: 2 },
          { text: "about 80 to 98 %", from: 0.8, to: 0.98 },
          { text: "less", from: 0, to: 0.8 },
        ],
        because: "The BDP is 833 packets now. At one segment per round trip the window takes 40 seconds from half of it to all of it, and a buffer of a tenth of the BDP has little effect.",
      },
    ],
  },
  {
    name: "many_flows",
    title: "Many flows, and the square root",
    text: [
      "Many sawteeth that do not halve at the same time add up to a nearly constant load: the relative variation of the sum falls with the square root of their number.",
      "A link shared by many flows therefore needs a buffer of the BDP over the square root of the number of flows (Appenzeller, Keslassy and McKeown, 2004).",
    ],
    look: "the queue, and the windows, which do not oscillate together",
    toml: many_flows,
    tasks: [
      {
        ask: "The BDP is 833 packets, and the buffer holds 100 packets. Reduce it to 25 packets. What is the utilisation?",
        change: [['"100 packets"', '"25 packets"']],
        measure: (changed) => queue(changed, "utilisation"),
        describe: share,
        choices: [
          { text: "less than three quarters, as with one flow", from: 0, to: 0.75 },
          { text: "75 to 93 %", from: 0.75, to: 0.93 },
          { text: "93 % or more", from: 0.93, to: 2 },
        ],
        because: "This is less than the rule requires: bursts overflow the buffer, and the link sometimes idles. The sum of a hundred windows varies little, so that the utilisation still exceeds the three quarters of one flow without a buffer.",
      },
      {
        ask: "Increase the buffer to the whole BDP, 833 packets. How does the loss rate change?",
        change: [['"100 packets"', '"833 packets"']],
        measure: (changed, before) => over(queue(changed, "loss_rate"), queue(before, "loss_rate")),
        describe: (value) => `${times(value)} as much`,
        choices: [
          { text: "almost no loss", from: 0, to: 0.1 },
          { text: "clearly lower", from: 0.1, to: 0.8 },
          { text: "about the same", from: 0.8, to: 9 },
        ],
        because: "Windows grow until a packet is lost. A larger buffer allows larger windows and longer round trips, and the loss rate falls with the square of the window.",
      },
      {
        ask: "Four flows instead of a hundred, with a buffer of 100 packets. What is the utilisation?",
        change: [["count = 100", "count = 4"]],
        measure: (changed, before) => over(queue(changed, "utilisation"), queue(before, "utilisation")),
        describe: (value) => `${times(value)} as much as with a hundred`,
        choices: [
          { text: "about the same", from: 0.985, to: 9 },
          { text: "somewhat lower", from: 0.5, to: 0.985 },
          { text: "less than half", from: 0, to: 0.5 },
        ],
        because: "The sum of four sawteeth varies more than that of a hundred, and a buffer of an eighth of the BDP is too small for it.",
      },
    ],
  },
  {
    name: "atm",
    title: "Why TCP stalls over ATM",
    text: [
      "ATM divides a packet into cells, and the loss of one cell loses the packet. Early packet discard (EPD) discards whole packets once the queue exceeds a threshold, so that no useless cells are carried.",
      "However, it discards several packets of one window at a time. Reno cannot repair this without a timeout, and with a coarse clock timeouts are long: connections wait, and the link idles although its buffer keeps overflowing.",
    ],
    look: "the windows, and how often the queue runs empty",
    toml: atm,
    tasks: [
      {
        ask: "Balanced packet discard (BPD) protects a connection that has just lost a packet. How does the total goodput change?",
        change: [['policy = "epd", threshold = "40 %"', 'policy = "bpd", lower_threshold = "40 %", upper_threshold = "90 %", gap = 25']],
        measure: (changed, before) => over(valueOf(changed, "groups", "goodput_bps"), valueOf(before, "groups", "goodput_bps")),
        describe: (value) => `${times(value)} what it was`,
        choices: GROWTH,
        because: "Fast retransmit repairs a single loss in a window, so that very few connections wait for a timer.",
      },
      {
        ask: "A timer granularity of 30 ms instead of 300 ms. How does the total goodput change?",
        change: [['tick = "0.3 s"', 'tick = "0.03 s"']],
        measure: (changed, before) => over(valueOf(changed, "groups", "goodput_bps"), valueOf(before, "groups", "goodput_bps")),
        describe: (value) => `${times(value)} what it was`,
        choices: GROWTH,
        because: "Timeouts are as frequent as before, but each takes a tenth of the time.",
      },
      {
        ask: "SACK, which repairs several losses of one window in a round trip, with the old clock and with EPD. How does the total goodput change?",
        change: [['"bpd-2001/reno"', '"bpd-2001/sack"']],
        measure: (changed, before) => over(valueOf(changed, "groups", "goodput_bps"), valueOf(before, "groups", "goodput_bps")),
        describe: (value) => `${times(value)} what it was`,
        choices: GROWTH,
        because: "The receiver reports the missing segments, so that most windows are repaired without a timeout.",
      },
    ],
  },
  {
    name: "bufferbloat",
    title: "Bufferbloat and active queue management",
    text: [
      "A buffer far above the BDP never drains, because loss-based congestion control fills any buffer. All traffic waits in the queue, including games and calls.",
      "CoDel measures the queueing delay of packets. Once it has been above 5 ms for 100 ms, CoDel drops packets at increasing frequency until it is not (RFC 8289).",
    ],
    look: "the round trip, and the queue",
    toml: bufferbloat,
    tasks: [
      {
        ask: "Let CoDel manage the queue. How does the mean queueing delay change?",
        change: [['policy = "drop_tail"', 'policy = "codel"']],
        measure: (changed, before) => over(queue(changed, "mean_wait_s"), queue(before, "mean_wait_s")),
        describe: (value) => `${times(value)} what it was`,
        choices: [
          { text: "about the same", from: 0.6, to: 9 },
          { text: "half to a tenth", from: 0.1, to: 0.6 },
          { text: "less than a tenth", from: 0, to: 0.1 },
        ],
        because: "CoDel keeps the standing queue near its target, regardless of the buffer size.",
      },
      {
        ask: "How much utilisation does CoDel cost?",
        change: [['policy = "drop_tail"', 'policy = "codel"']],
        measure: (changed, before) => minus(queue(before, "utilisation"), queue(changed, "utilisation")),
        describe: (value) => `${(value * 100).toFixed(1)} points of utilisation`,
        choices: [
          { text: "very little, at most 3 points", from: -1, to: 0.03 },
          { text: "3 to 15 points", from: 0.03, to: 0.15 },
          { text: "more", from: 0.15, to: 1 },
        ],
        because: "CoDel lets bursts pass. It drops few packets, and only from a standing queue.",
      },
      {
        ask: "Drop-tail with a small buffer instead: 33 packets, one BDP. How does the mean queueing delay compare with 800 packets?",
        change: [['"800 packets"', '"33 packets"']],
        measure: (changed, before) => over(queue(changed, "mean_wait_s"), queue(before, "mean_wait_s")),
        describe: (value) => `${times(value)} what it was`,
        choices: [
          { text: "about the same", from: 0.6, to: 9 },
          { text: "half to a tenth", from: 0.1, to: 0.6 },
          { text: "less than a tenth", from: 0, to: 0.1 },
        ],
        because: "The delay is the buffered data over the rate. The right size depends on rate and round trip, which a home router does not know.",
      },
    ],
  },
  {
    name: "fairness",
    title: "Fairness and round trips",
    text: [
      "Two flows that share a bottleneck have about the same loss rate, but the flow with the shorter round trip increases its window more often. It gets more throughput.",
      "CUBIC increases its window as a function of time instead of round trips, to reduce this difference (RFC 9438).",
    ],
    look: "goodput of both flows",
    toml: fairness,
    tasks: [
      {
        ask: "Set the far flow's round trip to 30 ms as well. What is the near flow's goodput over the far flow's?",
        change: [['propagation_rtt = "120 ms"', 'propagation_rtt = "30 ms"']],
        measure: (changed) => over(flows(changed, "goodput_bps", 0), flows(changed, "goodput_bps", 1)),
        describe: (value) => `${times(value)} as much`,
        choices: [
          { text: "about the same (0.8 to 1.25)", from: 0.8, to: 1.25 },
          { text: "one of them has clearly more", from: 0, to: 0.8 },
          { text: "the near one has clearly more", from: 1.25, to: 999 },
        ],
        because: "With equal round trips both windows grow at the same rate. With few flows, convergence may still take long, or fail if losses are synchronised.",
      },
      {
        ask: "Back to 120 ms, with a larger buffer of 300 packets. How does the near flow's advantage change?",
        change: [['"60 packets"', '"300 packets"']],
        measure: (changed, before) => over(over(flows(changed, "goodput_bps", 0), flows(changed, "goodput_bps", 1)), over(flows(before, "goodput_bps", 0), flows(before, "goodput_bps", 1))),
        describe: (value) => `${times(value)} its previous advantage`,
        choices: [
          { text: "it grows", from: 1.05, to: 999 },
          { text: "it stays", from: 0.95, to: 1.05 },
          { text: "it shrinks", from: 0, to: 0.95 },
        ],
        because: "The queue adds the same delay to both round trips, so that their ratio is smaller: 150 and 240 ms instead of 55 and 145.",
      },
      {
        ask: "CUBIC for both, with the old buffer. How does the near flow's advantage change?",
        change: [['{preset = "sack"}', '{preset = "cubic"}'], ['{preset = "sack"}', '{preset = "cubic"}']],
        measure: (changed, before) => over(over(flows(changed, "goodput_bps", 0), flows(changed, "goodput_bps", 1)), over(flows(before, "goodput_bps", 0), flows(before, "goodput_bps", 1))),
        describe: (value) => `${times(value)} its previous advantage`,
        choices: [
          { text: "it grows", from: 1.05, to: 999 },
          { text: "it stays", from: 0.95, to: 1.05 },
          { text: "it shrinks", from: 0, to: 0.95 },
        ],
        because: "CUBIC's window depends on the time since the last loss, which both flows detect at about the same time.",
      },
    ],
  },
];

// The lesson's scenario with the changes of a task.
export function changed(lesson: Lesson, task: Task): string {
  return task.change.reduce((toml, [from, to]) => toml.replace(from, to), lesson.toml);
}

function minus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one - other;
}
