"""Answers without a simulation: how much buffer a bottleneck needs, and what a scenario will measure."""

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
