"""Measures the error of the trunk models, and draws it.

    .venv/bin/python tools/trunk_map.py measure
    .venv/bin/python tools/trunk_map.py draw docs/images
    .venv/bin/python tools/trunk_map.py table

`measure` adds missing rows to crates/prediction/src/trunk_map.csv: losses of the detailed model on the axes
below. Delete the file to repeat all measurements, which takes an hour on two cores. The same version
writes the same file. Where packets keep their lengths, losses are simulated, and simulated again for longer if the error of a
model is not clear yet. Without waiting places, and in the two memoryless variants, they are computed by the exact chain. `draw`
draws the maps from the file, and `table` summarises it.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import tailback as tb
from tailback.models import LOSS_MODELS, TRUNK_VARIANTS, LossModel, TrunkVariant

FILE = Path(__file__).parents[1] / "crates/prediction/src/trunk_map.csv"

# The axes of the map, as in crates/prediction/src/trunk_map.rs.
COLUMNS = ("inputs", "transmitters", "buffer", "load", "variant", "loss", "half_width")
CHANNELS = (1, 2, 4, 8, 16, 32, 64, 256)
# Channels over inputs, as (channels, inputs). 0 represents an infinite number of inputs: a Poisson process, M/M/K/(K+B).
SHARES = ((0, 1), (1, 16), (1, 8), (1, 4), (1, 2), (2, 3), (4, 5))
BUFFERS = (0, 1, 2, 5, 10, 20, 50, 100)
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0, 1.1, 1.3)

# Number of input links that approximates infinity.
COUNTLESS = 1_000_000

Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]

FACTORS = (1.05, 1.2, 2.0)

# Relative width of the 95 % interval, and maximum number of packets: at first, and if a class is not clear yet.
WIDTHS = ((0.03, 5_000_000), (0.01, 10_000_000))
# Smaller losses take too long; estimated by EBL, which is accurate enough for this.
MIN_LOSS = 1e-9
# Chains that are solved in seconds.
EXACT_CHANNELS = 16
EXACT_CHAIN: dict[TrunkVariant, tuple[int, int]] = {"fresh": (64, 20), "coupled": (16, 5)}

# One picture is drawn for each of these numbers of channels.
DRAWN = (1, 4, 16, 64)
CLASSES = ("< 1/2", "to 1/1.2", "to 1/1.05", "± 5 %", "to 1.2", "to 2", "> 2")
# Blue and orange are distinguishable with any colour vision. Without colour, marks show the direction: down where a model
# underestimates the loss, up where it overestimates it; larger marks mean larger errors.
COLOURS = ("#1b4f91", "#6ea6d6", "#c4dff2", "#fdf9c4", "#f9bf80", "#e0822a", "#963f00")
MARKS = ("v", "v", "v", "", "^", "^", "^")
INKS = ("#ffffff", "#1a1a1a", "#1a1a1a", "#1a1a1a", "#1a1a1a", "#1a1a1a", "#ffffff")
SIZES = (4.2, 3.0, 1.8, 0.0, 1.8, 3.0, 4.2)
UNMAPPED = "#b0b0b0"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("measure")
    verbs.add_parser("draw").add_argument("folder", type=Path)
    verbs.add_parser("table")
    given = parser.parse_args()
    if given.verb == "measure":
        measure(FILE)
    elif given.verb == "draw":
        draw(given.folder)
    else:
        table()


def measure(file: Path) -> None:
    rows = {}
    if file.exists():
        with file.open(newline="") as before:
            rows = {tuple(row[:5]): row for row in list(csv.reader(before))[1:]}
    for inputs, transmitters, buffer, load, variant in points():
        key = (str(inputs), str(transmitters), str(buffer), str(load), variant)
        trunk: dict[str, Any] = {"inputs": inputs, "transmitters": transmitters, "buffer": buffer, "load": load}
        if key in rows:
            continue
        if variant != "own_length" or (buffer == 0 and transmitters <= EXACT_CHANNELS):
            loss, half_width = float(tb.models.exact_trunk_loss(**trunk, variant=variant).loss), 0.0
        else:
            loss, half_width = simulated(trunk)
        rows[key] = [*key, f"{loss:.5e}", f"{half_width:.2e}"]
        print(*rows[key], flush=True)
        with file.open("w", newline="") as out:
            ordered = sorted(rows.values(), key=lambda row: (row[4], int(row[1]), int(row[0]), int(row[2]), float(row[3])))
            csv.writer(out, lineterminator="\n").writerows([COLUMNS, *ordered])


def points() -> Iterator[tuple[int, int, int, float, TrunkVariant]]:
    """Inputs, channels, places, load and variant of all measurements."""
    for transmitters in CHANNELS:
        for channels, links in SHARES[1:]:
            inputs, rest = divmod(transmitters * links, channels)
            for buffer in BUFFERS:
                for load in LOADS:
                    if rest or load >= inputs / transmitters:
                        continue
                    trunk: dict[str, Any] = {"inputs": inputs, "transmitters": transmitters, "buffer": buffer, "load": load}
                    if tb.models.trunk_loss(**trunk, model="ebl").loss < MIN_LOSS:
                        continue
                    yield inputs, transmitters, buffer, load, "own_length"
                    for variant, (max_inputs, max_buffer) in EXACT_CHAIN.items():
                        if inputs <= max_inputs and 0 < buffer <= max_buffer:
                            yield inputs, transmitters, buffer, load, variant


def simulated(trunk: dict[str, Any]) -> tuple[float, float]:
    """Loss and half of its 95 % interval, which is narrower where the class of a model depends on it."""
    by_model = [float(tb.models.trunk_loss(**trunk, model=model).loss) for model in LOSS_MODELS]
    for width, packets in WIDTHS:
        found = tb.models.simulate_trunk(**trunk, relative_width=width, max_arrivals=packets)
        if all(classified(loss, found.loss, found.half_width)[1] for loss in by_model):
            break
    return found.loss, found.half_width


def classified(by_model: float, loss: float, half_width: float) -> tuple[int, bool]:
    """The class of a model (index of CLASSES), and whether it is the same over the whole interval of the loss."""
    bounds = [1 / factor for factor in reversed(FACTORS)] + list(FACTORS)
    least, here, most = (sum(by_model > bound * at for bound in bounds) for at in (loss + half_width, loss, loss - half_width))
    return here, least == most


@cache
def ratios(model: LossModel, variant: TrunkVariant) -> Floats:
    """Logarithm of the model's loss divided by the measured one; axes and missing values as in `measured`."""
    losses, _ = measured(variant)
    there = ~np.isnan(losses)
    channels, share, buffer, load = np.meshgrid(CHANNELS, range(len(SHARES)), BUFFERS, LOADS, indexing="ij")
    given, taken = np.array(SHARES).T
    inputs = np.where(share == 0, COUNTLESS, channels * taken[share] // np.maximum(given[share], 1))
    found = np.full(losses.shape, np.nan)
    trunk: dict[str, Any] = {
        "inputs": inputs[there],
        "transmitters": channels[there],
        "buffer": buffer[there],
        "load": load[there],
    }
    found[there] = tb.models.trunk_loss(**trunk, model=model).log10_loss * math.log(10) - np.log(losses[there])
    return found


@cache
def measured(
    variant: TrunkVariant,
) -> tuple[Floats, Floats]:
    """Loss in the detailed model and half width of its 95 % interval, over channels, shares, buffers, loads; NaN if missing."""
    losses, half_widths = (np.full((len(CHANNELS), len(SHARES), len(BUFFERS), len(LOADS)), np.nan) for _ in range(2))
    poisson = tb.models.trunk_loss(
        inputs=COUNTLESS,
        transmitters=np.reshape(CHANNELS, (-1, 1, 1)),
        buffer=np.reshape(BUFFERS, (1, -1, 1)),
        load=np.array(LOADS),
        model="mmkkb",
    )
    losses[:, 0], half_widths[:, 0] = np.where(poisson.loss > 0, poisson.loss, np.nan), 0.0
    for row in csv.DictReader(FILE.read_text().splitlines()):
        # Without a buffer all variants are equal.
        if row["variant"] == variant or row["buffer"] == "0":
            inputs, channels = int(row["inputs"]), int(row["transmitters"])
            share = next(at for at, (given, taken) in enumerate(SHARES) if given * inputs == taken * channels)
            place = (CHANNELS.index(channels), share, BUFFERS.index(int(row["buffer"])), LOADS.index(float(row["load"])))
            losses[place], half_widths[place] = float(row["loss"]), float(row["half_width"])
    return losses, half_widths


def classes(model: LossModel, variant: TrunkVariant) -> np.ndarray[Any, Any]:
    """Indices of CLASSES, on the axes of the map; plus 0.5 where the interval is inconclusive, NaN without a measurement."""
    losses, half_widths = measured(variant)
    by_measured = np.exp(ratios(model, variant))
    found = np.full(losses.shape, np.nan)
    for place in np.argwhere(~np.isnan(losses)):
        at = tuple(place)
        here, clear = classified(by_measured[at] * losses[at], losses[at], half_widths[at])
        found[at] = here if clear else here + 0.5
    return found


def draw(folder: Path) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap
    from matplotlib.legend_handler import HandlerTuple
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    from tailback.plots import STYLE, save

    losses, _ = measured("own_length")
    for channels in DRAWN:
        there = ~np.isnan(losses[CHANNELS.index(channels)])
        shares = [place for place, (given, _) in enumerate(SHARES) if given and there[place].any()]
        with plt.rc_context(STYLE):
            figure, axes = plt.subplots(
                len(LOSS_MODELS),
                len(shares),
                figsize=(0.5 + 1.5 * len(shares), 9.5),
                sharex=True,
                sharey=True,
                squeeze=False,
                layout="constrained",
            )
            for row, model in enumerate(LOSS_MODELS):
                found = classes(model, "own_length")[CHANNELS.index(channels)]
                for column, share in enumerate(shares):
                    axis = axes[row, column]
                    cells = found[share].T
                    axis.imshow(
                        np.floor(cells), cmap=ListedColormap(COLOURS), vmin=-0.5, vmax=6.5, origin="lower", interpolation="none"
                    )
                    axis.set_aspect("auto")
                    mark(axis, cells)
                    axis.set_xticks(range(len(BUFFERS)), [str(buffer) for buffer in BUFFERS], fontsize=6)
                    axis.set_yticks(range(len(LOADS)), [str(load) for load in LOADS], fontsize=6)
                    axis.label_outer(remove_inner_ticks=True)
                    if row == 0:
                        given, taken = SHARES[share]
                        axis.set_title(f"K/M = {given}/{taken}", fontsize=9)
                axes[row, 0].set_ylabel(f"{LOSS_MODELS[model]}\nload")
            for axis in axes[-1]:
                axis.set_xlabel("places B")
            keys: dict[str, Any] = {
                name: (
                    Patch(color=colour),
                    Line2D([], [], color=ink, marker=sign, markersize=size, linestyle="none", markeredgewidth=0),
                )
                for name, colour, sign, ink, size in zip(CLASSES, COLOURS, MARKS, INKS, SIZES, strict=True)
            }
            keys["not mapped"] = Patch(facecolor="none", edgecolor=UNMAPPED, hatch="////", linewidth=0)
            # Stacked in each legend entry, not side by side.
            above = {tuple: HandlerTuple(ndivide=1)}
            figure.legend(
                list(keys.values()), list(keys), handler_map=above, loc="outside lower center", ncols=4, frameon=False, fontsize=8
            )
            several = "s" if channels > 1 else ""
            figure.suptitle(f"loss by the model over loss in the detailed model, K = {channels} channel{several}", fontsize=10)
            save(figure, folder / f"trunk_map_{channels}.svg")
        plt.close(figure)


def mark(axis: Any, cells: np.ndarray[Any, Any]) -> None:
    """Marks the direction of the error, and by a dot an inconclusive class; cells without a measurement are hatched."""
    # Measured cells cover the hatching.
    axis.patch.set(hatch="////", edgecolor=UNMAPPED, linewidth=0)
    for here, (sign, ink, size) in enumerate(zip(MARKS, INKS, SIZES, strict=True)):
        rows, columns = np.nonzero(np.floor(cells) == here)
        axis.plot(columns, rows, marker=sign, linestyle="none", color=ink, markersize=size, markeredgewidth=0)
        rows, columns = np.nonzero(cells == here + 0.5)
        axis.plot(columns + 0.36, rows + 0.34, ".", color=ink, markersize=3.2, markeredgewidth=0)


def table() -> None:
    """Fraction of measured points at which each model is accurate within the intervals, as Markdown."""
    for variant in TRUNK_VARIANTS:
        print(f"\n| {variant} | 5 % | 10 % | 20 % | factor 2 | points |\n|---|---|---|---|---|---|")
        for model in LOSS_MODELS:
            print(f"| {LOSS_MODELS[model]} | {' | '.join(near(model, variant, (1.05, 1.1, 1.2, 2.0), ...))} |")
    print("\n| K/M | loss | G1DM 5 % | 20 % | factor 2 | EBL 5 % | 20 % | factor 2 | points |")
    print("|---|---|---|---|---|---|---|---|---|")
    losses, _ = measured("own_length")
    for share, (channels, inputs) in enumerate(SHARES):
        for low, high in ((1e-3, 1.0), (1e-6, 1e-3), (0.0, 1e-6)) if channels else ():
            there = np.zeros(losses.shape, bool)
            there[:, share] = (losses[:, share] >= low) & (losses[:, share] < high)
            g1dm, ebl = (near(model, "own_length", (1.05, 1.2, 2.0), there) for model in ("g1dm", "ebl"))
            print(f"| {channels}/{inputs} | {low:g} to {high:g} | {' | '.join([*g1dm[:-1], *ebl])} |")


def near(model: LossModel, variant: TrunkVariant, factors: tuple[float, ...], there: Any) -> list[str]:
    """Fraction of the points at which a model is within each factor, and the number of points."""
    losses, half_widths = measured(variant)
    by_model = np.exp(ratios(model, variant)) * losses
    # Unlimited inputs were not measured.
    losses, half_widths, by_model = (
        values[:, 1:] if there is ... else values[there] for values in (losses, half_widths, by_model)
    )
    known = ~np.isnan(losses)
    off = [
        np.mean((by_model <= factor * (losses + half_widths))[known] & (by_model >= (losses - half_widths) / factor)[known])
        for factor in factors
    ]
    return [*(f"{100 * part:.0f} %" for part in off), str(known.sum())]


if __name__ == "__main__":
    main()
