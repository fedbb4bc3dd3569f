// Replaces every figure that has data with an interactive plot. Without this script the picture remains.

import type uPlot from "uplot";
import uplot from "uplot/dist/uPlot.min.css";
import type { Figure } from "./figure";
import { plot } from "./plot";
import css from "./plots.css";

const HEIGHT = 300;

function drawn(figure: HTMLElement): uPlot[] {
  const numbers = figure.querySelector('script[type="application/json"]');
  const { panels, columns, words } = JSON.parse(numbers?.textContent ?? "") as Figure;
  const row = document.createElement("div");
  row.className = "plots";
  row.style.setProperty("--columns", String(columns ?? panels.length));
  figure.prepend(row);
  figure.classList.add("drawn");
  const made = panels.map((panel) => {
    const place = row.appendChild(document.createElement("div"));
    if (panel.title) {
      place.appendChild(document.createElement("p")).textContent = panel.title;
    }
    const each = plot(panel, place, HEIGHT);
    new ResizeObserver(() => each.setSize({ width: place.clientWidth, height: HEIGHT })).observe(place);
    return each;
  });
  if (words) {
    row.appendChild(document.createElement("p")).textContent = words;
  }
  return made;
}

const style = document.createElement("style");
style.textContent = uplot + css;
document.head.append(style);

const plots: uPlot[] = [];
for (const figure of document.querySelectorAll<HTMLElement>("figure[data-plot]")) {
  try {
    plots.push(...drawn(figure));
  } catch (error) {
    // The picture remains valid.
    figure.classList.remove("drawn");
    figure.querySelector(".plots")?.remove();
    console.error(error);
  }
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plots.forEach((each) => each.redraw(false)));
document.querySelectorAll<HTMLElement>("[data-for-plots]").forEach((hint) => { hint.hidden = !plots.length; });
