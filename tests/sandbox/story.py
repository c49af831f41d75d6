"""One story over all twenty endpoints, told with nothing but urllib; run as a program against a living sandbox.

Usage: python story.py LEDGER_URL SCAN_URL VALIDATOR_URL REGISTRY_URL, with ADMIN_TOKEN and TELLER_TOKEN in the
environment: a participant administrator's, and one for the user "storyteller", who is made on the way.
"""

import io
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile

LEDGER, SCAN, VALIDATOR, REGISTRY = sys.argv[1:5]
ADMIN, TELLER = os.environ["ADMIN_TOKEN"], os.environ["TELLER_TOKEN"]


def ask(url, body=None, *, token=None, raw=None):
    """Send JSON, or bytes; the status, and the answer as JSON where it is some."""
    data = raw if raw is not None else None if body is None else json.dumps(body).encode()
    kind = "application/octet-stream" if raw is not None else "application/json"
    headers = {"Content-Type": kind} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(url, data, headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as refusal:
        status, text = refusal.code, refusal.read()
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text.decode()


def good(url, body=None, **how):
    status, answer = ask(url, body, **how)
    assert status == 200, (url, status, answer)
    return answer


def history():
    """Every item of scan's history, page by page."""
    after = None
    while True:
        page = good(f"{SCAN}/v2/updates", {"page_size": 500} | ({"after": after} if after else {}))["transactions"]
        if not page:
            return
        yield from page
        last = page[-1]
        migration_id = last.get("migration_id", last.get("event", {}).get("migration_id"))
        after = {"after_migration_id": migration_id, "after_record_time": last["record_time"]}


def archive():
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr(
            "META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nMain-Dalf: story.dalf\r\nDalfs: story.dalf\r\n"
        )
        files.writestr("story.dalf", b"a package")
    return packed.getvalue()


def commands(name, *ones):
    return {"commandId": name, "actAs": [alice], "commands": list(ones)}


def reassign(name, kind, **value):
    command = {"command": {kind: {"value": value}}}
    body = {"commandId": name, "submitter": alice, "commands": [command]}
    return {"reassignmentCommands": body, "eventFormat": {"filtersByParty": {alice: {}}}}


# A user is made, who acts as alice.
users, token = [], ""
while True:
    page = good(f"{LEDGER}/v2/users?pageSize=2&pageToken={urllib.parse.quote(token)}", token=ADMIN)
    users, token = users + page["users"], page.get("nextPageToken", "")
    if not token:
        break
alice = next(user["primaryParty"] for user in users if user["id"] == "alice")
rights = [{"kind": {"CanActAs": {"value": {"party": alice}}}}]
made = good(f"{LEDGER}/v2/users", {"user": {"id": "storyteller", "primaryParty": alice}, "rights": rights}, token=ADMIN)
assert made["user"]["metadata"]["resourceVersion"]
assert ask(f"{LEDGER}/v2/users", {"user": {"id": "storyteller"}}, token=ADMIN)[0] == 409

# A package is checked, then uploaded.
assert ask(f"{LEDGER}/v2/dars/validate", raw=archive(), token=ADMIN)[0] == 200
assert good(f"{LEDGER}/v2/packages", raw=archive(), token=ADMIN) == {}
assert ask(f"{LEDGER}/v2/packages", raw=b"garbage", token=ADMIN)[0] == 400


def newest(template):
    """The contract of a template that was created last."""
    created = [
        event for item in history() for event in item.get("events_by_id", {}).values()
        if event["event_type"] == "created_event" and event["template_id"].endswith(template)
    ]  # fmt: skip
    return created[-1]["contract_id"]


def tap(name, amount):
    """Alice takes coin from the tap."""
    command = {
        "templateId": "#splice-amulet:Splice.AmuletRules:AmuletRules", "contractId": newest(":AmuletRules"),
        "choice": "AmuletRules_DevNet_Tap",
        "choiceArgument": {"receiver": alice, "amount": amount, "openRound": newest(":OpenMiningRound")},
    }  # fmt: skip
    return commands(name, {"ExerciseCommand": command})


def coin_in(tree):
    """The coin that a transaction created."""
    values = [node["CreatedTreeEvent"]["value"] for node in tree["eventsById"].values() if "CreatedTreeEvent" in node]
    (coin,) = (value for value in values if value["templateId"].endswith(":Splice.Amulet:Amulet"))
    return coin


# A coin is made.
taken = tap("story-1", "12.5")
tree = good(f"{LEDGER}/v2/commands/submit-and-wait-for-transaction-tree", taken, token=TELLER)["transactionTree"]
contract_id = coin_in(tree)["contractId"]
source = tree["synchronizerId"]
assert ask(f"{LEDGER}/v2/commands/submit-and-wait-for-transaction-tree", taken, token=TELLER)[0] == 409
asked = {"updateId": tree["updateId"], "requestingParties": [alice]}
read = good(f"{LEDGER}/v2/updates/transaction-by-id", asked, token=TELLER)
assert read["transaction"]["updateId"] == tree["updateId"]

# It leaves its synchronizer, and arrives at another.
moves = [item["event"] for item in history() if "event" in item]
target = next(one["target_synchronizer"] for one in moves if one["target_synchronizer"] != source)
away = reassign("story-2", "UnassignCommand", contractId=contract_id, source=source, target=target)
left = good(f"{LEDGER}/v2/commands/submit-and-wait-for-reassignment", away, token=TELLER)["reassignment"]
((_, event),) = left["events"][0].items()
unassigned = event.get("value", event)
assert unassigned["reassignmentCounter"] == 1
back = reassign("story-3", "AssignCommand", reassignmentId=unassigned["reassignmentId"], source=source, target=target)
assert good(f"{LEDGER}/v2/commands/async/submit-reassignment", back, token=TELLER) == {}
wrong = reassign("story-4", "UnassignCommand", contractId=contract_id, source=source, target=target)
status, refusal = ask(f"{LEDGER}/v2/commands/submit-and-wait-for-reassignment", wrong, token=TELLER)
assert status >= 400, status
assert {"code", "cause", "errorCategory", "context"} <= set(refusal)

# Scan shows all of it: by page, by id, by hash.
seen = list(history())
own = [item for item in seen if contract_id in json.dumps(item)]
assert [next(iter(item.get("event", {"transaction": 0}))) for item in own]
halves = [item["event"] for item in own if "event" in item]
assert [half["reassignment_counter"] for half in halves] == [1, 1]
assert halves[0]["unassign_id"] == halves[1]["unassign_id"]
assert good(f"{SCAN}/v1/updates/{tree['updateId']}")["update_id"] == tree["updateId"]
signed = next(item for item in seen if item.get("external_transaction_hash"))
assert good(f"{SCAN}/v2/updates/hash/{signed['external_transaction_hash']}")["update_id"] == signed["update_id"]
assert ask(f"{SCAN}/v2/updates/hash/{'0' * 64}")[0] == 404

# Alice's holdings, before and after a transfer from the tap; scan takes a snapshot now and then.
rules = good(f"{SCAN}/v0/ans-rules", {})["ans_rules_update"]["contract"]
assert rules["contract_id"]


def holdings():
    latest = max(item.get("migration_id", item.get("event", {}).get("migration_id")) for item in seen)
    body = {
        "migration_id": latest, "record_time": "2100-01-01T00:00:00Z", "record_time_match": "at_or_before",
        "owner_party_ids": [alice],
    }  # fmt: skip
    found = good(f"{VALIDATOR}/v0/scan-proxy/holdings/summary", body, token=ADMIN)["summaries"]
    return found[0]["total_unlocked_coin"] if found else "0"


more = tap("story-5", "1000.0")
tree = good(f"{LEDGER}/v2/commands/submit-and-wait-for-transaction-tree", more, token=TELLER)["transactionTree"]
# Alice pays and is paid meanwhile, so her balance says nothing; but a snapshot follows each command, and only commands
# spend what a command made: this coin is in it.
coin = coin_in(tree)
assert float(coin["createArgument"]["amount"]["initialAmount"]) == 1000
assert float(holdings()) >= 1000
(made,) = (item for item in history() if coin["contractId"] in json.dumps(item))
assert made["update_id"] == tree["updateId"]

# What a wallet and a name service know.
assert "offers" in good(f"{VALIDATOR}/v0/wallet/transfer-offers", token=TELLER)
assert "entries" in good(f"{VALIDATOR}/v0/entry/all", token=TELLER)
party = urllib.parse.quote(alice, safe="")
assert ask(f"{VALIDATOR}/v0/scan-proxy/transfer-preapprovals/by-party/{party}", token=ADMIN)[0] in {200, 404}
assert good(f"{SCAN}/v0/internal/reward-accounting-process/rounds/earliest-available")["earliest_round"] >= 0

# A walk over the licenses.
licenses, following = [], ""
while following is not None:
    page = good(f"{SCAN}/v0/admin/validator/licenses?limit=5{following}")
    licenses += page["validator_licenses"]
    token = page.get("next_page_token")
    following = None if token is None else f"&after={token}"
assert len({one["contract_id"] for one in licenses}) == len(licenses) > 5

# Allocations: of an instrument that the registry lists, and of one that it does not.
instruments, following = [], ""
while following is not None:
    page = good(f"{REGISTRY}/registry/metadata/v1/instruments?pageSize=20{following}")
    instruments += page["instruments"]
    token = page.get("nextPageToken")
    following = f"&pageToken={urllib.parse.quote(token)}" if token else None


def allocation(instrument):
    leg = {"sender": alice, "receiver": alice, "amount": "1.0", "instrumentId": {"admin": "DSO", "id": instrument}}
    arguments = {"allocation": {"transferLeg": leg}, "extraArgs": {"context": {}, "meta": {}}}
    return ask(f"{REGISTRY}/registry/allocation-instruction/v1/allocation-factory", {"choiceArguments": arguments})


status, factory = allocation(instruments[0]["id"])
assert status == 200, factory
assert factory["factoryId"]
assert allocation("unheard-of")[0] >= 400

print(
    f"alice moved {contract_id[:8]}… from {source.partition('::')[0]} to {target.partition('::')[0]} and got 1000 more"
)
