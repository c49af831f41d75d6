"""A scan of one snapshot whose pages a test makes up."""

import json

from tests.decoding.items import transaction
from tests.transport.hostile_server import answer, text

SNAPSHOT = {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4}


def created(number, name="Splice.Amulet:Amulet", **changes):
    amount = {"initialAmount": "1.5", "createdAt": {"number": "7"}, "ratePerRound": {"rate": "0.1"}}
    return {
        "contract_id": f"00{number}", "template_id": f"ab:{name}", "package_name": "splice-amulet",
        "create_arguments": {"dso": "d", "owner": "o", "amount": amount}, "created_at": "2026-01-30T05:00:00Z",
        "signatories": ["d"], "observers": [], **changes,
    }  # fmt: skip


def history_of_one(heard, first="2026-01-01T00:00:00.000000Z", migration_id=4):
    """What a scan answers of a history of one update."""
    update = transaction(migration_id=migration_id, record_time=first, root_event_ids=[], events_by_id={})
    return answer({"transactions": [] if "after" in heard.json else [update]})


def paged(count, size=1, *, token="token-{}".format, stop=None):
    """Pages of a snapshot of so many contracts; `token` makes that of a place, and from `stop` on the scan is busy."""
    tokens = {None: 0} | {token(number): number for number in range(size, count, size)}

    def page(after):
        if after not in tokens:
            return answer({"error": f"not a token of this route: {after!r}"}, 400)
        first, last = tokens[after], tokens[after] + size
        if stop is not None and first >= stop:
            return text("busy", 503)
        following = {"next_page_token": token(last)} if last < count else {}
        return {"created_events": [created(number) for number in range(first, min(last, count))], **following}

    return page


def scan(pages, *, routes=("/v2/state/acs", "/v2/holdings/state"), place=SNAPSHOT):
    """A scan of one snapshot, whose pages are functions of the token; a page is an object or a whole reply.

    `place` may change while it serves: then the scan has another snapshot.
    """

    def reply(heard):
        body = json.loads(heard.body or b"{}")
        if heard.target.endswith("/v2/updates"):
            return history_of_one(heard)
        if "snapshot-timestamp" in heard.target:
            return answer({"record_time": place["record_time"]})
        if not heard.target.endswith(routes):
            return text("The requested resource could not be found.", 404)
        page = pages(body.get("after"))
        return page if not isinstance(page, dict) else answer({**SNAPSHOT, **place, **page})

    return reply
