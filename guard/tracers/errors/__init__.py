"""Capture errors: an exception that a trace raised becomes frozen data. Knows torch by its names alone."""

from guard.tracers.errors.classify import classify, is_capture_error
from guard.tracers.errors.kinds import KINDS
from guard.tracers.errors.partial import partial_graph

__all__ = ["KINDS", "classify", "is_capture_error", "partial_graph"]
