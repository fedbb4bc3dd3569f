"""The printed entries of tables 3.1 to 3.4."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["RULES", "Entry", "table"]

# Rule names in the tables' files, and in the document's tables.
RULES = {
    "thesis_3.23": "(3.23)",
    "enachescu_O_log_W": "O(log W)",
    "appenzeller_x_mu_RTT_over_sqrtN": "Appenzeller",
    "beheshti_10_20": "10 to 20",
    "gorinsky_2M": "2M",
    "bdp": "BDP",
}


@dataclass(frozen=True)
class Entry:
    """One printed buffer, in packets; `target` is None for a rule without a target."""

    inputs: int
    transmitters: int
    flows: int
    rtt_s: float
    rule: str
    target: float | None
    printed: int


def table(number: str) -> list[Entry]:
    """All entries of a table such as ``3.1``, in order."""
    text = files(__package__).joinpath("tables", f"table_{number.replace('.', '_')}.csv").read_text(encoding="utf-8")
    return [
        Entry(
            inputs=int(row["M_input_links"]),
            transmitters=int(row["K_output_links"]),
            flows=int(row["N_flows"]),
            rtt_s=float(row["RTT_H_s"]),
            rule=RULES[row["rule"]],
            target=float(row["target_utilization"]) if row["target_utilization"] else None,
            printed=int(row["buffer_packets"]),
        )
        for row in csv.DictReader(text.splitlines())
    ]
