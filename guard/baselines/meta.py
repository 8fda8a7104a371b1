"""What a pending file is bound to, as the record in the JSON beside it. Reads it trusting nothing; knows no files."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN = re.compile(r"[\w.+:-]+", re.ASCII)


@dataclass(frozen=True)
class Meta:
    """What a pending file is bound to."""

    torch: str
    """Full version that captured it."""
    baseline: str | None
    """Digest of the baseline that it was compared with; None where there was none."""
    action: Literal["record", "remove", "cost"] = "record"
    """``cost``: the graph holds, and only its trace cost is to be written."""
    fixes: Literal["on", "off"] = "on"
    device: str = "cpu"
    sources: Mapping[str, str] | tuple[()] = ()
    """Relative path -> digest of the files whose code the capture ran."""
    cost: str | None = None
    """Environment whose trace cost waits, a section of a cost file; None where none does."""
    python: str = ""
    """``3.11``; "" of a guard that did not say."""
    platform: str = ""
    """``linux-x86_64``, likewise."""
    cost_baseline: str | None = None
    """Digest of the section that it was compared with (costs.bound); None where there was none."""
    unfaithful: str | None = None
    """What differed when the graph was replayed against its program; None where nothing did, or it was not replayed."""


def record_of(check: str, text: str | None, cost: str | None, meta: Meta) -> dict[str, Any]:
    """Return the record of a check's pending files.

    Args:
        check: its id.
        text: digest of the graphs' text; None where none waits.
        cost: digest of the cost file, likewise.
        meta: what they are bound to.
    """
    return {"check": check, "text": text, "cost_text": cost, **asdict(meta), "sources": dict(meta.sources)}


def parse(record: Any) -> tuple[str, str | None, str | None, Meta]:
    """Check the types of a record; return the check, the digests of its text and of its trace cost, and the meta.

    Raises:
        KeyError, TypeError, ValueError: It is not what ``record_of`` makes.
    """
    record = dict(record)
    check, text, sources = record.pop("check"), record.pop("text"), record.pop("sources")
    cost = record.pop("cost_text", None)
    meta = Meta(**record, sources=dict(sources))
    texts = (
        check,
        meta.torch,
        meta.device,
        meta.python,
        meta.platform,
        *dict(meta.sources),
        *dict(meta.sources).values(),
    )
    if not all(isinstance(value, str) for value in texts):
        raise TypeError("wanted text")
    if not all(value is None or isinstance(value, str) for value in (text, meta.baseline, *_cost_fields(meta, cost))):
        raise TypeError("wanted text or null")
    # they go into a TOML file
    plain = (meta.torch, meta.device, *filter(None, (meta.python, meta.platform)))
    if not all(map(_PLAIN.fullmatch, plain)):
        raise ValueError("a version or device that is none")
    if meta.action not in ("record", "remove", "cost") or meta.fixes not in ("on", "off"):
        raise ValueError("unknown action or fixes")
    if (meta.action == "record") != (text is not None):
        raise ValueError("action and text do not agree")
    if (meta.cost is None) != (cost is None) or (meta.action == "cost" and cost is None):
        raise ValueError("action and cost do not agree")
    return cast("str", check), cast("str | None", text), cast("str | None", cost), meta


def _cost_fields(meta: Meta, cost: object) -> tuple[object, ...]:
    return meta.cost, meta.cost_baseline, meta.unfaithful, cost
