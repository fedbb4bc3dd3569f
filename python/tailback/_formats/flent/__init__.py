"""Data files of Flent (https://flent.org): `writing` makes them from runs, `reading` measures them."""

__all__: list[str] = []
