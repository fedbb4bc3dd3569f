// Positions of nodes and of the ends of flows, as fractions of the drawing. Small networks are in columns along the routes; larger ones are
// laid out by forces, and in levels if they are trees of switches.

import { forceLink, forceManyBody, forceSimulation, forceX, forceY, type SimulationNodeDatum } from "d3-force";
import type { Description, Flow, Port } from "./answers";

export interface Point {
  x: number;
  y: number;
}

interface Body extends SimulationNodeDatum {
  name: string;
}

export interface Layout {
  nodes: Map<string, Point>;
  senders: Map<number, Point>;
  receivers: Map<number, Point>;
  // Ports on the routes of the flows.
  ports: number[];
  // Other links, drawn in large networks.
  others: Port[];
  // The smallest distances between nodes.
  rowGap: number;
  columnGap: number;
}

// Networks with more nodes are laid out by forces.
export const MAX_COLUMNS = 12;
// In still larger ones, only nodes on the routes of observed flows are drawn.
const MAX_DRAWN = 400;
// Steps of the simulation of forces; d3-force's own number.
const STEPS = 300;

export function laidOut(description: Description, flows: Flow[]): Layout {
  const { ports } = description;
  const onRoutes = new Set(flows.flatMap((flow) => [...flow.forward, ...flow.backward]));
  const used = [...onRoutes].map((id) => ports[id]).filter((port): port is Port => port !== undefined);
  const all = namesOf(ports);
  const isWhole = all.length <= MAX_DRAWN;
  if ((isWhole ? all : namesOf(used)).length <= MAX_COLUMNS) {
    return inColumns(description, flows);
  }
  const { nodes, rowGap, columnGap } = placed(isWhole ? ports : used, [...new Set(description.flows.flatMap(({ from, to }) => [from, to]))]);
  const end = (name: string, side: -1 | 1): Point => {
    const at = nodes.get(name) ?? { x: 0.5, y: 0.5 };
    return { x: at.x + side * 0.016, y: Math.min(1.08, at.y + 0.045) };
  };
  return {
    nodes,
    senders: new Map(flows.map(({ flow, from }) => [flow, end(from, -1)])),
    receivers: new Map(flows.map(({ flow, to }) => [flow, end(to, 1)])),
    ports: [...onRoutes],
    others: isWhole ? ports.filter((_, id) => !onRoutes.has(id)) : [],
    rowGap,
    columnGap,
  };
}

function namesOf(ports: Port[]): string[] {
  return [...new Set(ports.flatMap(({ from, to }) => [from, to]))];
}

// By forces; `ends`: the nodes of flows.
function placed(ports: Port[], ends: string[]): { nodes: Map<string, Point>; rowGap: number; columnGap: number } {
  const names = namesOf(ports);
  const links = ports.filter(({ name }) => !name.endsWith(".reverse")).map(({ from, to }) => ({ source: from, target: to }));
  const key = JSON.stringify([links, ends]);
  if (last?.key === key) {
    return last.found;
  }
  const levels = levelsOf(names, links, ends);
  const nodes = names.map((name): Body => ({ name }));
  const level = ({ name }: Body) => levels?.get(name) ?? 0;
  const simulation = forceSimulation(nodes).force("link", forceLink<Body, { source: string; target: string }>(links.map((link) => ({ ...link }))).id(({ name }) => name)).force("x", forceX(0).strength(0.03)).stop();
  if (levels) {
    simulation.force("charge", forceManyBody().strength(-60)).force("y", forceY<Body>((node) => -120 * level(node)).strength(2));
  } else {
    simulation.force("charge", forceManyBody().strength(-120)).force("y", forceY(0).strength(0.08));
  }
  simulation.tick(STEPS);
  const found = levels ? inLevels(nodes, level, links) : spread(nodes);
  last = { key, found };
  return found;
}

// Parameters do not change the network, which is laid out once.
let last: { key: string; found: ReturnType<typeof placed> } | null = null;

// The distances of nodes from the ends of flows, if all links connect neighbouring levels and there are at least three: a tree of switches.
function levelsOf(names: string[], links: { source: string; target: string }[], ends: string[]): Map<string, number> | null {
  const neighbours = new Map(names.map((name): [string, string[]] => [name, []]));
  for (const { source, target } of links) {
    neighbours.get(source)?.push(target);
    neighbours.get(target)?.push(source);
  }
  // Hosts without flows are ends as well.
  const lowest = names.filter((name) => ends.includes(name) || neighbours.get(name)?.length === 1);
  const levels = new Map(lowest.map((name) => [name, 0]));
  const waiting = [...lowest];
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    for (const other of neighbours.get(name) ?? []) {
      if (!levels.has(other)) {
        levels.set(other, (levels.get(name) ?? 0) + 1);
        waiting.push(other);
      }
    }
  }
  const isTree = links.every(({ source, target }) => Math.abs((levels.get(source) ?? 0) - (levels.get(target) ?? 0)) === 1);
  return isTree && Math.max(...levels.values()) >= 2 ? levels : null;
}

// Each level is a row, the ends at the bottom. Rows are in the order of the forces, and then below and above the means of their neighbours,
// which puts pods next to one another.
function inLevels(nodes: Body[], level: (node: Body) => number, links: { source: string; target: string }[]): ReturnType<typeof placed> {
  const found = new Map(nodes.map((node) => [node.name, { x: node.x ?? 0, y: 0 }]));
  const neighbours = new Map(nodes.map(({ name }): [string, string[]] => [name, []]));
  links.forEach(({ source, target }) => {
    neighbours.get(source)?.push(target);
    neighbours.get(target)?.push(source);
  });
  const highest = Math.max(...nodes.map(level));
  const rows = Array.from({ length: highest + 1 }, (_, at) => nodes.filter((node) => level(node) === at));
  const names = rows.map((row) => new Set(row.map(({ name }) => name)));
  const x = (name: string) => found.get(name)?.x ?? 0;
  // Orders a row by the means of the neighbours in another one.
  const arrange = (at: number, other: number) => {
    const mean = ({ name }: Body) => {
      const near = (neighbours.get(name) ?? []).filter((one) => names[other]?.has(one));
      return near.length ? near.reduce((sum, one) => sum + x(one), 0) / near.length : x(name);
    };
    const row = (rows[at] ?? []).map((node) => ({ name: node.name, key: mean(node), own: x(node.name) }));
    row.sort((one, next) => one.key - next.key || one.own - next.own);
    row.forEach(({ name }, place) => found.set(name, { x: (place + 0.5) / row.length, y: 1 - at / highest }));
  };
  arrange(highest, highest);
  for (let at = highest - 1; at >= 0; at--) {
    arrange(at, at + 1);
  }
  for (let at = 1; at <= highest; at++) {
    arrange(at, at - 1);
  }
  const columnGap = 1 / Math.max(...rows.map(({ length }) => length));
  return { nodes: found, rowGap: columnGap, columnGap };
}

function spread(nodes: Body[]): ReturnType<typeof placed> {
  const share = (values: number[]) => {
    const [min, max] = [Math.min(...values), Math.max(...values)];
    return (value: number) => 0.04 + (0.92 * (value - min)) / (max - min || 1);
  };
  const [across, down] = [share(nodes.map(({ x = 0 }) => x)), share(nodes.map(({ y = 0 }) => y))];
  const gap = 0.5 / Math.sqrt(nodes.length);
  return { nodes: new Map(nodes.map(({ name, x = 0, y = 0 }) => [name, { x: across(x), y: down(y) }])), rowGap: gap, columnGap: gap };
}

// Nodes in columns, by their distance along routes; ends of flows next to their nodes.
function inColumns(description: Description, flows: Flow[]): Layout {
  const ways = flows.map((flow) => {
    const ports = flow.forward.map((id) => description.ports[id]).filter((port): port is Port => Boolean(port));
    return [flow.from, ...ports.map((port) => port.to)];
  });
  const column = new Map<string, number>();
  ways.flat().forEach((name) => column.set(name, 0));
  // Flows in both directions have no common order: the number of rounds is limited.
  for (let round = 0; round < Math.min(column.size, 40); round++) {
    let changed = false;
    for (const way of ways) {
      for (let at = 1; at < way.length; at++) {
        const wanted = (column.get(way[at - 1] as string) ?? 0) + 1;
        if (wanted > (column.get(way[at] as string) ?? 0) && wanted < column.size) {
          column.set(way[at] as string, wanted);
          changed = true;
        }
      }
    }
    if (!changed) {
      break;
    }
  }
  const columns = [...new Set(column.values())].sort((one, other) => one - other);
  const nodes = new Map<string, Point>();
  // Both sides have space for the ends of flows, whose access links have most of the delay where there are few other links.
  const outside = columns.length <= 3 ? 0.26 : 0.15;
  let rowGap = 1;
  columns.forEach((value, place) => {
    const names = [...column].filter(([, at]) => at === value).map(([name]) => name);
    rowGap = Math.min(rowGap, 1 / (names.length + 1));
    names.forEach((name, row) => {
      const x = columns.length === 1 ? 0.5 : outside + ((1 - 2 * outside) * place) / (columns.length - 1);
      nodes.set(name, { x, y: (row + 1) / (names.length + 1) });
    });
  });
  const ends = (node: (flow: Flow) => string, side: -1 | 1): Map<number, Point> => {
    const placed = new Map<number, Point>();
    const order = [...flows].sort((one, other) => (nodes.get(node(one))?.y ?? 0) - (nodes.get(node(other))?.y ?? 0));
    const perNode = new Map<string, Flow[]>();
    order.forEach((flow) => perNode.set(node(flow), [...(perNode.get(node(flow)) ?? []), flow]));
    for (const [name, own] of perNode) {
      const at = nodes.get(name) ?? { x: 0.5, y: 0.5 };
      const outer = at.x === Math.min(...[...nodes.values()].map((point) => point.x)) || at.x === Math.max(...[...nodes.values()].map((point) => point.x));
      own.forEach((flow, row) => {
        const spread = outer ? Math.min(0.34, 0.96 / Math.max(own.length, 1)) : 0.1;
        const y = outer && perNode.size > 1 ? at.y + (row - (own.length - 1) / 2) * 0.12 : at.y + (row - (own.length - 1) / 2) * spread;
        placed.set(flow.flow, { x: at.x + side * (outer ? outside : 0.09), y: outer ? y : at.y + 0.34 + row * 0.12 });
      });
    }
    return placed;
  };
  const drawn = new Set(flows.flatMap((flow) => [...flow.forward, ...flow.backward]));
  return { nodes, senders: ends((flow) => flow.from, -1), receivers: ends((flow) => flow.to, 1), ports: [...drawn], others: [], rowGap, columnGap: (1 - 2 * outside) / Math.max(columns.length - 1, 1) };
}
