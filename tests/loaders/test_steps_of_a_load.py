"""How much of the package a reader has to know to follow a page of the history or a first sync: files, functions."""

import json
import subprocess
import sys

import pytest

import ledgerframes as lf

#: Runs in a program of its own, so that every thread is profiled from its start. Comprehensions and lambdas are not
#: counted: whether they are functions depends on Python's version.
PROGRAM = """
import json, sys, tempfile, threading
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
        CALL  # imports what it needs
    with lf.connect(scan_url=box.sandbox.scan_url) as net:
        sys.setprofile(profile)
        on.append(True)
        CALL
        on.clear()
        sys.setprofile(None)
        requests = net.stats.requests
print(json.dumps({"requests": requests, "functions": len(entered), "files": len({file for file, _ in entered})}))
"""


@pytest.mark.skipif(lf.versions()["decoder"] != "compiled", reason="the Python path has more functions")
@pytest.mark.parametrize(
    ("call", "requests", "files", "functions"),
    [
        ("lf.load_history(net, limit=10)", 1, 26, 125),
        ("lf.open_store(tempfile.mkdtemp()).sync(net, progress=False)", 10, 47, 384),
    ],
    ids=["page", "sync"],
)
def test_few_doors_are_passed_by_a(call, requests, files, functions):
    program = PROGRAM.replace("CALL", call)
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    counted = json.loads(done.stdout)
    assert counted["requests"] == requests
    assert counted["files"] <= files
    assert counted["functions"] <= functions
