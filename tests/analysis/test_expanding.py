"""Payloads and results as typed columns, held against json.loads row by row; nothing rounded, nothing lost."""

import json
import re
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ledgerframes as lf
from tests.economics.histories import frame_of, known, table_of
from tests.economics.items import create, exercise, update
from tests.economics.payments import coin, output, result, transfer

COIN = "Splice.Amulet:Amulet"


def at(payload, path):
    """What a payload has at a dotted path; None if nothing."""
    for step in re.split(r"(?<!\\)\.", path):
        name = "" if step == '""' else step.replace("\\.", ".")
        if not isinstance(payload, dict) or name not in payload:
            return None
        payload = payload[name]
    return payload


def same(cell, value):
    """Whether a cell says the same as a JSON value."""
    if value is None:
        return cell is None or cell is pd.NA or cell != cell
    if isinstance(cell, Decimal):
        return cell == Decimal(value)
    if isinstance(cell, pd.Timestamp):
        return cell == pd.Timestamp(value)
    if isinstance(value, dict | list):
        return json.loads(cell, parse_float=Decimal) == value
    if isinstance(value, bool):
        return cell == value if not isinstance(cell, str) else json.loads(cell) == value
    return str(cell) == str(value) or json.loads(cell, parse_float=Decimal) == value


@pytest.mark.long(quick=1)
def test_every_template_expands_to_what_its_payloads_say(served):
    events = served.history.events
    created = events[events.event_type == "created_event"]
    for template in created.template_name.dropna().unique():
        found = lf.expand(events, template=template)
        payloads = [json.loads(one, parse_float=Decimal) for one in created[created.template_name == template].payload]
        assert len(found) == len(payloads)
        for path in found.columns[5:]:
            for cell, payload in zip(found[path], payloads, strict=True):
                assert same(cell, at(payload, path.removeprefix("payload.") if path.startswith("payload.") else path))


def test_types_are_the_narrowest_that_hold_everything_and_fields_come_in_their_order(normal):
    fields = ["owner", "amount", "amount.initialAmount", "amount.createdAt.number"]
    found = lf.expand(normal.history.events, template=COIN, fields=fields)
    assert list(found.columns[5:]) == fields
    assert {type(one) for one in found["amount.initialAmount"]} == {Decimal}
    assert found["amount.createdAt.number"].dtype == "Int64"
    assert found.owner.dtype == "str"
    assert json.loads(found.amount[0])["initialAmount"] == str(found["amount.initialAmount"][0])
    plain = lf.expand(normal.history.events, template=COIN, infer=False)
    assert plain["amount.createdAt.number"].dtype == "str"
    described = lf.template_catalogue(normal.history.events).set_index("template_name").fields[COIN]
    kinds = {"amount.initialAmount": "amount", "amount.createdAt.number": "int64", "owner": "text"}
    assert kinds.items() <= described.items()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"template": "Splice.Amulet:Amulett"}, "did you mean 'Splice.Amulet:Amulet'"),
        ({"template": COIN, "fields": ["amount.initialAmont"]}, "did you mean 'amount.initialAmount'"),
        ({"template": COIN, "fields": "owner"}, r'fields="owner": give a list'),
        ({"template": COIN, "choice": "Fly"}, "Archive"),
    ],
    ids=["template", "field", "text", "choice"],
)
def test_a_wrong_argument_is_named(normal, arguments, message):
    with pytest.raises(lf.errors.InputError, match=message):
        lf.expand(normal.history.events, **arguments)


def test_no_events_give_no_rows(normal):
    assert lf.expand(normal.history.events.head(0), template=COIN, fields=["owner"]).empty
    assert lf.template_catalogue(normal.history.events.head(0)).empty


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.text(max_size=8)
    | st.decimals(allow_nan=False, allow_infinity=False, places=12).map(str)
    | st.sampled_from(["2024-01-01T00:00:00Z", "2024-02-30T00:00:00Z", "1.5", "7", "007", "-0", "0E-10", "null", '"']),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("abcd"), values, max_size=4), min_size=1, max_size=8))
def test_whatever_the_payloads_are_the_columns_say_the_same(payloads):
    events = made_up(payloads)
    found = lf.expand(events, template="M:T", decimals="exact")
    for path in found.columns[5:]:
        for cell, payload in zip(found[path], payloads, strict=True):
            value = at(payload, path)
            if isinstance(cell, str) and not isinstance(value, str):
                assert json.loads(cell) == value
            else:
                assert same(cell, value), (path, cell, value)
    undivided = {name for payload in payloads for name, one in payload.items() if not isinstance(one, dict) and one}
    assert set(found.columns[5:]) >= undivided


def made_up(payloads):
    """Create events with these payloads."""
    nodes = [create("M:T", str(number), payload) for number, payload in enumerate(payloads)]
    return frame_of([update("u", 0, *nodes)])


@pytest.mark.long(quick=1)
def test_the_catalogue_counts_what_is_there(served):
    catalogue = lf.template_catalogue(served.history.events).set_index("template_name")
    events = served.history.events
    for template, row in catalogue.iterrows():
        own = events[events.template_name == template]
        assert row.creates == (own.event_type == "created_event").sum()
        assert row.exercises == own.choice.notna().sum()
        assert row.choices == own.choice.dropna().value_counts().to_dict()
        assert row.consuming == own.consuming.fillna(False).sum()  # noqa: FBT003
        assert row.first_record_time == own.record_time.min()


PARTIES = {f"party::{number}": "1" for number in range(501)}
#: Payloads, and the columns that they become.
PAYLOADS = {
    "no record stays whole beside the others": (
        ['{"a":"1.5","payload":"own"}', '["b"]', '"c"', '{"a":"2.5"}'],
        {"a": [Decimal("1.5"), None, None, Decimal("2.5")], "payload": [None, '["b"]', '"c"', None],
         "payload.payload": ["own", None, None, None]},
    ),
    "a map stays JSON and a record does not": (
        [json.dumps({"map": PARTIES, "record": {"a": "1"}}, separators=(",", ":"))],
        {"map": [json.dumps(PARTIES, separators=(",", ":"))], "record.a": [1]},
    ),
    "members of odd names": (
        ['{"":"x","a":{"":"1.5","b":"2"},"a\\"b":"x"}', '{"a":{"b":"3"}}'],
        {'""': ["x", None], 'a.""': [Decimal("1.5"), None], "a.b": [2, 3], 'a"b': ["x", None]},
    ),
    # Codes with leading zeros are no numbers, and numbers beyond any type stay as they are spelled.
    **{
        f"text of {name}": ([f'{{"a":{text}}}' for text in texts], {"a": [text.strip('"') for text in texts]})
        for name, texts in {
            "codes": ['"007"', '"012"'], "a code and an amount": ['"007"', '"1.5"'], "one twice": ['"1"', '"01"'],
            "large": ["1E400"], "small": ["-1e-400"], "too large": ["1e999999999999999999999"], "long": ["9" * 5_000],
        }.items()
    },
}  # fmt: skip


@pytest.mark.parametrize(("payloads", "columns"), PAYLOADS.values(), ids=PAYLOADS)
def test_payloads_become_columns(payloads, columns):
    events = made_up([{}] * len(payloads)).assign(payload=payloads)

    for fields in (None, [name for name in columns if "payload" not in name]):
        found = lf.expand(events, template="M:T", fields=fields, decimals="exact")
        assert sorted(found.columns[5:]) == sorted(columns if fields is None else fields)
        rows = {name: [one for (one,) in known(found, name)] for name in found.columns[5:]}
        assert rows == {name: columns[name] for name in rows}


def test_a_member_that_comes_late_gets_its_column():
    payloads = [{"a": "x", "r": {"b": "1"}}] * 50_001 + [
        {"late": True, "r": {"c": None, 'q"': "2"}},
        {"r": "no record"},
    ]
    events = made_up(payloads[-3:]).iloc[[0] * 50_001 + [1, 2]].reset_index(drop=True)
    found = lf.expand(events, template="M:T")
    assert list(found.columns[5:]) == ["a", "r", "late"]
    assert found.late.tolist()[-3:] == [pd.NA, True, pd.NA]
    assert [json.loads(one) for one in found.r[-3:]] == [{"b": "1"}, {"c": None, 'q"': "2"}, "no record"]


@pytest.mark.parametrize(
    ("text", "fields"), [('{"a":', None), ('{"a":1}{"a":2}', ["a"]), ('{"a":01}', None), ('{"a":1} x', ["a"])]
)
def test_a_payload_that_is_no_json_is_named(text, fields):
    with pytest.raises(lf.errors.InputError, match=re.escape(repr(text))):
        lf.expand(made_up([{}] * 2).assign(payload=['{\n "a":\n "1"\n}', text]), template="M:T", fields=fields)


def test_many_rows_are_read_in_parts_and_come_in_their_order():
    payloads = [f'{{"a":"{number}","r":{{"b":"{number}.5"}},"c":{{"contactPoint":"x"}}}}' for number in range(29_999)]
    payloads.append('{"a":"29999","r":"no record","c":{"contactPoint":"me@example.com"}}')
    few = made_up([{}])
    events = pa.Table.from_pandas(few.iloc[[0] * 30_000].assign(payload=payloads), preserve_index=False)
    chunks = pa.Table.from_batches(events.to_batches(max_chunksize=7_000))

    found = lf.expand(chunks, template="M:T", fields=["a", "c"])

    assert found["a"].to_pylist() == list(range(30_000))
    assert found["c"].unique().to_pylist() == ["{}"]
    with pytest.raises(lf.errors.InputError, match=r"no create of M:T has 'r\.b'"):  # the last is a value
        lf.expand(chunks, template="M:T", fields=["a", "r.b"])
    found = lf.expand(chunks.slice(0, 29_999), template="M:T", fields=["r.b"])
    assert found["r.b"].to_pylist() == [Decimal(f"{number}.5") for number in range(29_999)]


RULES, COUPON = "Splice.AmuletRules:AmuletRules", "Splice.Amulet:AppRewardCoupon"
MOVED = exercise(
    RULES, "r", "AmuletRules_Transfer", transfer("alice", [], [output("bob", "1.0")]),
    result(7, inputAmuletAmount="5.0"),
)  # fmt: skip
EVENTS = frame_of([update("u", 0, MOVED, create(COIN, "c", coin("alice", "5.0")))])


def test_the_results_of_a_choice_become_columns():
    (row,) = lf.expand(EVENTS, template=RULES, choice="AmuletRules_Transfer", of="result").to_dict("records")

    assert (row["round.number"], row["summary.inputAmuletAmount"]) == (7, Decimal(5))
    assert row["event_id"] == "u:0"


def test_arguments_are_the_default_of_a_choice_and_creates_without_one():
    options = {"template": RULES, "choice": "AmuletRules_Transfer"}
    assert lf.expand(EVENTS, **options).equals(lf.expand(EVENTS, of="argument", **options))
    assert lf.expand(EVENTS, template=COIN).equals(lf.expand(EVENTS, template=COIN, of="create"))
    for wrong in ({"of": "result"}, {"of": "argument"}, {"of": "create", "choice": "AmuletRules_Transfer"}):
        with pytest.raises(lf.errors.InputError, match="do not go together"):
            lf.expand(EVENTS, template=RULES, **wrong)
    events = frame_of([update("u", 0, exercise("A:A", "a", "Go", {}, "done"))])
    assert lf.expand(events, template="A:A", choice="Go", of="result").payload.tolist() == ['"done"']


def test_the_steps_of_a_path_can_be_joined_otherwise_unless_two_fields_get_one_name():
    found = lf.expand(EVENTS, template=COIN, sep="_", fields=["owner", "amount.createdAt.number"])
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
        found = lf.expand(EVENTS, template=COIN, fields=["amount.initialAmount"], decimals=decimals)
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
        create(COIN, "c", coin("alice", "5.0")), create(COUPON, "c", {"provider": "p", "round": None}),
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
