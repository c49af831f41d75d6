"""A report whose pictures can be zoomed into: one file, nothing from elsewhere, text stays text."""

import builtins
import json
import re
import shutil
import subprocess

import pytest

import ledgerframes as lf

pytest.importorskip("plotly")
SPEC = re.compile(r"<script type='application/json' class='(light|dark)'>(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def history():
    with lf.sandbox(updates=300) as net:
        return lf.load_history(net, progress=False)


@pytest.fixture(scope="module")
def page(history, tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "report.html"
    return lf.report(history, place, interactive=True).read_text(encoding="utf-8")


def test_pictures_are_there_in_both_themes_with_their_words(page):
    specs = SPEC.findall(page)

    assert [theme for theme, _ in specs] == ["light", "dark"] * (len(specs) // 2)
    titles = [json.loads(spec)["layout"]["title"]["text"] for theme, spec in specs if theme == "dark"]
    for words in (
        "Updates over time",
        "Reassignments between",
        "Balances over time",
        "Rewards by what became",
        "Coin supply, minted and burned",
    ):
        assert any(words in title for title in titles), words
    assert page.count("<figure class='chart'>") == len(specs) // 2
    grounds = {json.loads(spec)["layout"]["paper_bgcolor"] for theme, spec in specs if theme == "dark"}
    assert grounds == {"rgba(20,24,29,1)"}


def test_the_page_needs_nothing_else_and_may_not_ask_for_it(page):
    own = page.replace(library(), "")

    assert "default-src 'none'" in own
    assert re.findall(r"""(?:src|href)=['"](?!data:|#)""", own) == []
    assert page.count("plotly.js v") == 1


def test_a_chart_is_drawn_without_upload_and_without_plotlys_site(page):
    config = json.loads(re.search(r"const CONFIG = (\{.*?\});", page)[1])

    assert (config["showSendToCloud"], config["plotlyServerURL"], config["displaylogo"]) == (False, "", False)
    assert "Plotly.newPlot(div, spec.data, spec.layout, CONFIG)" in page


def shown_by_a_browser(page, folder):
    """What a browser makes of a page."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium here; on Debian: apt-get install chromium")
    (folder / "report.html").write_text(page, encoding="utf-8")
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--dump-dom")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [browser, *options, profile, "--virtual-time-budget=20000", (folder / "report.html").as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout


@pytest.mark.long
def test_paper_has_every_ribbon_and_charts_of_its_width(page, tmp_path):
    seen = """<script>dispatchEvent(new Event('beforeprint'));
        const widths = [...document.querySelectorAll('.js-plotly-plot')].map(chart => chart._fullLayout.width);
        const ribbons = [...document.querySelectorAll('.sankey-link')].map(link => getComputedStyle(link).opacity);
        document.title = JSON.stringify({widths, ribbons});</script></body>"""

    shown = shown_by_a_browser(page.replace("</body>", seen), tmp_path)

    seen = json.loads(re.search("<title>(.*?)</title>", shown)[1])
    assert {*seen["ribbons"]} == {"1"}
    assert {*seen["widths"]} == {660}


@pytest.mark.long
def test_a_browser_shows_no_button_that_sends_a_chart_away(page, tmp_path):
    shown = shown_by_a_browser(page, tmp_path)

    buttons = re.findall(r"<(?:a|button)[^>]*modebar-btn[^>]*", shown)
    titles = {re.search(r'(?:data-title|aria-label)="(.*?)"', button)[1] for button in buttons}
    assert titles == {"Download plot as a PNG", "Zoom", "Pan", "Zoom in", "Zoom out", "Reset axes", "Reset view"}
    assert "plotly.com" not in " ".join(buttons)


def library():
    from plotly.offline import get_plotlyjs

    return get_plotlyjs()


@pytest.mark.long
def test_the_page_states_the_size_of_what_it_holds(page, history, tmp_path):
    plain = lf.report(history, tmp_path / "plain.html").read_text(encoding="utf-8")

    stated = float(re.search(r"with plotly\.js \((\d\.\d) MB\) inside", page)[1])
    assert stated == pytest.approx(len(library()) / 1e6, abs=0.1)
    assert 4e6 < len(page) < 8e6
    assert "plotly" not in plain


def test_a_name_on_the_ledger_cannot_end_a_script(tmp_path, history):
    evil = "</script><script>alert(1)</script>::1220"
    flows = history.reassignments.assign(source_synchronizer=evil)

    page = lf.report(
        history._replace(reassignments=flows), tmp_path / "r.html", sections=["flows"], interactive=True
    ).read_text(encoding="utf-8")

    assert "<script>alert" not in page.replace(library(), "")
    assert any("alert(1)" in spec for _, spec in SPEC.findall(page))


def test_without_plotly_nothing_is_written(history, tmp_path, monkeypatch):
    there = builtins.__import__

    def missing(module, *rest, **named):
        if module.partition(".")[0] == "plotly":
            raise ImportError("No module named 'plotly'")
        return there(module, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)

    with pytest.raises(lf.errors.ConfigurationError, match=r"pip install 'ledgerframes\[interactive\]'"):
        lf.report(history, tmp_path / "report.html", interactive=True)
    assert list(tmp_path.iterdir()) == []


def test_interactive_is_a_truth_value(history, tmp_path):
    with pytest.raises(lf.errors.InputError, match="interactive"):
        lf.report(history, tmp_path / "report.html", interactive="yes")


def test_a_shell_writes_such_a_page_of_a_period(command, tmp_path):
    store = lf.open_store(tmp_path / "lake")
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
