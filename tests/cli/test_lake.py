"""A lake from a shell: brought up to date, asked, followed to a clean end, with computed tables, and checked."""

import json
import os
import shutil
import signal
import subprocess

import pytest

import ledgerframes as lf
from tests.store.test_rejects import spoil
from tests.transport.hostile_server import HostileServer, answer


def test_sync_says_what_it_did_does_nothing_twice_and_takes_a_range_and_snapshots(command, tmp_path, scan):
    first = command("sync", tmp_path / "lake", "--scan-url", scan)
    assert (first.code, "300 updates" in first.out) == (0, True)
    again = json.loads(command("sync", tmp_path / "lake", "--scan-url", scan, "--json").out)
    assert again["rows"]["updates"] == 0
    assert again["requests"] == 4  # one per open migration, and one because this process knows no page size yet
    with lf.sandbox(updates=5) as net:
        done = command(
            "sync", tmp_path / "part", "--tables", "updates,instruments", "--end", "1@0001-01-01", "--workers", 1,
            "--scan-url", scan, "--registry-url", net.sandbox.registry_url, "--json",
        )  # fmt: skip
    rows = json.loads(done.out)["rows"]
    assert rows["instruments"] == 1
    assert 0 < rows["updates"] < 300


@pytest.mark.filterwarnings("always::ledgerframes.errors.IncompleteFiguresWarning")
def test_a_reward_that_no_table_knows_is_named_by_sync_and_report(command, tmp_path):
    with lf.sandbox(updates=100, migrations=1) as net:
        updates, known = net.sandbox.world.updates, b"Splice.Amulet:SvRewardCoupon"
        place = next(place for place, update in enumerate(updates) if known in update.rendered)
        updates[place] = updates[place]._replace(rendered=updates[place].rendered.replace(known, known + b"V3"))
        synced = command("sync", tmp_path / "lake", "--scan-url", net.sandbox.scan_url)
    reported = command("report", tmp_path / "lake", "-o", tmp_path / "page.html", "--sections", "rewards")

    for said in (synced.err, reported.err):
        assert "warning:" in said
        assert "does not know Splice.Amulet:SvRewardCouponV3" in said.replace("\n", " ")
    assert "unknown to this version" in (page := (tmp_path / "page.html").read_text())
    assert "Splice.Amulet:SvRewardCouponV3" in page


def test_what_a_lake_knows_of_itself(command, lake):
    for name in ("coverage", "syncs"):
        assert command(name, lake).code == 0
        assert len(json.loads(command(name, lake, "--json").out)) >= 1
    assert "it keeps no computed table; name some of round_history, rewards" in command("derive", lake).out


def test_sql_answers_on_standard_output_and_into_files(command, lake, tmp_path):
    query = "select count(*) as n, sum(1.10::decimal(38, 10)) as total from updates"
    assert "300" in command("sql", lake, query).out
    assert json.loads(command("sql", lake, query, "--json").out) == [{"n": 300, "total": "330.0000000000"}]
    times = json.loads(command("sql", lake, "select min(record_time) as first from updates", "--json").out)
    assert times == [
        {"first": lf.open_store(lake).load("updates").record_time.min().isoformat().replace("+00:00", "Z")}
    ]
    command("sql", lake, query, "-o", tmp_path / "found.csv")
    assert (tmp_path / "found.csv").read_text().splitlines()[1].startswith("300,")
    named = "select count(*), max(record_time) is null, sum(1.5 * 2) from updates"
    assert command("sql", lake, named, "--csv").out.splitlines() == [
        "count_star,max_record_time_IS_NULL,sum_1_5_2", "300,false,900.0"
    ]  # fmt: skip
    assert command("sql", lake, named, "-o", tmp_path / "found.parquet").code == 0
    ended = command("sql", lake, "select 1 as a, 2 as a", "--json")
    assert (ended.code, ended.out, "two columns are called 'a'" in ended.err) == (2, "", True)


def test_a_number_that_json_cannot_write_is_null(command, lake):
    ended = command("sql", lake, "select 'nan'::double as a, 'inf'::double as b, 0.5::double as c", "--json")
    assert json.loads(ended.out, parse_constant=pytest.fail) == [{"a": None, "b": None, "c": 0.5}]


def test_a_report_without_a_place_is_refused_before_it_is_computed(command, lake, tmp_path):
    (tmp_path / "taken").write_text("a file where a folder should be")
    ended = command("report", lake, "-o", "taken/report.html")
    assert (ended.code, ended.out) == (2, "")
    assert "'taken' is not a writable folder" in ended.err.replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["coverage", "nowhere"], "is not a lake yet"),
        *((line, "'.' is not a lake yet") for line in (["coverage", "."], ["syncs", "."], ["compact", "."])),
        (["sync", "lake", "--tables", "update", "--scan-url", "http://127.0.0.1:1"], "did you mean"),
        (["sync", "lake", "--every", "often", "--follow", "--scan-url", "http://127.0.0.1:1"], "--every 'often' is"),
    ],
    ids=["no lake", "no coverage", "no syncs", "no files", "table", "every"],
)
def test_a_wrong_command_ends_with_two(command, arguments, message):
    done = command(*arguments)
    assert done.code == 2
    assert message in done.err


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


def test_a_lake_is_exported_as_a_star(command, lake, tmp_path):
    done = command("export", lake, tmp_path / "out", "--model", "star", "--for", "bi")
    assert done.code == 0
    assert "dim_party" in done.out
    assert json.loads((tmp_path / "out" / "model.json").read_text())["model"] == "star"
    refused = command("export", lake, tmp_path / "other", "--model", "star", "--tables", "updates")
    assert refused.code == 2
    assert "leave --tables out, or leave --model out" in refused.err


@pytest.fixture
def own(lake, tmp_path):
    """A lake of one test."""
    return shutil.copytree(lake, tmp_path / "lake")


def test_a_computed_table_says_what_is_not_in_it(command, tmp_path):
    def unreadable(item):
        coin = next(event for event in item["events_by_id"].values() if event["template_id"].endswith(":Amulet"))
        coin["create_arguments"]["amount"]["initialAmount"] = "1" + "0" * 29

    with lf.sandbox(updates=60) as net:
        world = net.sandbox.world
        spoil(world, next(place for place, one in enumerate(world.updates) if b':Amulet"' in one.rendered), unreadable)
        lf.open_store(tmp_path / "lake").sync(net, progress=False)

    unknown = "1 time a template, choice or member is unknown to this version and left out of these figures"
    said = f"{unknown}: Splice.Amulet:Amulet: amount.initialAmount.\n"
    assert command("supply", "lake").err == said
    assert command("mint_burn", "lake", "--start", "begin").err == said


def test_derive_computes_the_named_tables_and_without_names_those_that_the_lake_has(command, own):
    assert json.loads(command("derive", own, "--json").out)["rows"] == {}
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
    again = json.loads(command("derive", own, "--json").out)
    assert (again["written"], again["commits"]) == (dict.fromkeys(found["written"], 0), 0)
    assert again["rows"] == found["rows"]


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
        (["derive", "LAKE", "reward"], "did you mean 'rewards'"),
        (["derive", "LAKE", "supply"], "ledgerframes supply LAKE"),
        (["sync", "LAKE", "--derive", "supply", "--scan-url", "http://127.0.0.1:1"], "ledgerframes supply LAKE"),
    ],
    ids=["a misspelling", "a table that is not kept", "a sync's"],
)
def test_a_wrong_derive_is_told_in_one_line(command, lake, arguments, message):
    done = command(*(lake if one == "LAKE" else one for one in arguments))

    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.long
def test_a_sound_lake_passes_every_check(command, own, scan):
    assert "is sound" in command("check", own).out
    assert json.loads(command("check", own, "--json").out)["sound"] is True
    assert "agree" in command("verify", own, "--scan-url", scan).out
    whole = json.loads(command("verify", own, "--sample", 0, "--scan-url", scan, "--json").out)
    assert (whole["compared"], whole["agree"]) == (300, True)


def test_a_harmed_lake_fails(command, own):
    next((own / "events").rglob("*.parquet")).unlink()
    done = command("check", own)
    assert (done.code, "gone" in done.out) == (1, True)


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
