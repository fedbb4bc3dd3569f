// Six lessons: of each a scenario, and three things to try. What is predicted is judged by what the run measures, not by what is written here.

import type { Results } from "./answers";
import { valueOf } from "./tables";

export interface Choice {
  text: string;
  // It is right if the measure lies from the first to below the second.
  from: number;
  to: number;
}

export interface Task {
  // What is changed, and what is asked.
  ask: string;
  change: [string, string][];
  // Of the changed run, and of the one before it.
  measure: (changed: Results, before: Results) => number | null;
  told: (value: number) => string;
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

const link = (rate: string, delay: string, buffer: string, policy = "") => `[topology]
dumbbell = {rate = "${rate}", delay = "${delay}", queue = {buffer = "${buffer}"${policy}}}`;

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
      "A sender does not know how fast the path is. It begins with a few segments and adds one for each that is acknowledged: its window doubles every round trip, until something is lost or everything is sent.",
      "Run it slowly and watch: a burst of packets leaves, and as their acknowledgements come back, each lets two packets go.",
    ],
    look: "the window, which doubles every 100 ms, and what the queue does at the end",
    toml: `# Slow start: how fast is the path?
name = "Slow start"
duration = "3 s"

${link("10 Mbps", "10 ms", "300 packets")}

[flows.web]
from = "left"
to = "right"
size = "400 kB"
rtt = "100 ms"
tcp = {preset = "newreno", initial_window = 4}
`,
    tasks: [
      {
        ask: "Begin with 16 segments instead of 4, two doublings more. How much sooner is the transfer complete?",
        change: [["initial_window = 4", "initial_window = 16"]],
        measure: (changed, before) => over(minus(flows(before, "completion_time_s"), flows(changed, "completion_time_s")), flows(before, "base_rtt_s")),
        told: (value) => `${value.toFixed(2)} round trips sooner`,
        choices: [
          { text: "not at all", from: -99, to: 0.5 },
          { text: "about one round trip", from: 0.5, to: 1.5 },
          { text: "about two round trips", from: 1.5, to: 2.5 },
          { text: "four times as fast: more than two round trips", from: 2.5, to: 999 },
        ],
        because: "The window passes 4, 8 and 16 in two round trips; who begins with 16 saves these, as long as nothing is lost that was not lost before.",
      },
      {
        ask: "Send a tenth, 40 kB, over a link that is ten times as fast. How much of the fast link is used until the transfer is complete?",
        change: [['"400 kB"', '"40 kB"'], ['"10 Mbps"', '"100 Mbps"']],
        measure: (changed) => over(40_000 * 8, (flows(changed, "completion_time_s") ?? Number.NaN) * 1e8),
        told: (value) => `${share(value)} of the link`,
        choices: [
          { text: "nearly all", from: 0.8, to: 9 },
          { text: "about a tenth", from: 0.05, to: 0.8 },
          { text: "about one percent", from: 0, to: 0.05 },
        ],
        because: "A short transfer ends in slow start. It takes some round trips, however fast the link is: rate does not help what waits for acknowledgements.",
      },
      {
        ask: "Halve the round trip to 50 ms, the rest as it was. How long does the transfer take, compared with before?",
        change: [['rtt = "100 ms"', 'rtt = "50 ms"']],
        measure: (changed, before) => over(flows(changed, "completion_time_s"), flows(before, "completion_time_s")),
        told: (value) => `${times(value)} as long`,
        choices: [
          { text: "the same", from: 0.95, to: 9 },
          { text: "shorter, but more than half as long", from: 0.55, to: 0.95 },
          { text: "half as long, or less", from: 0, to: 0.55 },
        ],
        because: "The doublings take half as long; the bytes that the link has to send, 0.33 s of them, do not care for the round trip.",
      },
    ],
  },
  {
    name: "sawtooth",
    title: "The sawtooth and the bandwidth-delay product",
    text: [
      "Reno adds a segment every round trip and halves its window at a loss. So the window goes up and down between W/2 and W, where W is what fits into the pipe and the buffer together.",
      "The pipe holds rate times round trip, the bandwidth-delay product: 10 Mbit/s times 100 ms are 83 packets of 1500 bytes.",
    ],
    look: "the window beside the queue: the link idles where the window is below the product",
    toml: `# Sawtooth: how much buffer does one flow need?
name = "Sawtooth"
duration = "80 s"
warmup = "20 s"

${link("10 Mbps", "10 ms", "83 packets")}

[flows.web]
from = "left"
to = "right"
rtt = "100 ms"
tcp = {preset = "newreno"}
`,
    tasks: [
      {
        ask: "Take away nearly all of the buffer: 5 packets. How much of the link is used?",
        change: [['"83 packets"', '"5 packets"']],
        measure: (changed) => queue(changed, "utilisation"),
        told: share,
        choices: [
          { text: "below 50 %", from: 0, to: 0.5 },
          { text: "about 75 %", from: 0.5, to: 0.88 },
          { text: "about 95 %", from: 0.88, to: 0.98 },
          { text: "all of it", from: 0.98, to: 2 },
        ],
        because: "Without a buffer the window swings between half of the product and all of it: three quarters on average.",
      },
      {
        ask: "Double the buffer to 166 packets. What does the mean round trip become, compared with the empty one of 100 ms?",
        change: [['"83 packets"', '"166 packets"']],
        measure: (changed) => over(flows(changed, "mean_rtt_s"), flows(changed, "base_rtt_s")),
        told: (value) => `${times(value)} the empty round trip`,
        choices: [
          { text: "the same", from: 0, to: 1.2 },
          { text: "up to twice", from: 1.2, to: 2 },
          { text: "more than twice", from: 2, to: 99 },
        ],
        because: "The link was full already; what fits into the buffer beyond one product is a queue that always stands.",
      },
      {
        ask: "Make the link ten times as fast, 100 Mbit/s, with the old buffer of 83 packets. How much of it is used in this minute?",
        change: [['"10 Mbps"', '"100 Mbps"']],
        measure: (changed) => queue(changed, "utilisation"),
        told: share,
        choices: [
          { text: "all of it", from: 0.98, to: 2 },
          { text: "about 80 to 98 %", from: 0.8, to: 0.98 },
          { text: "less", from: 0, to: 0.8 },
        ],
        because: "The product is 833 packets now, and a segment a round trip takes 40 seconds from half of it to all: a buffer of a tenth of a product hardly helps.",
      },
    ],
  },
  {
    name: "many_flows",
    title: "Many flows, and the square root",
    text: [
      "Many sawteeth that do not halve at the same time add up to a nearly even load: the sum swings by as much as one over the square root of their number.",
      "So a link that many flows share needs a buffer of a bandwidth-delay product over the square root of the number of flows (Appenzeller, Keslassy and McKeown, 2004).",
    ],
    look: "the queue, and that windows do not go up and down together",
    toml: `# Many flows: does the buffer have to hold a whole product?
name = "Many flows"
duration = "30 s"
warmup = "10 s"

${link("100 Mbps", "10 ms", "100 packets")}

[flows.web]
count = 100
from = "left"
to = "right"
rtt = {uniform = ["60 ms", "140 ms"]}
start = {uniform = ["0 s", "5 s"]}
tcp = {preset = "sack"}
`,
    tasks: [
      {
        ask: "The product is 833 packets, a tenth of it is here. Reduce the buffer to 25 packets, a quarter of that. How much of the link is used?",
        change: [['"100 packets"', '"25 packets"']],
        measure: (changed) => queue(changed, "utilisation"),
        told: share,
        choices: [
          { text: "less than three quarters, as with one flow", from: 0, to: 0.75 },
          { text: "75 to 93 %", from: 0.75, to: 0.93 },
          { text: "93 % or more", from: 0.93, to: 2 },
        ],
        because: "It is a quarter of what the rule asks for: bursts overflow it, and now and then the link idles. But the sum of a hundred windows swings little, so it is still more than the three quarters of one flow without a buffer.",
      },
      {
        ask: "Give it the whole product, 833 packets. What becomes of the share of packets that is lost?",
        change: [['"100 packets"', '"833 packets"']],
        measure: (changed, before) => over(queue(changed, "loss_share"), queue(before, "loss_share")),
        told: (value) => `${times(value)} as much`,
        choices: [
          { text: "nearly none are lost", from: 0, to: 0.1 },
          { text: "clearly fewer", from: 0.1, to: 0.8 },
          { text: "as many as before", from: 0.8, to: 9 },
        ],
        because: "Flows grow until something is lost. A larger buffer lets their windows, and their round trips, grow; loss falls with the square of the window.",
      },
      {
        ask: "Four flows instead of a hundred, with 100 packets of buffer. How much of the link is used?",
        change: [["count = 100", "count = 4"]],
        measure: (changed, before) => over(queue(changed, "utilisation"), queue(before, "utilisation")),
        told: (value) => `${times(value)} as much as with a hundred`,
        choices: [
          { text: "as much", from: 0.985, to: 9 },
          { text: "somewhat less", from: 0.5, to: 0.985 },
          { text: "less than half", from: 0, to: 0.5 },
        ],
        because: "Four sawteeth swing more than a hundred, and a buffer of an eighth of a product does not bridge it.",
      },
    ],
  },
  {
    name: "atm",
    title: "Why TCP stalls behind ATM",
    text: [
      "ATM cuts a packet into cells, and a packet that has lost one cell is lost. Early packet discard (EPD) refuses whole packets once the queue passes a threshold, so that nothing useless is carried.",
      "But it takes several packets from one window at a time. Reno cannot repair that without a timeout, and with a coarse clock a timeout is long: connections wait, and the link idles although its buffer keeps overflowing.",
    ],
    look: "the windows, and how often the queue runs empty",
    toml: `# ATM: why does the link idle although its buffer keeps filling up?
name = "TCP behind ATM"
duration = "10 s"
warmup = "1 s"

[nodes]
switch = {}
destination = {kind = "host"}

[links.bottleneck]
from = "switch"
to = "destination"
rate = "75 Mbps"
delay = "0.3 ms"
queue = {policy = "epd", threshold = "40 %", buffer = "1200 cells"}

[flows.source]
count = 5
from = "switch"
to = "destination"
framing = {trailer = "0 B"}
sender_access = {rate = "30 Mbps", delay = "0.3 ms"}
start = {uniform = ["0 ms", "50 ms"]}
jitter = "20 us"
tcp = {preset = "bpd-2001/reno", timer = {tick = "0.3 s"}}
`,
    tasks: [
      {
        ask: "Balanced packet discard (BPD) spares a connection that has just lost a packet. How does the goodput of all change?",
        change: [['policy = "epd", threshold = "40 %"', 'policy = "bpd", lower = "40 %", upper = "90 %", gap = 25']],
        measure: (changed, before) => over(valueOf(changed, "groups", "goodput_bps"), valueOf(before, "groups", "goodput_bps")),
        told: (value) => `${times(value)} what it was`,
        choices: GROWTH,
        because: "One loss from a window is repaired by fast retransmit; hardly anybody waits for a timer any more.",
      },
      {
        ask: "A clock ten times as fine: timers tick every 30 ms instead of every 300. How does the goodput of all change?",
        change: [['tick = "0.3 s"', 'tick = "0.03 s"']],
        measure: (changed, before) => over(valueOf(changed, "groups", "goodput_bps"), valueOf(before, "groups", "goodput_bps")),
        told: (value) => `${times(value)} what it was`,
        choices: GROWTH,
        because: "Timeouts come as often as before, but each costs a tenth of the time.",
      },
      {
        ask: "SACK, which repairs several losses of one window in a round trip, with the old clock and with EPD. How does the goodput of all change?",
        change: [['"bpd-2001/reno"', '"bpd-2001/sack"']],
        measure: (changed, before) => over(valueOf(changed, "groups", "goodput_bps"), valueOf(before, "groups", "goodput_bps")),
        told: (value) => `${times(value)} what it was`,
        choices: GROWTH,
        because: "The receiver says what is missing; most windows are repaired without a timeout.",
      },
    ],
  },
  {
    name: "bufferbloat",
    title: "Bufferbloat, and queues that are managed",
    text: [
      "A buffer far beyond the product never drains: loss-based control fills whatever there is. Everybody waits behind the queue, gamers and calls as well.",
      "CoDel looks at how long packets wait. Once that stays above 5 ms for 100 ms, it drops a packet now and then until it does not (RFC 8289).",
    ],
    look: "the round trip, and the queue",
    toml: `# Bufferbloat: who fills the buffer, and who waits for it?
name = "Bufferbloat"
duration = "40 s"
warmup = "10 s"

${link("10 Mbps", "5 ms", "800 packets", ', policy = "drop_tail"')}

[flows.bulk]
count = 2
from = "left"
to = "right"
rtt = "40 ms"
jitter = "1 ms"
tcp = {preset = "cubic"}

[flows.call]
from = "left"
to = "right"
source = {kind = "constant", rate = "100 kbps", packet = "200 B"}
`,
    tasks: [
      {
        ask: "Let CoDel manage the queue. The mean wait of a packet there, compared with before?",
        change: [['policy = "drop_tail"', 'policy = "codel"']],
        measure: (changed, before) => over(queue(changed, "mean_wait_s"), queue(before, "mean_wait_s")),
        told: (value) => `${times(value)} what it was`,
        choices: [
          { text: "about the same", from: 0.6, to: 9 },
          { text: "half to a tenth", from: 0.1, to: 0.6 },
          { text: "less than a tenth", from: 0, to: 0.1 },
        ],
        because: "CoDel keeps the standing queue near its target, whatever the buffer could hold.",
      },
      {
        ask: "And what does CoDel cost in utilisation?",
        change: [['policy = "drop_tail"', 'policy = "codel"']],
        measure: (changed, before) => minus(queue(before, "utilisation"), queue(changed, "utilisation")),
        told: (value) => `${(value * 100).toFixed(1)} points of utilisation`,
        choices: [
          { text: "next to nothing, at most 3 points", from: -1, to: 0.03 },
          { text: "3 to 15 points", from: 0.03, to: 0.15 },
          { text: "more", from: 0.15, to: 1 },
        ],
        because: "Bursts are let through; only what stays is dropped, early and little.",
      },
      {
        ask: "Drop-tail with a small buffer instead: 33 packets, one product. The mean wait, compared with 800 packets?",
        change: [['"800 packets"', '"33 packets"']],
        measure: (changed, before) => over(queue(changed, "mean_wait_s"), queue(before, "mean_wait_s")),
        told: (value) => `${times(value)} what it was`,
        choices: [
          { text: "about the same", from: 0.6, to: 9 },
          { text: "half to a tenth", from: 0.1, to: 0.6 },
          { text: "less than a tenth", from: 0, to: 0.1 },
        ],
        because: "The wait is what the buffer holds over the rate. The right size depends on rate and round trip, which a box at home does not know.",
      },
    ],
  },
  {
    name: "fairness",
    title: "Fairness and round trips",
    text: [
      "Two flows that share a bottleneck hear of the same losses, but the one with the shorter round trip adds segments more often. Who is near gets more.",
      "CUBIC grows by the clock instead, not by round trips, to even that out (RFC 9438).",
    ],
    look: "goodput of both flows",
    toml: `# Fairness: who gets how much of a link?
name = "Fairness"
duration = "120 s"
warmup = "20 s"

${link("20 Mbps", "5 ms", "60 packets")}

[flows.near]
from = "left"
to = "right"
rtt = "30 ms"
jitter = "1 ms"
start = "0.2 s"
tcp = {preset = "sack"}

[flows.far]
from = "left"
to = "right"
rtt = "120 ms"
jitter = "1 ms"
tcp = {preset = "sack"}
`,
    tasks: [
      {
        ask: "Make the far flow's round trip the same, 30 ms. The near flow's goodput over the far one's?",
        change: [['rtt = "120 ms"', 'rtt = "30 ms"']],
        measure: (changed) => over(flows(changed, "goodput_bps", 0), flows(changed, "goodput_bps", 1)),
        told: (value) => `${times(value)} as much`,
        choices: [
          { text: "about the same (0.8 to 1.25)", from: 0.8, to: 1.25 },
          { text: "one of them has clearly more", from: 0, to: 0.8 },
          { text: "the near one has clearly more", from: 1.25, to: 999 },
        ],
        because: "With the same round trips, each grows as fast as the other. With few flows it may still take long, or go wrong, if they lose in the same pattern.",
      },
      {
        ask: "Back to 120 ms, and a larger buffer: 300 packets. How does the near flow's advantage change?",
        change: [['"60 packets"', '"300 packets"']],
        measure: (changed, before) => over(over(flows(changed, "goodput_bps", 0), flows(changed, "goodput_bps", 1)), over(flows(before, "goodput_bps", 0), flows(before, "goodput_bps", 1))),
        told: (value) => `${times(value)} the advantage that it had`,
        choices: [
          { text: "it grows", from: 1.05, to: 999 },
          { text: "it stays", from: 0.95, to: 1.05 },
          { text: "it shrinks", from: 0, to: 0.95 },
        ],
        because: "The queue adds the same wait to both round trips, so that they differ less: 150 and 240 ms instead of 55 and 145.",
      },
      {
        ask: "CUBIC for both, with the old buffer. How does the near flow's advantage change?",
        change: [['{preset = "sack"}', '{preset = "cubic"}'], ['{preset = "sack"}', '{preset = "cubic"}']],
        measure: (changed, before) => over(over(flows(changed, "goodput_bps", 0), flows(changed, "goodput_bps", 1)), over(flows(before, "goodput_bps", 0), flows(before, "goodput_bps", 1))),
        told: (value) => `${times(value)} the advantage that it had`,
        choices: [
          { text: "it grows", from: 1.05, to: 999 },
          { text: "it stays", from: 0.95, to: 1.05 },
          { text: "it shrinks", from: 0, to: 0.95 },
        ],
        because: "Its growth follows the time since the last loss, which both hear of at about the same time.",
      },
    ],
  },
];

// The lesson's scenario as a task changes it.
export function changed(lesson: Lesson, task: Task): string {
  return task.change.reduce((toml, [from, to]) => toml.replace(from, to), lesson.toml);
}

function minus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one - other;
}
