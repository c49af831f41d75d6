"""What the doctor finds on servers that are well, and on servers that are not, and what it advises."""

from __future__ import annotations

import base64
import json
import time
from contextlib import ExitStack
from email.utils import formatdate

import pytest

import ledgerframes as lf
from tests.rigs.servers import replica
from tests.transport.authorities import Authority
from tests.transport.hostile_server import HostileServer, Reply, answer, text, unused_port


@pytest.fixture(scope="module")
def ledger():
    with lf.sandbox(seed=7, updates=120) as net:
        yield net


@pytest.fixture
def served():
    """Start a server that answers by a script."""
    with ExitStack() as stack:
        yield lambda *script: stack.enter_context(HostileServer(script))


def examined(**options):
    options.setdefault("attempts", 1)
    with lf.connect(**options) as net:
        return lf.doctor(net)


def finding(diagnosis, check, subject=""):
    """The one finding of a check, of subjects that contain the text."""
    (one,) = [each for each in diagnosis.findings if each.check == check and subject in each.subject]
    return one


def token(payload):
    body = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJIUzI1NiJ9.{body}.c2lnbmF0dXJl"


def test_nothing_fails_on_a_ledger_that_is_well(ledger):
    found = lf.doctor(ledger)

    assert found.ok, str(found)
    assert bool(found)
    assert {one.check for one in found.of("ok")} >= {"reached", "kind", "clock", "release", "migrations", "versions"}
    assert found.requests < 30
    assert "instruments" in finding(found, "tables that can be loaded").found
    frame, data = found.to_frame(), json.loads(found.to_json())
    assert list(frame.columns) == ["subject", "check", "status", "found", "advice"]
    assert (len(frame), data["ok"]) == (len(found.findings), True)
    assert len(data["findings"]) == len(frame)
    said = str(examined(scan_url=ledger.sandbox.scan_url))
    assert "set ledger_url to load: users, " in said
    assert max(len(line) for line in said.splitlines() if "versions:" not in line) <= 200


def test_a_scan_alone_serves_all_tables_that_the_loaders_read_from_it(ledger):
    found = examined(scan_url=ledger.sandbox.scan_url)
    lacking = [each.found for each in found.of("skipped") if each.check == "tables"]

    loadable = "scan: updates, events, reassignments, verdicts and 14 more"
    assert finding(found, "tables that can be loaded").found == loadable
    assert {one.removeprefix("set ").partition("_url")[0] for one in lacking} == {"validator", "registry", "ledger"}
    assert "holdings_summary" not in " ".join(lacking)
    with lf.connect(scan_url=ledger.sandbox.scan_url) as net:
        assert len(lf.load_holdings_summary(net, ["alice::1220ab"])) == 1


def test_the_decoder_is_told(ledger, monkeypatch):
    monkeypatch.setenv("LEDGERFRAMES_DECODER", "python")
    assert finding(lf.doctor(ledger), "decoder").found == "python (LEDGERFRAMES_DECODER asks for it)"

    monkeypatch.setenv("LEDGERFRAMES_DECODER", "fast")
    told = finding(lf.doctor(ledger), "decoder")
    assert (told.status, "'fast' is not valid" in told.found) == ("fail", True)


def test_the_migrations_and_the_newest_update_are_told(ledger):
    found = lf.doctor(ledger)
    there = lf.migrations(ledger)

    told = finding(found, "migrations").found
    firsts = [f"{row.migration_id} from {row.first_record_time:%Y-%m-%dT%H:%M:%S.%f}Z" for row in there.itertuples()]
    assert [first for first in firsts if first not in told] == []
    assert finding(found, "newest").status == "warn"


def test_releases_are_told_apart_by_their_routes():
    with lf.sandbox(updates=20, release="0.9") as newer, lf.sandbox(updates=20) as older:
        said = [finding(lf.doctor(net), "release", "scan http").found for net in (newer, older)]

    assert said[0].startswith("a newer release")
    assert said[1].startswith("it has GET /v1/")  # every release that is in use has the newer route


NOWHERE = "https://nowhere.invalid/api/scan"


def refused():
    return f"http://127.0.0.1:{unused_port()}/api/scan"


def test_a_closed_port_is_told_from_a_host_without_an_address():
    closed, nowhere = (finding(examined(scan_url=url), "reached") for url in (refused(), NOWHERE))

    assert (closed.status, "refused" in closed.found.lower()) == ("fail", True)
    assert (nowhere.status, nowhere.found) == ("fail", "no address is known for the host 'nowhere.invalid'")


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(text("<html><title>Not found</title></html>", 404, "text/html"), id="a web page that says 404"),
        pytest.param(answer({"entries": []}), id="another interface"),
        pytest.param(Reply(body=b"[]"), id="no object"),
    ],
)
def test_what_is_no_scan_is_said_to_be_none(served, reply):
    found = finding(examined(scan_url=served(reply).url), "kind")

    assert found.status == "fail"
    assert "/api/scan" in found.advice


@pytest.mark.parametrize(
    ("reply", "check", "found", "advice"),
    [
        pytest.param(
            text("<html><title>Welcome</title></html>", 200, "text/html"), "kind",
            "an HTML page, not JSON: 'Welcome'", "/api/scan", id="a page",
        ),
        pytest.param(
            Reply(headers=(("Content-Encoding", "compress"),)), "compression",
            "compressed as 'compress'", "as gzip or uncompressed", id="a compression that nothing reads",
        ),
    ],
)  # fmt: skip
def test_what_stays_so_is_told_after_one_request_with_the_tries_that_there_are(served, reply, check, found, advice):
    server = served(reply)

    told = finding(examined(scan_url=server.url, attempts=8), check)

    assert (found in told.found, advice in told.advice, len(server.heard)) == (True, True, 1)


def test_certificates_are_told_apart_from_a_server_that_is_away(tmp_path, monkeypatch):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    one, other = Authority(tmp_path, "One"), Authority(tmp_path, "Other")
    monkeypatch.setenv("SSL_CERT_FILE", str(other.file))
    with HostileServer([answer({"transactions": []})], tls=one.server()) as server:
        unknown = finding(examined(scan_url=server.url, attempts=8), "certificate")
        known = examined(scan_url=server.url, ca_file=one.file)

    assert "its certificate is not trusted" in unknown.found
    assert "ca_file=" in unknown.advice
    assert finding(known, "kind").status == "ok"


def test_certificates_that_cannot_be_read_are_told_and_nothing_is_sent(tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere.pem"))
    found = examined(scan_url="https://scan.example/api/scan")

    assert "SSL_CERT_FILE=" in finding(found, "certificates").found
    assert found.requests == 0


@pytest.mark.parametrize(
    ("status", "expected", "said"),
    [pytest.param(401, "fail", "refused (401)", id="401"), pytest.param(403, "warn", "taken, but", id="403")],
)
def test_a_token_that_is_refused_is_told_from_one_without_the_right(served, status, expected, said):
    server = served(answer({"error": "<script>alert(1)</script>"}, status))

    diagnosis = examined(ledger_url=server.url, token="abc")
    found = finding(diagnosis, "token", "ledger http")
    assert "<script>" in found.found
    assert "<script>" not in diagnosis._repr_html_()
    assert found.status == expected
    assert said in found.found


@pytest.mark.parametrize(
    ("left", "status"), [(-7200, "fail"), (60, "warn"), (86_400, "ok")], ids=["expired", "ends soon", "valid"]
)
def test_a_tokens_lifetime_is_read_and_the_token_is_not_shown(ledger, left, status):
    secret = token({"exp": time.time() + left, "sub": "sesame"})

    with lf.connect(scan_url=ledger.sandbox.scan_url, ledger_url=ledger.sandbox.ledger_url, token=secret) as net:
        found = lf.doctor(net)

    assert finding(found, "ledger token").status == status
    for shown in (str(found), found.to_json(), found._repr_html_(), found.to_frame().to_csv()):
        assert not any(part in shown for part in secret.split("."))


def test_a_token_that_is_fetched_again_in_time_is_nothing_to_look_at(ledger):
    found = examined(ledger_url=ledger.sandbox.ledger_url, token=lambda: ledger.sandbox.token("alice", lifetime=300))

    assert finding(found, "ledger token").status == "ok"


def test_a_ledger_without_a_token_is_told(ledger):
    found = examined(ledger_url=ledger.sandbox.ledger_url)

    assert finding(found, "ledger token", "this machine").status == "skipped"
    refused = finding(found, "token", "ledger http")
    assert (refused.status, "ledger_token=" in refused.advice) == ("fail", True)


@pytest.mark.parametrize(("off", "status"), [(0, "ok"), (90, "warn"), (-90, "warn")], ids=["right", "ahead", "behind"])
def test_a_clock_that_differs_is_told(served, off, status):
    server = served(answer({"transactions": []}, Date=formatdate(time.time() + off, usegmt=True)))

    found = finding(examined(scan_url=server.url), "clock")

    assert found.status == status
    assert ("behind it" in found.found) == (off > 0)


def test_a_scan_of_another_network_or_one_that_lags_is_told(ledger):
    with lf.sandbox(seed=2, updates=30) as other, replica(ledger.sandbox, lag=5) as behind:
        urls = [ledger.sandbox.scan_url, other.sandbox.scan_url], [ledger.sandbox.scan_url, behind.scan_url]
        stranger, late = (examined(scan_url=url) for url in urls)

    told = finding(stranger, "one network")
    assert (told.status, told.advice) == ("fail", "leave one of them out")
    assert f"{urls[0][1]} and {urls[0][0]} belong to two networks" in told.found
    assert "store" not in told.found
    assert finding(late, "one network").status == "ok"
    assert finding(late, "same end").status == "warn"
    assert behind.scan_url in finding(late, "same end").found


def test_a_bad_scan_beside_a_good_one_does_not_hide_the_history(ledger):
    found = examined(scan_url=[refused(), ledger.sandbox.scan_url], attempts=3)

    assert [one.status for one in found.findings if one.check == "reached"] == ["fail", "ok"]
    assert finding(found, "migrations").status == "ok"


def test_a_lake_is_looked_at(ledger, tmp_path):
    before = lf.doctor(ledger, store=tmp_path / "lake")
    lf.open_store(tmp_path / "lake").sync(ledger, progress=False)
    after = lf.doctor(ledger, store=tmp_path / "lake")
    with lf.sandbox(seed=99, updates=30) as other:
        wrong = lf.doctor(other, store=tmp_path / "lake")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert finding(lf.doctor(ledger, store=tmp_path / "file" / "lake"), "writing").status == "fail"
    with pytest.raises(lf.errors.InputError, match=r"store=.* is not valid: give a path"):
        lf.doctor(ledger, store=lf.open_store(tmp_path / "lake"))

    assert finding(before, "coverage").status == "skipped"
    assert (finding(after, "coverage").status, finding(after, "network").status) == ("ok", "ok")
    assert finding(wrong, "network").status == "fail"


@pytest.mark.parametrize(("port", "code"), [(None, 0), (9, 1)], ids=["well", "not reached"])
def test_the_command_ends_by_what_it_found(ledger, monkeypatch, command, port, code):
    url = ledger.sandbox.scan_url if port is None else f"http://127.0.0.1:{unused_port()}"
    monkeypatch.setenv("LEDGERFRAMES_ATTEMPTS", "1")

    ended = command("doctor", "--json", "--scan-url", url)

    assert ended.code == code
    assert json.loads(ended.out)["ok"] is (code == 0)


def test_a_ledger_without_authentication_is_well():
    with lf.sandbox(updates=20, auth="none") as net:
        found = lf.doctor(net)

    assert found.ok, str(found)
    assert finding(found, "kind", "ledger http").status == "ok"


def test_a_scan_that_admits_known_addresses_is_told(served):
    found = finding(examined(scan_url=served(text("RBAC: access denied", 403)).url), "admission")

    assert (found.status, found.found) == ("fail", "refused (403): RBAC: access denied")
    assert 'failover="network"' in found.advice


@pytest.mark.parametrize(
    ("claims", "told"), [({"aud": "p"}, 0), ({}, 1), ({"aud": []}, 1)], ids=["aud", "none", "empty"]
)
def test_a_token_without_an_audience_is_told(ledger, claims, told):
    secret = token({"exp": time.time() + 86_400, "sub": "sesame"} | claims)
    with lf.connect(ledger_url=ledger.sandbox.ledger_url, token=secret) as net:
        found = lf.doctor(net)

    assert len([one for one in found.findings if one.check == "ledger token's audience"]) == told


def test_the_variable_of_a_token_that_is_not_set_is_named(ledger, command):
    command("profile", "add", "mainnet", "--scan-url", ledger.sandbox.scan_url, "--token-env", "MAINNET_TOKEN")
    ended = command("doctor", "mainnet", LEDGERFRAMES_TOKEN="")

    assert "the variable MAINNET_TOKEN, which is not set" in ended.out
    assert ended.code == 0


def test_what_is_unknown_is_not_called_well(served):
    found = examined(registry_url=served(answer({"instruments": []})).url)

    assert finding(found, "clock").status == "unknown"
    assert "nothing is wrong" not in str(found)
    assert str(found).startswith("1 of ")


def test_many_servers_are_examined_with_few_requests(ledger):
    with ExitStack() as stack:
        scans = [stack.enter_context(ledger.sandbox.replica()).scan_url for _ in range(8)]
        found = examined(scan_url=[ledger.sandbox.scan_url, *scans])

    assert found.requests <= 30
    assert "not asked" in found.of("unknown")[0].found


def test_a_bar_counts_the_checks_where_it_is_asked_for(ledger, capsys):
    with lf.connect(scan_url=ledger.sandbox.scan_url) as net:
        lf.doctor(net, progress=True)

    shown = capsys.readouterr()
    assert (shown.out, "doctor" in shown.err, "checks" in shown.err) == ("", True, True)
