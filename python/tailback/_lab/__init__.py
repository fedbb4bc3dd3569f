"""The lab, the simulator in a browser page: `page` serves or writes it, `widget` shows it in a notebook."""

__all__: list[str] = []
