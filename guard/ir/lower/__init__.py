"""Lowering: fx.Graph -> guard.ir.graph. A torch room; it knows no tracer, only what a tracer says in a Context."""
