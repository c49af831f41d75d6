"""The package as a whole: its public names, what importing it costs, its layers, and what its files must not hold."""

from __future__ import annotations

import ast
import inspect
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import ledgerframes as lf

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "ledgerframes"
MODULES = {path.relative_to(ROOT).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}

ENTRANCES = {"connect", "sandbox", "errors", "types", "LedgerframesError"}
LOADERS = {
    "load_history", "load_updates", "load_events", "load_reassignments", "load_update",
    "rebuild_items", "migrations", "plan", "load_verdicts",
}  # fmt: skip
TABLES = {
    "tables", "describe", "load_holdings_summary", "load_licenses", "load_instruments", "load_name_entries",
    "load_name_rules", "load_transfer_offers", "load_transfer_preapprovals", "load_users", "load_ledger_transaction",
    "load_ledger_history", "load_ledger_contracts",
}  # fmt: skip
NETWORK = {
    "snapshot_times", "load_active_contracts", "load_coins", "load_rounds", "load_names", "load_traffic",
    "load_validator_faucets", "load_featured_apps", "load_super_validators", "load_scans", "load_opening",
    "load_votes",
}  # fmt: skip
BUILDERS = {"commands"}
REPORT = {"report", "aliases", "record", "replay", "open_objects", "doctor", "versions"}
LAKE = {"open_store", "cross_check"}
EXPORT = {"export", "find", "join_prices", "labels", "events_from_pqs"}
ANALYSES = {
    "reassignment_flows", "flow_matrix", "contract_journeys", "reassignment_anomalies", "active_contracts", "expand",
    "template_catalogue", "holdings_from_events", "reconcile_holdings", "holding_fees", "license_growth",
    "license_activity", "license_versions", "instrument_supply",
}  # fmt: skip
ECONOMICS = {
    "round_history", "rewards", "reward_flows", "sv_rewards", "transfers", "mint_burn", "movements",
    "traffic_purchases",
    "coin_history", "supply",
    "supply_per_round", "balances_over_time", "active_parties", "template_activity", "validator_liveness",
    "votes", "vote_casts", "price_votes", "config_changes", "sv_weights", "featured_app_history",
    "token_transfers", "model", "models", "network_daily", "app_daily", "retention", "issuance", "validator_daily",
    "wallets_daily", "supply_by_purpose",
}  # fmt: skip
PICTURES = {
    "plot", "show",
}  # fmt: skip
ERRORS = {
    "ConfigurationError", "InputError", "RequestError", "NoAnswerError", "StatusError",
    "NotFoundError", "RateLimitedError", "ConflictError", "NotAuthorizedError", "ServerError", "PagingError",
    "DecodeError", "PartialResultError", "StoppedError", "StoreError",
}  # fmt: skip
TYPES = {
    "CrossCheck", "Diagnosis", "ExportReport", "Finding", "History", "LedgerHistory", "LedgerTransaction", "Network",
    "Opening", "Plan", "Store", "SyncReport", "Verdicts",
}  # fmt: skip
FILES = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")  # those of the next commit too
HEAVY = (
    *(
        "deltalake",
        "duckdb",
        "filelock",
        "httpx",
        "IPython",
        "matplotlib",
        "pandas",
        "polars",
        "starlette",
        "tqdm",
        "typer",
    ),
    *("uvicorn", "xlsxwriter"),
)


def python(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_the_public_names_are_these():
    assert sorted(lf.__all__) == sorted(
        ENTRANCES | LOADERS | TABLES | NETWORK | LAKE | REPORT | BUILDERS | EXPORT | ANALYSES | ECONOMICS | PICTURES
    )
    assert [name for name in lf.__all__ if not hasattr(lf, name)] == []


@pytest.mark.parametrize(
    ("function", "arguments"),
    {
        "connect": ["network", "profile", "scan_url", "validator_url", "registry_url", "ledger_url", "token"],
        "sandbox": ["seed", "updates", "days"],
        "load_history": ["net", "start", "end", "last", "limit"],
        "load_update": ["net", "update_id", "hash"],
        "rebuild_items": ["history"],
        "migrations": ["net"],
        "plan": ["net", "start", "end"],
        "open_store": ["path"],
        "open_objects": ["path", "start", "end", "storage_options"],
        "cross_check": ["net_a", "net_b", "start", "end"],
        "reassignment_flows": ["reassignments"],
        "flow_matrix": ["flows"],
        "active_contracts": ["events", "reassignments", "at"],
        "expand": ["events", "template", "fields"],
        "load_holdings_summary": ["net", "parties", "record_time", "migration_id", "match", "as_of_round", "missing"],
        "load_transfer_preapprovals": ["net", "parties"],
        "load_active_contracts": ["net", "at", "templates", "parties"],
        "load_coins": ["net", "owners", "at"],
        "load_names": ["net", "prefix"],
        "load_traffic": ["net", "members", "synchronizer"],
        "load_validator_faucets": ["net", "validators"],
        "load_ledger_transaction": ["net", "update_id"],
        "load_ledger_history": ["net", "parties", "start", "end", "limit"],
        "load_ledger_contracts": ["net", "parties", "at"],
        "export": ["data", "path", "tables", "format", "profile", "layout", "times", "overwrite"],
    }.items(),
)
def test_a_function_begins_with_its_fixed_arguments(function, arguments):
    assert list(inspect.signature(getattr(lf, function)).parameters)[: len(arguments)] == arguments


def test_errors_and_the_classes_of_results_have_modules_of_their_own():
    found = {
        name for name, one in vars(lf.errors).items()
        if inspect.isclass(one) and issubclass(one, lf.LedgerframesError) and one is not lf.LedgerframesError
    }  # fmt: skip

    assert found == ERRORS
    assert issubclass(lf.errors.InputError, ValueError)
    assert set(lf.types.__all__) == TYPES
    assert all(inspect.isclass(getattr(lf.types, name)) for name in TYPES)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(
    "code",
    [
        "import ledgerframes, ledgerframes.sandbox.server",
        "from ledgerframes.sandbox.server import start; import ledgerframes",
        "import ledgerframes; ledgerframes.sandbox(updates=5).close()",
        "from ledgerframes import *; import ledgerframes",
    ],
    ids=["module after package", "module first", "after a call", "star"],
)
def test_sandbox_stays_a_function(code):
    assert python(f"{code}; print(type(ledgerframes.sandbox).__name__)") == "function"


def test_importing_the_package_leaves_the_heavy_libraries_out():
    assert python(f"import sys, ledgerframes; print([name for name in {HEAVY} if name in sys.modules])") == "[]"


def test_importing_the_package_imports_what_connects_and_nothing_else():
    later = (
        *(
            "apps",
            "cli",
            "commands",
            "export.shape",
            "interfaces",
            "loaders",
            "objects",
            "paging",
        ),
        *("plot", "recording", "session_names", "store", "decoding.history", "sandbox.server", "tables.descriptions"),
    )
    code = f"import sys, ledgerframes; print([name for name in {later} if 'ledgerframes.' + name in sys.modules])"

    assert python(code) == "[]"


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("name", ["commands", "errors", "export", "sandbox", "tables", "types"])
def test_a_public_name_that_a_module_shares_is_itself_in_either_order(name):
    expected = "function" if name in {"export", "sandbox", "tables"} else "module"
    again = f"import ledgerframes.{name}"
    for code in (again, f"import ledgerframes; ledgerframes.{name}; {again}"):
        assert python(f"{code}; print(type(ledgerframes.{name}).__name__)") == expected


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


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(
    "first",
    ["ledgerframes.apps.html_report.page", "ledgerframes.store.sync.report", "ledgerframes.plot.palette"],
)
def test_a_name_is_its_function_whichever_module_comes_first(first):
    code = (
        f"import {first}; import ledgerframes as lf;"
        " modules = {'commands', 'errors', 'plot', 'types'};"
        " print(*(callable(getattr(lf, name)) for name in lf.__all__ if name not in modules))"
    )

    assert set(python(code).split()) == {"True"}


def test_names_that_are_imported_later_are_listed_and_unknown_ones_are_refused():
    assert python("import ledgerframes as lf; print(lf.__all__ == dir(lf))") == "True"
    with pytest.raises(AttributeError, match=r"module 'ledgerframes' has no attribute 'plot_everything'"):
        lf.plot_everything  # noqa: B018


def test_the_version_is_the_project_s():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == lf.__version__


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_holds_and_so_do_its_public_functions(name):
    tree = ast.parse(MODULES[name].read_text(encoding="utf-8"))

    assert ast.get_docstring(tree), f"{name} does not begin with a docstring"
    assert [f"{name}:{node.lineno} {node.name}" for node in public(tree) if not ast.get_docstring(node)] == []


def public(tree: ast.Module | ast.ClassDef) -> list[ast.FunctionDef | ast.ClassDef]:
    """The public functions and classes, and those of public classes."""
    found: list[ast.FunctionDef | ast.ClassDef] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not sets(node):
            found.append(node)
            if isinstance(node, ast.ClassDef):
                found += public(node)
    return found


def sets(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether this is a setter or an overload, which the getter or the implementation speaks for."""
    return any(
        (isinstance(mark, ast.Attribute) and mark.attr == "setter")
        or (isinstance(mark, ast.Name) and mark.id == "overload")
        for mark in node.decorator_list
    )


def test_no_module_is_a_place_for_anything():
    nowhere = {"utils", "util", "helpers", "helper", "common", "core", "misc"}

    assert [name for name in MODULES if nowhere & set(re.split(r"[/.]", name))] == []


#: Words that say nothing of what a class, a function or a constant is; the ledger or Python has a better one for each.
VAGUE = {
    "asked", "bounded", "coming", "cut", "drive", "given", "glimpse", "held", "kept", "leapt", "look", "looks", "met",
    "places", "said", "slots", "told", "way", "ways",
}  # fmt: skip
#: The names that keep one: "hold back" and "look up" are the usual words. Those of the sandbox are to be renamed.
NAMED_SO = {
    "ledgerframes/interfaces/history.py": {"_with_held_back"},
    "ledgerframes/interfaces/looking_up.py": {"LookUpCalls"},
    "ledgerframes/paging/history.py": {"held_back"},
    "ledgerframes/stopping.py": {"held_back"},
}


def defined(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    """The classes, functions and constants of a module, and the methods of its classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from defined(node)
        elif isinstance(tree, ast.Module) and isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def test_a_name_says_what_it_holds():
    found = {}
    for module, path in MODULES.items():
        for name in {*defined(ast.parse(path.read_text(encoding="utf-8")))} - NAMED_SO.get(module, set()):
            words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}
            if words & VAGUE:
                found[f"{module}: {name}"] = sorted(words & VAGUE)

    assert found == {}


def test_no_module_is_longer_than_400_lines():
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}

    assert {name: count for name, count in lengths.items() if count > 400} == {}


def test_a_layer_imports_only_layers_below_it():
    python("import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))")


def test_the_layers_name_every_module_of_the_top_level():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract for contract in settings["contracts"] if contract["type"] == "layers")
    there = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

    assert layers["exhaustive"] is True
    named = {name for layer in layers["layers"] for name in re.split(r" [:|] ", layer)}
    assert named == there - {"__init__"}


def test_no_file_names_a_place_of_one_machine_or_a_registry_s_host():
    git = shutil.which("git")
    listed = git and subprocess.run([git, *FILES], check=False, capture_output=True, text=True, cwd=ROOT)
    if not listed or listed.returncode != 0:
        pytest.skip("not a git checkout: which files belong to the project is not known")
    names = ("work", "tmp/venv", "root", "home")
    wrong = re.compile("|".join([*(f"(?<![\\w.}}])/{name}/" for name in names), r"pythonhosted\.", r"pypi\.org"]))
    found = []
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.is_file() and (match := wrong.search(path.read_text(encoding="utf-8", errors="replace"))):
            found.append(f"{name}: {match[0]}")
    assert found == []
