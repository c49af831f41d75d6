"""Quick answers from a lake: charts in files, flows, holdings and rewards as tables, and wrong words."""

import json
import shutil
import subprocess
from decimal import Decimal

import pandas as pd
import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from ledgerframes.cli.charts import CHARTS
from ledgerframes.tables.derived import DERIVED


@pytest.mark.long(quick=2)
@pytest.mark.parametrize("chart", CHARTS)
def test_every_chart_of_a_lake_is_drawn_into_a_folder_that_is_made(command, lake, tmp_path, chart):
    done = command("plot", chart, lake, "-o", tmp_path / "new" / "out.png")

    assert (done.code, done.err) == (0, "")
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["out.png"]
    assert (tmp_path / "new" / "out.png").read_bytes().startswith(b"\x89PNG")


def test_a_chart_takes_its_options_and_the_labels_of_a_file_and_shows_votes_as_lines(command, lake, tmp_path):
    file, store = tmp_path / "chart.svg", lf.open_store(lake)
    votes = len(lf.votes(store))
    party = lf.holdings_from_events(store).sort_values("total_coin_holdings").party_id.iloc[-1]
    (tmp_path / "labels.csv").write_text(f"party,label\n{party},Alice Bank\n")

    options = ("--every", "1min", "--theme", "dark", "--events", "votes")
    assert command("plot", "updates", lake, "-o", file, *options).code == 0
    assert "updates per minute" in file.read_text()
    assert f"for {votes} of {votes} event" in file.read_text()
    labelled = ("--labels", tmp_path / "labels.csv", "--overwrite")
    assert command("plot", "holdings", lake, "-o", file, *labelled).code == 0
    assert "Alice Bank" in file.read_text()
    assert lf.aliases().names == {}


def test_flows_are_counted_by_route_and_holdings_listed_largest_first_and_exact(command, lake):
    store = lf.open_store(lake)
    held = lf.holdings_from_events(store.load("events"), store.load("reassignments"), decimals="exact")

    routes = command("flows", lake, "--json")
    counts = [row["count"] for row in json.loads(routes.out)]
    done = command("holdings", lake, "--top", "1")
    piped = command("holdings", lake, "--csv", "--top", "3").out.splitlines()

    assert sum(counts) == len(lf.reassignment_flows(store.load("reassignments")))
    assert counts == sorted(counts, reverse=True)
    assert "reassignments are under way at the end\n" in routes.err
    assert f"{max(held.total_coin_holdings):f}".rstrip("0").rstrip(".") in done.out
    assert f"{len(held) - 1} more; --top shows them" in done.err
    assert piped[0] == "party_id,total_unlocked_coin,total_locked_coin,total_coin_holdings"
    assert len(piped) == 4


def test_rewards_are_summed_exactly_by_when_they_end_whenever_they_began(command, lake):
    coupons = lf.rewards(lf.open_store(lake), decimals="exact")

    done = command("rewards", lake)
    lines = [line.split() for line in done.out.splitlines()[1:]]

    for place, rows in ((2, coupons), (3, coupons[coupons.outcome == "claimed"])):
        worth = {kind: sum(rows.amount[rows.kind == kind].dropna(), Decimal(0)) for kind in set(coupons.kind)}
        assert {line[0]: Decimal(line[place]) for line in lines} == worth
    assert done.err == f"the worth of {coupons.amount.isna().sum()} coupons is not known, and in no amount\n"
    piped = json.loads(command("rewards", lake, "--by", "beneficiary", "--json").out)
    assert len(piped) == coupons.beneficiary.nunique(dropna=False) > 20
    ended = coupons[coupons.ended_at.notna()].sort_values("ended_at")
    start = ended.ended_at.iloc[len(ended) // 2]
    then = ended[ended.ended_at >= start]
    assert (then.created_at < start).any()
    listed = json.loads(command("rewards", lake, "--by", "outcome", "--start", start.isoformat(), "--json").out)
    found = {row["outcome"]: (row["coupons"], Decimal(row["amount"])) for row in listed if row["outcome"] != "open"}
    assert found == {
        outcome: (len(rows), sum(rows.amount.dropna(), Decimal(0))) for outcome, rows in then.groupby("outcome")
    }


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("table", DERIVED)
def test_every_table_of_events_comes_out_of_the_shell(command, lake, tmp_path, table):
    done = command("compute", table.replace("_", "-"), lake, "-o", tmp_path / "rows.parquet")

    assert done.code == 0
    written = pq.read_table(tmp_path / "rows.parquet")
    assert written.equals(getattr(lf, table)(lf.open_store(lake), as_="arrow").replace_schema_metadata())


def test_a_range_is_computed_with_the_contracts_that_the_lake_knows_from_before(command, lake, tmp_path):
    store = lf.open_store(lake)
    times = store.load("events", where={"event_type": "created_event"}).record_time
    begin = store.load("updates").record_time.iloc[150]
    for time in ("2025-01-01", begin.isoformat()):  # nothing was active before the ledger began
        start = ("--start", time)
        done = command("supply", lake, *start, "--json")
        assert (done.code, done.err) == (0, "")
        assert Decimal(json.loads(done.out)[-1]["total"]) == lf.supply(store, decimals="exact").total.iloc[-1]
    assert command("plot", "balances", lake, *start, "-o", tmp_path / "out.svg").err == ""
    later = json.loads(command("template-activity", lake, *start, "--json").out)
    assert 0 < sum(row["creates"] for row in later) == (times >= begin).sum() < len(times)


def test_verbose_logs_requests_on_standard_error_alone_and_no_line_controls_the_terminal(
    command, program, surroundings, scan
):
    words = ["migrations", "--json", "--scan-url", scan]
    code = f"""
import logging, sys
sys.argv = ["ledgerframes", "--verbose", *{words}]
from ledgerframes.cli import app
app(standalone_mode=False)
logging.getLogger("ledgerframes.transport").warning("rate=, store.repair(unsettled=True): %s", "\\x1b[2J\\nERROR:x")
"""
    done = subprocess.run([program[0], "-c", code], check=True, capture_output=True, text=True, env=surroundings)

    assert done.stdout == command(*words).out
    assert "ledgerframes.transport:POST /v2/updates -> 200" in done.stderr
    assert "transport:--rate, ledgerframes repair LAKE --unsettled: \\u001b[2J\\u000aERROR:x\n" in done.stderr
    assert {line.split(":")[1].split(".")[0] for line in done.stderr.splitlines()} == {"ledgerframes"}


def test_an_error_names_the_option_of_the_shell_and_a_lost_file_as_it_is(command, lake, tmp_path):
    for words in (
        ("report", lake, "-o", "r.html", "--sections", "provenance"), ("plot", "updates", lake, "-o", "x.svg"),
        ("export", lake, "out", "--tables", "updates"), ("sql", lake, "select 1", "-o", "x.json"),
        ("compute", "network-daily", lake, "-o", "x.csv"),
    ):  # fmt: skip
        assert command(*words).code == 0
        again = command(*words)
        assert again.code == 2
        assert "already exists; pass --overwrite, or name another" in again.err
        assert "=True" not in again.err
    copy = shutil.copytree(lake, tmp_path / "copy")
    gone = next((copy / "events").rglob("*.parquet"))
    gone.unlink()
    assert gone.relative_to(copy / "events").as_posix() in command("rewards", copy).err


def test_a_table_takes_the_options_that_its_function_has(command, lake):
    store = lf.open_store(lake)
    noon = store.load("updates").record_time.iloc[200]
    coin = store.load("events", where={"template_name": "Splice.Amulet:Amulet", "event_type": "created_event"})
    holder = json.loads(coin.payload.iloc[0])["owner"]

    def rows(*words):
        return pd.DataFrame(json.loads(command(*words, "--json").out))

    supply = lf.supply(store, at=noon, decimals="exact").total[0]
    assert Decimal(rows("supply", lake, "--at", noon.isoformat()).total[0]) == supply
    assert set(rows("movements", lake, "--party", holder).party) == {holder}
    balances = rows("balances_over_time", lake, "--party", holder, "--every", "10min")
    assert set(balances.party_id) == {holder}
    assert set(pd.to_datetime(balances.time[:-1]).diff()[1:]) == {pd.Timedelta("10min")}
    early = command("supply", lake, "--at", noon.isoformat(), "--start", (noon + pd.Timedelta("5min")).isoformat())
    assert (early.code, "is earlier" in early.err) == (1, True)


@pytest.mark.filterwarnings("always::ledgerframes.errors.IncompleteFiguresWarning")
def test_a_lake_with_a_gap_or_a_late_beginning_is_advised_of_what_a_shell_has(command, lake, scan, tmp_path):
    times, net = lf.open_store(lake).load("updates").record_time, lf.connect(scan_url=scan)
    lf.open_store(tmp_path / "gap").sync(net, end=times.iloc[50])
    lf.open_store(tmp_path / "gap").sync(net, start=times.iloc[150])
    lf.open_store(tmp_path / "late").sync(net, start=times.iloc[150])

    for words, can in ((("report", tmp_path / "gap"), True), (("rewards", tmp_path / "gap"), False)):
        refused = command(*words)
        assert "does not cover" in refused.err
        assert "Sync that range first or read what comes before it with --end 0@" in refused.err
        assert ("--allow-partial" in refused.err) == can
        assert "allow_partial" not in refused.err
    refused = command("compute", "sv_weights", tmp_path / "late", "--last", "1min")
    earlier = command("supply", tmp_path / "late", "--start", times.iloc[200].isoformat())
    warned = command("rewards", tmp_path / "late").err
    assert (refused.code, "begin" in refused.err) == (1, True)
    assert (earlier.code, "sync a lake that begins later from there first" in earlier.err) == (1, True)
    assert "nothing describes all of them" in warned
    assert "opening" not in refused.err + warned


def test_a_query_without_rows_is_said_and_an_error_names_the_command_that_helps(command, lake, tmp_path):
    none = command("sql", lake, "select kind from updates where false")
    assert (none.code, none.out, none.err) == (0, "kind\n", "no rows\n")
    unknown = command("sql", lake, "select * from update").err
    assert "did you mean 'updates'?" in unknown
    assert unknown.rstrip().endswith("The store's tables: updates, reassignments, events")
    assert "did you mean 'rewards'?" in command("sql", lake, "select * from reward").err
    early = ("--start", "2020-01-01", "--end", "2020-01-02")
    assert command("export", lake, tmp_path / "none", *early).err == "no rows\n"
    said = command("export", lake, tmp_path / "out", "--tables", "transfers").err

    assert "compute it with ledgerframes derive LAKE transfers" in said
    assert "ledgerframes sync LAKE --tables licenses" in command("sql", lake, "select * from licenses").err
