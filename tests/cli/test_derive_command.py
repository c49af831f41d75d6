"""Computed tables of a lake from a shell: `derive`, and `sync --derive`."""

import json

import pytest

import ledgerframes as lf


@pytest.fixture
def own(command, scan, tmp_path):
    """A lake of one test."""
    place = tmp_path / "lake"
    assert command("sync", place, "--scan-url", scan).code == 0
    return place


def test_derive_computes_the_named_tables_and_says_how_many_rows(command, own):
    done = command("derive", own, "rewards,mint_burn", "--json")
    found = json.loads(done.out)

    assert done.code == 0
    store = lf.open_store(own)
    # Rewards are computed with the rounds. Rows of both change later, and are written again then.
    assert list(found["rows"]) == list(found["written"]) == ["round_history", "rewards", "mint_burn"]
    assert found["rows"] == {name: len(store.load(name)) for name in found["rows"]}
    assert found["written"]["mint_burn"] == found["rows"]["mint_burn"] > 0
    assert found["written"]["rewards"] >= found["rows"]["rewards"] > 0
    assert "nothing new" in command("derive", own, "rewards").out


def test_derive_without_names_brings_up_to_date_what_the_lake_has(command, own):
    assert json.loads(command("derive", own, "--json").out)["rows"] == {}
    command("derive", own, "mint_burn")

    again = json.loads(command("derive", own, "--json").out)

    assert again["written"] == {"mint_burn": 0}
    assert again["rows"]["mint_burn"] > 0
    assert again["commits"] == 0


def test_sync_derives_what_it_is_told_and_later_what_is_there(command, tmp_path):
    with lf.sandbox(updates=120, migrations=1) as net:
        url, place = net.sandbox.scan_url, tmp_path / "lake"
        command("sync", place, "--scan-url", url, "--derive", "mint_burn,coin_history")
        before = len(lf.open_store(place).load("mint_burn"))
        net.sandbox.advance(updates=150)
        command("sync", place, "--scan-url", url, "--derive", "")
        kept = len(lf.open_store(place).load("mint_burn"))
        command("sync", place, "--scan-url", url)
        after = len(lf.open_store(place).load("mint_burn"))

    assert before == kept < after
    assert before > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["derive", "nowhere", "rewards"], "is not a lake yet"),
        (["derive", "LAKE", "reward"], "did you mean 'rewards'"),
        (["derive", "LAKE", "supply"], "lf.supply(store)"),
        (["sync", "LAKE", "--derive", "supply", "--scan-url", "http://127.0.0.1:1"], "lf.supply(store)"),
    ],
    ids=["no lake", "a misspelling", "a table that is not kept", "a sync's"],
)
def test_a_wrong_derive_is_told_in_one_line(command, lake, arguments, message):
    done = command(*(lake if one == "LAKE" else one for one in arguments))

    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_a_lake_that_keeps_no_computed_table_says_which_there_are(command, lake):
    done = command("derive", lake)

    assert done.code == 0
    assert "it keeps no computed table; name some of round_history, rewards" in done.out
