"""A report whose pictures can be zoomed into: one file, nothing from elsewhere, text stays text."""

import json
import re

import pytest

import ledgerframes as lf

pytest.importorskip("plotly")
SPEC = re.compile(r"<script type='application/json' class='(light|dark)'>(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def page(hour_history, tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "report.html"
    drawn = ["activity", "flows", "balances", "rewards", "coin_supply", "burn", "key_figures", "governance"]
    return lf.report(hour_history, place, sections=drawn, interactive=True).read_text(encoding="utf-8")


def test_pictures_are_there_in_both_themes_with_their_words(page):
    specs = SPEC.findall(page)

    assert [theme for theme, _ in specs] == ["light", "dark"] * (len(specs) // 2)
    titles = [json.loads(spec)["layout"]["title"]["text"] for theme, spec in specs if theme == "dark"]
    for words in ("Updates over time", "Reassignments between", "Balances over time", "Coin supply, minted and burned"):
        assert any(words in title for title in titles), words
    assert page.count("<figure class='chart'>") == len(specs) // 2


def test_the_page_needs_nothing_else_and_may_not_ask_for_it(page):
    own = page.replace(library(), "")

    assert "default-src 'none'" in own
    assert re.findall(r"""(?:src|href)=['"](?!data:|#)""", own) == []
    assert page.count("plotly.js v") == 1
    config = json.loads(re.search(r"const CONFIG = (\{.*?\});", page)[1])
    assert (config["showSendToCloud"], config["plotlyServerURL"], config["displaylogo"]) == (False, "", False)
    stated = float(re.search(r"with plotly\.js \((\d\.\d) MB\) inside", page)[1])
    assert stated == pytest.approx(len(library()) / 1e6, abs=0.1)


def library():
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


def test_a_name_on_the_ledger_cannot_end_a_script(tmp_path, hour_history):
    evil = "</script><script>alert(1)</script>::1220"
    flows = hour_history.reassignments.assign(source_synchronizer=evil)

    page = lf.report(
        hour_history._replace(reassignments=flows), tmp_path / "r.html", sections=["flows"], interactive=True
    ).read_text(encoding="utf-8")

    assert "<script>alert" not in page.replace(library(), "")
    assert any("alert(1)" in spec for _, spec in SPEC.findall(page))


def test_a_shell_writes_such_a_page_of_a_period(command, store, tmp_path):
    with lf.sandbox(updates=300, migrations=1) as net:
        store.sync(net, progress=False)

    chosen = ("--interactive", "--last", "2min", "--sections", "summary,activity")
    done = command("report", tmp_path / "lake", *chosen, "-o", tmp_path / "r.html")

    assert done.code == 0, done.err
    words = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Plotly.newPlot(div" in words
    assert "compared with the same length of time before" in words
    assert re.search(r"r\.html\t\d+\.\d MB", done.out)
    assert command("report", tmp_path / "nowhere").code == 2
