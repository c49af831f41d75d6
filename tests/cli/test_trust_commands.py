"""Checks from a shell: 0 where all is well, 1 where it is not."""

import json

import pytest

import ledgerframes as lf
from tests.transport.hostile_server import HostileServer, answer


@pytest.fixture
def lake(tmp_path, scan):
    lf.open_store(tmp_path / "lake").sync(lf.connect(scan_url=scan))
    return tmp_path / "lake"


@pytest.mark.long
def test_a_sound_lake_passes_every_check(command, lake, scan):
    assert "is sound" in command("check", lake).out
    assert json.loads(command("check", lake, "--json").out)["sound"] is True
    assert "agree" in command("verify", lake, "--scan-url", scan).out
    whole = json.loads(command("verify", lake, "--sample", 0, "--scan-url", scan, "--json").out)
    assert (whole["compared"], whole["agree"]) == (300, True)


def test_a_harmed_lake_fails(command, lake):
    next((lake / "events").rglob("*.parquet")).unlink()
    done = command("check", lake)
    assert done.code == 1
    assert "gone" in done.out


def test_two_scans_are_compared(command, scan):
    with lf.sandbox(seed=7, updates=300) as same, lf.sandbox(seed=8, updates=300) as other:
        assert command("cross-check", "--scan-url", scan, "--against", same.sandbox.scan_url).code == 0
        done = command("cross-check", "--scan-url", scan, "--against", other.sandbox.scan_url, "--json")
    assert done.code == 1
    assert json.loads(done.out)["agree"] is False


def test_the_other_scan_gets_only_what_was_given_for_it(command, monkeypatch):
    empty = answer({"transactions": []})
    monkeypatch.setenv("LEDGERFRAMES_SCAN_TOKEN", "token-of-a")
    monkeypatch.setenv("TOKEN_OF_B", "token-of-b")
    with HostileServer([empty]) as a, HostileServer([empty]) as b:
        assert command("cross-check", "--scan-url", a.url, "--against", b.url).code == 1  # there is nothing to compare
        assert {heard.headers.get("authorization") for heard in a.heard} == {"Bearer token-of-a"}
        assert {heard.headers.get("authorization") for heard in b.heard} == {None}

        b.heard.clear()
        command("profile", "add", "b", "--scan-url", b.url, "--set", "scan_token_env=TOKEN_OF_B")
        assert command("cross-check", "--scan-url", a.url, "--against", "b").code == 1
        assert {heard.headers.get("authorization") for heard in b.heard} == {"Bearer token-of-b"}
