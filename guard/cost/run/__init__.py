"""Run cost: baseline's graph and current's in one process on the same inputs. A torch room; judging is ratio's."""
