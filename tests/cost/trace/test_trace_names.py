from __future__ import annotations

import sysconfig
from pathlib import Path

import torch.fx.proxy

from guard.cost.trace.names import functions, name_of
from guard.cost.trace.tally import Tally

TEXT = "def outer():\n    def inner():\n        pass\n    return inner, lambda: 1, [x for x in ()]\n"


def code_of(file: str, text: str = "def inner(): pass") -> object:
    return next(found for found in compile(text, file, "exec").co_consts if hasattr(found, "co_name"))


def named(file: str, text: str = "def inner(): pass") -> str:
    return name_of(code_of(file, text), Path("/home/me/project"))  # type: ignore[arg-type]


def test_a_name_has_no_path_of_this_machine() -> None:
    installed = sysconfig.get_path("purelib")
    stdlib = sysconfig.get_path("stdlib")
    assert named(f"{installed}/sympy/core/add.py") == "sympy/core/add.py:inner"
    assert named("C:\\Python\\Lib\\site-packages\\sympy\\core\\add.py") == "sympy/core/add.py:inner"
    assert named(f"{stdlib}/collections/__init__.py") == "collections/__init__.py:inner"
    assert named("/home/me/project/model/step.py") == "model/step.py:inner"
    assert named("/somewhere/else/step.py") == "step.py:inner"


def test_torch_is_named_below_its_package_wherever_it_lies() -> None:
    code = torch.fx.proxy.TracerBase.create_arg.__code__
    assert name_of(code, Path.cwd()).startswith("torch/fx/proxy.py:")
    assert name_of(code, Path.cwd()).endswith("create_arg")


def test_what_is_numbered_anew_in_each_process_has_no_number() -> None:
    assert named("<eval_with_key>.12") == "<eval_with_key>:inner"
    resumed = "def torch_dynamo_resume_in_step_at_34_2(): pass"
    assert named("<string>", resumed) == "<string>:torch_dynamo_resume_in_step_at"
    compiled = "def __compiled_fn_3_9b3a5f20_77aa(): pass"
    assert named("<string>", compiled) == "<string>:__compiled_fn"


def test_functions_of_one_name_are_summed_and_small_ones_left_out() -> None:
    first, second = code_of("/home/me/project/a.py"), code_of("/home/me/project/a.py", "\n\ndef inner(): len(())")
    rare = code_of("/home/me/project/b.py")
    counted = [(first, 600), (second, 1500), (rare, 2)]
    assert functions(counted, Path("/home/me/project")) == (("a.py:inner", 2100),)  # type: ignore[arg-type]


def test_code_objects_that_read_the_same_are_two() -> None:
    first, second = code_of("a.py"), code_of("a.py")
    assert first == second
    tally = Tally({id(first): 1, id(second): 2}, {id(first): 4}, {id(first): first, id(second): second})  # type: ignore[dict-item]
    assert tally.calls == 7
