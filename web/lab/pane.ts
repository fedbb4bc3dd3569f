// One variant on the screen: its network, its curves, its legend.

import { REASONS, type Description, type FlowState, type PredictedLine, type RunUpdate } from "./answers";
import { flowColour, flowDash, ink, reasonColour } from "./colours";
import { Panel, type Bar, type KeyEntry, type ReferenceLine, type Line, type CurveListener } from "./curves";
import { fill, make } from "./dom";
import { Drawing } from "./network";
import { Run } from "./run";
import { referenceLines, theory } from "./theory";
import { count, digits, rate, seconds } from "./words";

const BINS = 400;
const PORT_COLOURS = ["--line", "--accent", "--bad", "--good", "--ink", "--faint"];

export class Pane {
  readonly root = make("section", { class: "pane" });
  readonly run: Run;
  readonly drawing: Drawing;
  readonly panels: Panel[];
  private readonly legend = make("ul", { class: "legend" });
  private readonly cells: HTMLElement[];
  private readonly title = make("h3");
  // Panels with undrawn changes, the longest waiting ones first.
  private readonly stale = new Set<Panel>();
  private pointedAt: number | null = null;

  constructor(readonly name: string, readonly description: Description, watcher: CurveListener, chosen: (port: number) => void) {
    this.run = new Run(description);
    this.drawing = new Drawing(description, chosen);
    this.panels = this.made(watcher);
    this.cells = description.observed.flows.map((flow, place) => this.entry(flow, place));
    const panels = make("div", { class: "panels" }, ...this.panels.map((panel) => panel.place));
    this.root.append(this.title, this.drawing.canvas, this.legend, panels, theory(description));
    this.root.setAttribute("aria-label", `Variant ${name}`);
  }

  private entry(flow: number, place: number): HTMLElement {
    const colour = flowColour(place);
    const sample = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const stroke = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [name, value] of Object.entries({ x1: 0, y1: 5, x2: 22, y2: 5, stroke: colour, "stroke-width": 3, "stroke-dasharray": flowDash(place).join(" ") })) {
      stroke.setAttribute(name, String(value));
    }
    sample.append(stroke);
    const cell = make("span");
    const of = this.description.flows.find((one) => one.flow === flow);
    const alone = this.description.groups.find((group) => group.name === of?.group)?.count === 1;
    this.legend.append(make("li", {}, sample, make("b", {}, alone ? (of?.group ?? "") : `${of?.group} ${of?.index}`), " ", cell));
    return cell;
  }

  // The background has changed.
  recolour(): void {
    this.legend.querySelectorAll("line").forEach((stroke, place) => stroke.setAttribute("stroke", flowColour(place)));
    this.drawing.touch();
    this.touch();
  }

  private made(watcher: CurveListener): Panel[] {
    const { observed, ports, duration_s, flows, groups } = this.description;
    const isTcp = (flow: number) => groups.find((group) => group.name === flows.find((one) => one.flow === flow)?.group)?.law !== null;
    const ofFlows = (quantity: string, steps: boolean, width = 1.6): Line[] =>
      observed.flows.map((flow, place) => ({ name: String(flow), colour: () => flowColour(place), dash: flowDash(place), width, steps, curve: () => this.run.curves.get(`${quantity}:${flow}`) }));
    const thresholds = ofFlows("ssthresh", true, 1).map((line) => ({ ...line, dash: [2, 3], isGuide: true }));
    const queues: Line[] = observed.ports.map((port, place) => ({
      name: ports[port]?.name ?? "",
      colour: () => ink(PORT_COLOURS[place % PORT_COLOURS.length] ?? "--ink"),
      dash: [],
      width: 1,
      steps: true,
      curve: () => this.run.curves.get(`queue:${port}`),
    }));
    const one = observed.ports.length === 1 ? ports[observed.ports[0] ?? 0] : undefined;
    const predicted = (panel: PredictedLine["panel"]) => referenceLines(this.description, panel);
    const plain = (reference: { value: number; label: string } | null): ReferenceLine[] => (reference ? [{ ...reference, colour: () => ink("--faint") }] : []);
    const rooms = one?.buffer_unit === "packets" ? [[0, one.buffer] as const, ...one.buffers_later] : [];
    const buffer = rooms.flatMap(([from, value]) => plain(value === null ? null : { value, label: from > 0 ? `buffer from ${seconds(from)}` : "buffer" }));
    const cells = groups.some((group) => group.cells);
    const panel = (options: ConstructorParameters<typeof Panel>[0]) => new Panel(options, duration_s, watcher);
    const made: Panel[] = [];
    if (observed.flows.some(isTcp)) {
      made.push(panel({ title: "Congestion window", unit: "segments (dotted: slow-start threshold)", scale: 1, lines: [...ofFlows("cwnd", true), ...thresholds], referenceLines: [...plain(this.product()), ...predicted("cwnd")] }));
    }
    made.push(panel({ title: one ? `Queue at ${one.name}` : "Queues", unit: cells ? "cells (×: a loss)" : "packets (×: a loss)", scale: 1, lines: queues, referenceLines: [...buffer, ...predicted("queue")], losses: () => this.run.drops, key: (time) => this.queueKey(time) }));
    made.push(panel({ title: "Goodput", unit: "Mbit/s", scale: 1e-6, lines: ofFlows("goodput", false), referenceLines: predicted("goodput") }));
    if (observed.flows.some(isTcp)) {
      made.push(panel({ title: "Round trip", unit: "ms", scale: 1e3, lines: ofFlows("rtt", true, 1.2) }));
    }
    made.push(panel({ title: "Losses", unit: `in a ${BINS}th of the run, by reason`, scale: 1, lines: [], bars: () => this.bars(), key: (time) => this.lossKey(time) }));
    return made;
  }

  // A single queue has its name in the title.
  private queueKey(time: number | null): KeyEntry[] {
    const { observed, ports } = this.description;
    const valueOf = (port: number) => (time === null ? "" : ` ${digits(this.run.at(`queue:${port}`, time) ?? 0)}`);
    const entries = observed.ports.map((port, place) => ({ colour: ink(PORT_COLOURS[place % PORT_COLOURS.length] ?? "--ink"), text: `${ports[port]?.name}${valueOf(port)}` }));
    return entries.length > 1 || time !== null ? entries : [];
  }

  // The reasons of all losses, or of losses in the bin under the pointer.
  private lossKey(time: number | null): KeyEntry[] {
    const sums = REASONS.map(() => 0);
    const bin = time === null ? null : Math.floor((time * BINS) / this.description.duration_s);
    for (const [at, counts] of this.run.lost) {
      counts.forEach((lost, reason) => { sums[reason] = (sums[reason] ?? 0) + (bin === null || bin === at ? lost : 0); });
    }
    return REASONS.map((reason, place) => ({ colour: reasonColour(reason), text: `${reason} ${count(sums[place] ?? 0)}`, lost: sums[place] ?? 0 })).filter(({ lost }) => lost > 0);
  }

  // The bandwidth-delay product of a single flow with a single bottleneck: rate times base round trip.
  private product(): { value: number; label: string } | null {
    const { observed, ports, flows, groups, flow_count, changes_s } = this.description;
    const flow = flows.find((one) => one.flow === observed.flows[0]);
    const bytes = groups.find((group) => group.name === flow?.group)?.packet_bytes;
    const slowest = observed.ports.map((id) => ports[id]).reduce((min, port) => (port && (!min || port.rate_bps < min.rate_bps) ? port : min), undefined);
    if (flow_count !== 1 || changes_s.length > 0 || !flow || !bytes || !slowest) {
      return null;
    }
    return { value: (slowest.rate_bps * slowest.transmitters * flow.base_rtt_s) / (8 * bytes), label: "bandwidth-delay product" };
  }

  private bars(): Bar[] {
    const width = this.description.duration_s / BINS;
    return [...this.run.lost].map(([bin, counts]) => ({
      from: bin * width,
      to: (bin + 1) * width,
      parts: counts.map((count, reason) => ({ colour: reasonColour(REASONS[reason] ?? ""), count })).filter((part) => part.count > 0),
    }));
  }

  // Corresponding panels of two variants share one scale.
  compare(other: Pane | null): void {
    this.panels.forEach((panel) => { panel.peer = other?.panels.find(({ options }) => options.title === panel.options.title) ?? null; });
  }

  // `variant`: its letter, if there are two.
  entitle(variant: string | null): void {
    this.title.className = variant === null ? "alone" : "";
    this.title.textContent = `${variant === null ? "" : `${variant}: `}${this.description.name || "unnamed"}`;
  }

  take(update: RunUpdate): void {
    this.run.take(update);
    this.drawing.drop(update.drops);
    this.touch();
    if (this.pointedAt === null) {
      this.showValues(null);
    }
  }

  // Marks all panels as changed.
  touch(): void {
    this.panels.forEach((panel) => this.stale.add(panel));
  }

  draw(): void {
    this.drawing.draw(this.run.update);
  }

  // Draws at most `max` panels and returns their number; the rest waits for the next frame.
  drawCurves(window: [number, number], max: number): number {
    const drawn = [...this.stale].slice(0, max);
    for (const panel of drawn) {
      this.stale.delete(panel);
      panel.show(window);
      panel.now = this.run.now;
      panel.update();
    }
    return drawn.length;
  }

  // Current values, or values at the time under the pointer.
  showValues(time: number | null): void {
    this.pointedAt = time;
    this.panels.forEach((panel) => panel.showValues(time));
    this.description.observed.flows.forEach((flow, place) => {
      const cell = this.cells[place];
      if (cell) {
        const state = this.run.update?.flows.find((one) => one.flow === flow);
        fill(cell, time === null ? (state ? summary(state, this.lost(flow)) : "") : this.summaryAt(flow, time));
      }
    });
  }

  // Label of a flow's losses: the loss of a cell loses its packet.
  private lost(flow: number): string {
    const group = this.description.flows.find((one) => one.flow === flow)?.group;
    return this.description.groups.find((one) => one.name === group)?.cells ? "cells lost" : "lost";
  }

  private summaryAt(flow: number, time: number): string {
    const value = (quantity: string) => this.run.at(`${quantity}:${flow}`, time);
    const parts = [value("cwnd") === null ? "" : `window ${digits(value("cwnd") ?? 0)}`, rate(value("goodput")), seconds(value("rtt"))];
    return `at ${seconds(time, 5)}: ${parts.filter((part) => part && part !== "\u2013").join(" · ")}`;
  }
}

function summary(state: FlowState, lost: string): string {
  const parts = [
    state.cwnd === null ? "" : `window ${digits(state.cwnd)}`,
    state.in_flight === null ? "" : `${count(state.in_flight)} in flight`,
    state.goodput_bps === null ? "" : rate(state.goodput_bps),
    state.rtt_s === null ? "" : seconds(state.rtt_s),
    `${count(state.sent)} sent`,
    `${count(state.lost)} ${lost}`,
  ];
  return parts.filter(Boolean).join(" · ");
}
