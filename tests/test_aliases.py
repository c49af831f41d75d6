"""Names for ids: from which sources they come, how long they hold, and what is refused."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.session_names import alias_of, all_aliases

ALICE, BOB = "alice::1220ab", "bob::1220cd"
ROWS = {"id": [ALICE, None, BOB, ALICE], "alias": ["Alice", "nobody", None, "second"]}


@pytest.fixture(autouse=True)
def _no_aliases():
    lf.aliases()
    yield
    lf.aliases()


@pytest.mark.parametrize(
    "source",
    [{ALICE: "Alice"}, pd.DataFrame(ROWS), pa.table(ROWS), pl.DataFrame(ROWS), [{ALICE: "A"}, {ALICE: " Alice "}]],
    ids=["dictionary", "pandas", "Arrow", "polars", "list"],
)
def test_names_come_from_any_source_and_the_later_source_counts(source):
    assert lf.aliases(source).names == {ALICE: "Alice"}
    assert alias_of(ALICE) == "Alice"
    assert alias_of(BOB) is None


def test_the_names_of_the_network_are_taken_as_they_are_loaded():
    with lf.sandbox(updates=200) as net:
        names = lf.load_names(net)
    named = lf.aliases(names).names
    assert named == names.dropna(subset="party").drop_duplicates("party").set_index("party")["name"].to_dict()


def test_names_hold_until_the_next_call_or_to_the_end_of_a_block():
    lf.aliases({ALICE: "Alice"})
    with lf.aliases({BOB: "Bob"}):
        assert all_aliases() == {BOB: "Bob"}
    assert all_aliases() == {ALICE: "Alice"}
    lf.aliases()
    assert all_aliases() == {}


def test_a_block_has_its_own_names_whatever_was_called_since():
    first = lf.aliases({ALICE: "Alice"})
    lf.aliases({BOB: "Bob"})

    for _ in range(2):
        with first as named:
            assert all_aliases() == named.names == {ALICE: "Alice"}
            with first:
                assert all_aliases() == {ALICE: "Alice"}
            assert all_aliases() == {ALICE: "Alice"}
        assert all_aliases() == {BOB: "Bob"}


@pytest.mark.parametrize(
    "wrong",
    [5, "alice", {ALICE: 5}, {5: "x"}, {ALICE: " "}, {ALICE: "x" * 201}, pd.DataFrame({"party_id": ["a"]}), [5]],
    ids=["number", "text", "name", "id", "blank", "long", "columns", "list"],
)
def test_what_gives_no_names_is_refused_and_changes_nothing(wrong):
    lf.aliases({ALICE: "Alice"})
    with pytest.raises(lf.errors.InputError, match="aliases"):
        lf.aliases(wrong)
    assert all_aliases() == {ALICE: "Alice"}
