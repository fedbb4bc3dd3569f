// Number formatting.

const NARROW = "\u202f";

const LARGE: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

export function digits(value: number, count = 3): string {
  if (!Number.isFinite(value)) {
    return "\u2013";
  }
  const text = Number(value.toPrecision(count)).toLocaleString("en", { maximumSignificantDigits: count, useGrouping: true });
  return text.replace("-", "\u2212");
}

export function rate(bps: number | null | undefined): string {
  if (bps === null || bps === undefined || !Number.isFinite(bps)) {
    return "\u2013";
  }
  const [unit, prefix] = LARGE.find(([min]) => bps >= min) ?? [1, ""];
  return `${digits(bps / unit)}${NARROW}${prefix}bit/s`;
}

export function bytes(size: number): string {
  const [unit, prefix] = LARGE.find(([min]) => size >= min) ?? [1, ""];
  return `${digits(size / unit, 4)}${NARROW}${prefix}B`;
}

export function count(value: number | null | undefined): string {
  return value === null || value === undefined ? "\u2013" : Math.round(value).toLocaleString("en");
}

export function seconds(value: number | null | undefined, max = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) {
    return "\u2013";
  }
  const size = Math.abs(value);
  if (size === 0 || size >= 1) {
    return `${digits(value, max)}${NARROW}s`;
  }
  return size >= 1e-3 ? `${digits(value * 1e3, max)}${NARROW}ms` : `${digits(value * 1e6, max)}${NARROW}µs`;
}

// The current time of a run.
export function clock(value: number): string {
  if (value > 0 && value < 0.01) {
    return seconds(value, 5);
  }
  return `${value.toFixed(value < 10 ? 4 : value < 1000 ? 3 : 1)}${NARROW}s`;
}

export function percent(share: number | null | undefined): string {
  return share === null || share === undefined || !Number.isFinite(share) ? "\u2013" : `${digits(share * 100)}${NARROW}%`;
}
