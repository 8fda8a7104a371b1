"""Trace cost: counts the call events of a warm capture. Knows tracers; stores and judges nothing."""

from guard.cost.trace.cost import trace_cost
from guard.cost.trace.fitness import unfit

__all__ = ["trace_cost", "unfit"]
