"""``guard diff --since``: the baselines that this branch re-recorded, classified, for who reviews a green branch."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from guard import environment, verdict
from guard.baselines import reasons
from guard.baselines.names import check_of, quoted
from guard.baselines.pending import digest
from guard.baselines.rerecorded import Rerecorded, is_graph, rerecorded
from guard.commands.comparison import compare
from guard.commands.selection import select
from guard.commands.since_costs import with_costs
from guard.config import load
from guard.errors import GraphSyntaxError
from guard.ir.parser import parse_bytes
from guard.ir.printer import print_program
from guard.report import color
from guard.report import since as page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from guard.baselines.rerecorded import Since
    from guard.commands.options import DiffOptions
    from guard.config import Config
    from guard.ir.graph import Program


def since(options: DiffOptions) -> int:
    """Print the list; 0 whatever it holds, 2 where a file of it does not parse."""
    config = load()
    ref = options.since or ""
    found = rerecorded_page(config, ref)
    if options.ids:
        chosen = select(options.ids, [row.check for row in found.rows], config, f"not re-recorded since {quoted(ref)}:")
        found = found.only(chosen)
    if options.format == "json":
        print(page.as_json(found), end="")
    elif options.format == "markdown":
        print(page.as_markdown(found), end="")
    else:
        painted = color.wanted(sys.stdout, os.environ)
        print(page.as_text(found, color=painted, verbose=options.verbose or bool(options.ids)), end="")
    return verdict.USAGE if any(row.status == "unreadable" for row in found.rows) else verdict.HOLD


def rerecorded_page(config: Config, ref: str) -> page.Page:
    """Classify what this branch did to the baselines since it left ``ref``.

    Raises:
        GitError: git cannot tell.
        GuardError: A file cannot be read.
    """
    return _page(config, ref, rerecorded(config, ref))


def _page(config: Config, ref: str, since: Since) -> page.Page:
    folder = f"{config.baselines.relative_to(config.root).as_posix()}/"
    beside = {file.path.removeprefix(folder): file for file in since.files if not is_graph(file)}
    why = _reasons(beside.get(reasons.FILE))
    rows = with_costs([_row(file, folder, why) for file in since.files if is_graph(file)], since.files, folder, why)
    return page.Page(ref, since.base, tuple(_named_anew(rows)), _moved(beside.get(environment.FILE)))


def _named_anew(rows: list[page.Row]) -> Iterator[page.Row]:
    """Yield the rows by id; one that was added says which of the removed had the same graphs, if any: it may be it."""
    for row in sorted(rows, key=lambda row: row.check):
        same = [other.check for other in rows if other.status == "removed" and other.graphs == row.graphs]
        if row.status == "added" and same:
            yield row._replace(was=get_close_matches(row.check, same, n=1, cutoff=0.0)[0])
        else:
            yield row


def _reasons(file: Rerecorded | None) -> Mapping[str, str]:
    """Return the reasons that the branch gave: one that was there before speaks of an older accept."""
    if file is None or file.after is None:
        return {}
    before = reasons.parse(file.before or b"", f"{file.path} of before")
    now = reasons.parse(file.after, file.path)
    return {check: reason for check, reason in now.items() if before.get(check) != reason}


def _row(file: Rerecorded, folder: str, why: Mapping[str, str]) -> page.Row:
    try:
        before, after = (_program(data, path) for data, path in _sides(file))
    except GraphSyntaxError as error:
        check = check_of(file.path.removeprefix(folder)) or file.path
        return page.Row(check, file.path, "unreadable", problem=str(error))
    known = after or before
    check = known.check if known is not None else file.path
    row = page.Row(
        check, file.path, _status(file), reason=why.get(check, ""), nodes=_nodes(known), graphs=_graphs(known)
    )
    if before is None or after is None:
        return row
    found = compare(before, after)
    return row._replace(changes=found) if found else row._replace(status="same")


def _sides(file: Rerecorded) -> Iterable[tuple[bytes | None, str]]:
    return (file.before, f"{file.path} of before"), (file.after, file.path)


def _program(data: bytes | None, path: str) -> Program | None:
    return None if data is None else parse_bytes(data, path)


def _graphs(program: Program | None) -> str:
    return "" if program is None else digest(print_program(replace(program, check="")).encode())


def _status(file: Rerecorded) -> str:
    if file.before is None:
        return "added"
    return "removed" if file.after is None else "changed"


def _nodes(program: Program | None) -> int:
    return 0 if program is None else sum(len(graph.nodes) for graph in program.graphs)


def _moved(file: Rerecorded | None) -> tuple[str, ...]:
    """Return what changed of the environment that the baselines are recorded in."""
    if file is None or file.before is None or file.after is None:
        return ()
    was, now = (_environment(data) for data in (file.before, file.after))
    keys = sorted({*was, *now}, key=list(environment.current().as_dict()).index)
    return tuple(f"{key} {was.get(key, '?')} -> {now.get(key, '?')}" for key in keys if was.get(key) != now.get(key))


def _environment(data: bytes | None) -> dict[str, str]:
    found = environment.parse((data or b"").decode(errors="replace"))
    return {} if found is None else found.as_dict()
