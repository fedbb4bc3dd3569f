"""What `make demo` answers: `buffer` how much buffer TCP needs, `switch` what an ATM switch should discard."""

__all__: list[str] = []
