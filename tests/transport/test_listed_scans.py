"""Further scans of the network: added where asked for, public ones only, and never given a token."""

from contextlib import contextmanager

import httpx
import pytest
from hostile_server import HostileServer, answer, text

import ledgerframes as lf
from ledgerframes.config.settings import Settings
from ledgerframes.errors import FailoverWarning
from ledgerframes.transport.public_addresses import why_not_public
from tests.clocks import SkippingClock

SCANS = "/api/scan/v0/scans"


def anybody(_url):
    """Lets every scan be asked, those on loopback too."""


@contextmanager
def naming(urls, *, status=200, body=None):
    """A scan that lists these scans and answers everything else with 503; with the requests it got."""
    scans = [{"publicUrl": url, "svName": f"sv-{place}"} for place, url in enumerate(urls)]
    told = answer({"scans": [{"domainId": "s::1220", "scans": scans}]} if body is None else body, status)
    with HostileServer(lambda heard: told if heard.path == SCANS else text("gone", 503)) as server:
        yield server.url, server.heard


def network(*bases, refusal=anybody, **options):
    urls = tuple(f"{base}/api/scan" for base in bases)
    settings = Settings(scan_url=urls, failover="network", attempts=2, **options)
    return lf.types.Network(settings, clock=SkippingClock(), refusal=refusal)


@pytest.mark.parametrize("suffix", ["", "/api/scan/"])
def test_a_listed_scan_answers_where_the_given_one_fails(small, suffix):
    with naming([small.sandbox.url + suffix]) as (url, heard), network(url) as net:
        assert len(lf.load_updates(net, progress=False)) == 240
        assert net.scan.servers[-1 if net.scan.servers[0] != small.sandbox.scan_url else 0] == small.sandbox.scan_url
    assert [one.path for one in heard].count(SCANS) == 1


def test_nothing_is_asked_until_the_first_request_and_the_list_only_with_the_setting(small):
    with naming([small.sandbox.url]) as (url, heard), network(url):
        assert heard == []
        settings = Settings(scan_url=(f"{url}/api/scan",), attempts=1)
        with lf.types.Network(settings, clock=SkippingClock()) as net, pytest.raises(lf.errors.ServerError):
            net.scan.updates()
        assert SCANS not in [one.path for one in heard]


def test_a_listed_scan_gets_no_token_and_a_given_one_does():
    with (
        naming([]) as (listed, heard_there),
        naming([listed]) as (given, heard_here),
        network(given, scan_token="s3cret-of-the-test") as net,
        pytest.raises(lf.errors.ServerError),
    ):
        net.scan.updates()
    assert {one.headers.get("authorization") for one in heard_here} == {"Bearer s3cret-of-the-test"}
    assert {one.headers.get("authorization") for one in heard_there} == {None}


def test_scans_are_added_once_and_not_those_that_are_given(small):
    with naming([]) as (first, _):
        url, port = small.sandbox.url, small.sandbox.url.rpartition(":")[2]
        same = [first, url, f"{url}/api/scan", f"HTTP://127.0.0.1:{port}/", first + "/api/scan/"]
        with naming(same) as (url, _), network(url, first) as net:
            assert net.scan.servers == (f"{url}/api/scan", f"{first}/api/scan", small.sandbox.scan_url)
    # The default port, a dot at the end and capitals make no other scan.
    listed = ["https://a.example:443", "https://a.example.", "https://A.example/api/scan", "https://b.example"]
    with naming(listed) as (url, _), network(url) as net:
        assert net.scan.servers == (f"{url}/api/scan", "https://a.example:443/api/scan", "https://b.example/api/scan")


def test_what_is_refused_is_left_out_and_logged(caplog):
    def refusal(url):
        return "it is not liked" if "bad" in url else None

    listed = ["https://bad.example", "https://good.example", "https://u:p4ss@host.example", "file:///", "https://a b"]
    with naming(listed) as (url, _), network(url, refusal=refusal) as net:
        assert net.scan.servers == (f"{url}/api/scan", "https://good.example/api/scan")
    assert "https://bad.example/api/scan is not used for failover: it is not liked" in caplog.text
    assert caplog.text.count("its address is not a base URL") == 3
    assert "p4ss" not in caplog.text


def test_a_list_without_any_scan_to_ask_is_a_warning_unless_it_has_the_given_one_alone():
    warned = pytest.warns(FailoverWarning, match="lists 2 scans, and none of them may be asked")
    listed = ["http://127.0.0.1:1", "https://10.0.0.1"]
    with naming(listed) as (url, _), network(url, refusal=why_not_public) as net, warned:
        assert net.scan.servers == (f"{url}/api/scan",)
    with naming([]) as (first, _), naming([first]) as (url, _), network(url, first) as net:
        assert len(net.scan.servers) == 2


@pytest.mark.parametrize("broken", [{"status": 404}, {"body": {"scans": 5}}, {"body": []}], ids=str)
def test_a_list_that_cannot_be_had_is_a_warning_and_the_given_scans_are_asked(broken):
    with naming([], **broken) as (url, _), network(url) as net, pytest.warns(FailoverWarning, match="/v0/scans: "):
        assert net.scan.servers == (f"{url}/api/scan",)


def leading_to(*addresses):
    return lambda _host: list(addresses)


PUBLIC = leading_to("93.184.216.34", "2606:2800:220:1::1")


def unknown(_host):
    raise OSError(-2, "Name or service not known")


@pytest.mark.parametrize(
    ("url", "lookup", "reason"),
    [
        ("https://scan.example.com/api/scan", PUBLIC, None),
        ("https://93.184.216.34/api/scan", unknown, None),
        ("http://scan.example.com", PUBLIC, "not https"),
        ("https://localhost", PUBLIC, "private network"),
        ("https://intranet", PUBLIC, "private network"),
        ("https://printer.local.", PUBLIC, "private network"),
        ("https://10.1.2.3", PUBLIC, "not public"),
        ("https://100.64.0.1", PUBLIC, "not public"),
        ("https://224.0.0.1", PUBLIC, "not public"),
        ("https://[::1]", PUBLIC, "not public"),
        ("https://[::ffff:127.0.0.1]", PUBLIC, "127.0.0.1 is not public"),
        ("https://[64:ff9b::a00:1]", PUBLIC, "10.0.0.1 is not public"),
        ("https://[2002:7f00:1::]", PUBLIC, "127.0.0.1 is not public"),
        ("https://192.0.0.192", PUBLIC, "192.0.0.192 is not public"),
        ("https://[64:ff9b:1::7f00:1]", PUBLIC, "not public"),
        ("https://[fec0::1]", PUBLIC, "fec0::1 is not public"),
        ("https://[::ffff:0:127.0.0.1]", PUBLIC, "not public"),
        ("https://scan.example.com", leading_to("93.184.216.34", "127.0.0.1"), "127.0.0.1 is not public"),
        ("https://scan.example.com", leading_to("fe80::1%eth0"), "fe80::1 is not public"),
        ("https://scan.example.com", leading_to(), "no address"),
        ("https://scan.example.com", leading_to("nonsense"), "cannot be read"),
        ("https://scan.example.com", unknown, "cannot be looked up (Name or service not known)"),
    ],
)  # fmt: skip
def test_only_public_https_addresses_may_be_asked_and_the_reason_is_given(url, lookup, reason):
    told = why_not_public(url, lookup)
    assert told is None if reason is None else reason in told


def test_a_listed_scan_is_asked_at_the_rate_of_a_given_one():
    def reply(request):
        listed = {"scans": [{"domainId": "s::1220", "scans": [{"publicUrl": "https://b.example", "svName": "sv"}]}]}
        failing = str(request.url) == "https://a.example/api/scan/v0/x"
        return httpx.Response(503 if failing else 200, json=listed)

    settings = Settings(scan_url=("https://a.example/api/scan",), failover="network", attempts=2, rate=1.0, burst=1)
    clock = SkippingClock()
    with lf.types.Network(settings, clock=clock, refusal=anybody, transport=httpx.MockTransport(reply)) as net:
        net.scan.call("GET", "/v0/x")
        began = clock.monotonic()
        for _ in range(5):
            net.scan.call("GET", "/v0/x")
        assert net.scan.servers[0] == "https://b.example/api/scan"
    assert clock.monotonic() - began >= 4
