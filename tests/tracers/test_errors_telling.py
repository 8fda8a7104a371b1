from __future__ import annotations

import pytest

from guard.tracers.errors.chain import Link
from guard.tracers.errors.telling import WIDTH, scrub, telling_line


def link(text: str, name: str = "RuntimeError") -> Link:
    return Link((name,), text, (), (), "", implicit=False)


# What torch 2.13 wrote, and what is left of it.
NOISE = [
    ("s75 (<class 'torch.SymInt'>, 140335254676368)is not tracked", "s (torch.SymInt) is not tracked"),
    ("for <torch.fx.experimental.proxy_tensor.PythonKeyTracer object at 0x7fa25a13dc10>", "for PythonKeyTracer"),
    ("Pending symbols {u0} not in FakeTensor(..., size=(s75,))", "Pending symbols {u} not in FakeTensor(size=(s,))"),
    ("fake buffer _tensor_constant0 Enable TORCH_FAKE_TENSOR_DEBUG=1 to get", "fake buffer _tensor_constant"),
    ("Node view_2 was invalid, but is output", "Node view was invalid, but is output"),
    ("Node tangents_1 was invalid", "Node tangents was invalid"),
    ("call_function <built-in method mm of type object at 0x7fa27d8cea40>(x)", "call_function mm(x)"),
    ("call_function <built-in function matmul>(x)", "call_function matmul(x)"),
    ("<weakref at 0x7f23f1c89240; to 'FakeTensor' at 0x7f23f1d47ac0>", "<weakref; to 'FakeTensor'>"),
    ("(fx/experimental/proxy_tensor.py:1823 in __torch_function__)", "(proxy_tensor.py in __torch_function__)"),
    ('File "/home/me/project/model.py", line 17, in forward', 'File "model.py", line N, in forward'),
    (r"C:\src\model.py:17 failed", "model.py failed"),
    ("you tried to allocate 13194139533312 bytes", "you tried to allocate N bytes"),
    ("add an impl, see https://pytorch.org/x.html", "add an impl"),
    ("L['x'].size()[0] broke! For more information, run with TORCH_LOGS=\"+dynamic\".", "L['x'].size()[0] broke!"),
    ("two\tblanks  and a \x1b[31mcolour\x1b[0m", "two blanks and a [31mcolour [0m"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "left"), NOISE)
def test_noise_goes(written: str, left: str) -> None:
    assert scrub(written) == left


@pytest.mark.parametrize(
    "text",
    [
        "mat1 and mat2 shapes cannot be multiplied (3x4 and 5x5)",
        "Expected f32[4, 3] and u8[2], got i64[3]",  # dtypes are no symbols
        "aten._local_scalar_dense.default",
        "Output 0 of 12 has size 1024",
        "layer_2 has no bias",  # the user's own name
    ],
)
def test_what_tells_stays(text: str) -> None:
    assert scrub(text) == text


def test_line_names_the_class() -> None:
    assert telling_line(link("aten.nonzero.default", "torch._subclasses.DynamicOutputShapeException")) == (
        "DynamicOutputShapeException: aten.nonzero.default"
    )
    assert telling_line(link("")) == "RuntimeError"


def test_preamble_of_a_wrapper_is_passed_over() -> None:
    assert telling_line(link("backend='aot_eager' raised:\nAssertionError: no\n")) == "RuntimeError: AssertionError: no"


def test_explanation_of_dynamo_is_joined() -> None:
    text = "Failed to trace builtin operator\n  Explanation: Dynamo does not know `print`\n  Hint: avoid it"
    assert telling_line(link(text)) == "RuntimeError: Failed to trace builtin operator: Dynamo does not know `print`"


def test_long_line_is_cut() -> None:
    line = telling_line(link("word " * 1000))
    assert len(line) <= WIDTH
    assert line.endswith("word...")


def test_lone_surrogate_and_null_do_not_survive() -> None:
    telling_line(link("a\udc80b\0c")).encode("utf-8")
    assert telling_line(link("a\udc80b\0c")) == "RuntimeError: a b c"
