"""The lab in a notebook: the page that `tailback lab` serves, in a frame, opened at a scenario."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

from tailback import _core
from tailback._lab import page
from tailback._scenario import Scenario
from tailback._toml import toml
from tailback.errors import MissingExtra

__all__ = ["lab"]


def lab(scenario: Scenario | Mapping[str, Any] | None = None, *, seed: int | None = None, height: int = 900) -> Any:
    """Show the lab in a notebook, with a scenario open in it, to be watched, changed and compared.

    Everything is computed in the notebook's page, as by `tailback lab`; results are those of `simulate`, byte for byte. What is
    changed there stays there: "Export" has the scenario. The page's files, 1.1 MB, are part of the widget.

    Parameters
    ----------
    scenario : Scenario or mapping, optional
        As `simulate` takes it. Without one the lab begins with its experiments.
    seed : int, optional
        Instead of the scenario's own.
    height : int
        Of the frame, in pixels; at least 200.

    Returns
    -------
    anywidget.AnyWidget
        What a notebook shows: JupyterLab, Notebook, VS Code, Colab, marimo.

    Raises
    ------
    MissingExtra
        anywidget is not installed.
    ScenarioError
        The description cannot run.
    OutputError
        In a checkout, the page has not been built.
    """
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise MissingExtra("`tailback.lab` in a notebook", "anywidget", "notebook") from None
    if isinstance(height, bool) or not isinstance(height, int) or height < 200:
        raise ValueError(f"`height` is {height!r}; expected a whole number of pixels, at least 200")
    folder = page()

    class Lab(anywidget.AnyWidget):
        _esm = folder.parent / "widget.js"
        files = traitlets.Dict().tag(sync=True)
        fragment = traitlets.Unicode("").tag(sync=True)
        height = traitlets.Int(900).tag(sync=True)

    return Lab(files=files(), fragment="" if scenario is None else fragment(scenario, seed), height=height)


def files() -> dict[str, bytes]:
    """The page's files by their names, compressed by gzip; but for what keeps a page for use offline, which no frame needs."""
    kept = [file for file in sorted(page().iterdir()) if file.name != "offline.js"]
    return {file.name: gzip.compress(file.read_bytes(), 9, mtime=0) for file in kept}


def fragment(scenario: Scenario | Mapping[str, Any], seed: int | None) -> str:
    """A scenario and its seed as a link of the lab holds them (`web/lab/link.ts`)."""
    described = scenario if isinstance(scenario, Scenario) else Scenario(scenario)
    described.check()
    text, _, format = described._source()
    own = described.to_dict().get("seed", 1)
    linked = {
        "v": 1,
        "version": _core.__version__,
        "seed": own if seed is None else seed,
        "toml": text if format == "toml" else toml(described.to_dict()),
    }
    packed = gzip.compress(json.dumps(linked, ensure_ascii=False).encode(), mtime=0)
    return "#1." + base64.urlsafe_b64encode(packed).decode().rstrip("=")
