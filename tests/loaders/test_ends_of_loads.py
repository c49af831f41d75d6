"""A load says where what is there ends; a range behind that, or on a scan that shows nothing, is refused."""

import pandas as pd
import pytest

import ledgerframes as lf

LOADERS = ["history", "updates", "events", "reassignments", "verdicts"]


def load(name, net, **options):
    loaded = getattr(lf, f"load_{name}")(net, **options)
    return loaded[0] if isinstance(loaded, tuple) else loaded


@pytest.fixture(scope="module")
def emptied():
    """A scan that has pruned everything."""
    with lf.sandbox(updates=200, prune_before="2100-01-01") as net:
        yield net


@pytest.fixture(scope="module")
def whole(emptied):
    """Another scan of the same ledger, which has pruned nothing."""
    with emptied.sandbox.replica() as server, lf.connect(scan_url=server.scan_url) as net:
        yield net


@pytest.mark.parametrize(
    ("name", "start"),
    [*((name, "begin") for name in LOADERS), ("updates", "2020-01-01"), ("updates", (0, "2020-01-01"))],
)
def test_a_scan_that_shows_nothing_answers_no_range_with_a_start(start, name, emptied):
    with pytest.raises(lf.errors.PartialResultError, match="shows no update"):
        load(name, emptied, start=start)

    assert not load(name, emptied, start=start, allow_partial=True).attrs["complete"]


def test_last_has_nothing_to_count_back_from_on_a_scan_that_shows_nothing(emptied, tmp_path):
    ways = [
        lambda: lf.load_updates(emptied, last="1h"),
        lambda: lf.plan(emptied, last="1h"),
        lambda: lf.cross_check(emptied, emptied, last="1h"),
        lambda: lf.open_store(tmp_path / "lake").sync(emptied, last="1h"),
    ]
    for way in ways:
        with pytest.raises(lf.errors.PartialResultError, match="nothing to count back from"):
            way()
    assert "no update is shown" in str(lf.plan(emptied))


@pytest.mark.parametrize("sample", [3, None])
def test_nothing_is_compared_with_a_scan_that_shows_nothing(sample, emptied, whole, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(whole)

    check = store.verify(emptied, sample=sample)

    assert (check.agree, check.compared, check.differing) == (False, 0, 0)
    assert "shows no update" in str(check)
    assert "or have pruned this part" in " ".join(store.sync(emptied).left)


@pytest.mark.parametrize(
    ("name", "end"), [("updates", None), ("updates", "2200-01-01"), ("verdicts", None), ("verdicts", "2200-01-01")]
)
def test_a_start_behind_what_is_there_is_refused_by_name(end, name, emptied, whole):
    newest = emptied.sandbox.world.updates[-1].migration_id
    for start in ("2100-01-01", (newest, "2100-01-01"), (newest + 1, "2020-01-01")):
        ends = None if end is None else end if isinstance(start, str) else (newest + 2, end)
        with pytest.raises(lf.errors.PartialResultError, match=rf"ends at \(migration {newest}, 2025-"):
            load(name, whole, start=start, end=ends)
        assert not load(name, whole, start=start, end=ends, allow_partial=True).attrs["complete"]


def test_asking_for_what_follows_the_newest_update_is_complete_and_names_it(whole):
    newest = lf.load_updates(whole, last="1min").record_time.max()

    attrs = lf.load_updates(whole, start=newest + pd.Timedelta("1us")).attrs

    assert attrs["complete"]
    assert f"{newest:%Y-%m-%dT%H:%M:%S.%f}Z (the newest update there)" in attrs["range"]


def test_objects_end_before_the_newest_update_and_say_where(net):
    pages = lf.load_updates(net)
    held = lf.load_history(net, source="objects").updates
    last = lf.load_history(net, source="objects", last="20min").updates
    for start, said in (
        ((int(pages.migration_id.max()), pages.record_time.max()), "the last update in its objects"),
        ("2100-01-01", "its objects hold nothing so late"),
    ):
        with pytest.raises(lf.errors.PartialResultError, match=said):
            lf.load_history(net, source="objects", start=start)

    assert len(held) < len(pages)
    assert held.attrs["complete"]
    assert f"{held.record_time.max():%H:%M:%S.%f}Z (the last update in its objects)" in held.attrs["range"]
    assert (len(last) > 0, last.attrs["complete"]) == (True, False)  # `last` counts back from what the objects lack
    assert last.attrs["known_to"] == held.attrs["cursor"]
