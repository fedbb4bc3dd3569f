// Colours of flows, the same for light and dark backgrounds, and distinguishable with colour-blindness (Okabe and Ito, Color Universal
// Design, 2008).

const FLOWS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b08900", "#4aa3d8", "#7a5bd0", "#7f7f7f"];
// The blue is too dark on a dark background.
const FLOWS_ON_DARK = ["#56b4e9", "#e8813a", "#1fc797", "#e19cc3", "#e0c233", "#8fd0f5", "#a893ee", "#b5b5b5"];
// Beyond four flows, lines also differ in their dashes.
const DASHES: number[][] = [[], [], [], [], [7, 3], [7, 3], [2, 3], [2, 3]];
const REASONS: Record<string, string> = { full: "#d55e00", early: "#0072b2", late: "#009e73", partial: "#cc79a7", single: "#b08900", random: "#7f7f7f", listed: "#7a5bd0", policed: "#56b4e9", mtu: "#8c564b" };

const dark = matchMedia("(prefers-color-scheme: dark)");

export function isDark(): boolean {
  return dark.matches;
}

export function onGroundChange(act: () => void): void {
  dark.addEventListener("change", act);
}

// By a flow's index among the observed ones.
export function flowColour(place: number): string {
  const colours = isDark() ? FLOWS_ON_DARK : FLOWS;
  return colours[place % colours.length] ?? "#7f7f7f";
}

export function flowDash(place: number): number[] {
  return DASHES[place % DASHES.length] ?? [];
}

export function reasonColour(reason: string): string {
  return REASONS[reason] ?? "#7f7f7f";
}

export function ink(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim() || "gray";
}
