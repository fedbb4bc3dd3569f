// Scenarios from files: the button that opens one, and files that are dropped on the page.

import { byId } from "./dom";
import { count } from "./words";

// Maximum size of an opened file in bytes.
const MAX_BYTES = 1_000_000;

export function onFile(act: (file: File) => void): void {
  const input = byId<HTMLInputElement>("file");
  byId("file-open").addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    const chosen = input.files?.[0];
    if (chosen) {
      act(chosen);
    }
    input.value = "";
  });
  addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("drop"); });
  addEventListener("dragleave", () => document.body.classList.remove("drop"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.body.classList.remove("drop");
    const [first] = event.dataTransfer?.files ?? [];
    if (first) {
      act(first);
    }
  });
}

// The text of a file, or the reason why it is not a scenario.
export async function textOf(file: File): Promise<{ text: string } | { refused: string }> {
  if (file.size > MAX_BYTES) {
    return { refused: `${file.name} has ${count(file.size)} bytes; a scenario for the lab has at most a million.` };
  }
  const text = decoded(await file.arrayBuffer());
  return text === null ? { refused: `${file.name} is not a text file.` } : { text };
}

function decoded(bytes: ArrayBuffer): string | null {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}
