"""An environment from which the largest libraries were taken out: what needs them says so, and the rest works."""

import subprocess
import sys

PROGRAM = """
import sys
from importlib.abc import MetaPathFinder

GONE = {"deltalake", "arro3", "matplotlib", "fontTools", "PIL", "kiwisolver", "contourpy", "plotly"}

class Gone(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in GONE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

import importlib.util
there = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in GONE else there(name, package)
sys.meta_path.insert(0, Gone())

import ledgerframes as lf, pandas as pd
with lf.sandbox(updates=60) as net:
    history = lf.load_history(net, progress=False)
lf.supply(history), lf.reassignment_flows(history.reassignments)
print(lf.export(dict(events=history.events), "out").rows == len(history.events))
zoomed = lambda: lf.report(history, "r.html", sections=["provenance"], interactive=True)
for needs in (lambda: lf.open_store("lake"), lambda: lf.plot.updates(pd.DataFrame()), zoomed):
    try:
        needs()
    except lf.errors.ConfigurationError as error:
        print(error)

import pathlib
pathlib.Path("lake/updates").mkdir(parents=True)
sys.argv = ["ledgerframes", "sql", "lake", "select 1"]
from ledgerframes.cli import main
main()
"""
LAKE = "a lake needs deltalake; install it with: pip install 'ledgerframes[lake]'\n"
CHARTS = "charts need matplotlib, which is not installed; run: pip install matplotlib\n"
ZOOMED = "interactive charts need plotly; install it with: pip install 'ledgerframes[interactive]'\n"


def test_loads_and_exports_need_neither_lake_nor_charts_and_those_say_what_to_install(tmp_path):
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", cwd=tmp_path, timeout=300)

    assert (done.stdout, done.stderr) == (f"True\n{LAKE}{CHARTS}{ZOOMED}", f"error: {LAKE}")
    assert done.returncode == 2
