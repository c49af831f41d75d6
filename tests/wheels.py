"""Builds the source distribution and both wheels, compiled and not, and tries each: `python -m tests.wheels PYTHON…`.

Each Python gets a fresh virtual environment, in which a wheel has to load and store the simulated ledger. A Python that
is not installed is skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
NO_COMPILER = {"CC": "false", "CXX": "false"}
TRIAL = """
import sys, tempfile
import ledgerframes as lf
assert lf.__file__.startswith(sys.prefix), lf.__file__
with lf.sandbox(updates=300) as net:
    history = lf.load_history(net, progress=False)
    report = lf.open_store(tempfile.mkdtemp()).sync(net, progress=False)
assert len(history.updates) == report.rows["updates"] == 300, report
assert list(lf.rebuild_items(history)) == list(net.sandbox.world.items())
print(lf.versions()["decoder"].split()[0])
"""


def main() -> int:
    """Build, look inside, and try; ends with 1 if anything is not as it should be."""
    shutil.rmtree(DIST, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        sdist = build_sdist(Path(folder))
        wheels = {"compiled": build_wheel(sdist), "python": build_wheel(sdist, **NO_COMPILER)}
        check_content(wheels)
        tried = [python for python in sys.argv[1:] or [sys.executable] if try_on(python, wheels, Path(folder))]
    print(f"{', '.join(wheel.name for wheel in wheels.values())}: tried on {', '.join(tried) or 'no Python'}")
    return 0 if tried else 1


def build_sdist(folder: Path) -> Path:
    """The source distribution, unpacked: it must have the sources of the decoder, and nothing that was built."""
    code = f"import hatchling.build as build; print(build.build_sdist({str(folder)!r}))"
    environment = folder / "building"
    run(sys.executable, "-m", "venv", str(environment))
    python = str(environment / "bin" / "python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "hatchling", "setuptools")
    name = run(python, "-c", code).split()[-1]
    DIST.mkdir()
    shutil.copy(folder / name, DIST)
    with tarfile.open(folder / name) as archive:
        names = archive.getnames()
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # from 3.11.4 on
    assert [one for one in names if one.endswith((".so", ".pyd"))] == [], "the sdist holds what was built"
    assert any(one.endswith("module.cpp") for one in names), "the sdist lacks the decoder's sources"
    return folder / name.removesuffix(".tar.gz")


def build_wheel(source: Path, **variables: str) -> Path:
    """Build a wheel into `dist/`."""
    before = set(DIST.glob("*.whl"))
    pip = ("-m", "pip", "wheel", "--quiet", "--disable-pip-version-check")
    run(sys.executable, *pip, "--no-deps", "-w", str(DIST), str(source), **variables)
    (wheel,) = set(DIST.glob("*.whl")) - before
    return wheel


def check_content(wheels: dict[str, Path]) -> None:
    """One wheel has the extension and the tag of its platform, the other one is for any."""
    for decoder, wheel in wheels.items():
        names = zipfile.ZipFile(wheel).namelist()
        built = [name for name in names if name.endswith((".so", ".pyd"))]
        assert len(built) == (decoder == "compiled"), f"{wheel.name} holds {built}"
        assert ("-cp311-abi3-" in wheel.name) == (decoder == "compiled"), wheel.name
        assert wheel.name.endswith("-py3-none-any.whl") == (decoder == "python"), wheel.name
        assert [name for name in names if name.endswith((".cpp", ".hpp"))] == [], f"{wheel.name} holds sources"
        assert [name for name in names if not name.startswith("ledgerframes")] == [], f"{wheel.name} holds other files"


def try_on(python: str, wheels: dict[str, Path], folder: Path) -> bool:
    """Try both wheels on a Python; whether it is installed."""
    # The shims of pyenv are found, and answer only to a version that is chosen.
    os.environ["PYENV_VERSION"] = Path(python).name.removeprefix("python")
    found = shutil.which(python)
    if found is None or subprocess.run([found, "--version"], check=False, capture_output=True).returncode != 0:
        print(f"{python} is not installed: skipped")
        return False
    environment = folder / f"on-{Path(python).name}"
    run(python, "-m", "venv", "--clear", str(environment))
    own = str(environment / "bin" / "python")
    for decoder, wheel in wheels.items():
        install = (own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--force-reinstall")
        # The libraries are installed with the first wheel.
        run(*install, *(["-c", "constraints.txt"] if decoder == "compiled" else ["--no-deps"]), f"{wheel}[lake]")
        told = run(own, "-c", TRIAL, cwd=folder).split()[-1]
        assert told == decoder, f"{wheel.name} on {python} decodes by {told}"
        print(f"{wheel.name} on {python}: decodes by {told}", flush=True)
    return True


def run(*command: str, cwd: Path = ROOT, **variables: str) -> str:
    """What a command prints; its error output is shown if it fails."""
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, cwd=cwd, env={**os.environ, **variables}
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
