"""``python -m tests.sensitivity``: run the suite and print its page, or write it to a file."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import torch

from tests.sensitivity.bench import Settings
from tests.sensitivity.harness import run
from tests.sensitivity.tables import numbers, page, right

COMMAND = "python -m tests.sensitivity --write docs/sensitivity.md"


def main() -> int:
    """Return 1 where a mutator raised, a mutant was missed or a rewrite alarmed."""
    options = parser().parse_args()
    settings = Settings(options.each, options.rewrites, options.seed, tuple(options.only))
    started = time.monotonic()
    tally = run(options.keyword, settings)
    text = page(tally, COMMAND, torch.__version__.partition("+")[0])
    if options.write is not None:
        options.write.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    for seen in tally.mutants:
        if options.verbose and not right(seen):
            sys.stderr.write(f"{seen.name} {seen.check} {seen.seed}: {', '.join(seen.classes) or 'missed'}\n")
    for seen in tally.rewrites:
        if seen.classes:
            sys.stderr.write(f"false alarm: {seen.name} {seen.check} {seen.seed}: {', '.join(seen.classes)}\n")
    sys.stderr.write("".join(f"failed: {line}\n" for line in tally.failures))
    sys.stderr.write(f"{numbers(tally)} in {time.monotonic() - started:.0f} s\n")
    found = numbers(tally)
    return int(bool(tally.failures) or found.caught != found.mutants or found.alarms > 0)


def parser() -> argparse.ArgumentParser:
    """Give the flags."""
    made = argparse.ArgumentParser(prog="python -m tests.sensitivity")
    made.add_argument("-k", dest="keyword", default="", help="checks, as pytest's -k")
    made.add_argument("--each", type=int, default=Settings.each, help="tries of each mutator a capture")
    made.add_argument("--rewrites", type=int, default=Settings.rewrites, help="tries of each rewrite a capture")
    made.add_argument("--only", nargs="+", default=(), metavar="NAME", help="these mutators and rewrites alone")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--write", type=Path, help="write the page here")
    made.add_argument(
        "-v", "--verbose", action="store_true", help="list each mutant that is not given the wanted class"
    )
    return made


if __name__ == "__main__":
    sys.exit(main())
