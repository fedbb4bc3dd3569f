"""Results as columns: `table` stores them, `quantity` computes a number of them, `summary` and `text` show them."""

__all__: list[str] = []
