"""Every public function documents what it returns and raises, and has an example that runs."""

import doctest
import importlib
import inspect
import re

import ledgerframes as lf
from tests import test_signatures

FUNCTIONS = test_signatures.FUNCTIONS | {f"plot.{name}": getattr(lf.plot, name) for name in lf.plot.__all__}
NEVER_RAISES = {"models", "tables"}


def sections(name):
    """The sections of a docstring, each with its text."""
    parts = re.split(r"^(\w+):\n", inspect.getdoc(FUNCTIONS[name]), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_a_docstring_has_the_sections_that_its_reader_needs():
    for name in FUNCTIONS:
        documented = sections(name)

        assert documented.get("Returns", documented.get("Yields", "")).strip(), f"{name} documents no result"
        raises = re.search(r"^    \w+Error: ", documented.get("Raises", ""), re.MULTILINE)
        assert name in NEVER_RAISES or raises, f"{name} documents no error"
        assert ">>> " in documented.get("Example", ""), f"{name} has no example that runs"


def test_the_errors_that_a_docstring_names_exist():
    for name in FUNCTIONS:
        named = re.findall(r"^    (\w+): ", sections(name).get("Raises", ""), re.MULTILINE)

        assert [error for error in named if not hasattr(lf.errors, error)] == [], name


def test_the_example_of_a_docstring_is_run_with_those_of_its_module():
    """`test_documents.py` runs the examples that doctest finds in a module."""
    found = {
        test.name
        for module in {function.__module__ for function in FUNCTIONS.values()}
        for test in doctest.DocTestFinder().find(importlib.import_module(module), module)
        if test.examples
    }

    assert {f"{one.__module__}.{one.__qualname__}" for one in FUNCTIONS.values()} - found == set()
