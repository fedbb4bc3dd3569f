"""Predictions without a simulation: the buffer size that a bottleneck needs, and the results of a scenario by models."""

from tailback.prediction._buffer_size import Answer, BufferAnswers, size_buffer
from tailback.prediction._outcome import Applied, Comparison, Unmodelled
from tailback.prediction._predict import Prediction, predict
from tailback.prediction._question import Question
from tailback.prediction._scaling import scaled, sending_intervals

__all__ = [
    "Answer",
    "Applied",
    "BufferAnswers",
    "Comparison",
    "Prediction",
    "Question",
    "Unmodelled",
    "predict",
    "scaled",
    "sending_intervals",
    "size_buffer",
]
