"""What operators do to memory, where their schema and types do not tell: rules by name. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# Results share their operand's storage although the schema says nothing (aten::_unsafe_view), or are it, complete
_SAME_STORAGE = {"_unsafe_view", "_reshape_alias", "wait_tensor", "_wrap_tensor_autograd", "lift"}
# They read what is known of a tensor, not the tensor
_METADATA = {
    "sym_size", "sym_stride", "sym_numel", "sym_storage_offset", "size", "stride", "numel", "dim", "storage_offset",
    "is_same_size", "_has_same_storage_numel", "_assert_tensor_metadata", "is_pinned", "device", "layout",
    "is_contiguous", "sym_is_contiguous", "is_floating_point", "is_complex",
}  # fmt: skip
# aten's schema says view; where the bytes must change it is a copy (aten/src/ATen/native/TensorConversions.cpp,
# TensorShape.cpp)
_CONVERT = {"to", "type_as", "float", "double", "half", "int", "long", "bool", "bfloat16", "cpu", "cuda"}
_RESHAPE = {"reshape", "reshape_as", "contiguous", "flatten", "ravel"}
# They read as much of their first operand as they write
_GATHER = {
    "embedding", "index", "index_select", "gather", "take", "take_along_dim", "_unsafe_index", "masked_select",
    "select_copy", "slice_copy", "narrow_copy", "as_strided_copy", "diagonal_copy",
}  # fmt: skip
# They write as much of their first operand as their last tensor has
_SCATTER = {"index_put_", "_unsafe_index_put_", "index_copy_", "scatter_", "masked_scatter_", "put_"}
_SCATTER_ADD = {"index_add_", "scatter_add_", "index_reduce_", "scatter_reduce_"}
# They overwrite without reading
_OVERWRITE = {
    "copy_", "zero_", "fill_", "set_", "normal_", "uniform_", "bernoulli_", "random_", "exponential_", "cauchy_",
    "log_normal_", "geometric_", "resize_",
}  # fmt: skip
_ALLOCATE = {
    "empty",
    "empty_like",
    "empty_strided",
    "empty_permuted",
    "new_empty",
    "new_empty_strided",
    "empty_quantized",
}
_COPY = _CONVERT | {"_to_copy", "copy_", "copy", "_copy_from", "convert_element_type", "device_put"}
# Higher-order operators that do more than their bodies: the bodies are a kernel's inner part
_KERNELS = re.compile(r"flex_attention|triton|auto_functionalized|with_effects")
# torch.utils.flop_counter counts products of matrices, convolutions and attention; these are such by their names
_MATMUL = re.compile(
    r"(?:^|_)[a-z0-9]*(?:mm|mv)(?:$|_)|matmul|linear|conv(?!ert)|attention|attn|(?:^|_)v?dot|einsum|"
    r"(?:^|_)(?:outer|inner|addr|ger|kron|cdist)|gemm|rnn|lstm|gru_|(?:^|_)gru|linalg|cholesky|triton"
)
_NO_MATMUL = re.compile(
    r"upsample|linalg_(?:vector_norm|norm|diagonal|cross|_powsum)|_check_errors|comm|nonlinear|flatten_weight"
)


class Rule(NamedTuple):
    """What is known of one target by its name."""

    name: str
    """Without namespace and overload: ``mm``."""
    metadata: bool
    same_storage: bool
    convert: bool
    """A view unless dtype or device change."""
    reshape: bool
    """A view unless a tensor that is not contiguous becomes contiguous: then no view can."""
    gather: bool
    scatter: bool
    scatter_add: bool
    reads_target: bool
    """What it writes in place, it reads too."""
    reads: bool
    """It reads the data of its operands."""
    writes: bool
    """It writes its results, rather than only allocate them."""
    copies: bool
    """It is there to change dtype or device."""
    bodies: bool
    """It does what its bodies do, and nothing else."""
    matmul: bool
    """By its name it has FLOPs that matter."""


@lru_cache(maxsize=4096)
def rule(target: str) -> Rule:
    """Return what is known of a target such as ``aten.mm.default``."""
    parts = target.split(".")
    name = parts[1] if len(parts) > 1 else target
    hop = parts[0] == "higher_order"
    pure = parts[0] in ("operator", "math") or target.startswith("torch.sym_")
    like = name.endswith("_like") or name.startswith("new_")
    return Rule(
        name=name,
        metadata=pure or name in _METADATA,
        same_storage=name in _SAME_STORAGE,
        convert=name in _CONVERT,
        reshape=name in _RESHAPE,
        gather=name in _GATHER,
        scatter=name in _SCATTER,
        scatter_add=name in _SCATTER_ADD,
        reads_target=name not in _OVERWRITE | _SCATTER,
        reads=not like and name not in _ALLOCATE,
        writes=name not in _ALLOCATE,
        copies=name in _COPY,
        bodies=hop and _KERNELS.search(name) is None,
        matmul=not pure and _MATMUL.search(name) is not None and _NO_MATMUL.search(name) is None,
    )
