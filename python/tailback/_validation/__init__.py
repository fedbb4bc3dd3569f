"""This machine's kernel beside the simulator, on the same scenarios. `validate` is all that others need."""

from tailback._validation.validating import Validation, ValidationInterrupted, validate

__all__ = ["Validation", "ValidationInterrupted", "validate"]
