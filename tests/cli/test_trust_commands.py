"""Checks from a shell: 0 where all is well, 1 where it is not."""

import json

import pytest

import ledgerframes as lf


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
