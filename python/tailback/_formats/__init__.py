"""Files of other programs: one file or folder for each format, with everything that reads and writes it."""

__all__: list[str] = []
