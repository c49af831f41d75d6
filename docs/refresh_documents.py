"""`make pages`: runs the pages' Python blocks and writes what they print beneath them; the difference is to be read.

The tests hold the same text against the same blocks, so this is for a change of the output that is meant.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

from tests.documents import PAGES, README, ROOT, lines, python_blocks, run

_LINES = r"((?:(?!```).*\n)*)"
_BLOCK = re.compile(rf"(^```python\n{_LINES}```\n\n```text\n){_LINES}(```)", re.MULTILINE)


def refresh(page: Path) -> bool:
    """Write the outputs of one page; tells whether it changed."""
    outputs = {block.code: said for block, said in run(page)}
    text = page.read_text(encoding="utf-8")
    new = _BLOCK.sub(lambda part: part[1] + "\n".join(lines(outputs[part[2]])) + "\n" + part[4], text)
    page.write_text(new, encoding="utf-8")
    return new != text


def main() -> None:
    """Refresh the pages named, or all."""
    os.environ["MPLBACKEND"] = "agg"
    named = [Path(name).resolve() for name in sys.argv[1:]]
    for page in named or [page for page in PAGES if python_blocks(page)]:
        place = tempfile.mkdtemp() if page.is_relative_to(ROOT / "docs") or page == README else str(ROOT)
        os.chdir(place)
        print(f"{page.relative_to(ROOT)}: {'changed' if refresh(page) else 'the same'}", flush=True)


if __name__ == "__main__":
    main()
