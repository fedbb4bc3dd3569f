// The worker: contains the core, answers requests of the page, and advances runs in slices, so that the page never waits.

import type { Breakpoints, FaultAnswer, RunUpdate } from "./answers";

// Worker interfaces that the types of pages do not declare.
interface WorkerScope {
  // Address of the core.
  readonly name: string;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
  postMessage(message: FromWorker): void;
}

export interface Play {
  epoch: number;
  // The runs, side by side.
  names: string[];
  // Simulated seconds per second; null for as fast as possible.
  speed: number | null;
  until_s: number;
  breaks: Breakpoints;
  packets: number;
}

export type ToWorker =
  | { kind: "ask"; id: number; request: unknown }
  // New data of a run, whose points are binary.
  | { kind: "read"; id: number; request: { name: string; packets: number } }
  // A question that needs many slices.
  | { kind: "question"; id: number; request: { name: string } }
  // Run to a time, silently.
  | { kind: "run_to"; id: number; names: string[]; until_s: number }
  | { kind: "play"; play: Play }
  | { kind: "pause" }
  // Starts over: no run is needed any more.
  | { kind: "renew" }
  // The page has drawn the last frame.
  | { kind: "drawn" };

export interface Frame {
  // Epoch of the play that it belongs to.
  epoch: number;
  updates: Record<string, RunUpdate>;
  hit: string | null;
  playing: boolean;
  // Events per second of real time.
  pace: number;
  memory: number;
}

export type FromWorker =
  | { kind: "ready" }
  | { kind: "broken"; why: string }
  | { kind: "answer"; id: number; answer: unknown }
  | { kind: "fault"; id: number; fault: FaultAnswer }
  | { kind: "progress"; id: number; share: number }
  | { kind: "frame"; frame: Frame };

interface Core {
  memory: WebAssembly.Memory;
  tailback_scenario(bytes: number): number;
  tailback_lab(): number;
  tailback_answer(): number;
  tailback_answer_bytes(): number;
  tailback_numbers(): number;
  tailback_numbers_count(): number;
}

// Location of a curve's points among the numbers: first all x, then all y.
interface CurveLocation {
  replace: number;
  at: number;
  points: number;
}

interface AdvanceResult {
  now_s: number;
  done: boolean;
  hit: string | null;
}

// Milliseconds of a work slice, after which messages are handled.
const SLICE = 12;
// Events per call; few enough for a slice on a slow phone.
const EVENTS = 20_000;
// Memory in bytes at which runs are stopped, before the tab crashes.
const MAX_MEMORY = 1_600_000_000;
// Memory in bytes at which an idle core is replaced by a new one, because WebAssembly memory never shrinks.
const RECYCLE_MEMORY = 300_000_000;

const host = globalThis as unknown as WorkerScope;
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
let compiled: WebAssembly.Module | null = null;
let core: Core | null = null;
let play: Play | null = null;
let target = 0;
let last = 0;
let awaited = false;
let shown = 0;
let events = 0;
let measured = 0;
let pace = 0;
// Questions wait for their turn, so that they do not stop runs.
const questions: { id: number; name: string }[] = [];
const journeys: { id: number; names: string[]; until_s: number }[] = [];

function ask<Answer>(request: unknown): Answer {
  if (!core) {
    throw new Error("the core is not there");
  }
  const bytes = encoder.encode(JSON.stringify(request));
  const at = core.tailback_scenario(bytes.length);
  new Uint8Array(core.memory.buffer, at, bytes.length).set(bytes);
  const done = core.tailback_lab() !== 0;
  const text = decoder.decode(new Uint8Array(core.memory.buffer, core.tailback_answer(), core.tailback_answer_bytes()));
  const answer = JSON.parse(text);
  if (!done) {
    throw { fault: answer as FaultAnswer };
  }
  return answer as Answer;
}

function read(request: Record<string, unknown>): RunUpdate {
  const { series, ...rest } = ask<Omit<RunUpdate, "series"> & { series: Record<string, CurveLocation> }>({ ask: "read", ...request });
  const curves: RunUpdate["series"] = {};
  if (core) {
    const numbers = new Float64Array(core.memory.buffer, core.tailback_numbers(), core.tailback_numbers_count());
    for (const [name, { replace, at, points }] of Object.entries(series)) {
      curves[name] = { replace, x: numbers.slice(at, at + points), y: numbers.slice(at + points, at + 2 * points) };
    }
  }
  return { ...rest, series: curves };
}

// Performs an action and sends its result or error; a core stopped by a bug is reported as such.
function attempt(id: number, act: () => unknown): void {
  try {
    host.postMessage({ kind: "answer", id, answer: act() });
  } catch (error) {
    host.postMessage({ kind: "fault", id, fault: faultOf(error) });
  }
}

function faultOf(error: unknown): FaultAnswer {
  const fault = (error as { fault?: FaultAnswer }).fault;
  if (fault) {
    return fault;
  }
  const problem = { at: "", message: `the core has stopped: ${String(error)}`, given: null, expected: null, hint: "reload the page, and please report the bug with the link" };
  return { problems: [problem], more: 0, is_bug: true };
}

function advance(name: string, until_s: number, breaks: Breakpoints): AdvanceResult {
  return ask<AdvanceResult>({ ask: "advance", name, until_s, events: EVENTS, breaks });
}

// One slice of the pending work. True: there is more.
function slice(): boolean {
  const end = performance.now() + SLICE;
  const journey = journeys[0];
  if (journey) {
    let behind = false;
    for (const name of journey.names) {
      let at = advance(name, journey.until_s, {});
      while (!at.done && at.now_s < journey.until_s && performance.now() < end) {
        at = advance(name, journey.until_s, {});
      }
      behind ||= !at.done && at.now_s < journey.until_s;
    }
    if (!behind) {
      journeys.shift();
      host.postMessage({ kind: "answer", id: journey.id, answer: {} });
    }
    return true;
  }
  const question = questions[0];
  if (question) {
    const answer = ask<{ done: boolean; share?: number }>({ ask: "advance_question", name: question.name, events: EVENTS });
    if (answer.done) {
      questions.shift();
      ask({ ask: "close", name: question.name });
      host.postMessage({ kind: "answer", id: question.id, answer });
    } else {
      host.postMessage({ kind: "progress", id: question.id, share: answer.share ?? 0 });
    }
    return true;
  }
  if (!play) {
    return false;
  }
  return playOn(play, end);
}

let now_s: Record<string, number> = {};
let done: Record<string, boolean> = {};

function playOn(given: Play, end: number): boolean {
  const now = performance.now();
  if (given.speed === null) {
    target = given.until_s;
  } else {
    // Time lost to a pause of the browser is not caught up.
    target = Math.min(given.until_s, target + (given.speed * Math.min(now - last, 100)) / 1000);
  }
  last = now;
  let hit: string | null = null;
  // The run that is behind continues.
  while (performance.now() < end) {
    const behind = given.names.filter((name) => !done[name] && (now_s[name] ?? 0) < target).sort((one, other) => (now_s[one] ?? 0) - (now_s[other] ?? 0))[0];
    if (behind === undefined) {
      break;
    }
    const at = advance(behind, given.names.length > 1 ? Math.min(target, together(given)) : target, given.breaks);
    now_s[behind] = at.now_s;
    done[behind] = at.done;
    if (at.hit !== null) {
      hit = given.names.length > 1 ? `${behind}: ${at.hit}` : at.hit;
      break;
    }
  }
  const full = (core?.memory.buffer.byteLength ?? 0) > MAX_MEMORY;
  const over = given.names.every((name) => done[name] || (now_s[name] ?? 0) >= given.until_s);
  if (hit !== null || over || full) {
    play = null;
    frame(given, full ? "the run has reached the lab's memory limit of 1.6 GB" : hit, false);
    return false;
  }
  if (!awaited && now - shown >= (given.speed === null ? 30 : 14)) {
    frame(given, null, true);
  }
  return true;
}

// Keeps parallel runs within a hundredth of the whole run of each other.
function together(given: Play): number {
  const behind = Math.min(...given.names.map((name) => (done[name] ? Infinity : now_s[name] ?? 0)));
  return behind + given.until_s / 100;
}

function frame(given: Play, hit: string | null, playing: boolean): void {
  const updates: Record<string, RunUpdate> = {};
  let all = 0;
  for (const name of given.names) {
    const update = read({ name, packets: given.packets });
    updates[name] = update;
    all += update.events;
  }
  const now = performance.now();
  if (now - measured > 250) {
    pace = measured && all >= events ? ((all - events) / (now - measured)) * 1000 : 0;
    [measured, events] = [now, all];
  }
  shown = now;
  awaited = true;
  host.postMessage({ kind: "frame", frame: { epoch: given.epoch, updates, hit, playing, pace, memory: core?.memory.buffer.byteLength ?? 0 } });
}

// Slices follow one another through a channel, because timers would wait four milliseconds between them.
const { port1, port2 } = new MessageChannel();
let running = false;

function go(): void {
  if (!running) {
    running = true;
    port2.postMessage(null);
  }
}

port1.onmessage = () => {
  running = false;
  let more = false;
  try {
    more = slice();
  } catch (error) {
    stopped(error);
  }
  if (!more) {
    return;
  }
  // Below full speed there is nothing to do until the next displayed time.
  if (play?.speed != null && journeys.length + questions.length === 0) {
    running = true;
    setTimeout(() => {
      running = false;
      go();
    }, 4);
  } else {
    go();
  }
};

// Rejects all pending requests.
function stopped(error: unknown): void {
  const fault = faultOf(error);
  play = null;
  for (const { id } of [...journeys.splice(0), ...questions.splice(0)]) {
    host.postMessage({ kind: "fault", id, fault });
  }
  host.postMessage({ kind: "broken", why: fault.problems[0]?.message ?? "" });
}

function begun(given: Play): void {
  [now_s, done] = [{}, {}];
  for (const name of given.names) {
    // Reads its current time.
    now_s[name] = ask<AdvanceResult>({ ask: "advance", name, until_s: 0, events: 0, breaks: {} }).now_s;
  }
  target = Math.min(...Object.values(now_s));
  last = performance.now();
  [measured, awaited, play] = [0, false, given];
}

host.onmessage = ({ data }) => {
  switch (data.kind) {
    case "ask":
      attempt(data.id, () => ask(data.request));
      break;
    case "read":
      attempt(data.id, () => read(data.request));
      break;
    case "question":
      try {
        ask(data.request);
        questions.push({ id: data.id, name: data.request.name });
      } catch (error) {
        host.postMessage({ kind: "fault", id: data.id, fault: faultOf(error) });
      }
      break;
    case "run_to":
      journeys.push(data);
      break;
    case "play":
      try {
        begun(data.play);
      } catch (error) {
        stopped(error);
      }
      break;
    case "pause":
      if (play) {
        const paused = play;
        play = null;
        frame(paused, null, false);
      }
      break;
    case "renew":
      renew();
      break;
    case "drawn":
      awaited = false;
      break;
  }
  go();
};

function renew(): void {
  const isIdle = play === null && questions.length + journeys.length === 0;
  if (compiled && core && isIdle && core.memory.buffer.byteLength > RECYCLE_MEMORY) {
    core = new WebAssembly.Instance(compiled).exports as unknown as Core;
  }
}

async function begin(): Promise<void> {
  const answer = await fetch(host.name);
  if (!answer.ok) {
    throw new Error(`${host.name}: ${answer.status}`);
  }
  const { module, instance } = await WebAssembly.instantiate(await answer.arrayBuffer());
  [compiled, core] = [module, instance.exports as unknown as Core];
  host.postMessage({ kind: "ready" });
}

begin().catch((error) => host.postMessage({ kind: "broken", why: String(error) }));
