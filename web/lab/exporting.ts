// Exports: the curves as numbers, as a vector graphic, and as a bitmap.

import type { Pane } from "./pane";
import { ink, reasonColour } from "./colours";
import type { Panel } from "./curves";

// Curves one below the other: quantity, flow or queue, time, value.
export function curvesCsv(panes: Pane[]): string {
  const lines = ["variant,quantity,of,time_s,value"];
  for (const pane of panes) {
    for (const [name, { x, y }] of pane.run.curves) {
      const [quantity, index] = name.split(":") as [string, string];
      const flow = pane.description.flows.find((one) => one.flow === Number(index));
      const of = quantity === "queue" ? pane.description.ports[Number(index)]?.name : `${flow?.group} ${flow?.index}`;
      x.forEach((time, at) => lines.push(`${pane.name},${quantity},${of},${time},${y[at]}`));
    }
  }
  return `${lines.join("\n")}\n`;
}

const [WIDTH, HEIGHT, LEFT, TOP, BOTTOM] = [720, 200, 60, 26, 24];

export function svg(panes: Pane[]): string {
  const panels = panes.flatMap((pane) => pane.panels.map((panel) => ({ pane, panel })));
  const height = panels.length * (HEIGHT + 20);
  const parts = panels.map(({ pane, panel }, row) => `<g transform="translate(0 ${row * (HEIGHT + 20)})">${panelSvg(panes.length > 1 ? `${pane.name}: ` : "", panel)}</g>`);
  const style = `font: 11px sans-serif; fill: ${ink("--ink")}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}"><rect width="100%" height="100%" fill="${ink("--ground")}"/><g style="${style}">${parts.join("")}</g></svg>\n`;
}

function panelSvg(prefix: string, panel: Panel): string {
  const { plot, options } = panel;
  const [from, to] = [plot.scales.x?.min ?? 0, plot.scales.x?.max ?? 1];
  const top = plot.scales.y?.max ?? 1;
  const x = (time: number) => LEFT + ((time - from) / (to - from)) * (WIDTH - LEFT - 10);
  const y = (value: number) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
  const parts = [`<text x="${LEFT}" y="16">${escaped(`${prefix}${options.title}, ${options.unit}`)}</text>`];
  parts.push(`<path d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - 10}" fill="none" stroke="${ink("--rule")}"/>`);
  for (const value of round(0, top)) {
    parts.push(`<text x="${LEFT - 6}" y="${y(value) + 4}" text-anchor="end">${value}</text>`);
  }
  for (const time of round(from, to)) {
    parts.push(`<text x="${x(time)}" y="${HEIGHT - 8}" text-anchor="${time === from ? "start" : x(time) > WIDTH - 30 ? "end" : "middle"}">${time} s</text>`);
  }
  const key = options.key?.(null) ?? [];
  key.forEach(({ colour, text }, at) => parts.push(`<text x="${WIDTH - 10 - 110 * (key.length - 1 - at)}" y="16" text-anchor="end" fill="${colour}">${escaped(text)}</text>`));
  for (const bar of options.bars?.() ?? []) {
    let sum = 0;
    for (const { colour, count } of bar.parts) {
      parts.push(`<rect x="${x(bar.from)}" y="${y(sum + count)}" width="${Math.max(1, x(bar.to) - x(bar.from))}" height="${y(sum) - y(sum + count)}" fill="${colour}"/>`);
      sum += count;
    }
  }
  for (const line of options.lines) {
    const curve = line.curve();
    const points: string[] = [];
    curve?.x.forEach((time, at) => {
      if (time < from || time > to) {
        return;
      }
      const height = y(Math.min((curve.y[at] ?? 0) * options.scale, top * 1.05)).toFixed(1);
      const before = points.at(-1)?.split(" ")[1];
      if (line.steps && before !== undefined) {
        points.push(`${x(time).toFixed(1)} ${before}`);
      }
      points.push(`${x(time).toFixed(1)} ${height}`);
    });
    if (points.length) {
      parts.push(`<polyline points="${points.join(",")}" fill="none" stroke="${line.colour()}" stroke-width="${line.width}" stroke-dasharray="${line.dash.join(" ") || "none"}"/>`);
    }
  }
  for (const reference of (options.referenceLines ?? []).filter(({ value }) => value * options.scale <= top)) {
    const height = y(reference.value * options.scale).toFixed(1);
    parts.push(`<path d="M${LEFT} ${height}H${WIDTH - 10}" stroke="${reference.colour()}" stroke-dasharray="8 3 2 3"/><text x="${WIDTH - 14}" y="${Number(height) + 12}" text-anchor="end" fill="${reference.colour()}">${escaped(reference.label)}</text>`);
  }
  // One mark per position.
  const marks = new Map((options.losses?.() ?? []).filter(({ time_s }) => time_s >= from && time_s <= to).map((loss) => [x(loss.time_s).toFixed(0), loss.reason]));
  for (const [at, reason] of marks) {
    parts.push(`<path d="M${Number(at) - 3} ${TOP + 2}l6 6m0 -6l-6 6" stroke="${reasonColour(reason)}" stroke-width="1.6"/>`);
  }
  return parts.join("");
}

// Round numbers between two values.
function round(from: number, to: number): number[] {
  const rough = (to - from) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10);
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, at) => Number(((first + at) * step).toPrecision(6)));
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

// All panels as displayed, one below the other.
export async function png(panes: Pane[]): Promise<Blob> {
  const pictures = panes.flatMap((pane) => [pane.drawing.canvas, ...pane.panels.map((panel) => panel.plot.root.querySelector("canvas"))]).filter((one): one is HTMLCanvasElement => one !== null);
  const titles = panes.flatMap((pane) => [pane.description.name, ...pane.panels.map(({ options }) => `${options.title}, ${options.unit}`)]);
  const line = 24 * devicePixelRatio;
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(...pictures.map((picture) => picture.width));
  canvas.height = pictures.reduce((sum, picture) => sum + picture.height + line, 0);
  const ctx = canvas.getContext("2d");
  if (ctx) {
    ctx.fillStyle = ink("--ground");
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    ctx.font = `${13 * devicePixelRatio}px sans-serif`;
    let top = 0;
    pictures.forEach((picture, at) => {
      ctx.fillStyle = ink("--ink");
      ctx.fillText(titles[at] ?? "", 8, top + line - 8 * devicePixelRatio);
      ctx.drawImage(picture, 0, top + line);
      top += picture.height + line;
    });
  }
  return new Promise((made, failed) => canvas.toBlob((blob) => (blob ? made(blob) : failed(new Error("no picture"))), "image/png"));
}
