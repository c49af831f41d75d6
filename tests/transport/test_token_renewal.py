"""Tokens that end: fetched once more after a 401, kept until shortly before they expire, or by client credentials."""

import base64
import logging
import re
import sys
import traceback

import pytest

import ledgerframes as lf
from ledgerframes.config.profiles import FILE, resolve
from ledgerframes.config.settings import INTERFACES
from ledgerframes.config.token_sources import CachedToken
from ledgerframes.errors import ConfigurationError, NotAuthorizedError
from tests.asking import forwarded
from tests.clocks import SkippingClock
from tests.rigs.servers import simulated
from tests.token_server import TokenServer, jwt
from tests.transport.hostile_server import HostileServer, Reply, answer, text, unused_port

ENDED = text("The token expired", 401)
USERS = answer({"users": [], "nextPageToken": ""})
SECRET = "correct horse"


def taking(valid):
    """Answers requests with the token that is valid now."""

    def by(heard):
        return USERS if heard.headers.get("authorization") == f"Bearer {valid()}" else ENDED

    return HostileServer(by)


def of_profile(line):
    def token(place):
        place.with_name(FILE).write_text(f"[profiles.p]\n{line.format(place=place, python=sys.executable)}\n")
        return resolve(profile="p", environ={}, config_dir=place.parent).ledger_token

    return token


SOURCES = {
    "function": lambda place: place.read_text,
    "file": of_profile("token_file = '{place}'"),
    "command": of_profile("token_command = ['{python}', '-c', 'print(open(\"{place}\").read())']"),
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_token_that_is_refused_is_fetched_once_more(source, tmp_path):
    place = tmp_path / "token"
    place.write_text("token-one")

    def valid():
        """The token changes while the second request is on its way."""
        if len(server.heard) < 2:
            return "token-one"
        place.write_text("token-two")
        return "token-two"

    server = taking(valid)
    with server, lf.connect(ledger_url=server.url, token=source(place)) as net:
        lf.load_users(net)
        lf.load_users(net)
    sent = [heard.headers["authorization"] for heard in server.heard]
    assert sent == ["Bearer token-one", "Bearer token-one", "Bearer token-two"]


def test_a_token_that_stays_refused_is_an_error_after_two_requests_or_one_of_a_command_or_of_text():
    def tokens():
        counted = (f"token-{number}" for number in range(100))
        return lambda: next(counted)

    def make_user(net):
        net.ledger.create_user(lf.commands.User(id="alice"))

    for token, ask, requests in (
        (tokens(), lf.load_users, 2),
        ("fixed-token", lf.load_users, 1),
        (tokens(), make_user, 1),
    ):
        with HostileServer([ENDED]) as server, lf.connect(ledger_url=server.url, token=token) as net:
            with pytest.raises(NotAuthorizedError):
                ask(net)
            assert len(server.heard) == requests


@pytest.mark.parametrize(
    ("token", "seconds", "kept"),
    [
        ("opaque", None, 54), ("opaque", 300.0, 270), (jwt(exp=1_000_300), None, 270),
        (jwt(exp=1_003_600), None, 3_570), (jwt(exp=1_000_005), None, 4.5), (jwt(exp=999_000), None, 54),
        (jwt(exp="soon"), None, 54), (jwt(exp=10**400), None, 54), (jwt(exp=1e400), None, 54),
        (f"a.{'W1tb' * 100_000}.c", None, 54),
    ],
    ids=[
        "opaque", "the server says how long", "a JWT", "an hour", "five seconds", "a wrong clock", "no time",
        "no number", "for ever", "deep",
    ],
)  # fmt: skip
def test_a_token_is_kept_until_shortly_before_it_expires(token, seconds, kept):
    now, fetched = [1_000_000.0], []
    source = CachedToken(lambda: (fetched.append(now[0]) or token, seconds), now=lambda: now[0])
    for moment in (0, kept - 0.1, kept):
        now[0] = 1_000_000.0 + moment
        assert source() == token
    assert fetched == [1_000_000.0, 1_000_000.0 + kept]


def test_a_token_may_end_in_the_middle_of_a_sync(tmp_path):
    valid = ["token-0"]
    with simulated(seed=7, updates=400, page_maximum=40) as behind:

        def by(heard):
            if heard.headers["authorization"] != f"Bearer {valid[0]}":
                return ENDED
            number = len(server.heard)
            if number % 5 == 0:
                valid[0] = f"token-{number}"
            return forwarded(behind.sandbox.url, heard)

        kept = CachedToken(lambda: (valid[0], None))
        with HostileServer(by) as server, lf.connect(f"{server.url}/api/scan", scan_token=kept) as net:
            store = lf.open_store(tmp_path / "lake")
            assert store.sync(net, progress=False, workers=1).complete
            assert len(store.load("updates")) == 400
        assert len({heard.headers["authorization"] for heard in server.heard}) > 2


@pytest.fixture(autouse=True)
def _secret(monkeypatch):
    monkeypatch.setenv("CLIENT_SECRET", SECRET)


@pytest.fixture
def provider(small):
    with TokenServer(small.sandbox) as server:
        yield server


def client(**own):
    """What `token_oauth` is given."""
    given = {"client_id": "analyst", "secret_env": "CLIENT_SECRET"} | own
    return {name: value for name, value in given.items() if value is not None}


def connected(ledger_url, **own):
    """A network with client credentials, whose waits take no time."""
    settings = lf.connect(ledger_url=ledger_url, token_oauth=client(**own)).settings
    return lf.types.Network(settings, clock=SkippingClock())


def test_client_credentials_give_ledger_and_validator_one_token_also_in_a_profile_by_the_endpoint_itself(
    small, provider, tmp_path
):
    urls = {"ledger_url": small.sandbox.ledger_url, "validator_url": small.sandbox.validator_url}
    own = client(issuer=provider.issuer, audience="participant", scope="daml_ledger_api")
    with lf.connect(**urls, token_oauth=own) as net:
        assert len(lf.load_users(net)) > 0
        lf.load_name_entries(net)
        lf.load_users(net)
    asked = {"grant_type": "client_credentials", "audience": "participant", "scope": "daml_ledger_api"}
    assert provider.asked == [asked | {"client_id": "analyst"}]
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    (tmp_path / FILE).write_text(
        f'[profiles.desk]\nledger_url = "{small.sandbox.ledger_url}"\n[profiles.desk.token_oauth]\n'
        f'token_url = "{provider.issuer}/token"\nclient_id = "analyst"\nsecret_file = "secret"\n'
    )
    with lf.types.Network(resolve(profile="desk", environ={}, config_dir=tmp_path)) as net:
        assert len(lf.load_users(net)) > 0
    assert len(provider.asked) == 2


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"issuer": "http://idp.example"}, "token_oauth: issuer='http://idp.example' would .* insecure_http=True"),
        ({"secret_env": None}, "give secret_env or secret_file"),
        ({"secret_file": "x"}, "and not both"),
        ({"token_url": "https://idp.example/token"}, "give issuer or token_url"),
        ({"client_secret": SECRET}, "'client_secret' is not a known key"),
        ({"client_id": None}, "client_id is missing"),
        ({"audience": ""}, "each as text"),
        ({"secret_env": SECRET}, "is not the name of a variable"),
    ],
    ids=str,
)
def test_client_credentials_that_break_a_rule_are_refused(changes, said):
    own = client(**{"issuer": "https://idp.example"} | changes)
    with pytest.raises(ConfigurationError, match=said) as caught:
        lf.connect(ledger_url="https://p.example", token_oauth=own)
    assert SECRET not in str(caught.value)


def test_the_secret_goes_to_no_other_host(small):
    with HostileServer() as elsewhere, HostileServer() as issuer:
        issuer.script = [answer({"issuer": issuer.url, "token_endpoint": f"{elsewhere.url}/token"})]
        elsewhere_refused = pytest.raises(ConfigurationError, match="token endpoint on another host")
        with connected(small.sandbox.ledger_url, issuer=issuer.url) as net, elsewhere_refused:
            lf.load_users(net)
        assert elsewhere.heard == []
        assert not any(SECRET.encode() in heard.body for heard in issuer.heard)


def test_a_token_server_that_fails_for_a_moment_is_asked_again(small):
    granted = answer({"access_token": small.sandbox.token("validator_operator"), "expires_in": "300"})
    script = [text("", 503), Reply(hang_up="before"), granted]
    with HostileServer(script) as server, connected(small.sandbox.ledger_url, token_url=server.url) as net:
        assert len(lf.load_users(net)) > 0
        assert len(server.heard) == 3


ODD = {"error": "unauthorized_client", "error_description": f"no grant for {SECRET}"}
NO_TOKEN = {
    "closed port": ("issuer", None, "gave no answer: no connection: .*; check issuer or token_url, and the network"),
    "hangs up": ("token_url", Reply(hang_up="before"), "gave no answer: .*; check issuer or token_url"),
    "404": ("issuer", text("nobody here", 404), "answered 404; check issuer or token_url"),
    "another secret": ("token_url", answer({"error": "invalid_client"}, 401), r"401 \(invalid_client\); check client"),
    "refuses": (
        "token_url", answer(ODD, 400),
        r"answered 400 \(unauthorized_client: no grant for .*\); check client_id, the secret, audience and scope",
    ),
    "a page": ("token_url", text("<html>log in</html>", 200), "did not answer like a token server"),
}  # fmt: skip


def refusal(net):
    """The error of a load and all that shows it, with the locals of its frames, none of which is the test's own."""
    with pytest.raises(ConfigurationError) as caught:
        lf.load_users(net)
    trace = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    return str(caught.value), "".join(trace.format()) + repr(net) + repr(net.settings)


@pytest.mark.parametrize(("named", "reply", "said"), NO_TOKEN.values(), ids=NO_TOKEN)
def test_a_token_server_that_gives_no_token_is_an_error_at_once_without_the_secret(named, reply, said, small, caplog):
    caplog.set_level(logging.DEBUG)
    with HostileServer([reply]) as server:
        url = server.url if reply else f"http://127.0.0.1:{unused_port()}"
        with connected(small.sandbox.ledger_url, **{named: url}) as net:
            error, shown = refusal(net)
    assert re.search(f"token_oauth: (the token server )?{url}.* {said}", error)
    assert SECRET not in error + shown + caplog.text
    assert (len(server.heard), net.stats.retries) == (int(reply is not None), 0)


@pytest.mark.parametrize(("interface", "read"), [("ledger", lf.load_users), ("scan", lf.load_licenses)])
def test_a_profile_gives_each_interface_credentials_of_its_own(interface, read, provider, tmp_path):
    with HostileServer([text("", 400)]) as server:
        (tmp_path / FILE).write_text(
            f'[profiles.desk]\n{interface}_url = "{server.url}"\n[profiles.desk.{interface}_token_oauth]\n'
            f'issuer = "{provider.issuer}"\nclient_id = "analyst"\nsecret_env = "CLIENT_SECRET"\n'
        )
        settings = resolve(profile="desk", environ={"CLIENT_SECRET": SECRET}, config_dir=tmp_path)
        with lf.types.Network(settings) as net, pytest.raises(lf.LedgerframesError):
            read(net)
        assert server.heard[0].headers["authorization"].startswith("Bearer ey")
    assert [each for each in INTERFACES if settings.token(each) is not None] == [interface]
    assert len(provider.asked) == 1


def test_a_provider_that_takes_the_secret_in_a_header_only_gets_it_there(small):
    granted = answer({"access_token": small.sandbox.token("validator_operator")})
    with HostileServer() as server:
        methods = {"token_endpoint_auth_methods_supported": ["client_secret_basic"]}
        server.script = [answer({"token_endpoint": f"{server.url}/token"} | methods), granted]
        with connected(small.sandbox.ledger_url, issuer=server.url) as net:
            assert len(lf.load_users(net)) > 0
        header = base64.b64decode(server.heard[1].headers["authorization"].removeprefix("Basic "))
        assert header == b"analyst:correct%20horse"
        assert b"secret" not in server.heard[1].body
