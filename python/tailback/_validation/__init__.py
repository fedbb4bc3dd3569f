"""Validation of the simulator against this machine's kernel TCP. `validate` is the public function."""

from tailback._validation.validating import STUDY, Validation, ValidationInterrupted, validate

__all__ = ["STUDY", "Validation", "ValidationInterrupted", "validate"]
