"""The charts of the gallery, by the lines that stand there: each goes into the files that follow its block."""

import re
from pathlib import Path

import matplotlib.pyplot as plt

import ledgerframes as lf

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n((?:!\[[^\n]*\n)*)", re.DOTALL | re.MULTILINE)

names: dict[str, object] = {}
for code, charts in BLOCK.findall((HERE / "gallery.md").read_text(encoding="utf-8")):
    for place in re.findall(r"\((gallery/[^)]*)\)", charts) or [""]:
        with lf.plot.style("dark" if "-dark" in place else "light"):
            exec(code, names)  # noqa: S102 -- our own page
            if place:
                plt.gcf().savefig(HERE / place, dpi=100, facecolor=plt.gcf().get_facecolor())
                plt.close("all")
