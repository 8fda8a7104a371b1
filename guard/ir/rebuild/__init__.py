"""Rebuilding: guard.ir.graph -> torch.fx.GraphModule, from closed sets alone. A torch room; nothing is evaluated."""
