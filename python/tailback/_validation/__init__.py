"""Validation of the simulator against the TCP of Linux. `validate` is public; `validate_drawn` draws cases."""

from tailback._validation.campaign import validate_drawn
from tailback._validation.validating import STUDY, Validation, ValidationInterrupted, validate

__all__ = ["STUDY", "Validation", "ValidationInterrupted", "validate", "validate_drawn"]
