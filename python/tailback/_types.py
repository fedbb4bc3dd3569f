"""The tables of a scenario as types: plain dictionaries with keys for editors and type checkers.

`_types.pyi` declares them. At run time, each is made from the JSON Schema on first use, with the descriptions of its keys. The
core checks required keys and all values.

>>> import tailback as tb
>>> tb.Flow(count=3, propagation_rtt="100 ms", tcp=tb.Tcp(preset="sack"))
{'count': 3, 'propagation_rtt': '100 ms', 'tcp': {'preset': 'sack'}}
"""

from tailback._scenario.schema_tables import table

__getattr__ = table
