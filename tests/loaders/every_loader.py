"""Every loader with what it has to be given of a sandbox; its tests and the official conversations call it."""

import inspect

import ledgerframes as lf
from ledgerframes.config.settings import INTERFACES
from tests.asking import network


class World:
    """A sandbox behind servers that do not answer, and what loaders have to be told of it."""

    def __init__(self, base, box=None):
        self.box = box or base.sandbox
        self.validators = lf.load_licenses(base).validator.to_list()
        self.any_party = None
        self.parties = ["nobody::1220", *self.validators[:9]]
        self.members = lf.load_super_validators(base).participant_id.to_list()
        self.update_id = lf.load_updates(base, limit=5).update_id.iloc[4]
        self.hash = lf.load_updates(base).external_transaction_hash.dropna().iloc[0]

    def connected(self, box=None, *, dead=None, **settings):
        def urls(interface):
            url = getattr(box or self.box, f"{interface}_url")
            return (url,) if dead is None else (dead, url)

        addresses = {f"{interface}_url": urls(interface) for interface in INTERFACES}
        token = self.box.token("validator_operator")
        return network(**addresses, ledger_token=token, validator_token=token, **settings)


# An opening is no frame.
NAMES = [name for name in lf.__all__ if name.startswith("load_") and name != "load_opening"]
#: What a loader is given besides the network, by the name that the world has for it.
GIVEN = {
    "load_coins": "validators",
    "load_holdings_summary": "validators",
    "load_ledger_contracts": "any_party",
    "load_ledger_history": "any_party",
    "load_ledger_transaction": "update_id",
    "load_traffic": "members",
    "load_transfer_preapprovals": "parties",
    "load_update": "update_id",
    "load_validator_faucets": "validators",
}


def parameters(name):
    return inspect.signature(getattr(lf, name)).parameters


def load(name, net, world, page_size=100, **form):
    """What a loader gives, over several pages."""
    given = [getattr(world, GIVEN[name])] if name in GIVEN else []
    size = {"page_size": page_size} if "page_size" in parameters(name) else {}
    return getattr(lf, name)(net, *given, **size | form)
