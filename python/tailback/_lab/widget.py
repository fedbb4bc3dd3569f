"""The lab in a notebook: the page of `tailback lab` in a frame, opened with a scenario."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

from tailback import _core
from tailback._arguments import arguments_checked
from tailback._lab.page import page
from tailback._scenario import Scenario
from tailback._scenario.toml import toml
from tailback.errors import MissingExtra

__all__ = ["lab"]


@arguments_checked
def lab(scenario: Scenario | Mapping[str, Any] | None = None, *, seed: int | None = None, height: int = 900) -> Any:
    """Show the lab in a notebook, with a scenario to watch, change and compare.

    The simulation runs in the notebook's page, as in `tailback lab`; results equal those of `simulate`, byte for byte. Changes
    remain in the page; "Export" shows the scenario. The page's files, 1.1 MB, are part of the widget.

    Parameters
    ----------
    scenario : Scenario or mapping, optional
        A scenario as for `simulate`. By default the lab opens with its experiments.
    seed : int, optional
        Seed to use instead of the scenario's.
    height : int
        Height of the frame in pixels, at least 200.

    Returns
    -------
    anywidget.AnyWidget
        A widget for JupyterLab, Notebook, VS Code, Colab and marimo.

    Raises
    ------
    MissingExtra
        anywidget is not installed.
    ScenarioError
        The scenario is not valid.
    OutputError
        The page has not been built (in a checkout).
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
    """The page's files by name, compressed with gzip, without the service worker for offline use."""
    kept = [file for file in sorted(page().iterdir()) if file.name != "offline.js"]
    return {file.name: gzip.compress(file.read_bytes(), 9, mtime=0) for file in kept}


def fragment(scenario: Scenario | Mapping[str, Any], seed: int | None) -> str:
    """The URL fragment of a scenario and its seed, in the format of `web/lab/link.ts`."""
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
