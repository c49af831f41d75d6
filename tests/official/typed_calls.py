"""Every typed call of the client with the arguments that it needs; answers of another making go through all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from typing import Any, Final

import ledgerframes as lf
from ledgerframes.interfaces.calls import declared_call
from ledgerframes.interfaces.catalogue import CALLS as CONTRACT
from ledgerframes.interfaces.catalogue import NEIGHBOURS, Served

SNAPSHOT: Final[dict[str, Any]] = {"record_time": "2999-01-30T06:00:00Z", "migration_id": 4}
PARTIES: Final = ["alice::1220ab", "bob::1220cd"]
MOVE: Final = lf.commands.UnassignCommand(contract_id="00", source="a::1", target="b::1")
#: A value of every argument that a call needs.
ARGUMENTS: Final[dict[str, Any]] = {
    **dict.fromkeys(("record_time", "before", "after", "at"), "2026-01-01"),
    **dict.fromkeys(("submitter", "party", "provider"), "alice::1"),
    **dict.fromkeys(("act_as", "owners", "validators"), ("alice::1",)),
    **dict.fromkeys(("update_id", "hash", "command_id", "name", "instrument_id"), "ab"),
    "owner_party_ids": PARTIES,
    "up_to": "2026-01-02",
    "migration_id": 0,
    "synchronizer": "global::1",
    "member": "PAR::alice::1",
    "requests": ["00"],
    "keys": ["2026-01-01T00:00:00Z~2026-01-02T00:00:00Z/updates_compact_json_0.zstd"],
    "choice_arguments": {"extraArgs": {"context": {}, "meta": {}}},
    "user": lf.commands.User(id="alice"),
    "dar": b"PK",
    "commands": [lf.commands.CreateCommand(template_id="#package:Module:Entity", create_arguments={})],
}
#: What these read hangs together in ways that no file states.
OF_ONE_PIECE: Final = {"scan.events", "scan.event_by_id"}


def needed(net: lf.types.Network, served: Served) -> dict[str, Any]:
    """The arguments without which a call is not valid."""
    interface, _, name = served.call.partition(".")
    parameters = inspect.signature(declared_call(getattr(net, interface), name)).parameters.values()
    given = ARGUMENTS | ({"commands": [MOVE]} if "reassignment" in name else {})
    return {one.name: given[one.name] for one in parameters if one.default is one.empty}


def make(served: Served, net: lf.types.Network) -> Any:
    """Make a call and decode what its answer leaves undecoded; its answer."""
    answer = attrgetter(served.call)(net)(**needed(net, served))
    for listed in ("items", "updates", "contracts"):
        for one in getattr(answer, listed, None) or ():
            _ = getattr(one, "item", None), getattr(one, "created_event", None)
    _ = getattr(answer, "item", None)
    return answer


CALLS: dict[str, Callable[[lf.types.Network], Any]] = {
    served.call: partial(make, served) for served in (*CONTRACT, *NEIGHBOURS) if served.call not in OF_ONE_PIECE
}
