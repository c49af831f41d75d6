"""Every public function documents what it returns and raises, and has an example that runs."""

import doctest
import importlib
import inspect
import re

import pytest

import ledgerframes as lf

FUNCTIONS = {
    **{name: getattr(lf, name) for name in lf.__all__ if inspect.isfunction(getattr(lf, name))},
    **{f"plot.{name}": getattr(lf.plot, name) for name in lf.plot.__all__},
    **{f"Store.{name}": method for name, method in vars(lf.types.Store).items() if not name.startswith("_")},
}
NEVER_RAISES = {"models", "tables"}


def sections(name):
    """The sections of a docstring, each with its text."""
    parts = re.split(r"^(\w+):\n", inspect.getdoc(FUNCTIONS[name]), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_has_the_sections_that_its_reader_needs(name):
    documented = sections(name)

    assert documented.get("Returns", documented.get("Yields", "")).strip(), f"{name} does not document what it returns"
    assert name in NEVER_RAISES or re.search(r"^    \w+Error: ", documented.get("Raises", ""), re.MULTILINE)
    assert ">>> " in documented.get("Example", ""), f"{name} has no example that runs"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_errors_that_a_docstring_names_exist(name):
    named = re.findall(r"^    (\w+): ", sections(name).get("Raises", ""), re.MULTILINE)

    assert [error for error in named if not hasattr(lf.errors, error)] == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_example_of_a_docstring_is_run_with_those_of_its_module(name):
    """`test_documents.py` runs the examples that doctest finds in a module."""
    function = FUNCTIONS[name]
    module = importlib.import_module(function.__module__)
    found = {test.name for test in doctest.DocTestFinder().find(module, module.__name__) if test.examples}

    assert f"{module.__name__}.{function.__qualname__}" in found
