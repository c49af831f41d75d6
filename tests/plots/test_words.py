"""Names, numbers, places of labels, intervals, colours and style: the parts all charts are made of."""

from datetime import UTC, datetime

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

import ledgerframes as lf
from ledgerframes.number_format import amount_text, count_text, duration_text, scale_text
from ledgerframes.plot.bins import bins
from ledgerframes.plot.palette import DARK, HUES, LIGHT, hues_of, luminance
from ledgerframes.plot.static.series import time_words
from ledgerframes.short_ids import short_names

# Rows of the usual matrices for colour vision without red and without green receptors, on linear light.
DEUTAN = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
PROTAN = np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]])


def test_a_party_is_its_hint_and_where_several_share_it_also_the_start_of_its_fingerprint():
    alice, other, bob = "alice::1220ab5700" + "0" * 56, "alice::1220cd" + "0" * 60, "bob::1220" + "0" * 64

    assert short_names([alice, bob]) == {alice: "alice", bob: "bob"}
    assert short_names([alice, other, bob]) == {alice: "alice::1220ab…", other: "alice::1220cd…", bob: "bob"}
    with lf.aliases({alice: "Bank A", other: "Bank A"}):  # an alias stands in place of the hint
        assert short_names([alice, other]) == {alice: "Bank A::1220ab…", other: "Bank A::1220cd…"}


@settings(max_examples=80, deadline=None)
@example({"bank::1220" + "0" * 60 + "1", "bank::1220" + "0" * 60 + "2"})
@example({"x" * 200 + "1", "x" * 200 + "2"})
@example({"x" * 100 + "1" + "x" * 100, "x" * 100 + "2" + "x" * 100})
@example({"a\tb", "a\nb"})
@example({"", " "})
@given(st.sets(st.text(alphabet="ab:\n", max_size=60)))
def test_distinct_names_have_distinct_labels(names):
    labels = short_names(names)

    assert set(labels) == names
    assert len(set(labels.values())) == len(names)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999), min_size=1, max_size=30))
def test_every_time_falls_into_a_bin_and_there_are_not_too_many(times):
    instants = np.array(times, dtype=np.int64)

    cut = bins(instants)

    counts = cut.sums(instants, np.zeros(len(instants), dtype=np.int64), 1)[0]
    assert counts.sum() == len(instants)
    assert len(counts) <= 75
    assert cut.edges[0] <= instants.min()
    assert instants.max() < cut.edges[-1]


@pytest.mark.parametrize(
    ("write", "texts"),
    [
        (amount_text, {0: "0", 0.0123: "0.0123", 12.34: "12.3", 999.7: "1,000", 9_999: "9,999", 12_345: "12.3 k",
                       4.56e6: "4.56 M", 7.1e13: "71 tn", -20_000: "-20 k", 1.234e-6: "0.00000123"}),
        (count_text, {7: "7", 99_999: "99,999", 250_000: "250 k"}),
        (lambda value: scale_text(value, 30_000), {0: "0", 6_000: "6 k", 18_000: "18 k"}),
        (lambda value: scale_text(value, 8_000), {6_000: "6,000"}),
        (lambda value: scale_text(value, 1e-6), {2e-7: "0.0000002"}),
        (duration_text, {0.34: "340 ms", 88.4: "1 min 28 s", -88: "-1 min 28 s", 3_599.9: "1 h", 9_000: "2 h 30 min",
                         12_345_678: "143 d", 5e-6: "5 µs", 0: "0 s"}),
    ],
    ids=["amounts of three digits", "whole counts", "an axis in one unit", "a small axis", "a tiny axis", "durations"],
)  # fmt: skip
def test_numbers_are_written_as_they_are_read(write, texts):
    assert {value: write(value) for value in texts} == texts


def lab(colours, vision):
    """CIE Lab of colours as such eyes see them."""
    linear = np.array([[part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(hue)]
                       for hue in colours])  # fmt: skip
    to_xyz = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])
    xyz = np.clip(linear @ vision.T, 0, 1) @ to_xyz.T / (0.9505, 1, 1.0888)
    root = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * root[:, 1] - 16, 500 * (root[:, 0] - root[:, 1]), 200 * (root[:, 1] - root[:, 2])], axis=1)


@pytest.mark.parametrize("tones", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("vision", [np.eye(3), DEUTAN, PROTAN], ids=["full", "no green", "no red"])
def test_hues_can_be_told_apart_and_stand_out_from_their_ground_as_text_does(tones, vision):
    seen, ground = lab((*tones.hues, tones.rest), vision), luminance(tones.ground)

    def contrast(colour):
        ink = luminance(to_rgb(colour))
        return (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05)

    distances = np.linalg.norm(seen[:, None] - seen[None], axis=2)
    assert distances[~np.eye(len(seen), dtype=bool)].min() > 20
    assert contrast(tones.text) > 12
    assert contrast(tones.quiet) > 4.5
    assert min(map(contrast, tones.hues)) > 2


def test_a_colour_is_that_of_the_id_whatever_its_rank():
    names = [f"party-{number}::1220" for number in range(HUES)]

    assert hues_of(names) == hues_of(reversed(names))
    assert sorted(hues_of(names).values()) == list(range(HUES))
    assert hues_of(names[:1])[names[0]] == hues_of([names[0]])[names[0]]
    assert hues_of([*names, "more", "and more"])["more"] is None


@pytest.mark.parametrize(
    ("moments", "words"),
    [
        ("2025-03-03T23:00 2025-03-04T00:00 2025-03-04T01:00", ["23:00\n2025-03-03", "00:00\n2025-03-04", "01:00"]),
        ("2024-12-15 2025-01-01 2025-01-15", ["15 Dec\n2024", "1 Jan\n2025", "15 Jan"]),
        ("2024-11-01 2024-12-01 2025-01-01", ["Nov\n2024", "Dec", "Jan\n2025"]),
        ("2024-01-01 2025-01-01", ["2024", "2025"]),
        ("2025-03-03T10:00:00 2025-03-03T10:00:30", ["10:00:00\n2025-03-03", "10:00:30"]),
    ],
    ids=["hours", "days", "months", "years", "seconds"],
)
def test_the_first_tick_of_a_time_axis_has_its_date(moments, words):
    assert time_words([datetime.fromisoformat(one).replace(tzinfo=UTC) for one in moments.split()]) == words


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_style_that_there_is_holds_within_its_block_only_may_be_entered_again_and_is_left_after_an_error(theme):
    before, style = dict(mpl.rcParams), lf.plot.style(theme, scale=1.4)

    with style, pytest.raises(ZeroDivisionError), style:
        _ = 1 / 0
    assert dict(mpl.rcParams) == before
    with style as look:
        assert mpl.rcParams["font.size"] == 14
        assert (luminance(to_rgb(mpl.rcParams["figure.facecolor"])) < 0.1) == (theme == "dark")
        assert plt.figure().get_facecolor()[:3] == pytest.approx(to_rgb(look.rc["figure.facecolor"]))
    assert dict(mpl.rcParams) == before
    for wrong in (("sepia", 1), ("light", 0), ("light", 9)):
        with pytest.raises(lf.errors.InputError, match=r"theme=|scale="):
            lf.plot.style(wrong[0], scale=wrong[1])
