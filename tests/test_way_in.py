"""How a new user gets in: LocalNet's addresses, no token where none is needed, plain http where it is asked for."""

import re
import traceback
from urllib.request import urlopen

import pytest

import ledgerframes as lf
from ledgerframes.config.profiles import FILE
from ledgerframes.errors import ConfigurationError, InsecureHttpWarning, NotAuthorizedError, RequestError
from tests.documents import ROOT
from tests.token_server import TokenServer
from tests.transport.authorities import Authority
from tests.transport.hostile_server import HostileServer, Reply, answer, text

TOKEN = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"


def at(name, url):
    """The same port of this machine, under another name."""
    return url.replace("127.0.0.1", name)


@pytest.fixture
def profiles(tmp_path, monkeypatch):
    """Writes the user's config.toml."""
    folder = tmp_path / "ledgerframes"
    folder.mkdir()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return (folder / FILE).write_text


PAGE = (ROOT / "docs" / "howto" / "connecting.md").read_text(encoding="utf-8")


def block(question, language):
    """The lines below a question of the page, in a language."""
    _, _, section = PAGE.partition(f"\n## {question}")
    return re.search(rf"^```{language}\n(.*?)^```", section.partition("\n## ")[0], re.DOTALL | re.MULTILINE)[1]


def test_the_lines_for_localnet_are_those_that_run(capsys):
    with lf.sandbox(updates=60, auth="none") as net:
        sandbox = net.sandbox

        def participant(heard):
            with urlopen(sandbox.ledger_url + heard.target) as came:  # LocalNet has no prefix there
                return Reply(body=came.read())

        with HostileServer(participant) as ledger:
            port = f":{sandbox.scan_url.split(':')[2].split('/')[0]}/"
            lines = block("How do I connect to LocalNet", "py").replace(":4000/", port).replace(":2000/", port)
            names = {}
            exec(lines.replace(":2975", f":{ledger.port}"), names)
            names["net"].close()
    said = capsys.readouterr().out
    assert "Splice.Amulet:FeaturedAppActivityMarker" in said
    assert "'alice'" in said


def test_the_lines_for_an_identity_provider_are_those_that_run(profiles, monkeypatch, capsys):
    with lf.sandbox(updates=60) as net, TokenServer(net.sandbox) as server:
        monkeypatch.setenv("DESK_SECRET", server.secret)
        issuer = at("keycloak.localhost", server.issuer)
        table = block("How do I get tokens", "toml").replace("https://IDP/realms/desk", issuer)
        profiles(table.replace("https://HOST", net.sandbox.ledger_url))
        exec(block("How do I get tokens", "py"), {})
    assert "'alice'" in capsys.readouterr().out
    assert len(server.asked) == 1


def test_a_name_of_this_machine_is_sent_as_host_past_proxies_and_limits(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with HostileServer([answer({"earliest_round": 7})]) as server:
        with lf.connect(scan_url=at("scan.localhost", server.url), rate=0.001, burst=1, budget=20) as net:
            assert [net.scan.earliest_available_round() for _ in range(3)] == [7, 7, 7]
        assert {heard.headers["host"] for heard in server.heard} == {f"scan.localhost:{server.port}"}


ASKING = {
    "scan": lf.load_licenses, "ledger": lf.load_users, "validator": lf.load_name_entries,
    "registry": lf.load_instruments,
}  # fmt: skip


@pytest.mark.parametrize(("interface", "ask"), ASKING.items(), ids=ASKING)
def test_no_token_is_demanded_and_a_401_without_one_says_which_and_how(interface, ask):
    with (
        HostileServer([text("The supplied authentication is invalid", 401)]) as server,
        lf.connect(**{f"{interface}_url": server.url}) as net,
        pytest.raises(NotAuthorizedError) as caught,
    ):
        ask(net)
    assert ["authorization" in heard.headers for heard in server.heard] == [False]
    said = str(caught.value)
    assert "requires a token, and none was given" in said
    assert (f" {interface}_token=" in said, f"LEDGERFRAMES_{interface.upper()}_TOKEN" in said) == (True, True)


def test_a_token_over_plain_http_needs_insecure_http_and_is_warned_of(profiles):
    private = {"ledger_url": "http://participant:7575", "token": TOKEN}
    with pytest.raises(ConfigurationError, match=r"insecure_http=True"):
        lf.connect(**private)
    with pytest.warns(InsecureHttpWarning, match=r"http://participant:7575") as caught:
        net = lf.connect(**private, insecure_http=True)
    assert TOKEN not in str(caught[0].message) + repr(net)
    assert caught[0].filename == __file__

    profiles('[profiles.box]\nledger_url = "http://participant:7575"\ntoken_env = "T"\ninsecure_http = true\n')
    own = {"issuer": "http://keycloak:8080", "client_id": "analyst", "secret_env": "CLIENT_SECRET"}
    for given in ({"profile": "box"}, {"scan_url": "https://a.example", "token_oauth": own, "insecure_http": True}):
        with pytest.warns(InsecureHttpWarning):
            lf.connect(**given).close()
    # Without a token, and on this machine, there is nothing to warn of.
    lf.connect(ledger_url="http://participant:7575")
    lf.connect(ledger_url="http://wallet.localhost:2000", token=TOKEN)


@pytest.mark.parametrize("given", ["argument", "name"])
def test_connect_takes_a_profiles_name_or_a_scans_address(given, profiles):
    with HostileServer([answer({"earliest_round": 7})]) as server:
        profiles(f'[profiles.mainnet]\nscan_url = "{server.url}"\n')
        with lf.connect("mainnet" if given == "name" else server.url) as net:
            assert net.scan.earliest_available_round() == 7


@pytest.mark.parametrize(
    ("first", "options", "said"),
    [
        ("mainet", {}, r"did you mean 'mainnet'"),
        ("zzz", {}, r"it has: devnet, mainnet"),
        ("scan.example.com/api/scan", {}, r"write https://scan\.example\.com/api/scan"),
        ("mainnet", {"profile": "devnet"}, r"as network and profile=; give one"),
        ("https://scan.example.com", {"scan_url": "https://b.example"}, r"address as network and scan_url=; give one"),
        ("", {}, r"a profile's name or a scan's URL"),
        (7, {}, r"a profile's name or a scan's URL"),
        ("xyzzy" * 5, {}, "a token goes into token="),
        ("eyJhbGciOiJ4In0.eyJ4IjoxfQ.xyzzy", {}, "a token goes into token="),
        ("eyJhbGciOiJ4In0.eyJ4IjoxfQ.xyzzy", {"profile": "mainnet"}, "a token goes into token="),
        (None, {"profile": "xyzzy" * 5}, "a token goes into token="),
        ("https://u:xyzzy@scan.example.com", {"scan_url": "https://b.example"}, "give one of them"),
        (b"xyzzy", {}, "given a bytes"),
        ("https//u:xyzzy@host.example/x", {}, "user info"),
        ("u:xyzzy@localhost", {}, "user info"),
        ("https://u:x#yzzy@host.example", {}, "user info"),
        ("scan.example.com/api/scan?token=xyzzy", {}, "a query or a fragment"),
        ("https//scan.example.com/api/scan", {}, r"write https://scan\.example\.com/api/scan$"),
    ],
)
def test_a_first_argument_that_is_neither_is_said_to_be_wrong_without_a_secret_in_it(first, options, said, profiles):
    profiles("[profiles.mainnet]\n[profiles.devnet]\n")
    with pytest.raises(ConfigurationError, match=said) as caught:
        lf.connect(first, **options)
    assert not re.search("u:x|yzzy", "".join(traceback.format_exception(caught.value)))


RBAC = text("RBAC: access denied", 403)


def test_a_scan_that_admits_known_addresses_says_so_and_the_next_one_is_asked():
    with HostileServer([RBAC]) as closed, HostileServer([answer({"earliest_round": 7})]) as open_:
        with lf.connect([closed.url, open_.url]) as net:
            assert [net.scan.earliest_available_round() for _ in range(2)] == [7, 7]
        assert (len(closed.heard), len(open_.heard)) == (1, 2)

        with lf.connect([closed.url, open_.url], scan_token=TOKEN) as net:
            assert net.scan.earliest_available_round() == 7


@pytest.mark.parametrize("token", [None, TOKEN], ids=["no token", "a token"])
@pytest.mark.parametrize("interface", ["scan", "registry"])
def test_a_gateway_that_admits_some_is_said_to_whatever_the_token_and_a_token_without_a_right(interface, token):
    with (
        HostileServer([RBAC, answer({"error": "no right"}, 403)]) as server,
        lf.connect(**{f"{interface}_url": server.url, f"{interface}_token": token}) as net,
    ):
        ask = net.scan.earliest_available_round if interface == "scan" else net.registry.instruments
        with pytest.raises(NotAuthorizedError, match=r"admits known addresses.* ask .*operator") as refused:
            ask()
        assert ('others with failover="network"' in str(refused.value)) is (interface == "scan")
        assert ("token=" in str(refused.value), len(server.heard)) == (False, 1)
        if token:
            with pytest.raises(NotAuthorizedError, match=f"ask the operator for the right, .*{interface}_token="):
                ask()


IN_CLEAR = {
    "hangs up": None,
    "Go": text("Client sent an HTTP request to an HTTPS server.", 400),
    "nginx": text("<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>", 400, "text/html"),
    "an alert": Reply(raw=bytes([21, 3, 1, 0, 2, 2, 70])),
}


@pytest.mark.parametrize("in_clear", IN_CLEAR.values(), ids=IN_CLEAR)
def test_http_to_a_port_of_tls_is_told_at_once(in_clear, tmp_path, monkeypatch):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    # Who says it in words needs no handshake that proves it.
    tls = Authority(tmp_path).server() if in_clear is None or in_clear.raw else None
    with HostileServer([in_clear], tls=tls, otherwise=in_clear) as server:
        url = f"http://127.0.0.1:{server.port}"
        with lf.connect(url) as net, pytest.raises(RequestError, match="write https://"):
            net.scan.earliest_available_round()
        assert server.connections <= 3
        if tls is not None:
            with lf.connect(url) as net:
                assert any("write https://" in finding.advice for finding in lf.doctor(net).of("fail"))


@pytest.fixture(scope="module")
def both():
    """A ledger with everything, and the same one where only its validator is known."""
    with lf.sandbox(updates=300) as net:
        own = net.sandbox
        with lf.connect(validator_url=own.validator_url, token=own.token("validator_operator")) as alone:
            yield net, alone


@pytest.mark.parametrize(
    "load", [lf.load_names, lf.load_super_validators, lf.load_name_rules], ids=lambda f: f.__name__
)
def test_a_validator_alone_serves_what_its_scan_proxy_does(load, both):
    net, alone = both
    assert load(alone).equals(load(net))
    assert len(load(net)) > 0
    assert both[1].settings.validator_url[0] in load(alone).attrs["source"]


def test_a_validator_alone_serves_open_rounds_and_says_that_closed_ones_are_not_asked(both):
    net, alone = both
    rounds = lf.load_rounds(alone)
    wanted = lf.load_rounds(net)
    assert rounds.equals(wanted[wanted.phase != "closed"].reset_index(drop=True))
    assert (rounds.attrs["phases"], wanted.attrs["phases"]) == ("open, issuing", "open, issuing, closed")


@pytest.mark.parametrize("load", [lf.load_history, lf.load_licenses, lf.plan], ids=lambda f: f.__name__)
def test_a_validator_alone_says_what_it_cannot_give_and_what_can(load, both):
    with pytest.raises(ConfigurationError) as caught:
        load(both[1])
    assert "no history, snapshot, license" in str(caught.value)
    assert "scan_url=" in str(caught.value)
