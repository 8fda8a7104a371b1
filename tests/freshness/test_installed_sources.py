"""Which installed packages count file by file, because they change without being installed anew."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from guard.freshness.graph import Use
from guard.freshness.installed import distributions, sources
from guard.freshness.places import PACKAGE, Places
from guard.freshness.rows import FILE, IMPORTS, INSTALLED, STAT

if TYPE_CHECKING:
    from pathlib import Path


def put(path: Path, text: str = "") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return str(path)


def of(site: Path, modules: dict[str, str], root: Path) -> set[Use]:
    found = set(sources([str(site)], modules, Places(str(root))))
    return {use for use in found if not use.subject.startswith(PACKAGE)}


def test_each_distribution_counts_by_its_record(tmp_path: Path) -> None:
    record = put(tmp_path / "torch-2.13.0.dist-info/RECORD")
    link = put(tmp_path / "dev.egg-link", "/somewhere")
    put(tmp_path / "torch/__init__.py")
    assert set(distributions([str(tmp_path), str(tmp_path / "absent")])) == {
        Use(INSTALLED, str(tmp_path)),
        Use(INSTALLED, str(tmp_path / "absent")),
        Use(FILE, record),
        Use(FILE, link),
    }


def test_a_torch_built_from_a_repository_counts_by_its_files(tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    source, library = put(site / "torch/__init__.py"), put(site / "torch/lib/libtorch.so")
    put(site / "torch-2.14.0a0+git1234.dist-info/RECORD")
    put(site / "numpy/__init__.py")
    wanted = {Use(FILE, source), Use(STAT, library), Use(IMPORTS, str(site / "torch"))}
    assert of(site, {}, tmp_path / "project") == wanted
    (site / "torch-2.14.0a0+git1234.dist-info").rename(site / "torch-2.14.0.dist-info")
    assert of(site, {}, tmp_path / "project") == set()


def test_a_distribution_that_is_installed_for_editing_counts_by_its_files(tmp_path: Path) -> None:
    site, sources_ = tmp_path / "site-packages", tmp_path / "checkout/src/lib"
    source = put(sources_ / "__init__.py")
    url = {"url": (tmp_path / "checkout").as_uri(), "dir_info": {"editable": True}}
    put(site / "lib-1.0.dist-info/direct_url.json", json.dumps(url))
    wanted = {Use(FILE, source), Use(IMPORTS, str(sources_))}
    assert of(site, {"lib": source}, tmp_path / "project") == wanted
    # the project's own packages count for each check by themselves
    assert of(site, {"lib": source}, tmp_path / "checkout") == set()


def test_a_package_from_elsewhere_counts_by_its_files(tmp_path: Path) -> None:
    package, module = put(tmp_path / "lib/pkg/__init__.py"), put(tmp_path / "lib/single.py")
    modules = {"pkg": package, "pkg.part": package, "single": module}
    wanted = {Use(FILE, package), Use(IMPORTS, str(tmp_path / "lib/pkg")), Use(FILE, module)}
    assert of(tmp_path / "site", modules, tmp_path / "project") == wanted


def test_nonsense_in_a_record_is_nothing(tmp_path: Path) -> None:
    for text in ("", "[]", "{", '{"dir_info": 1}', '{"dir_info": {"editable": true}}'):
        put(tmp_path / "lib-1.0.dist-info/direct_url.json", text)
        assert of(tmp_path, {"lib": "/x/lib.py"}, tmp_path / "project") <= {Use(FILE, "/x/lib.py")}
