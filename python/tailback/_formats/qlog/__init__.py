"""qlog: runs as event logs of their senders, and measurements of the logs of real stacks."""

__all__ = ["TRACES"]

TRACES = ("packets", "cwnd", "ssthresh", "rtt", "in_flight", "state")
"""The traces that a qlog file contains. Only `packets` is required."""
