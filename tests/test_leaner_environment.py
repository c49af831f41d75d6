"""An environment from which the largest libraries were taken out: what needs them says so, and the rest works."""

import subprocess
import sys
import textwrap

WITHOUT = """
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
"""


def run(code, folder):
    program = WITHOUT + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, encoding="utf-8", cwd=folder, timeout=300
    )


def test_loading_computing_and_exporting_need_neither_lake_nor_pictures(tmp_path):
    done = run(
        """
        import ledgerframes as lf
        with lf.sandbox(updates=60) as net:
            history = lf.load_history(net, progress=False)
        lf.rewards(history), lf.reassignment_flows(history.reassignments)
        print(lf.export(dict(events=history.events), "out").rows == len(history.events))
        """,
        tmp_path,
    )

    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_a_lake_and_a_picture_say_what_to_install(tmp_path):
    done = run(
        """
        import ledgerframes as lf, pandas as pd
        for needs in (lambda: lf.open_store("lake"), lambda: lf.plot.updates(pd.DataFrame())):
            try:
                needs()
            except lf.errors.ConfigurationError as error:
                print(error)
        """,
        tmp_path,
    )

    assert done.stdout.splitlines() == [
        "a lake needs deltalake; install it with: pip install 'ledgerframes[lake]'",
        "charts need matplotlib, which is not installed; run: pip install matplotlib",
    ], done.stderr


def test_a_command_on_a_lake_says_what_to_install(tmp_path):
    (tmp_path / "lake" / "updates").mkdir(parents=True)
    done = run(
        """
        sys.argv = ["ledgerframes", "sql", "lake", "select 1"]
        from ledgerframes.cli import main
        main()
        """,
        tmp_path,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: a lake needs deltalake; install it with: pip install 'ledgerframes[lake]'\n"
