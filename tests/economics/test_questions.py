"""The questions of notebooks/10_economics.ipynb: an answer is that of events or rows in plain Python."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import matplotlib as mpl
import msgspec
import pandas as pd
import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.decoding.history import decode_items
from ledgerframes.frames import shape
from ledgerframes.showing import Shown
from ledgerframes.tables.history import EVENTS, REASSIGNMENTS, UPDATES
from ledgerframes.types import History
from tests.economics.histories import captured_items, incomplete

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "10_economics.ipynb"


def cells() -> dict[int, str]:
    """The code that answers each question: the first code cell under its heading; the set-up is number 0."""
    found: dict[int, str] = {}
    number = 0
    for cell in json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        heading = re.match(r"## (\d+)\. ", text)
        if heading:
            number = int(heading[1])
        elif cell["cell_type"] == "code":
            found.setdefault(number, text)
    return found


def run(code: str, names: dict[str, Any]) -> Any:
    """Run a cell, and return the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), names) if isinstance(last, ast.Expr) else None
    return value.frame if isinstance(value, Shown) else value


class Answers:
    """The answers of all cells, and the raw events they are compared with."""

    def __init__(self) -> None:
        mpl.use("Agg")
        self.names: dict[str, Any] = {}
        self.of = {number: run(code, self.names) for number, code in sorted(cells().items())}
        self.net = self.names["net"]
        history = self.names["history"]
        self.updates, self.reassignments = history.updates, history.reassignments
        self.events: list[dict[str, Any]] = history.events.to_dict("records")
        self.ended = {one["contract_id"] for one in self.events if one["consuming"] is True}
        self.rewards, self.coins = (table(history, as_="arrow").to_pylist() for table in (lf.rewards, lf.coin_history))

    def created(self, name: str) -> list[tuple[str, dict[str, Any]]]:
        """Contract id and arguments of the creates of a template."""
        return [
            (one["contract_id"], json.loads(one["payload"]))
            for one in self.events
            if one["event_type"] == "created_event" and one["template_name"].endswith(f":{name}")
        ]

    def exercised(self, *choices: str) -> list[tuple[dict[str, Any], dict[str, Any], Any]]:
        """Event, argument and result of the exercises of some choices."""
        return [
            (one, json.loads(one["payload"]), json.loads(one["exercise_result"]))
            for one in self.events
            if one["choice"] in choices
        ]


@pytest.fixture(scope="module")
def answers() -> Iterator[Answers]:
    known = Answers()
    yield known
    known.net.close()


@incomplete
def test_every_question_is_asked_of_a_real_page_and_what_it_lacks_is_said(captures: Path) -> None:  # noqa: ARG001
    items = captured_items()
    attrs = {"complete": True, "from_beginning": False, "start": items[0]["record_time"], "range": "a real page"}
    batches = decode_items([msgspec.json.encode(item) for item in items], endpoint="POST /v2/updates").batches
    tables = (UPDATES, EVENTS, REASSIGNMENTS)
    frames = [shape(pa.Table.from_batches([batches[table.name]], table.schema), table) for table in tables]
    for frame in frames:
        frame.attrs.update(attrs)
    names: dict[str, Any] = {"json": json, "lf": lf, "pd": pd, "history": lf.types.History(*frames)}

    with lf.sandbox(updates=300) as net:
        names |= {"net": net, "start": "begin", "opening": "nothing"}
        found = {number: run(code, names) for number, code in sorted(cells().items()) if number}

    assert (found[7], found[18]["growth"]) == (
        "nobody bought traffic in this range", "needs a history from ledger begin",
    )  # fmt: skip
    assert not len(found[19])
    # Nothing that is not known is 0: neither a kind's sum nor an application's.
    unknown = found[2]["sum"].isna().sum() + found[4].coin.isna().sum()
    assert unknown
    assert not (found[2]["sum"] == 0).any()
    assert found[8].notna().any()


def floats(amounts: Any) -> Any:
    """What the notebook's floats have to be, given exact amounts: a sum of floats may differ in the last digits."""
    if isinstance(amounts, dict):
        return pytest.approx({key: float(amount) for key, amount in amounts.items()}, rel=1e-12, abs=0)
    return pytest.approx(float(amounts), rel=1e-12, abs=0)


def test_there_are_24_questions_of_five_lines_at_most() -> None:
    found = cells()

    assert sorted(found) == list(range(25))
    assert {number: code for number, code in found.items() if number and len(code.splitlines()) > 5} == {}


def test_1_claimed_rewards_are_by_party_round_and_kind(answers: Answers) -> None:
    claimed = defaultdict(Decimal)
    for row in answers.rewards:
        if row["outcome"] == "claimed":
            claimed[row["beneficiary"], row["round"], row["kind"]] += row["amount"]

    found = {
        (who, None if pd.isna(number) else number, kind): amount
        for (who, number, kind), amount in answers.of[1].items()
    }

    assert found == floats(claimed)
    assert {kind for *_, kind in claimed} >= {"app", "sv", "development_fund"}


def test_2_what_expired_and_is_open_is_by_day_and_provider(answers: Answers) -> None:
    sizes: Counter[tuple[Any, ...]] = Counter()
    # A sum of which no coupon's worth is known is unknown, not 0.
    sums: dict[tuple[Any, ...], Decimal | None] = defaultdict(lambda: None)
    for row in answers.rewards:
        if row["outcome"] in {"expired", "open"}:
            day = pd.Timestamp(row["ended_at"] or row["created_at"]).floor("D")
            key = (row["outcome"], row["kind"], day, row["provider"])
            sizes[key] += 1
            sums[key] = sums[key] if row["amount"] is None else (sums[key] or 0) + row["amount"]

    lost = answers.of[2]

    assert lost["size"].to_dict() == sizes
    assert lost["sum"].dropna().to_dict() == floats({key: sums[key] for key in sizes if sums[key] is not None})
    assert None in sums.values()
    assert lost.loc["expired", "sum"].sum() > 0
    assert len(lost.loc["open"]) > 0


def test_3_weights_and_missed_rounds_are_those_of_the_coupons(answers: Answers) -> None:
    coupons = [payload for _, payload in answers.created("SvRewardCoupon")]
    seen = defaultdict(set)
    for coupon in coupons:
        seen[coupon["sv"]].add(coupon["round"]["number"])
    phases = (answers.created(f"{phase}MiningRound") for phase in ("Open", "Closed"))
    whole = set.intersection(*({payload["round"]["number"] for _, payload in phase} for phase in phases))
    rounds = set().union(*seen.values()) & whole
    last = {(coupon["sv"], coupon["beneficiary"]): int(coupon["weight"]) for coupon in coupons}

    assert answers.of[3].weight.astype(int).to_dict() == last
    assert answers.of[3].missed.groupby("sv").first().to_dict() == {
        sv: len(rounds) - len(own & whole) for sv, own in seen.items()
    }


def test_4_applications_have_their_coupons_and_markers(answers: Answers) -> None:
    coupons = Counter((payload["provider"], payload["featured"]) for _, payload in answers.created("AppRewardCoupon"))
    markers = Counter(payload["provider"] for _, payload in answers.created("FeaturedAppActivityMarker"))

    assert answers.of[4].coupons.to_dict() == coupons
    assert answers.of[4].markers.dropna().groupby("provider").first().to_dict() == markers


def test_5_the_last_supply_is_the_registry_s(answers: Answers) -> None:
    days = answers.of[5]
    instruments = lf.load_instruments(answers.net).set_index("instrument_id")

    assert days.total.iloc[-1] == instruments.total_supply["Amulet"]
    assert days.minted.sum() - days.burned.sum() == floats(days.total.iloc[-1])


def test_6_and_7_traffic_is_what_was_bought(answers: Answers) -> None:
    bytes_of, paid, members = Counter[str](), defaultdict(Decimal), Counter[str]()
    for _, argument, result in answers.exercised("AmuletRules_BuyMemberTraffic"):
        bytes_of[argument["provider"]] += int(argument["trafficAmount"])
        members[argument["memberId"]] += int(argument["trafficAmount"])
        paid[argument["provider"]] += Decimal(result["amuletPaid"])

    left = answers.of[7].set_index("member")

    assert answers.of[6].bytes.to_dict() == bytes_of
    assert answers.of[6].amount.to_dict() == floats(paid)
    assert left.total_purchased.to_dict() == members
    assert (left.left + left.total_consumed == left.total_purchased).all()


def test_8_the_price_is_that_of_the_open_rounds(answers: Answers) -> None:
    stated = {
        int(payload["round"]["number"]): Decimal(payload["amuletPrice"])
        for _, payload in answers.created("OpenMiningRound")
    }

    assert answers.of[8].dropna().to_dict() == {number: float(price) for number, price in stated.items()}


def test_9_markers_are_converted_once_their_contract_ends(answers: Answers) -> None:
    created, converted = Counter[str](), Counter[str]()
    for contract_id, payload in answers.created("FeaturedAppActivityMarker"):
        created[payload["provider"]] += 1
        converted[payload["provider"]] += contract_id in answers.ended

    assert answers.of[9].created.to_dict() == created
    assert answers.of[9].converted.to_dict() == converted
    assert sum(converted.values()) > 0
    # Whether some wait where the history ends is chance: they do where it ends with the one that was marked last.
    events = answers.names["history"].events
    last = events[events.contract_id == [one for one, _ in answers.created("FeaturedAppActivityMarker")][-1]]
    part = History(answers.updates, events[events.record_time <= last.record_time.min()], answers.reassignments)
    then = run(cells()[9], {**answers.names, "history": part}).sum()
    assert then.created == sum(created.values()) > then.converted


@pytest.mark.long
def test_10_activity_is_summed_by_round_and_provider(answers: Answers) -> None:
    _, _, activity = lf.load_verdicts(answers.net, start="begin", as_="arrow", progress=False)
    weights = Counter[tuple[int, str]]()
    for row in activity.select(["round_number", "party", "weight"]).to_pylist():
        weights[row["round_number"], row["party"]] += row["weight"]

    assert answers.of[10].to_dict() == weights


@pytest.mark.long
def test_11_rejections_and_times_are_those_of_the_verdicts(answers: Answers) -> None:
    verdicts, _, _ = lf.load_verdicts(answers.net, start="begin", as_="arrow", progress=False)
    results, seconds = defaultdict(list), defaultdict(list)
    for row in verdicts.to_pylist():
        results[row["submitting_participant_uid"]].append("REJECTED" in row["result"])
        taken = row["finalization_time"] - row["record_time"]
        seconds[row["submitting_participant_uid"]].append(taken.total_seconds())

    for name, row in answers.of[11].iterrows():
        assert row["rejected"] == sum(results[name]) > 0
        assert row["share"] == pytest.approx(sum(results[name]) / len(results[name]))
        ordered = sorted(seconds[name])
        assert sum(taken <= row[0.5] for taken in ordered) == pytest.approx(len(ordered) / 2, abs=1)
        assert sum(taken <= row[0.99] for taken in ordered) == pytest.approx(len(ordered) * 0.99, abs=1.01)


def test_12_a_party_holds_what_its_history_gives_it(answers: Answers) -> None:
    coins = lf.load_coins(answers.net, [answers.names["party"]])
    cursor = tuple(coins.attrs["cursor"])
    events = answers.names["history"].events
    held = lf.holdings_from_events(events, answers.reassignments, at=cursor, parties=[answers.names["party"]])

    assert answers.of[12]["sum"].sum() == floats(held.total_coin_holdings[0])
    assert held.total_coin_holdings[0] > 0


def held_by(answers: Answers) -> dict[str, Decimal]:
    held = defaultdict(Decimal)
    for coin in answers.coins:
        if coin["ended_at"] is None:
            held[coin["owner"]] += coin["amount"]
    return held


def test_13_shares_and_concentration_are_those_of_the_active_coins(answers: Answers) -> None:
    held = held_by(answers)
    whole = sum(held.values())
    ordered = sorted(held.values(), reverse=True)
    apart = sum(abs(one - other) for one in ordered for other in ordered)

    answer = answers.of[13]

    assert answer["largest"].to_dict() == pytest.approx(
        {owner: float(amount / whole) for owner, amount in held.items() if amount >= ordered[9]}
    )
    assert answer["ten largest"] == pytest.approx(float(sum(ordered[:10]) / whole))
    assert answer["gini"] == pytest.approx(float(apart / (2 * len(ordered) * whole)))
    assert answer["dust"] == sum(amount < 1 for amount in ordered)


def test_14_locked_coin_is_that_of_active_locked_contracts(answers: Answers) -> None:
    expected = sorted(
        (coin["owner"], float(coin["amount"]), tuple(coin["lock_holders"]), coin["lock_expires_at"])
        for coin in answers.coins
        if coin["locked"] and coin["ended_at"] is None
    )

    rows = answers.of[14][["owner", "amount", "lock_holders", "lock_expires_at"]]

    assert sorted((owner, amount, tuple(holders), at) for owner, amount, holders, at in rows.to_numpy()) == expected
    assert expected


def test_15_the_last_balances_are_the_active_coins(answers: Answers) -> None:
    held, days = held_by(answers), answers.of[15]

    assert days.iloc[-1].to_dict() == {party: float(held[party]) for party in days.columns}
    assert days.index[:-1].to_series().diff().dropna().eq(pd.Timedelta("1D")).all()
    assert len(days) > 85


def test_16_payments_are_the_outputs_of_transfers_and_net_flows_cancel(answers: Answers) -> None:
    paid = defaultdict(Decimal)
    for _, argument, _ in answers.exercised("AmuletRules_Transfer"):
        for output in argument["transfer"]["outputs"]:
            if output["receiver"] != argument["transfer"]["sender"]:
                paid[argument["transfer"]["sender"], output["receiver"]] += Decimal(output["amount"])

    assert answers.of[16]["pairs"].to_dict() == floats(paid)
    assert answers.of[16]["net flow"].sum() == pytest.approx(0, abs=1e-12 * float(sum(paid.values())))


def test_17_and_18_validators_are_those_with_a_license(answers: Answers) -> None:
    licenses = lf.load_licenses(answers.net).set_index("validator")
    latest = licenses.last_active_at.max()

    silent, counts = answers.of[17], answers.of[18]

    assert silent.missed.to_dict() == licenses.coupons_missed.to_dict()
    reported = (licenses.last_round - licenses.first_round + 1).loc[silent.index]
    assert (silent.collected + silent.missed == reported).all()
    # Old programs report no version.
    versions = licenses.version.fillna("none")
    assert counts["by sponsor and version"].reset_index().fillna({"version": "none"}).set_index(["sponsor", "version"])[
        "licenses"
    ].to_dict() == Counter(zip(licenses.sponsor, versions, strict=True))
    assert "none" in set(versions)
    assert counts["by sponsor and version"].active.sum() == sum(latest - licenses.last_active_at <= pd.Timedelta("30D"))
    assert counts["growth"].validators.iloc[-1] == len(licenses)


def test_19_entries_renewals_and_expiries_are_those_of_the_name_service(answers: Answers) -> None:
    payloads = dict(answers.created("AnsEntry"))
    entries = Counter(payload["user"] for payload in payloads.values())
    renewals = Counter(payloads[event["contract_id"]]["user"] for event, _, _ in answers.exercised("AnsEntry_Renew"))
    now = answers.updates.record_time.max()
    expiring = Counter(
        payload["user"]
        for name, payload in payloads.items()
        if name not in answers.ended and now < pd.Timestamp(payload["expiresAt"]) <= now + pd.Timedelta("30D")
    )

    answer = answers.of[19]

    assert answer.entries.to_dict() == entries
    assert {user: count for user, count in answer.renewed.items() if count} == renewals
    assert answer.expiring.dropna().astype(int).to_dict() == expiring
    assert expiring


def test_20_activity_is_counted_by_day_choice_and_hour(answers: Answers) -> None:
    acting = defaultdict(set)
    choices = Counter[tuple[str, str]]()
    for event in answers.events:
        if isinstance(event["choice"], str):
            acting[event["record_time"].floor("D")].update(event["acting_parties"])
            choices[event["template_name"], event["choice"]] += 1

    answer = answers.of[20]

    assert answer["daily"].acting.to_dict() == {day: len(parties) for day, parties in acting.items()}
    assert answer["choices"].iloc[0] == choices.most_common(1)[0][1]
    assert {key: choices[key] for key in answer["choices"].index} == answer["choices"].to_dict()
    assert answer["hours"].to_dict() == Counter(time.hour for time in answers.updates.record_time)


def test_21_stuck_are_unassignments_without_an_assignment(answers: Answers) -> None:
    legs = answers.reassignments
    assigned = set(legs.unassign_id[legs.kind == "assignment"])
    left = legs[(legs.kind == "unassignment") & ~legs.unassign_id.isin(assigned)]
    late = left[answers.updates.record_time.max() - left.record_time > pd.Timedelta("30min")]

    assert set(answers.of[21]["stuck"].unassign_id) == set(late.unassign_id)
    assert answers.of[21]["matrix"]["in_flight"].sum() >= len(late) > 0


def test_22_fees_follow_from_the_coins_and_expiries_from_the_choices(answers: Answers) -> None:
    number = int(answers.names["holdings"].computed_as_of_round[0])
    fees, expired = defaultdict(Decimal), defaultdict(Decimal)
    for coin in answers.coins:
        held_for = number - coin["created_round"]  # negative for a coin of a later round
        fee = (coin["rate_per_round"] * held_for).quantize(Decimal("1e-10"), ROUND_HALF_EVEN)
        if coin["ended_at"] is None:
            fees[coin["owner"]] += min(coin["amount"], fee)
    amounts = {coin["contract_id"]: (coin["owner"], coin["amount"]) for coin in answers.coins}
    for event, _, _ in answers.exercised("Amulet_Expire", "LockedAmulet_ExpireAmulet"):
        owner, amount = amounts[event["contract_id"]]
        expired[owner] += amount

    assert answers.of[22]["fees"].to_dict() == {owner: float(fee) for owner, fee in fees.items()}
    assert answers.of[22]["expired"]["sum"].to_dict() == floats(expired)


def test_23_instruments_and_what_moved_are_the_registry_s_and_the_tables(answers: Answers) -> None:
    instruments = lf.load_instruments(answers.net, as_="arrow").to_pylist()
    moved = defaultdict(Decimal)
    for row in lf.token_transfers(answers.names["history"], as_="arrow").to_pylist():
        if row["step"] == "completed":
            moved[row["instrument_admin"], row["instrument_id"], row["kind"]] += row["amount"]

    answer = answers.of[23]

    assert answer["catalogue"].total_supply.dropna().to_dict() == {
        row["instrument_id"]: float(row["total_supply"]) for row in instruments if row["total_supply"] is not None
    }
    assert answer["moved"]["sum"].to_dict() == floats(moved)
    assert moved


def test_24_preapprovals_and_offers_are_those_that_no_event_ended(answers: Answers) -> None:
    answer, active = answers.of[24], answers.names["active"]
    _, until = active.attrs["cursor"]
    before = [one for one in answers.events if one["record_time"] <= pd.Timestamp(until)]
    ended = {one["contract_id"] for one in before if one["consuming"] is True}
    expected = {
        one["contract_id"]
        for one in before
        if one["event_type"] == "created_event"
        and one["template_name"].endswith(":TransferPreapproval")
        and one["contract_id"] not in ended
    }

    assert set(active.contract_id) == expected
    assert len(answer["preapprovals"]) == len(expected) > 0
    assert answer["preapprovals"].expiresAt.notna().all()
    # Offers are no matter of a scan: the wallet of the token's user lists its own.
    wallet = answers.net.sandbox.world.accounts.get("validator_operator").primary_party
    assert len(answer["offers"]) > 0
    assert all(wallet in pair for pair in answer["offers"][["sender", "receiver"]].to_numpy())
