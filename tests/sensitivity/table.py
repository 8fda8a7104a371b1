"""The table: what each mutator does, and the class that its change must be given. Written before any result; pure."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """One way to make another graph."""

    name: str
    """Of the function in ``mutate``."""
    drift: str
    """The class that it must be given."""
    level: str
    """``graph``: the fx graph; ``metadata``: what torch says of its values; ``context``: what the tracer knows."""
    what: str


class Rewrite(NamedTuple):
    """One way to write the same graph differently."""

    name: str
    """Of the function in ``rewrite``."""
    level: str
    """``graph``, ``program`` (guard's own data) or ``text`` (the baseline's file)."""
    what: str
    once: bool = False
    """There is one way to do it; the others draw."""


KINDS = (
    Kind("swap_operands", "structure", "graph", "two operands of equal type change places"),
    Kind("replace_operator", "structure", "graph", "another operator of the same signature"),
    Kind("insert_clone", "structure", "graph", "a value is cloned on its way to its users"),
    Kind("remove_operator", "structure", "graph", "users take the operand in place of the result"),
    Kind("rewire_operand", "structure", "graph", "an operand is another value of equal type"),
    Kind("swap_outputs", "signature", "graph", "two outputs of equal type change places"),
    Kind("replace_in_body", "structure", "graph", "another operator in a branch of a higher-order operator"),
    Kind("change_mode", "structure", "graph", "grad mode is switched between two nodes"),
    Kind("tag_backward", "structure", "metadata", "a node moves between forward and backward"),
    Kind("tag_recompute", "structure", "metadata", "a node is to be recomputed"),
    Kind("change_scalar", "constant", "graph", "a number among the arguments has another value"),
    Kind("retype_scalar", "constant", "graph", "an integer among the arguments is a float of equal value"),
    Kind("change_inline_bytes", "constant", "graph", "one element of a small tensor constant"),
    Kind("change_digest_bytes", "constant", "graph", "one element of a large tensor constant"),
    Kind("change_constant_stride", "type", "graph", "a tensor constant with equal elements and another stride"),
    Kind("change_dtype", "type", "metadata", "dtype of one value, and of all that follows from it"),
    Kind("change_shape", "type", "metadata", "shape of one value"),
    Kind("change_stride", "type", "metadata", "stride of one value"),
    Kind("change_device", "type", "metadata", "device of one value"),
    Kind("place_input", "signature", "context", "placement of a DTensor input"),
    Kind("place_output", "signature", "context", "placement of a DTensor output"),
    Kind("change_mesh", "signature", "context", "ranks of a DTensor input's mesh"),
    Kind("change_global_shape", "signature", "context", "global shape of a DTensor input; its shard stays"),
    Kind("require_grad_of_input", "signature", "context", "requires_grad of an input"),
    Kind("require_grad_of_output", "signature", "context", "requires_grad of an output"),
    Kind("change_input_role", "signature", "context", "a parameter becomes a buffer, an input a parameter"),
    Kind("change_gradient_of", "signature", "context", "a gradient is that of another input"),
    Kind("change_in_tree", "signature", "context", "pytree of the inputs"),
    Kind("change_out_tree", "signature", "context", "pytree of the outputs"),
    Kind("add_input", "signature", "graph", "an input that nothing reads"),
    Kind("add_output", "signature", "graph", "a value is returned a second time"),
    Kind("drop_output", "signature", "graph", "the last output is gone"),
    Kind("change_input_dtype", "signature", "metadata", "dtype of an input"),
    Kind("drop_write", "mutation", "graph", "a copy_ into an input is gone"),
    Kind("add_write", "mutation", "graph", "a copy_ into an input that had none"),
    Kind("write_another", "mutation", "graph", "a copy_ into another input"),
    Kind("write_in_place", "mutation", "graph", "an operator writes its operand"),
    Kind("alias_inputs", "mutation", "context", "an input shares the storage of an earlier one"),
    Kind("change_reduction", "collective", "graph", "all_reduce by another operation"),
    Kind("change_group", "collective", "graph", "a collective of other ranks"),
    Kind("drop_collective", "collective", "graph", "a collective and its wait are gone"),
    Kind("drop_wait", "collective", "graph", "a result is used before it is there"),
    Kind("add_collective", "collective", "graph", "a value is reduced on its way to its users"),
    Kind("swap_draws", "order", "graph", "two random draws change places"),
    Kind("swap_collectives", "order", "graph", "two independent collectives change places"),
    Kind("swap_writes", "order", "graph", "two writes to one input change places"),
    Kind("read_after_write", "order", "graph", "a read moves behind a write to what it reads"),
    Kind("fix_symbol", "specialization", "graph", "a symbolic size is a number everywhere"),
    Kind("merge_symbols", "specialization", "graph", "two symbolic sizes are one"),
    Kind("add_constraint", "specialization", "context", "a size must be divisible"),
    Kind("narrow_range", "specialization", "context", "a size is bounded"),
    Kind("break_graph", "specialization", "context", "torch.compile breaks the graph"),
    Kind("recompile", "specialization", "context", "torch.compile compiles again"),
    Kind("leak_detaches", "proxy-leak", "graph", "a chain of detaches that nothing reads"),
    Kind("leak_traced_program", "proxy-leak", "graph", "pytorch#93290: detach, detach, the program again, detach"),
    Kind("leak_computation", "proxy-leak", "graph", "nodes computed a second time, for nobody"),
    Kind("lift_proxy", "proxy-leak", "graph", "a traced value is a constant of a fake tensor"),
    Kind("detach_on_the_way", "proxy-leak", "graph", "a value is detached twice on its way to its users"),
)  # fmt: skip

REWRITES = (
    Rewrite("rename_nodes", "graph", "every fx node has another name"),
    Rewrite("rename_attributes", "graph", "every get_attr has another target"),
    Rewrite("reorder_graph", "graph", "another order that keeps dependences and effects"),
    Rewrite("drop_stack_traces", "graph", "no stack traces, no module names", once=True),
    Rewrite("drop_tensor_meta", "graph", "values without their tensor_meta", once=True),
    Rewrite("tuples_for_lists", "graph", "tuples among the arguments in place of lists", once=True),
    Rewrite("renumber_groups", "graph", "process groups of equal ranks, made later"),
    Rewrite("canonicalize", "graph", "torch's own canonicalize_graph (torch >= 2.14)", once=True),
    Rewrite("rename_values", "program", "values and inputs have other names", once=True),
    Rewrite("rename_symbols", "program", "symbols have other numbers"),
    Rewrite("rename_bodies", "program", "bodies have other names, in another order"),
    Rewrite("reorder_program", "program", "another order that keeps dependences and effects"),
    Rewrite("reprint", "text", "the file, read and printed", once=True),
    Rewrite("respace", "text", "blank lines, CRLF, a byte order mark"),
)  # fmt: skip
