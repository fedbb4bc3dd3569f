"""quinn, noq and smoltcp for Tailback's scenarios, which find them by name."""

from tailback_stacks._library import address

__all__ = ["address"]
