from __future__ import annotations

import pytest

from guard.tracers.dynamo_sources import input_of


@pytest.mark.parametrize(
    ("source", "role", "name"),
    [
        ("L['x']", "input", "x"),
        ("L['batch']['tokens']", "input", "batch.tokens"),
        ("L['xs'][1]", "input", "xs.1"),
        ("G['table']", "input", "table"),
        ("L['self']._parameters['weight']", "parameter", "weight"),
        ("L['self']._modules['blocks']._modules['0']._parameters['weight']", "parameter", "blocks.0.weight"),
        ("G['model']._modules['bn']._buffers['running_mean']", "buffer", "bn.running_mean"),
        ("L['args'][0]", "input", "tokens"),
        ("L['args'][1]['mask']", "input", "options.mask"),
        ("L['args'][2]", "input", "args.2"),
        ("L['model'].scale", "input", "model.scale"),
        ("", "input", "l_x_"),
    ],
)
def test_a_source_is_the_users_name(source: str, role: str, name: str) -> None:
    found = input_of(source, "l_x_", ["tokens", "options"])

    assert (found.role, found.name) == (role, name)
