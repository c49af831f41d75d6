"""The pictures of the gallery, by the lines that stand there: each goes into the file that follows its block."""

import re
from pathlib import Path

import matplotlib.pyplot as plt

import ledgerframes as lf

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n(?:!\[.*?\]\((.*?)\))?", re.DOTALL | re.MULTILINE)

names: dict[str, object] = {}
with lf.style("light"):
    for code, picture in BLOCK.findall((HERE / "gallery.md").read_text(encoding="utf-8")):
        exec(code, names)  # noqa: S102 -- our own page
        if picture:
            plt.gcf().savefig(HERE / picture, dpi=100, facecolor=plt.gcf().get_facecolor())
            plt.close("all")
