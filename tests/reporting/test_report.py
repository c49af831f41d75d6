"""The report: one page, whole, escaped, self-contained, that says what it cannot tell."""

import base64
import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal, localcontext
from html.parser import HTMLParser

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib import rcParams

import ledgerframes as lf
from ledgerframes.apps.html_report.coin_sections import concentration
from ledgerframes.apps.html_report.headlines import figures, known_total
from ledgerframes.apps.html_report.page import Section, page, table
from ledgerframes.apps.html_report.report import stored_report_data
from ledgerframes.apps.html_report.report_data import Period, ReportData
from ledgerframes.apps.html_report.sections import SECTIONS
from ledgerframes.number_format import amount_text, plural
from ledgerframes.timestamps import MICROSECOND
from tests.rigs.servers import simulated

TITLES = [
    "What happened", "Updates", "Reassignments", "Holdings", "Balances", "Transfers", "Rewards", "Coin supply",
    "Coin burned", "Key figures", "Governance", "Validators", "Instruments", "Templates", "Anomalies",
    "Where this comes from",
]  # fmt: skip
COIN = ["balances", "transfers", "rewards", "coin_supply", "burn"]


class Reader(HTMLParser):
    """Headings, pictures and addresses of a page, and whether its tags match."""

    def __init__(self, words):
        super().__init__()
        self.open, self.headings, self.pictures, self.addresses, self.scripts = [], [], 0, [], 0
        self.feed(words)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.pictures += tag == "figure"
        self.addresses += [value for name, value in attrs if name in {"src", "srcset", "href"}]
        if tag not in {"meta", "img", "wbr"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


@pytest.fixture(scope="module")
def place(hour, tmp_path_factory):
    """A lake of the history alone."""
    folder = tmp_path_factory.mktemp("reported") / "lake"
    lf.open_store(folder).sync(hour)
    return folder


@pytest.fixture(scope="module")
def synced(place):
    return lf.open_store(place)


@pytest.fixture(scope="module")
def filled(hour, place, tmp_path_factory):
    """The same with snapshots."""
    store = lf.open_store(shutil.copytree(place, tmp_path_factory.mktemp("filled") / "lake"))
    store.sync(hour, tables=["licenses", "instruments"])
    return store


@pytest.mark.long
def test_a_store_becomes_one_page_with_everything(filled, tmp_path):
    path = lf.report(filled, tmp_path / "report.html", title="March")
    words = path.read_text()
    read = Reader(words)
    assert read.headings == TITLES
    assert read.pictures == 13
    assert all(one.startswith(("data:image/svg+xml;base64,", "#")) for one in read.addresses)
    assert [one for one in read.addresses if one.startswith("#")] == [
        f"#{one.lower().replace(' ', '-')}" for one in TITLES
    ]
    assert read.scripts == 0
    assert path.stat().st_size < 4_000_000
    named = ("The largest holders, in CC (15 of ", "Amulet:<wbr>", "Splice.Amulet:Amulet")
    for part in ("March", "(the end of what is stored)", "600", "completed", lf.__version__, *named):
        assert part in words


@pytest.mark.long
def test_a_loaded_history_says_what_it_cannot_tell(hour, tmp_path):
    history = lf.load_history(hour, start=(1, "0001-01-01"))
    with pytest.warns(lf.errors.IncompleteFiguresWarning, match=r"^reward_flows, .*: up to [\d,]+ co") as warned:
        words = lf.report(history, tmp_path / "report.html").read_text()
    assert len(warned) == 1
    assert "Holdings cannot be derived" in words
    assert "This cannot be shown for this range: events does not begin at ledger begin" in words
    assert "The supply after each round is not known" in words
    assert "opening=" not in words
    assert "tables=[&#x27;licenses&#x27;]" in words


def test_a_hole_is_said_before_the_figures_and_an_empty_range_has_a_page_too_and_reads_nothing_before_it(
    hour, synced, tmp_path
):
    history = lf.load_history(hour, limit=50)
    data = stored_report_data(synced, history.updates.record_time[20] + MICROSECOND, history.updates.record_time[21])
    assert (len(data.updates), len(data.whole.events), data.opening.rows > 0) == (0, 0, True)
    empty = lf.types.History(*(frame.head(0) for frame in history))
    words = lf.report(empty, tmp_path / "report.html").read_text()
    assert "no update in this range" in words
    assert "No contract was reassigned" in words
    for said in ("No party paid coin", "No reward was", "No update of a known round", "No update burns coin"):
        assert said in words
    assert Reader(words).pictures == 0
    history.updates.attrs["complete"] = False
    cut = lf.report(history, tmp_path / "cut.html", sections=["summary"]).read_text()
    assert "part of this range is missing" in cut[: cut.index("<div class='figures'>")]


def test_a_range_loads_no_row_of_the_time_before_that_it_is_compared_with(synced, tmp_path):
    start, end = synced.load("updates", columns=["record_time"]).record_time.iloc[[-400, -200]]
    most = {name: len(synced.load(name, start=start - (end - start), end=end)) for name in lf.types.History._fields}

    class Watched(lf.types.Store):
        def load(self, table, **options):
            rows = super().load(table, **options)
            assert len(rows) <= most.get(table, len(rows)), table
            return rows

    lf.report(Watched(synced._lake), tmp_path / "report.html", start=start, end=end)

    data, legs = stored_report_data(synced, start, end), synced.load("reassignments", end=end)
    flows = lf.reassignment_flows(legs)
    assert data.flows.attrs["edges"] == flows.attrs["edges"]
    flows["moment"] = flows.unassigned_at.fillna(flows.assigned_at)
    odd, every = map(lf.reassignment_anomalies, (data.legs, legs))
    for found, wanted, time in ((data.flows, flows, "moment"), (odd, every, "record_time")):
        pd.testing.assert_frame_equal(*(one[one[time] >= start].reset_index(drop=True) for one in (found, wanted)))
    pd.testing.assert_frame_equal(data.validators, lf.license_growth(synced.load("events", end=end)))


@pytest.mark.filterwarnings("ignore::ledgerframes.errors.IncompleteFiguresWarning")  # it contradicts itself
def test_a_hostile_ledger_stays_text_and_every_section_of_coin_has_a_chart_or_a_reason(tmp_path):
    with simulated(seed=3, updates=150, hostile=True) as net:
        history = lf.load_history(net, start=(-(2**63), "0001-01-01"))
    events = history.events.assign(template_name="<script>alert(1)</script>\u202e:T")
    words = ""
    for data, sections in ((history, COIN), (history._replace(events=events), ["templates", "provenance"])):
        words = lf.report(data, tmp_path / "report.html", sections=sections, overwrite=True).read_text()
        assert len(Reader(words).headings) == len(sections)
        assert Reader(words).scripts == 0
    assert "&lt;script&gt;" in words
    assert "\u202e" not in words


def test_cells_are_escaped_readable_and_exact_under_the_pointer():
    party = "alice::1220" + "ab" * 32
    frame = pd.DataFrame(
        {"a": ["<b>"], "amount": [Decimal("1234.0000000001")], "n": [12345], "yes": [True], "party_id": [party],
         "share": [8.77e-7], "taken": [pd.Timedelta("88s")], "coin": [Decimal("0.0000000000")]}
    )  # fmt: skip
    words = table(frame, "x & y")
    shown = ["&lt;b&gt;", "title='1,234.0000000001'>1,234.00<", "12,345", ">yes<", "x &amp; y", ">0.0088 bp<",
             f"<td class=short title='{party}'>alice</td>", ">1 min 28 s<", ">0</td>"]  # fmt: skip
    assert [one for one in shown if one not in words] == []
    Reader(page("t", "s", [Section("x", [words])]))
    with lf.aliases({party: "Bank A"}):
        assert f"<td class=short title='{party}'>alice</td><td class=short>Bank A</td>" in table(frame)


REFUSED = {
    "there": ("page.html", {}, "overwrite=True"),
    "a folder": ("folder", {"overwrite": True}, "is a folder; name the file for the page"),
    "PDF": ("report.pdf", {}, "print it to PDF in the browser"),
    "section": ("r.html", {"sections": ["weather"]}, "sections: 'weather'"),
    "two begins": ("r.html", {"last": "7d", "start": "begin"}, "both say where to begin"),
    "no duration": ("r.html", {"last": "soon"}, "last='soon'"),
    "no flag": ("r.html", {"interactive": "yes"}, "interactive"),
    "beyond": ("r.html", {"end": "2099-01-01"}, "Sync that range first"),
}


@pytest.mark.parametrize(("name", "options", "said"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_written_is_said_and_what_is_there_stays(filled, tmp_path, name, options, said):
    (tmp_path / "page.html").write_text("mine")
    (tmp_path / "folder").mkdir()
    with pytest.raises((lf.errors.InputError, lf.errors.PartialResultError), match=said):
        lf.report(filled, tmp_path / name, **options)
    assert {one.name for one in tmp_path.iterdir()} == {"page.html", "folder"}
    assert (tmp_path / "page.html").read_text() == "mine"


@pytest.mark.long
def test_the_coin_s_sections_have_the_figures_of_the_tables(filled, tmp_path):
    words = lf.report(filled, tmp_path / "report.html", sections=COIN).read_text()
    assert Reader(words).pictures == len(COIN)
    with localcontext(prec=60):
        burned = lf.mint_burn(filled, decimals="exact").filter(like="burned_").sum()
        paid = lf.transfers(filled, decimals="exact")
        pairs = paid[paid.sender != paid.receiver].groupby(["sender", "receiver"]).amount.sum()
        coupons = lf.rewards(filled, decimals="exact")
        claimed = coupons[(coupons.kind == "app") & (coupons.outcome == "claimed")]
    shown = [
        *burned[burned > 0],
        max(pairs),
        claimed.amount.dropna().sum(),
        lf.supply_per_round(filled, decimals="exact").total.iloc[-1],
    ]
    for figure in shown:
        assert f"title='{figure:,f}'" in words


@pytest.mark.long
def test_a_range_counts_the_rewards_that_were_claimed_in_it(filled, tmp_path):
    begin = filled.load("updates").record_time.max() - pd.Timedelta("20min")

    words = lf.report(filled, tmp_path / "report.html", last="20min", sections=["rewards"]).read_text()

    coupons = lf.rewards(filled, decimals="exact")
    claimed = coupons[(coupons.outcome == "claimed") & (coupons.ended_at >= begin)]
    assert (claimed.created_at < begin).any()
    with localcontext(prec=60):
        for kind, own in claimed.groupby("kind"):
            assert f"title='{own.amount.sum():,f}'" in words, kind


@pytest.mark.long
def test_the_headline_says_what_lies_across_the_ends_of_the_range(filled, hour, tmp_path):
    whole, supply = (words_of(name, data=history_of(filled), store=filled) for name in ("summary", "coin_supply"))
    assert "Minting and burning leave 0 CC of the change in supply unexplained." in supply
    coupons = lf.rewards(filled)
    assert f"At the end, {(coupons.outcome == 'open').sum():,} coupons worth" in whole
    assert "coins worth" in whole
    assert "before what is known" not in whole
    way = f"{(lf.reassignment_flows(filled).status == 'in flight').sum()} reassignments are under way at the end"
    late = lf.report(filled, tmp_path / "late.html", last="5min", sections=["summary"]).read_text()
    assert [f"{way}." in words for words in (whole, late)] == [True, True]

    updates = filled.load("updates")
    part = lf.load_history(hour, start=updates.record_time.iloc[-300], progress=False)
    with pytest.warns(lf.errors.IncompleteFiguresWarning):
        words = words_of("summary", data=part)
    assert "coupons began before what is known and ended in it" in words
    assert "worth of 0 of them" not in words
    for things in ("coupons worth [^;]+ are open", "coins worth [^;]+ are unspent", "are under way at the end"):
        assert re.search(f"{things}, not counting those that began before what is known", words)
    before = (lf.reassignment_flows(part.reassignments).edge == "start").sum()
    assert before
    assert f"{before:,} reassignments may have begun before what is known" in words


def figures_of(words):
    """The headline figures: exact value and change by name."""
    cards = re.findall(r"<div class='figure'>.*?name'>(.*?)</span><b title='(.*?)'>.*?</b>(.*?)</div>", words)
    return {name: (exact, "".join(re.findall(r"change'>(.*?)<", rest))) for name, exact, rest in cards}


@pytest.mark.long
def test_the_first_screen_compares_a_period_with_the_one_before(filled, tmp_path):
    times = filled.load("updates").record_time
    last = pd.Timedelta("20min")
    begin = times.max() - last

    words = lf.report(filled, tmp_path / "report.html", last="20min").read_text()

    assert "No day begins in this range" in words
    here, before = int((times >= begin).sum()), int(((times >= begin - last) & (times < begin)).sum())
    shown = figures_of(words)
    assert shown["Updates"] == (f"{here:,}", f"{'▲' if here > before else '▼'} {abs(here - before) / before:,.1%}")
    with localcontext(prec=60):
        flows = lf.mint_burn(filled, decimals="exact")
        burned = flows[flows.record_time >= begin].filter(like="burned_").sum().sum()
    assert shown["Burned"][0] == f"{burned:,f}"
    assert shown["Supply"][0] == f"{lf.supply(filled, decimals='exact').total[0]:,f}"
    assert "This cannot be shown" not in words
    whole = lf.reassignment_flows(filled.load("reassignments"))
    began = whole[whole.unassigned_at.fillna(whole.assigned_at) >= begin]
    assert shown["Reassignments"][0] == f"{len(began)}"
    for status, count in began.status.value_counts().items():
        assert f">{status}</td><td class=number>{count}</td>" in words


def test_coin_of_a_period_is_that_of_its_time_and_not_of_its_rounds(filled):
    """A round that opened in a period mints after it, too, and the period begins within another one."""
    times, us = filled.load("updates").record_time, pd.Timedelta("1us")
    start, end = times.quantile(0.45), times.quantile(0.8)
    with localcontext(prec=60):
        before, after = (lf.supply(filled, at=time - us, decimals="exact").total[0] for time in (start, end))
        flows = lf.mint_burn(filled, decimals="exact")
        minted = flows[(flows.record_time >= start) & (flows.record_time < end)].filter(like="minted_").sum().sum()
        data = stored_report_data(filled, start, end)
        supply = next(figure for figure in figures(data) if figure.name == "Supply")
        words = re.sub(r"<[^>]*>", " ", "".join(SECTIONS["coin_supply"](data).parts))
    assert (supply.value, supply.before) == (after, before)
    assert before < after
    assert f"of the {amount_text(float(minted))} CC minted." in words
    assert "have the rounds that opened in this range, whose updates come later; the sums below are of the" in words


def test_pictures_follow_the_theme_and_paper_is_light(filled, tmp_path):
    words = lf.report(filled, tmp_path / "report.html", sections=["activity"]).read_text()

    assert words.count("<img class=dark") == words.count("<img class=light") == Reader(words).pictures
    light, dark = [base64.b64decode(address.partition(",")[2]).decode() for address in Reader(words).addresses]
    assert "fill: #14181d" in dark
    assert "fill: #ffffff" in light
    assert "<image" not in dark + light  # vectors alone
    style = words[: words.index("</style>")]
    assert re.search(r"@media screen and \(prefers-color-scheme: dark\) {[^@]*img.light { display: none; }", style)
    assert "@media not screen, (prefers-color-scheme: light) { img.dark { display: none; } }" in style


ALONE = """
import sys, ledgerframes as lf
path, sys.executable = sys.argv[1], sys.argv[2]
with lf.sandbox(seed=7, updates=30) as net:
    lf.report(lf.load_history(net), path, sections=["activity", "flows"])
print("matplotlib" in sys.modules)
"""


def test_charts_are_drawn_by_another_process_or_where_it_fails_by_this_one(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('configured', 'site', sep='\\n', flush=True)")
    noisy, false, pages = f"{tmp_path}{os.pathsep}", shutil.which("false"), []
    for python, path, loads in ((sys.executable, "", "False"), (false, "", "True"), (sys.executable, noisy, "True")):
        place, env = tmp_path / f"page{len(pages)}", os.environ | {"PYTHONPATH": path + os.pathsep.join(sys.path)}
        told = subprocess.check_output([sys.executable, "-c", ALONE, place, python], text=True, env=env)
        assert told.split()[-1] == loads
        pages.append(re.sub("made .* UTC", "", place.read_text(encoding="utf-8")))
    assert pages[0] == pages[1] == pages[2]
    assert Reader(pages[0]).pictures == 3


def test_a_report_reads_no_table_that_its_sections_do_not_need(place, tmp_path):
    store = lf.open_store(shutil.copytree(place, tmp_path / "lake"))
    for file in (tmp_path / "lake" / "events").rglob("*.parquet"):
        file.unlink()

    words = lf.report(store, tmp_path / "r.html", sections=["activity", "flows", "anomalies"]).read_text()
    settings = dict(rcParams)
    with pytest.raises(lf.errors.StoreError, match=r"events: the file .* is damaged: it is gone"):
        lf.report(store, tmp_path / "all.html", sections=["activity", "templates"])

    assert Reader(words).pictures == 3
    assert "<!--" not in words
    # A chart is drawn while the next section is made, and whatever ends the report leaves nothing behind.
    assert dict(rcParams) == settings
    assert plt.get_fignums() == []


def report_data_of(history, *rest, **options):
    frames = dict(zip(lf.types.History._fields, history, strict=True))
    return ReportData(frames["updates"], frames.__getitem__, *rest, **options)


def test_the_key_figures_of_a_day_have_the_day_in_which_it_begins(hour):
    """`test_the_first_screen…` leaves it out where its row is of another part of it."""
    days = pd.DataFrame({"time": pd.date_range("2025-03-01", periods=3, tz="UTC"), "whole": [True, True, False]})
    period = Period(days.time[1] + pd.Timedelta("6s"), days.time[2] + pd.Timedelta("6s"))

    data = report_data_of(lf.load_history(hour, limit=1), period=period, made={"network_daily": days})

    assert data.days("network_daily").time.to_list() == days.time.to_list()[1:]


def words_of(section, **options):
    return re.sub(
        r"<[^>]*>", " ", "".join(SECTIONS[section](report_data_of(options["data"], options.get("store"))).parts)
    )


def history_of(store):
    return [store.load(name) for name in ("updates", "events", "reassignments")]


def test_the_parties_that_a_summary_was_asked_for_are_not_taken_for_all_holders(hour, tmp_path):
    store = lf.open_store(tmp_path / "late")
    store.sync(hour, last="5min", progress=False)
    holders = lf.holdings_from_events(lf.load_history(hour)).party_id.to_list()
    store.sync(hour, tables=["holdings_summary"], parties=holders[:4], progress=False)

    words = words_of("holdings", data=history_of(store), store=store)

    assert "summary of the parties asked for" in words
    assert "Gini" not in words
    assert "<p></p>" not in store.report(tmp_path / "report.html", sections=["holdings"]).read_text()


def test_concentration_is_that_of_the_largest_holders():
    held = pd.Series([Decimal(70), Decimal(20), Decimal(10), Decimal(0), None])

    assert concentration(held) == "Of 3 holders the largest has 70.0% of all; Gini coefficient 0.40."
    assert concentration(held[:2]) == ""


def test_a_sum_in_usd_needs_every_price():
    assert known_total([Decimal(2), Decimal(0)], [Decimal(3), None]) == 3
    assert known_total([Decimal(2), Decimal(1)], [Decimal(3), None]) is None


def test_a_lake_without_snapshots_has_figures_in_usd_burn_against_mint_and_the_validators_of_its_history(
    synced, tmp_path
):
    page = synced.report(tmp_path / "r.html", sections=["summary", "coin_supply", "licenses"]).read_text()

    paid, words = lf.transfers(synced, decimals="exact"), re.sub(r"<[^>]*>", " ", page)
    growth = lf.license_growth(synced.load("events"))
    with localcontext(prec=60):
        assert f"title='{paid[paid.sender != paid.receiver].amount_usd.sum():,f}'" in page
    assert re.search(r"CC were burned, [\d.]+% of the .* CC minted", page)
    assert figures_of(page)["Updates"] == ("600", "")
    assert not [said for said in ("compared with", "part of this range is missing") if said in page]
    assert re.search(rf"Validators\s+{growth.validators.iloc[-1]}\s+with a license", words)
    assert "alt='Validators over time'" in page
    assert "Validators that received a license, from the history" in page


def test_a_part_of_a_lake_that_begins_late_says_what_its_edges_are_of(store, tmp_path):
    with (
        lf.sandbox(updates=1_000, seed=4, prune_before="2025-03-03T11:00:00Z") as net,
        pytest.warns(lf.errors.BeginsLateWarning),
    ):
        store.sync(net, progress=False)
    pages = {}
    for last in (None, "30min"):
        with pytest.warns(lf.errors.IncompleteFiguresWarning):
            pages[last] = lf.report(store, tmp_path / f"{last}.html", sections=["rewards"], last=last).read_text()
    reach = "From where the lake begins up to the end of this range, "
    assert re.search(r">[\d,]+ coupons began before what is known", pages[None])
    assert re.search(rf"{reach}[\d,]+ coupons began before what is known", pages["30min"])


def test_a_range_from_a_place_of_one_migration_has_the_figures_of_what_it_reads(synced, tmp_path):
    migrations = synced.load("updates").groupby("migration_id").record_time.agg(["min", "max"])
    _, middle, last = migrations.index
    day_before = migrations["min"].iloc[0].floor("D") - pd.Timedelta("1D")
    inside, last_at = migrations["max"][middle] - pd.Timedelta("20min"), migrations["max"][last]

    for start, end in (((last, day_before), None), ((middle, day_before), (last, day_before))):
        path = synced.report(tmp_path / "r.html", sections=["summary"], start=start, end=end, overwrite=True)
        words, of = re.sub(r"<[^>]*>", " ", path.read_text()), synced.load("updates", start=start, end=end)
        assert re.search(rf"\bUpdates\s+{len(of):,}\s+transactions", words), words
        assert not re.search(r"Supply\s+(0|not known)\s", words)
        assert "compared with" not in words
    words = "".join(SECTIONS["summary"](stored_report_data(synced, day_before)).parts)
    assert f"{day_before:%Y-%m-%d} 00:00 to {last_at:%Y-%m-%d %H:%M} UTC" in words  # not the first update
    # A place that a time of every migration stands for is compared as that is.
    by_time, by_place = (stored_report_data(synced, start) for start in (inside, (middle, inside)))
    assert (by_place.period, by_place.begins) == (by_time.period, None)
    assert by_place.before == by_time.before == Period(inside - (last_at - inside), inside)
    assert by_place.events.equals(by_time.events)


def test_what_is_not_known_to_have_been_burned_is_not_said_to_be_nothing(synced):
    burned = lf.mint_burn(synced, decimals="exact")
    amounts = [name for name in burned if name.startswith(("minted_", "burned_"))]
    unknown = next(name for name in amounts if name.startswith("burned_") and burned[name].any())
    burned.loc[burned[unknown] != 0, unknown] = None
    alone = burned[burned[unknown].isna()].assign(**dict.fromkeys({*amounts} - {unknown}, Decimal(0)))
    made = {}  # the other tables are computed once
    for made["mint_burn"] in (burned, alone):
        report_data = report_data_of(history_of(synced), synced, made=made)
        parts = [part for name in ("summary", "burn", "coin_supply") for part in SECTIONS[name](report_data).parts]
        words = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", "".join(parts)))

        count = plural(len(alone), "update")
        assert re.search(r"Burned not known (Supply|Unexplained)", words)
        assert f"What {count} burned is not known" in words
        assert f"of {count} that is not known." in words
        assert "No update burns coin" not in words
        assert f"{unknown.removeprefix('burned_')} 0 " not in words
