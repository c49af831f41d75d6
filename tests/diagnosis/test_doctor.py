"""What the doctor finds on servers that are well, and on servers that are not, and what it advises."""

import json
import time
from contextlib import ExitStack
from email.utils import formatdate

import pytest

import ledgerframes as lf
from tests.rigs.servers import replica
from tests.token_server import jwt
from tests.transport.authorities import Authority
from tests.transport.hostile_server import HostileServer, Reply, answer, text, unused_port


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


def test_nothing_fails_on_a_ledger_that_is_well(hour):
    found = lf.doctor(hour)

    assert found.ok, str(found)
    assert bool(found)
    assert {one.check for one in found.of("ok")} >= {"reached", "kind", "clock", "migrations", "versions"}
    assert found.requests < 30
    there, told = lf.migrations(hour), finding(found, "migrations").found
    firsts = [f"{row.migration_id} from {row.first_record_time:%Y-%m-%dT%H:%M:%S.%f}Z" for row in there.itertuples()]
    assert [first for first in firsts if first not in told] == []
    assert finding(found, "newest").status == "warn"
    frame, data = found.to_frame(), json.loads(found.to_json())
    assert list(frame.columns) == ["subject", "check", "status", "found", "advice"]
    assert (len(frame), data["ok"]) == (len(found.findings), True)
    assert len(data["findings"]) == len(frame)
    said = str(examined(scan_url=hour.sandbox.scan_url))
    assert max(len(line) for line in said.splitlines() if "versions:" not in line) <= 200


def test_a_closed_port_is_told_from_a_host_without_an_address():
    urls = (f"http://127.0.0.1:{unused_port()}/api/scan", "https://nowhere.invalid/api/scan")
    closed, nowhere = (finding(examined(scan_url=url), "reached") for url in urls)

    assert (closed.status, "refused" in closed.found.lower()) == ("fail", True)
    assert (nowhere.status, "nowhere.invalid" in nowhere.found, "scan_url=" in nowhere.advice) == ("fail", True, True)


NO_SCAN = {
    "a page": (text("<html><title>Hi</title></html>", 200), "kind", "an HTML page, not JSON: 'Hi'", "/api/scan"),
    "a page that says 404": (text("<html></html>", 404, "text/html"), "kind", "", "/api/scan"),
    "another interface": (answer({"entries": []}), "kind", "", "/api/scan"),
    "no object": (Reply(body=b"[]"), "kind", "", "/api/scan"),
    "a compression that nothing reads": (
        Reply(headers=(("Content-Encoding", "compress"),)), "reached", "read here: 'compress'", "as gzip or un",
    ),
    "known addresses only": (
        text("RBAC: access denied", 403), "admission", "refused (403): RBAC: access denied", 'failover="network"',
    ),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "check", "found", "advice"), NO_SCAN.values(), ids=NO_SCAN)
def test_what_a_scan_does_not_answer_is_told_after_one_request(served, reply, check, found, advice):
    server = served(reply)

    told = finding(examined(scan_url=server.url, attempts=8), check)

    assert (told.status, found in told.found, advice in told.advice) == ("fail", True, True)
    assert len(server.heard) == 1 or not found


def test_certificates_are_told_apart_from_a_server_that_is_away(tmp_path, monkeypatch):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    one, other = Authority(tmp_path, "One"), Authority(tmp_path, "Other")
    monkeypatch.setenv("SSL_CERT_FILE", str(other.file))
    with HostileServer([answer({"transactions": []})], tls=one.server()) as server:
        unknown = finding(examined(scan_url=server.url, attempts=8), "reached")
        known = examined(scan_url=server.url, ca_file=one.file)

    assert "its certificate is not trusted" in unknown.found
    assert "ca_file=" in unknown.advice
    assert finding(known, "kind").status == "ok"
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere.pem"))
    unread = examined(scan_url="https://scan.example/api/scan")
    assert "SSL_CERT_FILE=" in finding(unread, "reached").found
    assert unread.requests == 0


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


TOKENS = {
    "expired": (-7200, {}, ("fail", True)),
    "ends soon": (60, {"aud": []}, ("warn", True)),
    "valid": (86_400, {"aud": "p"}, ("ok", False)),
}


@pytest.mark.parametrize(("left", "claims", "told"), TOKENS.values(), ids=TOKENS)
def test_a_tokens_lifetime_and_lack_of_an_audience_are_told_and_the_token_is_not_shown(hour, left, claims, told):
    secret = jwt(exp=time.time() + left, sub="sesame", **claims)

    found = examined(ledger_url=hour.sandbox.ledger_url, token=secret)

    audience = any(one.check == "ledger token's audience" for one in found.findings)
    assert (finding(found, "ledger token").status, audience) == told
    for shown in (str(found), found.to_json(), found._repr_html_(), found.to_frame().to_csv()):
        assert not any(part in shown for part in secret.split("."))


def test_a_token_that_is_fetched_again_in_time_is_well_and_a_lack_of_one_only_where_none_is_needed(hour):
    url = hour.sandbox.ledger_url
    fetched = examined(ledger_url=url, token=lambda: hour.sandbox.token("alice", lifetime=300))
    without = examined(ledger_url=url)
    with lf.sandbox(updates=20, auth="none") as net:
        open_to_all = lf.doctor(net)

    assert finding(fetched, "ledger token").status == "ok"
    assert finding(without, "ledger token", "this machine").status == "skipped"
    refused = finding(without, "token", "ledger http")
    assert (refused.status, "ledger_token=" in refused.advice) == ("fail", True)
    assert open_to_all.ok, str(open_to_all)
    assert finding(open_to_all, "kind", "ledger http").status == "ok"


@pytest.mark.parametrize("gmt", [True, False], ids=["GMT", "-0000"])
@pytest.mark.parametrize(("off", "status"), [(0, "ok"), (90, "warn"), (-90, "warn")], ids=["right", "ahead", "behind"])
def test_a_clock_that_differs_is_told(served, off, status, gmt):
    server = served(answer({"transactions": []}, Date=formatdate(time.time() + off, usegmt=gmt)))

    found = finding(examined(scan_url=server.url), "clock")

    assert found.status == status
    assert ("behind it" in found.found) == (off > 0)


def test_a_scan_of_another_network_or_one_that_lags_is_told(hour):
    with lf.sandbox(seed=2, updates=30) as other, replica(hour.sandbox, lag=5) as behind:
        urls = [[hour.sandbox.scan_url, one] for one in (other.sandbox.scan_url, behind.scan_url)]
        stranger, *lagging = (examined(scan_url=url) for url in (*urls, urls[1][::-1]))

    told = finding(stranger, "one network")
    assert (told.status, told.advice) == ("fail", "leave one of them out")
    assert f"{urls[0][1]} and {urls[0][0]} belong to two networks" in told.found
    assert "store" not in told.found
    for late in lagging:
        assert finding(late, "one network").status == "ok"
        assert finding(late, "same end").status == "warn"
        assert finding(late, "same end").found.startswith(f"{behind.scan_url} does not have")


@pytest.mark.parametrize(("port", "code"), [(None, 0), (9, 1)], ids=["well", "not reached"])
def test_the_command_ends_by_what_it_found(hour, monkeypatch, command, port, code):
    url = hour.sandbox.scan_url if port is None else f"http://127.0.0.1:{unused_port()}"
    monkeypatch.setenv("LEDGERFRAMES_ATTEMPTS", "1")

    ended = command("doctor", "--json", "--scan-url", url)

    assert ended.code == code
    assert json.loads(ended.out)["ok"] is (code == 0)


def test_what_is_unknown_is_not_called_well(served):
    found = examined(registry_url=served(answer({"instruments": []})).url)

    assert finding(found, "clock").status == "unknown"
    assert "nothing is wrong" not in str(found)
    assert str(found).startswith("1 of ")


def test_many_servers_are_examined_with_few_requests_behind_a_bar(hour, capsys):
    with ExitStack() as stack:
        scans = [stack.enter_context(hour.sandbox.replica()).scan_url for _ in range(11)]
        with lf.connect(scan_url=[hour.sandbox.scan_url, *scans]) as net:
            found = lf.doctor(net, progress=True)

    assert found.requests <= 30
    assert "checks" in capsys.readouterr().err
    assert "not asked" in found.of("unknown")[0].found


def test_what_the_environment_says_wrong_is_told_without_its_secrets(hour, command, monkeypatch):
    proxy = f"http://user:s3cret@127.0.0.1:{unused_port()}"
    for address in (proxy, "nonsense://user:s3cret@x"):
        monkeypatch.setenv("HTTPS_PROXY", address)
        found = examined(scan_url="https://scan.example/api/scan")
        assert finding(found, "reached").status == "fail"
        assert "s3cret" not in str(found)
        assert (f"{proxy.replace('user:s3cret', '***')} (HTTPS_PROXY)" in str(found)) == (address == proxy)
    monkeypatch.delenv("HTTPS_PROXY")
    monkeypatch.setenv("LEDGERFRAMES_DECODER", "fast")
    assert "'fast' is not valid" in finding(lf.doctor(hour), "versions").found
    monkeypatch.delenv("LEDGERFRAMES_DECODER")

    command("profile", "add", "mainnet", "--scan-url", hour.sandbox.scan_url, "--token-env", "MAINNET_TOKEN")
    ended = command("doctor", "mainnet", LEDGERFRAMES_TOKEN="")
    assert ended.code == 0
