"""A few hundred cases of the long fuzz, the same ones each time."""

import pytest

from docs.endpoints import CALLS
from tests.fuzz.answers import TOLERATED, name_of, run_case
from tests.fuzz.corpus import gather
from tests.fuzz.targets import TARGETS

pytestmark = [pytest.mark.filterwarnings(f"ignore::{one.__module__}.{one.__name__}") for one in TOLERATED]


@pytest.fixture(scope="module")
def corpus():
    return gather()


@pytest.mark.long
def test_every_endpoint_has_an_answer_to_be_broken(corpus):
    assert {call.name for call in CALLS} <= corpus.answers.keys()


@pytest.mark.long
def test_broken_answers_end_right_or_in_errors_of_the_package(corpus):
    met = set()
    for number in range(400):
        run_case(corpus, 7, number, None)
        met.add(name_of(7, number, None))
    assert met == set(TARGETS)
