"""What a project without guard compares: each turns a capture into something that is equal or not."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.sensitivity.draft import Draft

DIFFERS, EQUAL, REFUSED = "differs", "equal", "refused"


def text(draft: Draft) -> Any:
    """Exact text, as torch's own expect tests compare it."""
    from torch._dynamo.testing import normalize_gm

    return [normalize_gm(part.module.print_readable(print_output=False)) for part in draft.parts]


def cache_key(draft: Draft) -> Any:
    """Hash by which inductor's cache knows a graph and its inputs."""
    from torch._inductor.codecache import FxGraphCachePickler

    keys = []
    for part in draft.parts:
        inputs = [node.meta.get("val") for node in part.placeholders]
        keys.append(FxGraphCachePickler(part.module).get_hash((part.module, inputs)))
    return keys


def counts(draft: Draft) -> Any:
    """How often each operator occurs: what hand-written assertions count."""
    return Counter(
        (node.op, str(node.target)) for part in draft.parts for node in part.nodes if node.op == "call_function"
    )


RIVALS = {"text of print_readable": text, "FxGraphCachePickler": cache_key, "operator counts": counts}


def views(draft: Draft) -> dict[str, Any]:
    """Give each rival's view of a capture; None where it refuses to look."""
    return {name: _try(rival, draft) for name, rival in RIVALS.items()}


def _try(rival: Callable[[Draft], Any], draft: Draft) -> Any:
    try:
        return rival(draft)
    except Exception:  # noqa: BLE001 - whatever it raises, it has no answer
        return None


def told(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, str]:
    """Say what each rival says of two captures: differs, equal or refused."""
    return {name: _told(before[name], after[name]) for name in RIVALS}


def _told(before: Any, after: Any) -> str:
    if before is None or after is None:
        return REFUSED
    return DIFFERS if before != after else EQUAL
