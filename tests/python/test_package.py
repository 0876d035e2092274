"""What the source distribution and the wheel hold."""

import importlib.metadata
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

import kohort

ROOT = Path(__file__).parents[2]
LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")


def test_the_wheel_brings_the_command_the_types_and_no_dependencies():
    own = importlib.metadata.distribution("kohort")
    names = {str(path) for path in own.files}
    assert "kohort/py.typed" in names and "kohort/_kohort.pyi" in names
    assert any(name.endswith("abi3.so") for name in names) or sys.platform == "win32"
    assert own.version == kohort.__version__
    assert all("extra ==" in needed for needed in own.requires or [])
    assert [entry.name for entry in own.entry_points if entry.group == "console_scripts"] == ["kohort"]
    for name in LICENSES:
        (text,) = (path.read_text(encoding="utf-8") for path in own.files if path.name == name)
        assert text == (ROOT / name).read_text(encoding="utf-8") and len(text) > 900, name
    command = Path(sys.executable).parent / "kohort"
    found = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert found.returncode == 0 and kohort.__version__ in found.stdout


def test_the_source_distribution_holds_all_that_a_build_needs():
    folder = os.environ.get("KOHORT_SDIST")
    if not folder:
        pytest.skip("tests/python/run makes a source distribution")
    (path,) = Path(folder).glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
        for name in LICENSES:
            found = [own for own in archive.getmembers() if own.name.endswith(f"/{name}")]
            assert found, name
            for own in found:
                # A link would lead out of the archive.
                assert own.isfile() and archive.extractfile(own).read() == (ROOT / name).read_bytes(), own.name
    for needed in ("pyproject.toml", "PKG-INFO", "Cargo.lock", "crates/kohort-core/Cargo.toml", "python/kohort/py.typed"):
        assert needed in names, needed
    assert not any(name.startswith(("target", "data/")) for name in names)
