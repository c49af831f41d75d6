"""Made-up event trees with payloads of several templates; `bulk_bodies` makes its bodies from them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

SIZES = {1: 20, 2: 18, 3: 18, 4: 16, 5: 11, 6: 8, 7: 5, 8: 4}
DEEPEST = 4
UNITS = 10**10
COIN = "Splice.Amulet:Amulet"
NOTES = (
    "settled in Zürich",
    'quoted "as is"',
    "a\\b",
    "東京 desk",
    "line one\nline two",
    "€ 1.000,00",
    "🚀",
    "plain",
)
NAMES = ("alice", "bob", "carol", "dave", "erin", "frank", "grace", "heidi", "ivan", "judy", "mallory", "niaj")

Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Contract:
    """A contract that a tree created, with the event that did."""

    contract_id: str
    event: Event


@dataclass(slots=True)
class Tree:
    """The events of one transaction in preorder, and what is in them.

    Attributes:
        roots: the ids of the events without a parent.
        events: all of them.
        live: the contracts created here and not consumed here.
    """

    roots: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    live: list[Contract] = field(default_factory=list)


def grow(rng: random.Random, *, consumable: Contract | None) -> Tree:
    """Draw a tree of 1 to 8 events; a leaf may consume `consumable`, which the item before created."""
    tree = Tree()
    parents = _shape(rng)
    for number, parent in enumerate(parents):
        event_id = f"1220{{core}}:{number}"
        if parent is None:
            tree.roots.append(event_id)
        else:
            tree.events[parent]["child_event_ids"].append(event_id)
        if number in parents[number + 1 :]:
            event = _exercise(rng, event_id)
        elif rng.random() < 0.7:
            event = _create(rng, event_id, tree)
        else:
            event, consumable = _consume(rng, event_id, tree, consumable)
        tree.events.append(event)
    return tree


def hexadecimal(rng: random.Random, digits: int = 64) -> str:
    """Random lower-case hexadecimal text."""
    return f"{rng.getrandbits(digits * 4):0{digits}x}"


def _shape(rng: random.Random) -> list[int | None]:
    """The parent of each event, numbered in preorder: a parent is always on the way to the event before."""
    count = rng.choices(list(SIZES), list(SIZES.values()))[0]
    parents: list[int | None] = [None]
    way = [0]
    for number in range(1, count):
        depth = 0 if rng.random() < 0.15 else rng.randint(1, min(len(way), DEEPEST))
        way = way[:depth]
        parents.append(way[-1] if way else None)
        way.append(number)
    return parents


def _party(rng: random.Random) -> str:
    name = rng.randrange(len(NAMES) * 4)
    return f"{NAMES[name % len(NAMES)]}-{name}::1220{hexadecimal(random.Random(name))}"


def _template(name: str) -> tuple[str, str]:
    """The template id and the package name; the hash stands for the package's version."""
    package = name.partition(":")[0].lower().replace(".", "-")
    return f"{hexadecimal(random.Random(package))}:{name}", package


def _create(rng: random.Random, event_id: str, tree: Tree) -> Event:
    units = rng.choice((1, rng.randrange(1, 10**11), rng.randrange(1, 10**15), rng.randrange(1, 10**18)))
    name = rng.choices((COIN, "Splice.Amulet:LockedAmulet", "Market.Orders:Order", "Market.Credentials:Credential"))[0]
    owner, other = _party(rng), _party(rng)
    template_id, package = _template(name)
    event: Event = {
        "event_type": "created_event",
        "event_id": event_id,
        "contract_id": f"00{{core}}ca101220{hexadecimal(rng)}",
        "template_id": template_id,
        "package_name": package,
        "create_arguments": _arguments(rng, name, units, owner, other),
        "created_at": "{created}",
        "signatories": sorted({owner, _party(rng)}),
        "observers": [other] if rng.random() < 0.7 else [],
    }
    tree.live.append(Contract(event["contract_id"], event))
    return event


def _consume(
    rng: random.Random, event_id: str, tree: Tree, consumable: Contract | None
) -> tuple[Event, Contract | None]:
    """End a contract of the item before, else one of this tree, else leave all alive."""
    event = _exercise(rng, event_id)
    if consumable is not None:
        contract, consumable = consumable, None
        contract_id = contract.contract_id.replace("{core}", "{previous}")
    elif tree.live and rng.random() < 0.5:
        contract = tree.live.pop()
        contract_id = contract.contract_id
    else:
        return event, None
    own = {"contract_id": contract_id, "consuming": True, "choice": rng.choice(("Archive", "Order_Fill", "Close"))}
    return {**event, **own, **{k: contract.event[k] for k in ("template_id", "package_name")}}, consumable


def _exercise(rng: random.Random, event_id: str) -> Event:
    units = rng.randrange(1, 10**16)
    template_id, package = _template(rng.choice(("Market.Rules:Rules", "Splice.AmuletRules:AmuletRules")))
    return {
        "event_type": "exercised_event",
        "event_id": event_id,
        "contract_id": f"00{hexadecimal(random.Random(template_id))}ca101220{hexadecimal(random.Random(package))}",
        "template_id": template_id,
        "package_name": package,
        "choice": rng.choice(("Transfer", "Settle", "Order_Place", "Rules_Update")),
        "choice_argument": {} if rng.random() < 0.4 else _arguments(rng, "", units, _party(rng), _party(rng)),
        "child_event_ids": [],
        "exercise_result": _result(rng),
        "consuming": False,
        "acting_parties": [_party(rng) for _ in range(rng.randint(1, 2))],
        "interface_id": None,
    }


def _amount(units: int) -> str:
    return f"{units // UNITS}.{units % UNITS:010}"


def _arguments(rng: random.Random, name: str, units: int, owner: str, other: str) -> dict[str, Any]:
    """A payload in the manner of the template."""
    coin = {
        "dso": f"DSO::1220{hexadecimal(random.Random('dso'))}",
        "owner": owner,
        "amount": {
            "initialAmount": _amount(units),
            "createdAt": {"number": str(rng.randrange(90_000))},
            "ratePerRound": {"rate": "0.0000190259"},
        },
    }
    if name == COIN:
        return coin
    if name.endswith("LockedAmulet"):
        lock = {"holders": [other], "expiresAt": "{effective}", "optContext": rng.choice((None, "settlement"))}
        return {"amulet": coin, "lock": lock}
    return {
        "buyer": owner,
        "seller": other,
        "instrument": {"admin": coin["dso"], "id": rng.choice(("Amulet", "BOND-2031", "FUND-7"))},
        "quantity": _amount(units),
        "price": _amount(rng.randrange(1, 10**13)),
        "validUntil": "{effective}",
        "legs": [
            {"sender": owner, "receiver": other, "amount": _amount(rng.randrange(1, 10**14)), "legId": str(leg)}
            for leg in range(rng.randint(1, 2))
        ],
        "meta": {"values": {"note": rng.choice(NOTES), "reference": hexadecimal(rng, 32)}},
    }


def _result(rng: random.Random) -> Any:
    """Results are any JSON; one in six is a plain string."""
    contract_id = f"00{{core}}ca101220{hexadecimal(rng)}"
    return rng.choice(
        (
            contract_id,
            {},
            {"created": [contract_id], "round": {"number": str(rng.randrange(90_000))}},
            {"summary": {"inputs": _amount(rng.randrange(10**13)), "balanceChanges": []}, "meta": None},
            [[_party(rng), {"amount": _amount(rng.randrange(10**13))}]],
            None,
        )
    )
