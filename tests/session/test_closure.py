"""What a worker hears: in a process of its own, because an audit hook cannot be taken away."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from guard.freshness.edges import Edge, read_edges
from tests.project import ROOT

PROGRAM = """
import os, sys
from collections import Counter
from pathlib import Path
from guard.session.closure import Closure

root = Path(sys.argv[1])
ears = Closure(root, "gw0", root)

{body}
ears.end("checks/test_it.py::test_one")
ears.close()
"""


def heard(root: Path, body: str) -> list[Edge]:
    text = PROGRAM.format(body=dedent(body))
    (root / "program.py").write_text(text, encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "program.py", str(root)],
        cwd=root,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    return read_edges((root / "gw0.edges").read_text(encoding="utf-8"))


def uses(edges: list[Edge]) -> set[tuple[str, str]]:
    return {
        (edge.kind, Path(edge.subject).name) for edge in edges if edge.kind not in {"name", "path", "module", "ran"}
    }


def test_what_is_read_and_not_what_was_written(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("x", encoding="ascii")
    found = heard(
        tmp_path,
        """
        open("data.txt").close()
        open("absent.txt", "w").close()
        open("absent.txt").close()
        os.rename("absent.txt", "moved.txt")
        open("moved.txt").close()
        os.listdir(root)
        """,
    )
    assert uses(found) == {("file", "program.py"), ("file", "data.txt"), ("here", ""), ("folder", tmp_path.name)}
    assert found[-1] == Edge("ran", "checks/test_it.py::test_one", "")


def test_what_leaves_the_process(tmp_path: Path) -> None:
    found = heard(
        tmp_path,
        """
        import socket, sqlite3, subprocess
        subprocess.run([sys.executable, "-c", "pass"])
        sqlite3.connect(root / "base")
        with open(root / "program.py", "r+"): pass
        open("/proc/self/stat").close()
        try: socket.create_connection(("127.0.0.1", 9), timeout=0.01)
        except OSError: pass
        """,
    )
    reasons = [edge.subject for edge in found if edge.kind == "unkeyable"]
    for said in (
        "subprocess.Popen",
        "opens the database",
        "for update",
        'opens "/proc/self/stat"',
        "socket.getaddrinfo",
    ):
        assert any(said in reason for reason in reasons), (said, reasons)


def test_variables_that_are_asked_for_and_not_a_copy_of_all(tmp_path: Path) -> None:
    found = heard(
        tmp_path,
        """
        os.environ["SET"] = "1"
        dict(os.environ), os.environ.copy(), list(os.environ.items())
        os.environ.get("ASKED"), "IN" in os.environ, os.getenv("PATH")
        """,
    )
    assert {edge.subject for edge in found if edge.kind == "variable"} == {"SET", "ASKED", "IN", "PATH"}


def test_what_one_test_alone_uses(tmp_path: Path) -> None:
    found = heard(
        tmp_path,
        """
        def test_one():
            [open(name).close() for name in ["own.txt"]]
            shared()
        def shared(): open("shared.txt")
        ears.begin(Path("program.py"), "test_one", test_one)
        try: test_one()
        except FileNotFoundError: open("own.txt", "w").close()
        ears.begin(Path("program.py"), "test_two", None)
        """,
    )
    users = {Path(edge.subject).name: edge.user.rpartition("/")[2] for edge in found if edge.kind == "file"}
    assert users["own.txt"] == "program.py::test_one"


def test_what_is_counted_of_a_trace_is_the_same_for_those_who_are_heard(tmp_path: Path) -> None:
    """Trace costs are compared with those of runs that remember nothing, in which no hook is there."""
    count = """
    def work():
        for _ in range(20):
            id(object()); exec("x = 1"); open(os.devnull).close(); os.listdir("/"); os.environ.get("A")
    def count():
        found = Counter()
        def note(frame, event, argument): found[event, frame.f_code.co_name] += 1
        sys.setprofile(note); work(); sys.setprofile(None)
        return sorted(found.items())
    """
    heard(
        tmp_path,
        f"{dedent(count)}\near = ears.begin(Path('program.py'), 'work', work)\nprint(count(), file=open('with', 'w'))",
    )
    script = f"import os, sys\nfrom collections import Counter\n{dedent(count)}\nprint(count())"
    plain = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "'work'" in plain.stdout
    assert (tmp_path / "with").read_text(encoding="utf-8") == plain.stdout
