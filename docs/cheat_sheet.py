"""The cheat sheet as a PDF of two pages: headings and code of `cheat-sheet.md`; `make docs` runs it."""

import re
import sys
from hashlib import sha256
from pathlib import Path

import matplotlib as mpl
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

PAGE = Path(__file__).with_name("cheat-sheet.md")
SIZE = (8.27, 11.69)  # A4, in inches
POINTS = 9.0
WIDEST = 96  # characters of a line
LINE = POINTS * 1.35 / 72 / SIZE[1]  # of the page's height
LEFT, TOP, BOTTOM = 0.06, 0.92, 0.04
SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"^```(?:python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)

Section = tuple[str, list[str]]


def pages() -> list[list[Section]]:
    """The sections, each whole, on as many pages as they take."""
    filled: list[list[Section]] = [[]]
    room = (TOP - BOTTOM) / LINE
    for title, text in SECTION.findall(PAGE.read_text(encoding="utf-8")):
        code = "".join(CODE.findall(text)).splitlines()
        if wide := [line for line in code if len(line) > WIDEST]:
            raise SystemExit(f"{PAGE.name}: lines of over {WIDEST} characters: {wide}")
        if sum(len(lines) + 3 for _, lines in filled[-1]) + len(code) + 2 > room:
            filled.append([])
        filled[-1].append((title, code))
    return filled


def draw(figure: Figure, sections: list[Section]) -> None:
    """Write sections below one another."""
    y = TOP
    for title, code in sections:
        figure.text(LEFT, y, title, fontsize=POINTS + 2, fontweight="bold", color="#0b5394")
        for number, line in enumerate(code, 2):
            color = "#666666" if line.startswith("#") else "black"
            place = (LEFT, y - number * LINE)
            figure.text(*place, line, fontsize=POINTS, family="monospace", parse_math=False, color=color)
        y -= (len(code) + 3) * LINE


def main(target: Path) -> int:
    """Write the PDF; returns how many pages it has. Its subject says which page it was made of."""
    filled = pages()
    named = {"CreationDate": None, "Subject": sha256(PAGE.read_bytes()).hexdigest()}
    with mpl.rc_context({"pdf.fonttype": 42}), PdfPages(target, metadata=named) as pdf:
        for number, sections in enumerate(filled, 1):
            figure = Figure(figsize=SIZE)
            figure.text(LEFT, 0.96, f"ledgerframes: cheat sheet ({number} of {len(filled)})", fontsize=14)
            draw(figure, sections)
            pdf.savefig(figure)
    return len(filled)


if __name__ == "__main__":
    sys.stdout.write(f"{main(Path(sys.argv[1]) if sys.argv[1:] else PAGE.with_suffix('.pdf'))} pages\n")
