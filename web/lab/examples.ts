// Scenarios supplied with the page by web/build.mjs: the examples, and experiments of documents.

import { address } from "./files";

export interface Example {
  // The part of its address after the `#`.
  place: string;
  name: string;
  // The document that it comes from; empty for an example.
  document: string;
  question: string;
  // Notes on the example, or the experiment's place in the document.
  see: string;
  // Null for an experiment without a scenario.
  toml: string | null;
}

// As written by tools/experiments.py.
interface Experiment {
  document: string;
  name: string;
  title: string;
  question: string;
  source: string;
  scenarios: number;
  computations: number;
  point: string | null;
  toml: string | null;
}

export async function examples(): Promise<Example[]> {
  const [own, papers] = await Promise.all([read<Pick<Example, "name" | "question" | "see" | "toml">>("examples.json"), read<Experiment>("experiments.json")]);
  return [...own.map((one) => ({ ...one, document: "", place: `#example=${one.name}` })), ...papers.map(ofDocument)];
}

async function read<Row>(file: string): Promise<Row[]> {
  return (await (await fetch(address(file))).json()) as Row[];
}

function ofDocument(experiment: Experiment): Example {
  const { name, document, title, question, computations, point, toml } = experiment;
  const models = `${computations} ${computations === 1 ? "point is computed by models" : "points are computed by models"}`;
  const see = point === null ? `${title}. ${models}; there is no scenario to watch.` : `${title}. Scenario ${point}${computations ? `; and ${models}` : ""}.`;
  return { place: `#experiment=${name}`, name, document, question, see, toml };
}

// The comment at the beginning of a scenario, below directives for editors.
export function questionOf(toml: string): string {
  const lines = toml.replace(/^(#:.*\n)+/, "").split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#") || line.trim() === "#");
  return lines.slice(0, end < 0 ? lines.length : end).map((line) => line.replace(/^#\s?/, "")).join(" ");
}
