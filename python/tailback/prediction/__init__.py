"""Predictions: the buffer size that a bottleneck needs, and the results of a scenario by models."""

from tailback.prediction._buffer_size import SizingResult, SizingResults, size_buffer
from tailback.prediction._outcome import AppliedModel, Comparison, Unmodelled
from tailback.prediction._predict import Prediction, predict
from tailback.prediction._scaling import scaled, sending_intervals
from tailback.prediction._simulated_buffer import SimulatedBuffer
from tailback.prediction._sizing_case import SizingCase

__all__ = [
    "AppliedModel",
    "Comparison",
    "Prediction",
    "SimulatedBuffer",
    "SizingCase",
    "SizingResult",
    "SizingResults",
    "Unmodelled",
    "predict",
    "scaled",
    "sending_intervals",
    "size_buffer",
]
