"""Figures whose files suit papers. This module imports matplotlib."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

__all__ = ["PaperFigure"]


class PaperFigure(Figure):
    """A figure whose PDF and PS files embed TrueType fonts, which publishers require, and whose SVG files contain text."""

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """Like `matplotlib.figure.Figure.savefig`."""
        with mpl.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "none"}):
            super().savefig(*arguments, **options)
