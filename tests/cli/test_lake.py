"""A lake from a shell: brought up to date, asked, followed to a clean end, with computed tables, and checked."""

import json
import os
import shutil
import signal
import subprocess

import pytest

import ledgerframes as lf
from tests.store.test_rejects import places_of, spoil_coin
from tests.transport.hostile_server import HostileServer, answer


def test_sync_says_what_it_did_does_nothing_twice_and_takes_a_range_and_snapshots(command, tmp_path, scan, small):
    first = command("sync", tmp_path / "lake", "--scan-url", scan)
    assert (first.code, "300 updates" in first.out) == (0, True)
    again = json.loads(command("sync", tmp_path / "lake", "--scan-url", scan, "--json").out)
    assert again["rows"]["updates"] == 0
    assert again["requests"] == 4  # one per open migration, and one because this process knows no page size yet
    done = command(
        "sync", tmp_path / "part", "--tables", "updates,instruments", "--end", "1@0001-01-01", "--workers", 1,
        "--scan-url", scan, "--registry-url", small.sandbox.registry_url, "--json",
    )  # fmt: skip
    rows = json.loads(done.out)["rows"]
    assert rows["instruments"] == 1
    assert 0 < rows["updates"] < 300


@pytest.mark.filterwarnings("always::ledgerframes.errors.IncompleteFiguresWarning")
def test_a_reward_that_no_table_knows_is_named_by_sync_and_report(command, tmp_path):
    with lf.sandbox(updates=100, migrations=1) as net:
        updates, known = net.sandbox.world.updates, b"Splice.Amulet:SvRewardCoupon"
        place = places_of(net.sandbox.world, known)[0]
        updates[place] = updates[place]._replace(rendered=updates[place].rendered.replace(known, known + b"V3"))
        synced = command("sync", tmp_path / "lake", "--scan-url", net.sandbox.scan_url)
    reported = command("report", tmp_path / "lake", "-o", tmp_path / "page.html", "--sections", "rewards")

    for said in (synced.err, reported.err):
        assert "warning:" in said
        assert "does not know Splice.Amulet:SvRewardCouponV3" in said.replace("\n", " ")
    assert "not read by this version" in (page := (tmp_path / "page.html").read_text())
    assert "Splice.Amulet:SvRewardCouponV3" in page


def test_what_a_lake_knows_of_itself_and_sql_answer_on_standard_output_and_into_files(command, lake, tmp_path):
    query = "select count(*) as n, sum(1.10::decimal(38, 10)) as total from updates"
    assert "300" in command("sql", lake, query).out
    assert json.loads(command("sql", lake, query, "--json").out) == [{"n": 300, "total": "330.0000000000"}]
    for name in ("coverage", "syncs"):
        assert command(name, lake).code == 0
        assert len(json.loads(command(name, lake, "--json").out)) >= 1
    first = lf.open_store(lake).load("updates").record_time.min().isoformat().replace("+00:00", "Z")
    said = "select min(record_time) as first, 'nan'::double as a, 'inf'::double as b, 0.5::double as c from updates"
    rows = json.loads(command("sql", lake, said, "--json").out, parse_constant=pytest.fail)
    assert rows == [{"first": first, "a": None, "b": None, "c": 0.5}]
    command("sql", lake, query, "-o", tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text().splitlines()[1].startswith("300,")
    named = "select count(*), max(record_time) is null, sum(1.5 * 2) from updates"
    assert command("sql", lake, named, "--csv").out.splitlines() == [
        "count_star,max_record_time_IS_NULL,sum_1_5_2", "300,false,900.0"
    ]  # fmt: skip
    assert command("sql", lake, named, "-o", tmp_path / "found.parquet").code == 0
    ended = command("sql", lake, "select 1 as a, 2 as a", "--json")
    assert (ended.code, ended.out, "two columns are called 'a'" in ended.err) == (2, "", True)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_follow_ends_cleanly_when_told(program, surroundings, tmp_path, told):
    with lf.sandbox(updates=50) as net:
        arguments = ["sync", "lake", "--follow", "--every", "100ms", "--json", "--scan-url", net.sandbox.scan_url]
        running = subprocess.Popen(
            [*program, *arguments], cwd=tmp_path, env=surroundings, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert json.loads(running.stdout.readline())["rows"]["updates"] == 50
        net.sandbox.advance(updates=7)
        while json.loads(running.stdout.readline())["rows"]["updates"] != 7:
            pass
        os.kill(running.pid, told)
        _, err = running.communicate(timeout=300)
    assert running.returncode == 0, err
    assert err.endswith("ended\n")
    assert len(lf.open_store(tmp_path / "lake").load("updates")) == 57


@pytest.mark.long
def test_a_lake_is_exported_as_a_star(command, lake, tmp_path):
    done = command("export", lake, tmp_path / "out", "--model", "star", "--for", "bi")
    assert done.code == 0
    assert "dim_party" in done.out
    assert json.loads((tmp_path / "out" / "model.json").read_text())["model"] == "star"


@pytest.fixture
def own(lake, tmp_path):
    """A lake of one test."""
    return shutil.copytree(lake, tmp_path / "lake")


def test_a_computed_table_says_what_is_not_in_it(command, tmp_path):
    with lf.sandbox(updates=60) as net:
        spoil_coin(net.sandbox.world, "1" + "0" * 29)
        lf.open_store(tmp_path / "lake").sync(net, progress=False)

    unknown = "1 time a template, choice or member is not read by this version and left out of these figures"
    said = f"{unknown}: Splice.Amulet:Amulet: amount.initialAmount.\n"
    assert command("supply", "lake").err == said
    assert command("mint_burn", "lake", "--start", "begin").err == said


def test_derive_computes_the_named_tables_and_without_names_those_that_the_lake_has(command, own):
    assert "it keeps no computed table; name some of round_history, rewards" in command("derive", own).out
    assert json.loads(command("derive", own, "--json").out)["rows"] == {}
    done = command("derive", own, "transfers,mint_burn", "--json")
    found = json.loads(done.out)

    assert done.code == 0
    store = lf.open_store(own)
    assert list(found["rows"]) == list(found["written"]) == ["transfers", "mint_burn"]
    assert found["rows"] == {name: len(store.load(name)) for name in found["rows"]}
    assert found["written"] == found["rows"]
    assert min(found["rows"].values()) > 0
    assert "nothing new" in command("derive", own, "transfers").out
    again = json.loads(command("derive", own, "--json").out)
    assert (again["written"], again["commits"]) == (dict.fromkeys(found["written"], 0), 0)
    assert again["rows"] == found["rows"]


def test_sync_derives_what_it_is_told_and_later_what_is_there(command, tmp_path):
    place, kept = tmp_path / "lake", []
    with lf.sandbox(updates=120, migrations=1) as net:
        for derive in (["--derive", "mint_burn,coin_history"], ["--derive", ""], []):
            command("sync", place, "--scan-url", net.sandbox.scan_url, *derive)
            kept.append(len(lf.open_store(place).load("mint_burn")))
            net.sandbox.advance(updates=75)

    assert 0 < kept[0] == kept[1] < kept[2]


def test_a_sound_lake_passes_every_check_and_a_harmed_one_fails(command, own, scan):
    assert "is sound" in command("check", own).out
    assert json.loads(command("check", own, "--json").out)["sound"] is True
    assert "agree" in command("verify", own, "--scan-url", scan).out
    whole = json.loads(command("verify", own, "--sample", 0, "--scan-url", scan, "--json").out)
    assert (whole["compared"], whole["agree"]) == (300, True)

    next((own / "events").rglob("*.parquet")).unlink()
    done = command("check", own)
    assert (done.code, "gone" in done.out) == (1, True)
    assert "run ledgerframes repair LAKE, then sync" in done.out


def test_two_scans_are_compared_and_the_other_one_gets_only_what_was_given_for_it(command, scan, monkeypatch):
    with lf.sandbox(seed=7, updates=300) as same, lf.sandbox(seed=8, updates=300) as other:
        assert command("cross-check", "--scan-url", scan, "--against", same.sandbox.scan_url).code == 0
        done = command("cross-check", "--scan-url", scan, "--against", other.sandbox.scan_url, "--json")
    assert (done.code, json.loads(done.out)["agree"]) == (1, False)

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
