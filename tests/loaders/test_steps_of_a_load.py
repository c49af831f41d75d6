"""How much of the package a reader has to know to follow one page of the history: files, functions, requests."""

import json
import subprocess
import sys

import pytest

import ledgerframes as lf

#: Runs in a program of its own, so that every thread is profiled from its start. Comprehensions and lambdas are not
#: counted: whether they are functions depends on Python's version.
PROGRAM = """
import json, sys, threading
entered, on = set(), []

def profile(frame, event, _):
    code = frame.f_code
    named = event == "call" and not code.co_name.startswith("<")
    if on and named and code.co_filename.startswith(package) and not code.co_filename.startswith(sandbox):
        entered.add((code.co_filename, code.co_qualname))

threading.setprofile(profile)
import ledgerframes as lf
package = lf.__file__.removesuffix("__init__.py")
sandbox = package + "sandbox"
with lf.sandbox(updates=200) as box:
    with lf.connect(scan_url=box.sandbox.scan_url) as net:
        lf.load_history(net, limit=10)  # imports what it needs
    with lf.connect(scan_url=box.sandbox.scan_url) as net:
        sys.setprofile(profile)
        on.append(True)
        lf.load_history(net, limit=10)
        on.clear()
        sys.setprofile(None)
        requests = net.stats.requests
print(json.dumps({"requests": requests, "functions": len(entered), "files": len({file for file, _ in entered})}))
"""


@pytest.mark.skipif(lf.versions()["decoder"] != "compiled", reason="the Python path has more functions")
def test_a_page_passes_few_doors():
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    counted = json.loads(done.stdout)
    assert counted["requests"] == 1
    assert counted["files"] <= 28
    assert counted["functions"] <= 130
