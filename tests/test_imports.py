"""`import tailback` is fast, and exports the documented names."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import tailback as tb
from support import own_members

HEAVY = ("numpy", "matplotlib", "pyarrow", "polars", "pandas", "scipy", "pydantic", "click", "rich", "asyncio", "jinja2")
MODULES = sorted(module.name for module in pkgutil.walk_packages(tb.__path__, "tailback.") if "__main__" not in module.name)


def loaded(statement: str) -> set[str]:
    """Top-level modules that a statement loads in a fresh interpreter."""
    code = f"{statement}; import sys; print(*(name.split('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_loads_nothing_heavy() -> None:
    assert loaded("import tailback").isdisjoint(HEAVY)


def test_modules_are_imported_on_demand() -> None:
    code = "import tailback, sys; print(*(name for name in sys.modules if name.startswith('tailback.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_command_line_loads_no_numbers_and_no_plots() -> None:
    assert loaded("import tailback._cli").isdisjoint({*HEAVY, "webbrowser", "subprocess"} - {"click"})


def test_a_run_and_its_summary_need_no_numpy() -> None:
    run = "tb.simulate(tb.dumbbell(rate='10 Mbps', delay='10 ms', buffer='20 packets', duration='1 s'))"
    read = loaded(f"import tailback as tb; run = {run}; run.summary(), repr(run.flows)")
    assert read.isdisjoint({*HEAVY, "hashlib", "shutil", "tempfile"})
    shown = loaded(f"import tailback as tb; run = {run}; run._repr_html_()")
    assert shown.isdisjoint(set(HEAVY) - {"jinja2"})


@pytest.mark.parametrize("name", ["tailback", *(name for name in MODULES if name != "tailback._core")])
def test_all_is_sorted_and_complete(name: str) -> None:
    module = importlib.import_module(name)
    assert all(hasattr(module, export) for export in module.__all__)


def test_every_public_thing_of_the_package_is_documented() -> None:
    undocumented = []
    for name in tb.__all__:
        thing = getattr(tb, name)
        if inspect.isclass(thing):
            members = [
                f"{name}.{key}"
                for key, member in own_members(thing).items()
                if not key.startswith("_") and not inspect.getdoc(member)
            ]
            undocumented += members
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and not inspect.getdoc(thing):
            undocumented.append(name)
    assert undocumented == []


def test_ctrl_c_while_the_command_is_loaded_prints_no_traceback() -> None:
    code = """
import sys
class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "tailback._cli.sweep":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from tailback.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted; nothing was run\n")
