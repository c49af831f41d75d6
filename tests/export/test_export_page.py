"""What docs/bi.md shows is what a reader gets: its Python blocks run one after another and print what stands below."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "bi.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)


def test_the_page_s_blocks_print_what_it_says(tmp_path):
    (tmp_path / "page.py").write_text("\n".join(code for code, _ in BLOCKS), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error", "page.py"],
        check=False, capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert done.stdout == "".join(output for _, output in BLOCKS)


def test_every_program_that_is_listed_has_its_section():
    listed = re.findall(r"^\| ([A-Z][\w ]+|pandas) \|", PAGE, re.MULTILINE)

    assert len(listed) == 7
    assert [name for name in listed if f"\n## {name}\n" not in PAGE] == []
