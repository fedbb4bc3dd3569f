"""Text output: numbers with units, and aligned columns."""

from __future__ import annotations

from collections.abc import Sequence

from tailback.errors import in_one_line

__all__ = ["aligned", "quantity"]


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Align columns of text: the first to the left, the others to the right."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    lines = []
    for row in rows:
        others = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        lines.append("  " + "  ".join([row[0].ljust(widths[0]), *others]).rstrip())
    return "\n".join(lines)


def quantity(column: str, value: float | int | str) -> str:
    """Format a value with the unit in its column's name: ``goodput_bps`` 9.53e6 is ``9.53 Mbps``; NaN is a dash."""
    if isinstance(value, str):
        return in_one_line(value)
    if value != value:
        return "-"
    if column.endswith("_bps"):
        return _scaled(value, [(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")])
    if column.endswith("_s"):
        return _scaled(value, [(1.0, "s"), (1e-3, "ms"), (1e-6, "us")])
    if column.endswith("_share") or column == "utilisation":
        return f"{100 * value:.3g} %" if value < 0.995 else f"{100 * value:.2f} %"
    # Counts are floats if one of them is missing.
    return f"{int(value):,}" if value % 1 == 0 else f"{value:.4g}"


def _scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    for size, unit in units:
        if abs(value) >= size:
            return f"{value / size:.4g} {unit}"
    size, unit = units[-1]
    return f"{value / size:.4g} {unit}" if value else "0"
