// The form of the conditions for an automatic stop.

import type { Breakpoints } from "./answers";
import { byId } from "./dom";

// Null: the queue length to stop at is invalid.
export function breakpoints(): Breakpoints | null {
  const checked = (id: string) => byId<HTMLInputElement>(id).checked;
  const field = byId<HTMLInputElement>("break-units");
  const text = field.value.trim();
  const isValid = /^\d+$/.test(text) && Number.isSafeInteger(Number(text));
  field.setAttribute("aria-invalid", String(!isValid));
  byId("break-problem").textContent = isValid ? "" : `${text === "" ? "No number" : `Not ${text}`}: expected a whole number of units, at least 0.`;
  if (checked("break-queue") && !isValid) {
    return null;
  }
  return {
    ...(checked("break-timeout") ? { timeout: true } : {}),
    ...(checked("break-loss") ? { loss: true } : {}),
    ...(checked("break-queue") ? { queue_above: Number(text) } : {}),
  };
}

// `changed` is called after each change of the form.
export function onBreakpoints(changed: () => void): void {
  for (const id of ["break-timeout", "break-loss", "break-queue", "break-units"]) {
    byId(id).addEventListener("change", () => {
      const chosen = breakpoints();
      byId("break-summary").textContent = chosen === null || Object.keys(chosen).length ? "Stops at\u2026" : "Stop at\u2026";
      changed();
    });
  }
}
