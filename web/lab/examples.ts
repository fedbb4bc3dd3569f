// Scenarios that the page brings along, as web/build.mjs has put them beside it: the examples, and experiments of documents.

import { address } from "./files";

export interface Example {
  // Behind the `#` of its address.
  place: string;
  name: string;
  // The document that it is from; empty of an example.
  document: string;
  question: string;
  // What there is to see, or what of the document it is.
  see: string;
  // Null of an experiment that has no scenario.
  toml: string | null;
}

// As tools/experiments.py writes them.
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
  const models = `${computations} ${computations === 1 ? "point that models compute" : "points that models compute"}`;
  const see = point === null ? `${title}. ${models}; there is no scenario to watch.` : `${title}. Scenario ${point}${computations ? `; and ${models}` : ""}.`;
  return { place: `#experiment=${name}`, name, document, question, see, toml };
}

// The comment that a scenario begins with.
export function questionOf(toml: string): string {
  const lines = toml.split("\n");
  const end = lines.findIndex((line) => !line.startsWith("#") || line.trim() === "#");
  return lines.slice(0, end < 0 ? lines.length : end).map((line) => line.replace(/^#\s?/, "")).join(" ");
}
