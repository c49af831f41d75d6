"""What the documents show is what a reader gets: blocks print what stands below, commands parse, links lead on."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from functools import reduce
from hashlib import sha256

import matplotlib.pyplot as plt
import pytest
import typer

import ledgerframes as lf
from ledgerframes.cli import app
from ledgerframes.tables.catalogue import CATALOGUE
from ledgerframes.tables.derived import COMPUTED
from tests.documents import PAGES, ROOT, commands, lines, python_blocks, run, run_alone

#: Pages whose examples take over four seconds, or that show in many seconds what other tests have shown.
LONG = {"docs/cheat-sheet.md", "docs/gallery.md", "docs/howto/analysing.md", "docs/howto/objects.md"}
#: What stands at the beginning of a call in an example.
ROOTS = {"lf": lf, "store": lf.types.Store, "net": lf.types.Network}
#: A call that a table shows, such as `lf.plan(net, last="7d")`.
_CALL = re.compile(r"`(lf|store)\.(\w+)\(([^`()]*)\)`")
COMMANDS = sorted({tuple(words) for page in PAGES for words in commands(page) if not words[0].startswith("-")})


def name_of(page):
    return page.relative_to(ROOT).as_posix()


SHOWN = [
    pytest.param(page, id=name_of(page), marks=[pytest.mark.long] if name_of(page) in LONG else [])
    for page in PAGES
    if python_blocks(page) and page != ROOT / "README.md"  # which is run as a stranger would
]


@pytest.mark.parametrize("page", SHOWN)
def test_a_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.chdir(tmp_path if page.is_relative_to(ROOT / "docs") else ROOT)
    for block, said in run(page):
        assert lines(said) == lines(block.output), f"{name_of(page)}, line {block.line}"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_one(words):
    found, rest = typer.main.get_command(app), list(words)
    while hasattr(found, "commands"):
        _, found, rest = found.resolve_command(typer.Context(found), rest)

    assert found.make_context(words[0], rest).command is found


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "howto"], ids=name_of)
def test_calls_in_tables_can_be_made(page):
    for whose, name, rest in _CALL.findall(page.read_text(encoding="utf-8")):
        bind(ast.parse(f"{whose}.{name}({rest.replace('…', '...')})", mode="eval").body)


def bind(call):
    """Whether a call is of ours; raises TypeError if what it calls does not take its arguments."""
    root, *rest = names_of(call.func) or [""]
    # What an interface of a network takes, `net.scan.updates(…)`, is not looked up.
    if root not in ROOTS or len(rest) != 1 + (rest[:1] == ["plot"]):
        return False
    function = reduce(getattr, rest, ROOTS[root])
    positional = [*(["self"] if isinstance(ROOTS[root], type) else []), *call.args]
    known = inspect.signature(function)
    named = {one.arg: None for one in call.keywords if one.arg}
    # Three dots stand for whatever else there is to give, and so may `**options`.
    some = any(map(_is_dots, call.args)) or len(named) < len(call.keywords)
    (known.bind_partial if some else known.bind)(*(one for one in positional if not _is_dots(one)), **named)
    return True


def names_of(node):
    """The names of `a.b.c`; none of what is no such chain."""
    if isinstance(node, ast.Attribute):
        before = names_of(node.value)
        return [*before, node.attr] if before else []
    return [node.id] if isinstance(node, ast.Name) else []


def _is_dots(node):
    return isinstance(node, ast.Constant) and node.value is ...


def test_messages_that_are_explained_are_raised():
    page = (ROOT / "docs" / "howto" / "troubleshooting.md").read_text(encoding="utf-8").partition("## Frames")[0]
    messages = re.findall(r"^`(.*)`$", page, re.MULTILINE)
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in (ROOT / "ledgerframes").rglob("*.py"))
    texts = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    said = "\n".join(text for text in texts if isinstance(text, str))

    assert messages
    assert [message for message in messages if message not in said] == []


@pytest.mark.parametrize("page", ["docs/no-row-is-lost.md", "SECURITY.md", "CONTRIBUTING.md"])
def test_tests_that_are_named_exist(page):
    named = set(re.findall(r"`(test_\w+)`", (ROOT / page).read_text(encoding="utf-8")))
    tests = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert named - set(re.findall(r"^def (test_\w+)", tests, re.MULTILINE)) == set()


def test_every_public_name_is_in_the_reference():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "reference").glob("*.md"))
    told = set(re.findall(r"auto(?:function|class|exception|module):: (?:ledgerframes\.)?(\w+)", text))

    assert set(lf.__all__) - told == set()
    rooms = re.split(r"^\.\. currentmodule:: (.*)$", text, flags=re.MULTILINE)
    own = "\n".join(told for room, told in zip(rooms[1::2], rooms[2::2], strict=True) if room == "ledgerframes")
    assert set(re.findall(r"autofunction:: (\w+)$", own, re.MULTILINE)) - set(lf.__all__) == set()


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


@pytest.mark.parametrize("path", MODULES, ids=name_of)
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


README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = python_blocks(ROOT / "README.md")


@pytest.mark.parametrize("block", EXAMPLES, ids=[f"block {n}" for n in range(1, len(EXAMPLES) + 1)])
def test_an_example_prints_what_the_readme_says(tmp_path, block):
    assert lines(run_alone(block, tmp_path)) == lines(block.output)


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    assert set(re.findall(r"`?make ([a-z]+)\b(?:`|  )", README)) <= targets


def test_the_extras_that_are_named_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    assert set(re.findall(r'"\.\[(\w+)\]"', README)) <= set(extras)


def test_the_chart_is_made_by_the_lines_that_stand_there():
    lines_of_chart = (ROOT / "docs" / "front.py").read_text(encoding="utf-8").partition("\n\n")[2]

    assert lines_of_chart in README
    assert 10_000 < (ROOT / "docs" / "supply.png").stat().st_size < 200_000


def test_the_lines_for_a_real_network_are_those_that_run_offline():
    online = re.search(r"^```py\n(.*?)^```", README, re.DOTALL | re.MULTILINE)

    assert online
    assert re.sub(r"lf\.connect\(.*?\)", "lf.sandbox()", online[1]) == EXAMPLES[0].code
