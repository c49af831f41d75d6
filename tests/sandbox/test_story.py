"""A user without our client tells one story over all twenty endpoints."""

import os
import re
import subprocess
import sys
from pathlib import Path

from ledgerframes.interfaces.catalogue import CALLS
from ledgerframes.sandbox.server import start

STORY = Path(__file__).with_name("story.py")


def test_urllib_alone_drives_every_endpoint():
    with start(updates=600, live="200/s") as sandbox:
        tokens = {"ADMIN_TOKEN": sandbox.token("validator_operator"), "TELLER_TOKEN": sandbox.token("storyteller")}
        urls = [sandbox.ledger_url, sandbox.scan_url, sandbox.validator_url, sandbox.registry_url]
        told = subprocess.run(
            [sys.executable, str(STORY), *urls], check=False, capture_output=True, text=True, timeout=120,
            env={**os.environ, **tokens},
        )  # fmt: skip
        assert told.returncode == 0, told.stderr
        assert "got 1000 more" in told.stdout
        arrived = set(sandbox.requests)
    for call in CALLS:
        method, _, path = call.endpoint.partition(" ") if isinstance(call.endpoint, str) else (
            call.endpoint.method, "", call.endpoint.path
        )  # fmt: skip
        pattern = re.compile(f"{method} .*" + re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + "$")
        assert any(pattern.match(one) for one in arrived), f"{method} {path} was not asked"


def test_the_story_needs_nothing_but_the_standard_library():
    imported = re.findall(r"^(?:import|from) (\w+)", STORY.read_text(), re.MULTILINE)
    assert set(imported) <= {"io", "json", "os", "sys", "urllib", "zipfile"}
