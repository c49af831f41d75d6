"""Labels and aliases of parties: from which sources they come, the user's own first, and what is refused."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.session_names import alias_of, all_aliases

ALICE, BOB = "alice::1220ab", "bob::1220cd"


@pytest.fixture(scope="module")
def known(world):
    """What the history says without labels of one's own."""
    return lf.labels(None, world[1])


def expected(history):
    """What the events say, read from their JSON: the kind and the name of each party."""
    kinds, names = {}, {}
    templates = {"Splice.Ans:AnsEntry": ("user", "name"), "Splice.ValidatorLicense:ValidatorLicense":
                 ("validator", "validator"), "Splice.Amulet:FeaturedAppRight": ("provider", "app")}  # fmt: skip
    creates = history.events[history.events.event_type == "created_event"]
    for template, (member, kind) in templates.items():
        for payload in map(json.loads, creates.payload[creates.template_name == template]):
            kinds.setdefault(payload[member], set()).add(kind)
            if kind == "name":
                names[payload["user"]] = min(payload["name"], names.get(payload["user"], "~"))
    for payload in map(json.loads, creates.payload[creates.template_name == "Splice.DsoRules:DsoRules"]):
        for party, member in payload["svs"]:
            kinds.setdefault(party, set()).add("super validator")
            names.setdefault(party, member["name"])
    order = ("super validator", "app", "validator", "name")
    return {
        party: (names.get(party) or party.partition("::")[0], min(of, key=order.index)) for party, of in kinds.items()
    }


def test_a_history_and_a_lake_know_names_super_validators_apps_and_validators(world, known):
    _, history, store = world

    assert known.columns.to_list() == ["party", "label", "kind", "source"]
    assert known.party.is_monotonic_increasing
    assert known.party.is_unique
    assert dict(zip(known.party, zip(known.label, known.kind, strict=True), strict=True)) == expected(history)
    assert set(known.kind) == {"super validator", "app", "validator", "name"}
    assert set(known.source) == {"history"}
    assert lf.labels(None, store).equals(known)


def test_a_network_knows_what_its_scan_lists_and_no_contact_points(world):
    net, *_ = world
    found = lf.labels(None, net).set_index("party")

    names = lf.load_names(net).drop_duplicates("party").set_index("party").name
    assert found.label[names.index].to_list() == names.to_list()
    assert set(found.index) == {
        *names.index, *lf.load_super_validators(net).party, *lf.load_featured_apps(net).provider,
        *lf.load_licenses(net).validator,
    }  # fmt: skip
    assert set(found[found.kind == "super validator"].index) == {*lf.load_super_validators(net).party}
    assert set(found.source) == {"scan"}
    assert not found.label.str.contains("@").any()


@pytest.mark.long(quick=2)
@pytest.mark.parametrize(
    "form", ["file", pl.DataFrame, pa.table, pd.DataFrame], ids=["file", "polars", "Arrow", "pandas"]
)
def test_own_labels_win_and_take_their_kind_from_the_data_where_they_have_none(world, known, tmp_path, form):
    party = known.party[known.kind == "app"].iloc[0]
    rows = {"party": [party, ALICE], "label": [" Mine ", "Alice Bank"], "kind": ["", "customer"], "note": ["x", "y"]}
    file = tmp_path / "mine.csv"
    pd.DataFrame(rows).to_csv(file, index=False, encoding="utf-8-sig")

    rows = {name: [*cells, cells[0]] for name, cells in rows.items()}  # twice with one label is once
    found = lf.labels(file if form == "file" else form(rows), world[1]).set_index("party")

    source = "mine.csv" if form == "file" else "own"
    assert found.loc[party].to_list() == ["Mine", "app", source]
    assert found.loc[ALICE].to_list() == ["Alice Bank", "customer", source]
    assert len(found) == len(known) + 1
    assert lf.labels(pd.DataFrame(rows)).party.is_monotonic_increasing


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("party,name\na::1,A\n", "lacks the column(s) label; it has party, name"),
        (
            "party;label\na::1;A\n",
            "lacks the column(s) party, label; it has party;label; give party and label, separated",
        ),
        ("", "lacks the column(s) party, label; it has none"),
        ("party,label\na::1,A\na::1,B\n", "'a::1' has two labels, 'A' and 'B'; keep one of them"),
        ("party,label\na::1,A\n,B\n", "row 3 has no party"),
        ("party,label\na::1,\n", "row 2 has no label"),
        (f"party,label\na::1,{'A' * 201}\n", "has 201 characters; give 200 at most"),
        ("party,label\na::1,Smith, Jones and Co\n", "row 2 has more cells than the 2 columns"),
        ("party,label,label\na::1,A,B\n", "has two columns 'label'"),
        (b"party,label\na::1,\xff\n", "cannot be read from"),
        (None, "No such file or directory"),
        (3, "give a CSV file or a frame"),
    ],
    ids=["column", ";", "empty", "twice", "no-party", "no-label", "long", "comma", "again", "Latin", "absent", "5"],
)
def test_a_bad_file_is_refused_with_what_to_do(tmp_path, text, said):
    file = tmp_path / "labels.csv"
    if isinstance(text, str | bytes):
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(lf.errors.InputError) as caught:
        lf.labels(3 if text == 3 else file)
    assert said in str(caught.value)


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


def test_the_names_of_the_network_are_taken_as_they_are_loaded(world):
    names = lf.load_names(world[0])
    named = lf.aliases(names).names
    assert named == names.dropna(subset="party").drop_duplicates("party").set_index("party")["name"].to_dict()


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
    lf.aliases()
    assert all_aliases() == {}


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
