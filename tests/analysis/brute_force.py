"""The same questions answered item by item, without frames: what the analyses are held against."""

from decimal import ROUND_HALF_EVEN, Context, Decimal

from ledgerframes.timestamps import parse_timestamp

EXACT = Context(prec=60)


def micros(text):
    return parse_timestamp(text)[0]


def halves(items):
    """Each reassignment item as a dictionary of what matters."""
    for item in items:
        event = item.get("event")
        if event is None:
            continue
        created = event.get("created_event")
        yield {
            "kind": "unassignment" if created is None else "assignment",
            "at": micros(item["record_time"]),
            "update_id": item["update_id"],
            "migration_id": event["migration_id"],
            "source": event["source_synchronizer"],
            "target": event["target_synchronizer"],
            "unassign_id": event.get("unassign_id"),
            "counter": event["reassignment_counter"],
            "contract_id": event["contract_id"] if created is None else created["contract_id"],
            "created": created,
        }


def flows(items):
    """(source, unassign id, contract, counter) -> [unassigned at, assigned at, target]."""
    found = {}
    for half in halves(items):
        key = (half["source"], half["unassign_id"], half["contract_id"], half["counter"])
        line = found.setdefault(key, [None, None, None])
        line[0 if half["kind"] == "unassignment" else 1] = half["at"]
        if half["kind"] == "unassignment" or line[2] is None:
            line[2] = half["target"]
    return found


def active(items):
    """Contract id -> [create event, synchronizer or None, counter]."""
    contracts, ended = {}, set()
    for item in items:
        for event in item.get("events_by_id", {}).values():
            if event["event_type"] == "created_event":
                contracts.setdefault(event["contract_id"], [event, item["synchronizer_id"], 0])
            elif event.get("consuming") and "contract_id" in event:
                ended.add(event["contract_id"])
    for half in halves(items):
        if half["created"] is not None:
            contracts.setdefault(half["contract_id"], [half["created"], half["target"], half["counter"]])
    for contract_id, line in contracts.items():
        line.append(contract_id)
    by_contract = {}
    for half in halves(items):
        by_contract.setdefault(half["contract_id"], []).append(half)
    for contract_id, own in by_contract.items():
        if contract_id not in contracts:
            continue
        last = max(own, key=lambda half: (half["counter"], half["kind"] == "assignment"))
        if last["counter"] >= contracts[contract_id][2]:
            contracts[contract_id][1] = last["target"] if last["kind"] == "assignment" else None
            contracts[contract_id][2] = last["counter"]
    return {contract_id: line[:3] for contract_id, line in contracts.items() if contract_id not in ended}


def template(event):
    return event["template_id"].partition(":")[2]


def holdings(items, as_of_round):
    """Party -> [unlocked, locked, fees, locked fees] by the formula, contract by contract."""
    found = {}
    for event, _, _ in active(items).values():
        name = template(event)
        if name not in {"Splice.Amulet:Amulet", "Splice.Amulet:LockedAmulet"}:
            continue
        locked = name.endswith("LockedAmulet")
        coin = event["create_arguments"]["amulet"] if locked else event["create_arguments"]
        amount = Decimal(coin["amount"]["initialAmount"])
        rounds = as_of_round - int(coin["amount"]["createdAt"]["number"])
        rate = Decimal(coin["amount"]["ratePerRound"]["rate"])
        fee = EXACT.multiply(rate, Decimal(rounds)).quantize(Decimal("1E-10"), ROUND_HALF_EVEN)
        total = found.setdefault(coin["owner"], [Decimal(0)] * 4)
        total[locked] += amount
        total[2 + locked] += min(amount, fee)
    return found


def earliest_round(items):
    numbers = [
        int(event["create_arguments"]["round"]["number"])
        for event, _, _ in active(items).values()
        if template(event) == "Splice.Round:OpenMiningRound"
    ]
    return min(numbers, default=None)
