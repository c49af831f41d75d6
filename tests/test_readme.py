"""What the README shows is what a reader gets: its Python blocks run, and print what stands below them."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from tests.documents import ROOT, lines, python_blocks

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = [(block.code, block.output) for block in python_blocks(ROOT / "README.md")]


@pytest.mark.parametrize(("code", "output"), EXAMPLES, ids=[f"block {n}" for n in range(1, len(EXAMPLES) + 1)])
def test_an_example_prints_what_the_readme_says(tmp_path, code, output):
    (tmp_path / "example.py").write_text(code, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error", "example.py"],
        check=False, capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert lines(done.stdout) == lines(output)


def test_there_is_an_example_with_its_output():
    assert len(EXAMPLES) >= 1
    assert all(output for _, output in EXAMPLES)


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
    assert re.sub(r"lf\.connect\(.*?\)", "lf.sandbox()", online[1]) == EXAMPLES[0][0]
