"""docs/bi.md has a section for every program that it lists; that its code runs is tested with the other pages."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "bi.md").read_text(encoding="utf-8")


def test_every_program_that_is_listed_has_its_section():
    listed = re.findall(r"^\| ([A-Z][\w ]+|pandas) \|", PAGE, re.MULTILINE)

    assert len(listed) == 7
    assert [name for name in listed if f"\n## {name}\n" not in PAGE] == []
