"""`lf.expand` of arguments and results, with declared types, other forms of amounts, and other separators."""

from decimal import Decimal

import pyarrow as pa
import pytest

import ledgerframes as lf
from tests.economics.histories import coin, create, exercise, frame_of, output, result, table_of, transfer, update

RULES, AMULET = "Splice.AmuletRules:AmuletRules", "Splice.Amulet:Amulet"
COUPON = "Splice.Amulet:AppRewardCoupon"
MOVED = exercise(
    RULES, "r", "AmuletRules_Transfer", transfer("alice", [], [output("bob", "1.0")]),
    result(7, inputAmuletAmount="5.0"),
)  # fmt: skip
EVENTS = frame_of([update("u", 0, MOVED, create(AMULET, "c", coin("alice", "5.0")))])


def test_the_results_of_a_choice_become_columns():
    (row,) = lf.expand(EVENTS, template=RULES, choice="AmuletRules_Transfer", of="result").to_dict("records")

    assert (row["round.number"], row["summary.inputAmuletAmount"]) == (7, Decimal(5))
    assert row["event_id"] == "u:0"


def test_arguments_are_the_default_of_a_choice_and_creates_without_one():
    options = {"template": RULES, "choice": "AmuletRules_Transfer"}
    assert lf.expand(EVENTS, **options).equals(lf.expand(EVENTS, of="argument", **options))
    assert lf.expand(EVENTS, template=AMULET).equals(lf.expand(EVENTS, template=AMULET, of="create"))
    for wrong in ({"of": "result"}, {"of": "argument"}, {"of": "create", "choice": "AmuletRules_Transfer"}):
        with pytest.raises(lf.errors.InputError, match="do not go together"):
            lf.expand(EVENTS, template=RULES, **wrong)
    events = frame_of([update("u", 0, exercise("A:A", "a", "Go", {}, "done"))])
    assert lf.expand(events, template="A:A", choice="Go", of="result").payload.tolist() == ['"done"']


def test_the_steps_of_a_path_can_be_joined_otherwise_unless_two_fields_get_one_name():
    found = lf.expand(EVENTS, template=AMULET, sep="_", fields=["owner", "amount.createdAt.number"])
    assert list(found.columns[5:]) == ["owner", "amount_createdAt_number"]
    events = frame_of([update("u", 0, create("A:A", "a", {"a": {"b": 1}, "a_b": 2}))])
    with pytest.raises(lf.errors.InputError, match=r"sep='_' is not valid here: two fields would be named 'a_b'"):
        lf.expand(events, template="A:A", sep="_")
    assert len(lf.expand(events, template="A:A", sep=".").columns) == 7

    # One of the name of a column is prefixed.
    events = frame_of([update("u", 0, create("A:A", "a", {"contract": {"id": "x"}, "payload": "y"}))])
    found = lf.expand(events, template="A:A", sep="_")
    assert list(found.columns[5:]) == ["payload_contract_id", "payload_payload"]


def test_amounts_come_in_every_form():
    for decimals, kind in {"exact": Decimal, "string": str, "float": float}.items():
        found = lf.expand(EVENTS, template=AMULET, fields=["amount.initialAmount"], decimals=decimals)
        assert isinstance(found["amount.initialAmount"][0], kind)


def coupon(**values):
    return {"provider": "p", "featured": True, "amount": "1.5", "round": {"number": "3"}, "beneficiary": None} | values


def test_a_declared_column_has_one_type_whatever_the_rows_are():
    for amount in ("1.5", "2", None, "0E-10"):
        found = lf.expand(table_of([update("u", 0, create(COUPON, "c", coupon(amount=amount)))]), template=COUPON)
        types = (found.schema.field(name).type for name in ("amount", "beneficiary", "round.number"))
        assert [*types] == [pa.decimal128(38, 10), pa.string(), pa.int64()]


def test_a_known_template_has_its_declared_columns_whatever_the_events_hold():
    nodes = (
        create(COUPON, "c", coupon(dso="d")), exercise(COUPON, "c", "Archive", {}),
        create(AMULET, "c", coin("alice", "5.0")), create(COUPON, "c", {"provider": "p", "round": None}),
    )  # fmt: skip
    for infer in (True, False):
        found = [lf.expand(table_of([update("u", 0, node)]), template=COUPON, infer=infer).schema for node in nodes]
        whole, *others = ({field.name: field.type for field in schema} for schema in found)
        assert others == [whole] * 3


def test_the_arguments_of_a_known_choice_have_their_columns_without_an_exercise_of_it():
    options = {"template": RULES, "choice": "AmuletRules_BuyMemberTraffic"}

    assert {"provider", "trafficAmount"} <= {*lf.expand(EVENTS, **options).columns}
    assert {"amuletPaid", "round.number"} <= {*lf.expand(EVENTS, of="result", **options).columns}
    with pytest.raises(lf.errors.InputError, match="choice='AmuletRules_Buy'"):
        lf.expand(EVENTS, template=RULES, choice="AmuletRules_Buy")


def test_what_does_not_fit_its_declared_type_stays_as_it_is():
    rows = table_of([update("u", 0, create(COUPON, "c", coupon(amount="plenty", provider="7")))])

    for infer in (True, False):
        assert lf.expand(rows, template=COUPON, infer=infer)["amount"].to_pylist() == ["plenty"]
