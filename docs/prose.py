"""Words that read as translated, looked for in docstrings, messages, help, SQL comments and pages; `make lint` runs it.

`python -m docs.prose [FILE …]` prints each place with a better word, and ends with 1 if there is one.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.documents import PAGES, ROOT

#: Each a pattern, and what a native engineer says.
BETTER = {
    r"mend(s|ed|ing)?": "fix",
    r"anew": "again",
    r"made-up": "simulated",
    r"(?<![</])pictures?": "chart, plot or image",  # <picture> is HTML's
    r"(takes|taken) out": "removes, removed",
    r"taken? apart": "split, or parse",
    r"told apart": "distinguished",
    r"had again": "recovered",
    r"in vain": "for nothing, or useless",
    r"for ever": "forever",
    r"went on|goes on (after|when|with)": "continued, continues",
    r"(is|are) there already": "already exists",
    r"takes the right": "requires the right",
    r"for want of": "without, or set … to",
    r"of late": "recently",
    r"beside": "next to, or in addition to",
    r"(hold|held) against each other": "compare",
    r"(answers?|bytes|requests|rows) a (second|server|table)": "… per …",
    r"belongs? into": "belongs in",
}
#: No docstring of the package begins so.
FIRST_WORDS = re.compile(r"\s*(What|Gives)\b")
FENCED = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The prose of a file, each piece with the line where it begins."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = [node for node in ast.walk(ast.parse(content)) if isinstance(node, ast.Constant)]
        yield from ((node.lineno, node.value) for node in nodes if isinstance(node.value, str) and " " in node.value)
    else:
        yield 1, re.sub(r"^(?!\s*--).*$", "", content, flags=re.MULTILINE) if path.suffix == ".sql" else content


def first_words(path: Path) -> Iterator[tuple[int, str]]:
    """The first word of each docstring that names no thing and no act."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found = FIRST_WORDS.match(ast.get_docstring(node) or "")
            if found is not None:
                yield node.body[0].lineno, found[1]


def main(files: list[str]) -> int:
    """Print what was found in the package and the pages, or in the files that are named."""
    package = [path for kind in ("py", "sql") for path in sorted((ROOT / "ledgerframes").rglob(f"*.{kind}"))]
    places = 0
    for path in map(Path, files) if files else [*package, *PAGES, *sorted(ROOT.glob("*.md"))]:
        for line, word in first_words(path) if path.suffix == ".py" else ():
            places += 1
            print(f'{path}:{line}: a docstring begins with "{word}": name the thing, or say what is done with a verb')
        for begin, text in texts(path):
            prose = FENCED.sub(lambda code: "\n" * code[0].count("\n"), text)
            for pattern, better in BETTER.items():
                for found in re.finditer(rf"\b({pattern})\b".replace(" ", r"\s+"), prose, re.IGNORECASE):
                    places += 1
                    line, words = begin + prose.count("\n", 0, found.start()), " ".join(found[0].split())
                    print(f'{path}:{line}: "{words}": say {better}')
    return min(places, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
