"""Which decoder runs is chosen by a variable and by what was built, and can be asked for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.decoding.compiled.choice import VARIABLE, choice
from ledgerframes.decoding.compiled.sources import digest, sources
from ledgerframes.decoding.pages import decode_page, parse_page
from tests.decoding.items import page_of, transaction

PACKAGE = Path(lf.__file__).parent
FOLDER = PACKAGE / "decoding" / "compiled"
BODY = page_of(transaction())
TOLD = (
    "import warnings; warnings.simplefilter('always')\n"
    "from ledgerframes.decoding.compiled.choice import choice; print(choice())"
)


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def test_the_python_path_can_be_asked_for(monkeypatch):
    monkeypatch.setenv(VARIABLE, "python")
    assert str(choice()) == lf.versions()["decoder"] == "python (LEDGERFRAMES_DECODER asks for it)"
    assert parse_page(BODY) is BODY


def test_another_value_of_the_variable_is_refused(monkeypatch):
    monkeypatch.setenv(VARIABLE, "fast")
    message = "LEDGERFRAMES_DECODER='fast' is not valid: give 'compiled' or 'python', or unset it"
    for call in (choice, lf.versions, lambda: decode_page(BODY)):
        with pytest.raises(lf.errors.ConfigurationError, match=message):
            call()


@pytest.fixture
def checkout(tmp_path):
    """A copy of the package, as a checkout of its own."""
    shutil.copytree(PACKAGE, tmp_path / "ledgerframes", ignore=shutil.ignore_patterns("__pycache__", "sandbox"))
    (tmp_path / "ledgerframes" / "sandbox").symlink_to(PACKAGE / "sandbox")
    return tmp_path


def told(checkout, monkeypatch, **variables):
    """What a fresh interpreter in that checkout says, and what it warns of."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = subprocess.run([sys.executable, "-c", TOLD], cwd=checkout, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr


@pytest.mark.long
def test_without_the_extension_python_decodes_and_the_reason_is_told(checkout, monkeypatch):
    for built in (checkout / "ledgerframes/decoding/compiled").glob("_decoder*.so"):
        built.unlink()
    assert told(checkout, monkeypatch) == ("python (the compiled decoder was not built)", "")
    stdout, stderr = told(checkout, monkeypatch, **{VARIABLE: "compiled"})
    assert (stdout, "is not possible: the compiled decoder was not built; reinstall it" in stderr) == ("", True)


@pytest.mark.long
def test_an_extension_of_other_sources_is_refused_with_a_warning(checkout, monkeypatch):
    if choice().name != "compiled":
        pytest.skip(f"there is no compiled decoder: {choice().why}")
    assert told(checkout, monkeypatch) == ("compiled", "")
    with (checkout / "ledgerframes/decoding/compiled/times.hpp").open("a", encoding="utf-8") as file:
        file.write("// changed\n")
    stdout, stderr = told(checkout, monkeypatch)
    assert stdout == "python (the compiled decoder was built from other sources)"
    assert "RuntimeWarning: the compiled decoder was built from other sources, so it is not used" in stderr


def test_an_installed_extension_has_no_sources_beside_it_and_is_used(checkout, monkeypatch):
    if choice().name != "compiled":
        pytest.skip(f"there is no compiled decoder: {choice().why}")
    for path in sources(checkout / "ledgerframes/decoding/compiled"):
        path.unlink()
    assert told(checkout, monkeypatch) == ("compiled", "")


def test_ends_of_lines_do_not_count_as_a_change(tmp_path):
    for path in sources(FOLDER):
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert digest(tmp_path) == digest(FOLDER)
