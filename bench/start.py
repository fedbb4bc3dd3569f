"""Start-up cost: `import tailback`, a small run in a new process, and help on the command line.

    python bench/start.py

CPU time of a new process in a virtual environment with only the package and its dependencies. The minimum of several
measurements, less that of an empty Python process.
"""

# ruff: noqa: T201 (the purpose of this script is to print)

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RUN = "import tailback as tb; tb.simulate(tb.dumbbell(rate='10 Mbps', delay='10 ms', buffer='20 packets', duration='1 s'))"
REPEAT = 15


def cpu_s(*command: str | Path) -> float:
    """CPU seconds of a process and its children, the minimum of several measurements."""
    measured = []
    for _ in range(REPEAT):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        measured.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(measured)


def main() -> None:
    [wheel] = (ROOT / "target" / "wheels" / "release").glob("*.whl")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python, tailback = Path(folder) / "bin" / "python", Path(folder) / "bin" / "tailback"
        subprocess.run([python, "-m", "pip", "--quiet", "install", "-c", ROOT / "constraints.txt", wheel], check=True)
        nothing = cpu_s(python, "-c", "pass")
        timed = {
            "import": cpu_s(python, "-c", "import tailback"),
            "import_and_run": cpu_s(python, "-c", RUN),
            "help": cpu_s(tailback, "--help"),
            "run_help": cpu_s(tailback, "run", "--help"),
        }
    print(
        json.dumps({"python_ms": round(1e3 * nothing), **{f"{name}_ms": round(1e3 * (s - nothing)) for name, s in timed.items()}})
    )


if __name__ == "__main__":
    main()
