"""The two questions of `make demo`: `buffer` for the buffer that TCP needs, `switch` for discard policies of an ATM switch."""

__all__: list[str] = []
