"""Long operations in this process: its processors, its interrupts, and slices between which Ctrl-C and progress bars work."""

__all__: list[str] = []
