"""The package as a whole: its public names, what importing it costs, and what its files must not hold."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import ledgerframes as lf

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ledgerframes"
MODULES = {path.relative_to(ROOT).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

FILES = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")  # those of the next commit too


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("function", "arguments"),
    {
        "connect": ["network", "profile", "scan_url", "validator_url", "registry_url", "ledger_url", "token"],
        "sandbox": ["seed", "updates", "days"],
        "load_history": ["net", "start", "end", "last", "limit"],
        "load_update": ["net", "update_id", "hash"],
        "open_objects": ["path", "start", "end", "storage_options"],
        "cross_check": ["net_a", "net_b", "start", "end"],
        "active_contracts": ["events", "reassignments", "at"],
        "expand": ["events", "template", "fields"],
        "load_holdings_summary": ["net", "parties", "record_time", "migration_id", "match", "as_of_round", "missing"],
        "load_active_contracts": ["net", "at", "templates", "parties"],
        "load_coins": ["net", "owners", "at"],
        "load_traffic": ["net", "members", "synchronizer"],
        "load_ledger_history": ["net", "parties", "start", "end", "limit"],
        "load_ledger_contracts": ["net", "parties", "at"],
        "export": ["data", "path", "tables", "format", "profile", "layout", "times", "overwrite"],
    }.items(),
)
def test_a_function_begins_with_its_fixed_arguments(function, arguments):
    assert list(inspect.signature(getattr(lf, function)).parameters)[: len(arguments)] == arguments


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(
    "code",
    [
        "from ledgerframes.sandbox.server import start; import ledgerframes.export, ledgerframes.tables",
        "import ledgerframes, ledgerframes.sandbox.server, ledgerframes.export.report, ledgerframes.tables.catalogue",
        "import ledgerframes.apps.html_report.page, ledgerframes.store.sync.report, ledgerframes.plot.palette",
        "import ledgerframes; ledgerframes.sandbox(updates=5).close(); import ledgerframes.tables",
        "from ledgerframes import *; import ledgerframes",
        "import ledgerframes, importlib; ledgerframes.export; importlib.reload(ledgerframes)",
    ],
    ids=["modules first", "modules after the package", "other modules first", "after a call", "star", "reloaded"],
)
def test_a_public_name_is_its_function_whichever_module_is_imported_first(code):
    told = "[name for name in ledgerframes.__all__ if inspect.ismodule(getattr(ledgerframes, name))]"
    assert python(f"import inspect; {code}; print({told})") == "['commands', 'errors', 'plot', 'types']"


#: What only a call needs: libraries, and modules of the package.
LATER = (
    *("deltalake", "duckdb", "filelock", "httpx", "IPython", "matplotlib", "pandas", "polars", "starlette", "tqdm"),
    *("typer", "urllib3", "uvicorn", "xlsxwriter"),
    *(f"ledgerframes.{room}" for room in ("apps", "cli", "commands", "export.shape", "interfaces", "loaders")),
    *(f"ledgerframes.{room}" for room in ("objects", "paging", "plot", "recording", "session_names", "store")),
    *(f"ledgerframes.{room}" for room in ("decoding.history", "sandbox.server", "tables.descriptions")),
)


def test_importing_the_package_imports_what_connects_and_no_heavy_library():
    assert python(f"import sys, ledgerframes; print([name for name in {LATER} if name in sys.modules])") == "[]"


def test_what_type_checkers_are_told_is_what_is_there():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    told = {
        (name.name, name.asname): node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }

    assert [name for name, alias in told if name != alias] == []  # without its alias, a name is private to the stub
    assert sorted(name for name, _ in told) == lf.__all__
    assert [
        name for (name, _), module in told.items() if getattr(import_module(module), name) is not getattr(lf, name)
    ] == []


def test_the_version_is_the_project_s():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == lf.__version__


def test_no_module_is_a_place_for_anything_or_longer_than_400_lines():
    nowhere = {"utils", "util", "helpers", "helper", "common", "core", "misc"}
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}

    assert [name for name in MODULES if nowhere & set(re.split(r"[/.]", name))] == []
    assert {name: count for name, count in lengths.items() if count > 400} == {}


def test_no_file_names_a_place_of_one_machine_or_a_registry_s_host():
    git = shutil.which("git")
    listed = git and subprocess.run([git, *FILES], check=False, capture_output=True, text=True, cwd=ROOT)
    if not listed or listed.returncode != 0:
        pytest.skip("not a git checkout: which files belong to the project is not known")
    # A search jumps to the slash, where it would look before every letter otherwise.
    wrong = re.compile(r"/(?<![\w.}]/)(?:work|tmp/venv|root|home)/|pythonhosted\.|pypi\.org")
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and (match := wrong.search(path.read_text(encoding="utf-8", errors="replace"))):
            found.append(f"{name}: {match[0]}")
    assert found == []


@pytest.mark.parametrize("target", ["test-python", "test-quick"])
def test_the_tests_that_make_names_are_there(target):
    said = subprocess.run(["make", "--dry-run", target], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    named = {word for word in said.split() if word.startswith("tests/")}
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()
