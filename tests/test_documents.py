"""What the documents show is what a reader gets: blocks print what stands below, commands parse, links lead on."""

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from hashlib import sha256

import matplotlib.pyplot as plt
import pytest
import typer

import ledgerframes as lf
from ledgerframes.cli import app
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.derived import COMPUTED
from tests.documents import PAGES, README, ROOT, commands, lines, python_blocks, run

#: Pages and modules whose examples take over four seconds, or that show in many seconds what other tests have shown.
LONG = {
    *("docs/cheat-sheet.md", "docs/gallery.md", "docs/star.md"),
    *(f"docs/howto/{page}.md" for page in ("analysing", "lake", "objects")),
    *(f"ledgerframes/plot/{module}.py" for module in ("activity", "coin", "key_figures", "reassignments", "supply")),
    "ledgerframes/models/network_activity.py",
}
#: What stands at the beginning of a call in a table.
ROOTS = {"lf": lf, "store": lf.types.Store}
#: A call that a table shows, such as `lf.plan(net, last="7d")`.
_CALL = re.compile(r"`(lf|store)\.(\w+)\(([^`()]*)\)`")


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def shown(paths):
    """Parameters of a test that runs what stands there."""
    return [
        pytest.param(path, id=name_of(path), marks=[pytest.mark.long] if name_of(path) in LONG else [])
        for path in paths
    ]


@pytest.mark.parametrize("page", shown(page for page in PAGES if python_blocks(page)))
def test_a_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path if page == README or page.is_relative_to(ROOT / "docs") else ROOT)
    for block, said in run(page, first=int(page == README)):  # a stranger runs that below
        assert lines(said) == lines(block.output), f"{name_of(page)}, line {block.line}"


def test_every_command_is_one():
    shell = typer.main.get_command(app)
    for words in sorted({tuple(words) for page in PAGES for words in commands(page) if not words[0].startswith("-")}):
        found, rest = shell, list(words)
        while hasattr(found, "commands"):
            _, found, rest = found.resolve_command(typer.Context(found), rest)

        assert found.make_context(" ".join(words), rest).command is found


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "howto"], ids=name_of)
def test_calls_in_tables_can_be_made(page):
    for whose, name, rest in _CALL.findall(page.read_text(encoding="utf-8")):
        call = ast.parse(f"{name}({rest.replace('…', '...')})", mode="eval").body
        given = [one for one in call.args if not (isinstance(one, ast.Constant) and one.value is ...)]
        known = inspect.signature(getattr(ROOTS[whose], name))
        # Three dots stand for whatever else there is to give.
        bound = known.bind if len(given) == len(call.args) else known.bind_partial
        bound(*(["self"] if whose == "store" else []), *given, **{one.arg: None for one in call.keywords})


def test_messages_that_are_explained_are_raised():
    page = (ROOT / "docs" / "howto" / "troubleshooting.md").read_text(encoding="utf-8").partition("## Frames")[0]
    messages = re.findall(r"^`(.*)`$", page, re.MULTILINE)
    sources = (file.read_text(encoding="utf-8") for file in (ROOT / "ledgerframes").rglob("*.py"))
    said = "\n".join(re.sub(r'"\s*\n\s*[rf]?"', "", source) for source in sources)  # a text may go over several lines

    assert messages
    assert [message for message in messages if message not in said] == []


def test_tests_that_are_named_exist():
    pages = [(ROOT / page).read_text("utf-8") for page in ("docs/no-row-is-lost.md", "SECURITY.md", "CONTRIBUTING.md")]
    tests = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", "\n".join(pages)))
    assert named - set(re.findall(r"^def (test_\w+)", tests, re.MULTILINE)) == set()


def test_files_and_classes_that_contributors_are_told_of_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    sources = [path for folder in ("ledgerframes", "tests", "docs", "data") for path in (ROOT / folder).rglob("*.*")]
    places = "\n".join(f"/{path.relative_to(ROOT).as_posix()}" for path in sources) + "\n"
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources if path.suffix in {".py", ".hpp"})

    files = set(re.findall(r"`([\w/-]+\.(?:py|pyi|sql|md|hpp|cpp))`", text)) - {"models/NAME.sql"}
    assert [file for file in files if f"/{file}\n" not in places] == []
    classes = set(re.findall(r"`([A-Z][a-z]\w*)", text))
    assert [name for name in classes if not re.search(rf"(class|struct) {name}\b", code)] == []


def test_every_public_function_and_chart_is_in_the_reference_of_its_module():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    rooms = re.split(r"^\.\. currentmodule:: (.*)$", text, flags=re.MULTILINE)
    told = {
        f"{room}.{name}"
        for room, part in zip(rooms[1::2], rooms[2::2], strict=True)
        for name in re.findall(r"autofunction:: (\w+)$", part, re.MULTILINE)
    }

    functions = {f"ledgerframes.{name}" for name in lf.__all__ if inspect.isroutine(getattr(lf, name))}
    assert told ^ (functions | {f"ledgerframes.plot.{name}" for name in lf.plot.__all__}) == set()
    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert [name for name in lf.plot.__all__ if f"lf.plot.{name}(" not in gallery] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files(page):
    named = re.findall(r"\]\((?!https?:)([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    assert [name for name in named if not (page.parent / name).exists()] == []


@pytest.mark.long
def test_the_site_is_built_without_a_warning(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", ROOT / "docs", tmp_path],
        check=False, capture_output=True, encoding="utf-8",
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    pages = (tmp_path / "reference").glob("command-line*.html")
    told = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert [name for name in typer.main.get_command(app).commands if f'id="ledgerframes-{name}"' not in told] == []
    assert {page.stem for page in (tmp_path / "dictionary").glob("*.html")} == set(CATALOGUE)
    assert {page.stem for page in (tmp_path / "numbers").glob("*.html")} == set(COMPUTED)


MODULES = sorted(path for path in (ROOT / "ledgerframes").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", shown(MODULES))
def test_an_example_in_a_docstring_is_true(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    failed, tried = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    plt.close("all")

    assert tried > 0
    assert failed == 0


def test_the_cheat_sheet_has_two_pages_and_the_stored_one_is_made_of_the_page_as_it_is(tmp_path):
    made = [sys.executable, ROOT / "docs" / "cheat_sheet.py", tmp_path / "sheet.pdf"]
    page = sha256((ROOT / "docs" / "cheat-sheet.md").read_bytes()).hexdigest().encode()

    assert subprocess.run(made, check=True, capture_output=True, encoding="utf-8").stdout == "2 pages\n"
    # The bytes of drawings differ by the versions of matplotlib and zlib.
    for sheet in (tmp_path / "sheet.pdf", ROOT / "docs" / "cheat-sheet.pdf"):
        assert page in sheet.read_bytes()


FRONT, EXAMPLES = README.read_text(encoding="utf-8"), python_blocks(README)


def test_the_first_example_of_the_readme_runs_as_a_stranger_would_run_it(tmp_path):
    command = [sys.executable, "-X", "utf8", "-W", "error", "-c", EXAMPLES[0].code]
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=300)
    assert (done.returncode, lines(done.stdout)) == (0, lines(EXAMPLES[0].output)), done.stderr


def test_the_targets_of_make_and_the_extras_that_the_readme_names_exist():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    assert set(re.findall(r"`?make ([a-z]+)\b(?:`|  )", FRONT)) <= targets
    assert set(re.findall(r'"\.\[(\w+)\]"', FRONT)) <= set(extras)


def test_the_chart_is_made_by_the_lines_that_stand_there():
    lines_of_chart = (ROOT / "docs" / "front.py").read_text(encoding="utf-8").partition("\n\n")[2]

    assert lines_of_chart in FRONT
    assert 10_000 < (ROOT / "docs" / "supply.png").stat().st_size < 200_000


def test_the_lines_for_a_real_network_are_those_that_run_offline():
    online = re.search(r"^```py\n(.*?)^```", FRONT, re.DOTALL | re.MULTILINE)

    assert online
    assert re.sub(r"lf\.connect\(.*?\)", "lf.sandbox()", online[1]) == EXAMPLES[0].code
