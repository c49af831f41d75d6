"""Which decoder runs is chosen by a variable and by what was built, and can be asked for."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ledgerframes as lf
from ledgerframes.decoding.compiled.sources import digest, sources
from ledgerframes.decoding.pages import VARIABLE, choice, read_compiled
from tests.decoding.items import decoded, page_of, transaction

PACKAGE = Path(lf.__file__).parent
FOLDER = Path("decoding") / "compiled"
BODY = page_of(transaction())
TOLD = (
    "import warnings; warnings.simplefilter('always')\nfrom ledgerframes.decoding.pages import choice; print(choice())"
)


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)


def test_the_python_path_can_be_asked_for_and_another_value_is_refused(monkeypatch):
    monkeypatch.setenv(VARIABLE, "python")
    assert str(choice()) == lf.versions()["decoder"] == "python (LEDGERFRAMES_DECODER asks for it)"
    assert read_compiled(BODY) is None
    monkeypatch.setenv(VARIABLE, "fast")
    message = "LEDGERFRAMES_DECODER='fast' is not valid: give 'compiled' or 'python', or unset it"
    for call in (choice, lf.versions, lambda: decoded(BODY)):
        with pytest.raises(lf.errors.ConfigurationError, match=message):
            call()


@pytest.fixture
def compiled(tmp_path):
    """The folder of the compiled decoder in a copy of the package, as in a checkout of its own."""
    if choice().name != "compiled":
        pytest.skip(f"there is no compiled decoder: {choice().why}")
    shutil.copytree(PACKAGE, tmp_path / "ledgerframes", ignore=shutil.ignore_patterns("__pycache__", "sandbox"))
    (tmp_path / "ledgerframes" / "sandbox").symlink_to(PACKAGE / "sandbox")
    return tmp_path / "ledgerframes" / FOLDER


def told(compiled):
    """What a fresh interpreter in that checkout says, and what it warns of."""
    checkout = compiled.parents[2]
    done = subprocess.run([sys.executable, "-c", TOLD], cwd=checkout, capture_output=True, text=True, check=False)
    return done.stdout.strip(), done.stderr


@pytest.mark.long
def test_an_extension_of_other_sources_or_none_leaves_decoding_to_python_and_the_reason_is_told(compiled, monkeypatch):
    assert told(compiled) == ("compiled", "")
    with (compiled / "times.hpp").open("a", encoding="utf-8") as file:
        file.write("// changed\n")
    stdout, stderr = told(compiled)
    assert stdout == "python (the compiled decoder was built from other sources)"
    assert "RuntimeWarning: the compiled decoder was built from other sources, so it is not used" in stderr
    for built in compiled.glob("_decoder*.so"):
        built.unlink()
    assert told(compiled) == ("python (the compiled decoder was not built)", "")
    monkeypatch.setenv(VARIABLE, "compiled")
    stdout, stderr = told(compiled)
    assert (stdout, "is not possible: the compiled decoder was not built; reinstall it" in stderr) == ("", True)


def test_an_installed_extension_has_no_sources_beside_it_and_is_used(compiled):
    for path in sources(compiled):
        path.unlink()
    assert told(compiled) == ("compiled", "")


def test_ends_of_lines_do_not_count_as_a_change(tmp_path):
    for path in sources(PACKAGE / FOLDER):
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert digest(tmp_path) == digest(PACKAGE / FOLDER)
