"""Which exercise is above which: in preorder, in any other order, in frames that hold events twice or in a circle."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.economics.reading.source import source_of_events
from ledgerframes.economics.reading.tree import Tree


def tree_of(names, parents):
    """The tree of exercises with these ids, and the ids of those above them."""
    count = len(names)
    columns = {
        "event_type": ["exercised_event"] * count, "template_name": ["M:T"] * count, "choice": ["Go"] * count,
        "event_id": names, "parent_event_id": parents,
    }  # fmt: skip
    return Tree.of(source_of_events(pa.table({name: pa.array(one, pa.string()) for name, one in columns.items()})))


@st.composite
def exercises(draw):
    """Ids in preorder or not, each with the id of an earlier one above it, of one that is not there, or none."""
    count = draw(st.integers(0, 12))
    names = [f"u:{number}" for number in range(count)]
    above = [draw(st.sampled_from([None, "elsewhere:1", *names[:number]])) for number in range(count)]
    order = draw(st.permutations(range(count)) | st.just(range(count)))
    return [names[place] for place in order], [above[place] for place in order]


@given(exercises())
def test_the_exercise_above_is_the_one_with_that_id(drawn):
    names, above = drawn
    tree = tree_of(names, above)

    assert tree.parents.tolist() == [names.index(one) if one in names else -1 for one in above]
    asked = pa.chunked_array([pa.array([*names, None, "elsewhere:1", *names[:2]], pa.string())])
    assert tree.places(asked).tolist() == [*range(len(names)), -1, -1, *range(len(names))[:2]]


def test_of_an_exercise_that_is_there_twice_the_first_is_found():
    tree = tree_of(["u:0", "u:1", "v:0", "u:0", "u:1"], [None, "u:0", None, None, "u:0"])

    assert tree.places(pa.chunked_array([["u:1", "u:0"]])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("names", "above"),
    [
        (["u:0", "u:1"], ["u:1", "u:0"]),
        (["u:0"], ["u:0"]),
        (["u:0", "u:1", "u:2", "u:3", "u:4"], ["u:1", "u:0", "u:1", "u:4", None]),
    ],
    ids=["two", "itself", "and one below"],
)
def test_exercises_in_a_circle_are_refused(names, above):
    with pytest.raises(lf.InputError, match="round in a circle"):
        tree_of(names, above)
