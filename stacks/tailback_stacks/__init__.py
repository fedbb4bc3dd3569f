"""quinn, noq, smoltcp and str0m, and controllers of QUIC, for Tailback's scenarios, which find them by name."""

from tailback_stacks._library import controllers, stacks

__all__ = ["controllers", "stacks"]
