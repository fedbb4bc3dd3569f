// A drawing of the network: nodes, links, queues, and the position of each packet.

import type { Description, Drop, Flow, Port, RunUpdate } from "./answers";
import { flowColour, ink, reasonColour } from "./colours";
import { laidOut, MAX_COLUMNS, type Layout, type Point } from "./layout";
import { count, rate, seconds } from "./words";

interface DroppedPacket {
  at: Point;
  colour: string;
  since: number;
}

// Heights of the drawings of small and large networks.
const HEIGHTS: [number, number] = [250, 400];
// Milliseconds for which a discarded packet falls.
const FALL = 700;
// Pixels of the drawing that nodes do not use, above them and in total.
const ABOVE = 30;
const ASIDE = 62;
// Nodes of the largest network whose flows have names.
const MAX_NAMED = 60;
// Pixels between the nodes of a large network that have names.
const NAME = 45;
// Number of queue places that are drawn individually.
const PLACES = 30;

export class Drawing {
  readonly canvas = document.createElement("canvas");
  private readonly layout: Layout;
  private readonly flows: Map<number, Flow>;
  private readonly order: Map<number, number>;
  private falling: DroppedPacket[] = [];
  // The content of the canvas; undefined: it must be redrawn.
  private shown: RunUpdate | null | undefined = undefined;
  private readonly still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  private readonly maxHeld = new Map<number, number>();
  private readonly chosen: (port: number) => void;

  constructor(readonly description: Description, chosen: (port: number) => void) {
    this.chosen = chosen;
    const observed = description.observed.flows;
    this.flows = new Map(description.flows.filter((flow) => observed.includes(flow.flow)).map((flow) => [flow.flow, flow]));
    this.order = new Map(observed.map((flow, place) => [flow, place]));
    this.layout = laidOut(description, [...this.flows.values()]);
    this.canvas.className = "network";
    this.canvas.style.height = `${this.height}px`;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", this.words());
    this.canvas.addEventListener("click", (event) => this.clicked(event));
    this.canvas.addEventListener("mousemove", (event) => { this.canvas.title = this.nodeAt(event); });
  }

  // The name of the node under the pointer; networks with many nodes have no other labels.
  private nodeAt({ clientX, clientY }: MouseEvent): string {
    const box = this.canvas.getBoundingClientRect();
    const away = (name: string) => Math.hypot(this.node(name).x - (clientX - box.left), this.node(name).y - (clientY - box.top));
    return [...this.layout.nodes.keys()].reduce((near, name) => (away(name) < (near === "" ? 12 : away(near)) ? name : near), "");
  }

  // Text alternative of the drawing.
  private words(): string {
    const { ports } = this.description;
    const links = this.layout.ports.slice(0, 8).map((id) => ports[id]).filter((port): port is Port => Boolean(port));
    const descriptions = links.map((port) => `${port.name} from ${port.from} to ${port.to}, ${rate(port.rate_bps)}, ${buffer(port)}`);
    return `The network: ${this.description.flow_count} flows; ${descriptions.join("; ")}`;
  }

  // Discarded packets fall from their queue.
  drop(drops: Drop[]): void {
    if (this.still) {
      return;
    }
    const now = performance.now();
    for (const drop of drops.slice(-12)) {
      const port = this.description.ports[drop.port];
      if (port && this.layout.nodes.has(port.from)) {
        this.falling.push({ at: this.queueAt(port), colour: reasonColour(drop.reason), since: now + Math.random() * 120 });
      }
    }
    this.falling = this.falling.slice(-60);
  }

  // Its colours have changed.
  touch(): void {
    this.shown = undefined;
  }

  draw(update: RunUpdate | null): void {
    const width = this.canvas.clientWidth || 600;
    const ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== this.height * ratio) {
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = this.height * ratio;
      this.touch();
    }
    if (update === this.shown && this.falling.length === 0) {
      return;
    }
    this.shown = update;
    const ctx = this.canvas.getContext("2d");
    if (!ctx) {
      return;
    }
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.clearRect(0, 0, width, this.height);
    ctx.font = "12px system-ui, sans-serif";
    this.drawLinks(ctx, update);
    this.drawEnds(ctx);
    this.drawNodes(ctx);
    this.drawQueues(ctx, update);
    this.drawPackets(ctx, update);
    this.drawFalling(ctx);
  }

  private get isCrowded(): boolean {
    return this.layout.nodes.size > MAX_COLUMNS;
  }

  private get height(): number {
    return HEIGHTS[Number(this.isCrowded)] ?? 0;
  }

  private get width(): number {
    return this.canvas.clientWidth || 600;
  }

  private place({ x, y }: Point): Point {
    return { x: 20 + x * (this.width - 40), y: ABOVE + y * (this.height - ASIDE) };
  }

  private node(name: string): Point {
    return this.place(this.layout.nodes.get(name) ?? { x: 0.5, y: 0.5 });
  }

  private end(of: Map<number, Point>, flow: number): Point {
    return this.place(of.get(flow) ?? { x: 0, y: 0.5 });
  }

  private drawLinks(ctx: CanvasRenderingContext2D, update: RunUpdate | null): void {
    for (const flow of this.flows.values()) {
      for (const [from, to] of [
        [this.end(this.layout.senders, flow.flow), this.node(flow.from)],
        [this.node(flow.to), this.end(this.layout.receivers, flow.flow)],
      ] as [Point, Point][]) {
        line(ctx, from, to, ink("--hair"), 2);
      }
    }
    for (const port of this.layout.others) {
      line(ctx, this.node(port.from), this.node(port.to), ink("--rule"), 0.5);
    }
    for (const id of this.layout.ports) {
      const port = this.description.ports[id];
      if (!port || port.name.endsWith(".reverse")) {
        continue;
      }
      const [from, to] = [this.node(port.from), this.node(port.to)];
      const used = update?.ports.find((state) => state.port === id)?.utilisation ?? 0;
      line(ctx, from, to, ink("--rule"), 3 + 3 * used);
      const middle = { x: from.x + (to.x - from.x) * 0.62, y: from.y + (to.y - from.y) * 0.62 };
      ctx.fillStyle = ink("--soft");
      ctx.textAlign = "center";
      if (Math.abs(to.x - from.x) > 190 && this.layout.ports.length <= 12) {
        ctx.fillText(`${rate(port.rate_bps)} · ${seconds(port.delay_s)}`, middle.x, middle.y + 26);
      }
    }
  }

  private drawEnds(ctx: CanvasRenderingContext2D): void {
    for (const flow of this.flows.values()) {
      const place = this.order.get(flow.flow) ?? 0;
      for (const [of, name] of [[this.layout.senders, true], [this.layout.receivers, false]] as [Map<number, Point>, boolean][]) {
        const { x, y } = this.end(of, flow.flow);
        ctx.fillStyle = flowColour(place);
        ctx.beginPath();
        ctx.arc(x, y, 5, 0, 2 * Math.PI);
        ctx.fill();
        if (name && this.flows.size <= 8 && this.layout.nodes.size <= MAX_NAMED) {
          ctx.fillStyle = ink("--soft");
          ctx.textAlign = "left";
          const alone = this.description.groups.find((group) => group.name === flow.group)?.count === 1;
          ctx.font = "10px system-ui, sans-serif";
          ctx.fillText(alone ? flow.group : `${flow.group} ${flow.index}`, Math.max(2, x - 10), this.isCrowded ? y + 15 : y - 8);
          ctx.font = "12px system-ui, sans-serif";
        }
      }
    }
  }

  private drawNodes(ctx: CanvasRenderingContext2D): void {
    // Nodes of a column do not touch.
    const half = Math.min(this.isCrowded ? 6 : 11, 0.4 * this.layout.rowGap * (this.height - ASIDE));
    for (const name of this.layout.nodes.keys()) {
      const { x, y } = this.node(name);
      ctx.fillStyle = ink("--ground");
      ctx.strokeStyle = ink("--ink");
      ctx.lineWidth = 1.5;
      ctx.beginPath();
      ctx.roundRect(x - half, y - half, 2 * half, 2 * half, half / 2);
      ctx.fill();
      ctx.stroke();
      ctx.fillStyle = ink("--ink");
      ctx.textAlign = "center";
      if (!this.isCrowded) {
        ctx.fillText(name, x, y + 26);
      } else if (this.layout.columnGap * this.width > NAME) {
        ctx.font = "10px system-ui, sans-serif";
        ctx.fillText(name, x, y - half - 4);
        ctx.font = "12px system-ui, sans-serif";
      }
    }
  }

  // The middle of a port's queue.
  private queueAt(port: Port): Point {
    const [from, to] = [this.node(port.from), this.node(port.to)];
    const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
    const off = Math.min(62, length * 0.3);
    return { x: from.x + ((to.x - from.x) / length) * off, y: from.y + ((to.y - from.y) / length) * off - 22 };
  }

  private box(port: Port): { left: number; top: number; width: number; height: number } {
    const { x, y } = this.queueAt(port);
    // With many queues each is small, and is drawn on its link.
    if (this.isCrowded) {
      const width = Math.min(36, 0.4 * this.layout.columnGap * (this.width - 40));
      return { left: x - width / 2, top: y + 18, width, height: 8 };
    }
    const width = Math.min(96, Math.max(40, Math.abs(this.node(port.to).x - this.node(port.from).x) * 0.42));
    return { left: x - width / 2, top: y - 11, width, height: 18 };
  }

  private drawQueues(ctx: CanvasRenderingContext2D, update: RunUpdate | null): void {
    for (const id of this.description.observed.ports) {
      const port = this.description.ports[id];
      if (!port || !this.layout.ports.includes(id)) {
        continue;
      }
      const state = update?.ports.find((one) => one.port === id);
      const held = state?.queue ?? 0;
      this.maxHeld.set(id, Math.max(this.maxHeld.get(id) ?? 10, held));
      const room = port.buffer_unit === "packets" ? bufferAt(port, update?.now_s ?? 0) : null;
      const places = room !== null ? Math.max(room, 1) : (this.maxHeld.get(id) ?? 10) * 1.2;
      const { left, top, width, height } = this.box(port);
      ctx.fillStyle = ink("--ground");
      ctx.strokeStyle = ink("--ink");
      ctx.lineWidth = 1.2;
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.fill();
      ctx.stroke();
      const waiting = this.waiting(update, id);
      // The head is at the right, where packets leave.
      if (waiting.length) {
        const each = (width - 2) / Math.max(places, waiting.length);
        waiting.forEach((flow, place) => {
          ctx.fillStyle = flow === null ? ink("--faint") : flowColour(flow);
          const gap = places <= PLACES ? 1 : 0;
          ctx.fillRect(left + width - 1 - (place + 1) * each, top + 1, Math.max(each - gap, 0.5), height - 2);
        });
      } else {
        ctx.fillStyle = ink("--accent");
        const filled = Math.min(1, held / places) * (width - 2);
        ctx.fillRect(left + width - 1 - filled, top + 1, filled, height - 2);
      }
      if (!this.isCrowded) {
        ctx.fillStyle = ink("--ink");
        ctx.textAlign = "center";
        ctx.fillText(`${count(held)}${room !== null ? ` of ${count(room)}` : ""}`, left + width / 2, top - 5);
      }
    }
  }

  // Flows of the waiting packets, from the head of the queue.
  private waiting(update: RunUpdate | null, port: number): (number | null)[] {
    const numbers = update?.packets?.numbers;
    const found: (number | null)[] = [];
    if (numbers) {
      for (let at = 0; at < numbers.length; at += 6) {
        if (numbers[at + 2] === 1 && numbers[at + 3] === port) {
          found.push(this.order.get(numbers[at] as number) ?? null);
        }
      }
    }
    return found;
  }

  private drawPackets(ctx: CanvasRenderingContext2D, update: RunUpdate | null): void {
    const numbers = update?.packets?.numbers;
    if (!numbers) {
      return;
    }
    for (let at = 0; at < numbers.length; at += 6) {
      const [flow, kind, where, id, far] = numbers.slice(at, at + 5) as [number, number, number, number, number];
      const known = this.flows.get(flow);
      const isAck = (kind & 1) !== 0;
      const ends = this.ends(known, where, id, isAck);
      if (!ends) {
        continue;
      }
      const [from, to] = ends;
      const place = { x: from.x + (to.x - from.x) * far, y: from.y + (to.y - from.y) * far };
      const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
      // Data on one side of the link, acknowledgements on the other.
      const lane = isAck ? 6 : -5;
      const back = to.x < from.x ? -1 : 1;
      const [x, y] = [place.x - ((to.y - from.y) / length) * lane * back, place.y + ((to.x - from.x) / length) * lane * back];
      const colour = flowColour(this.order.get(flow) ?? 7);
      ctx.fillStyle = colour;
      if (isAck) {
        ctx.beginPath();
        ctx.arc(x, y, 2.2, 0, 2 * Math.PI);
        ctx.fill();
      } else {
        ctx.fillRect(x - 3, y - 3, 6, 6);
        if (kind & 2) {
          ctx.strokeStyle = ink("--ink");
          ctx.lineWidth = 1.5;
          ctx.strokeRect(x - 4.5, y - 4.5, 9, 9);
        }
      }
      if (kind & 4) {
        ctx.fillStyle = ink("--ground");
        ctx.fillRect(x - 1, y - 1, 2, 2);
      }
    }
  }

  // The two ends of a packet's current segment, if they are drawn.
  private ends(flow: Flow | undefined, where: number, id: number, isAck: boolean): [Point, Point] | null {
    const port = this.description.ports[id];
    switch (where) {
      case 0:
        return flow ? (isAck ? [this.end(this.layout.receivers, flow.flow), this.node(flow.to)] : [this.end(this.layout.senders, flow.flow), this.node(flow.from)]) : null;
      case 4:
        return flow ? (isAck ? [this.node(flow.from), this.end(this.layout.senders, flow.flow)] : [this.node(flow.to), this.end(this.layout.receivers, flow.flow)]) : null;
      case 3:
        return port && this.layout.nodes.has(port.from) && this.layout.nodes.has(port.to) ? [this.node(port.from), this.node(port.to)] : null;
      default:
        return null;
    }
  }

  private drawFalling(ctx: CanvasRenderingContext2D): void {
    const now = performance.now();
    this.falling = this.falling.filter((one) => now - one.since < FALL);
    for (const { at, colour, since } of this.falling) {
      const part = Math.max(0, (now - since) / FALL);
      ctx.globalAlpha = 1 - part;
      ctx.strokeStyle = colour;
      ctx.lineWidth = 2.2;
      const [x, y] = [at.x - 40, at.y + 10 + 46 * part * part];
      ctx.beginPath();
      ctx.moveTo(x - 4, y - 4);
      ctx.lineTo(x + 4, y + 4);
      ctx.moveTo(x + 4, y - 4);
      ctx.lineTo(x - 4, y + 4);
      ctx.stroke();
      ctx.globalAlpha = 1;
    }
  }

  private clicked(event: MouseEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    for (const id of this.description.observed.ports) {
      const port = this.description.ports[id];
      if (port) {
        const { left, top, width, height } = this.box(port);
        if (x >= left - 6 && x <= left + width + 6 && y >= top - 16 && y <= top + height + 6) {
          this.chosen(id);
          return;
        }
      }
    }
  }
}

export function bufferAt(port: Port, time: number): number | null {
  return port.buffers_later.filter(([from]) => from <= time).at(-1)?.[1] ?? port.buffer;
}

export function buffer(port: Port): string {
  return port.buffer === null ? "unlimited buffer" : `buffer of ${count(port.buffer)} ${port.buffer_unit}`;
}

function line(ctx: CanvasRenderingContext2D, from: Point, to: Point, colour: string, width: number): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = width;
  ctx.beginPath();
  ctx.moveTo(from.x, from.y);
  ctx.lineTo(to.x, to.y);
  ctx.stroke();
}
