"""Where settings come from, which one wins, and which values are refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ledgerframes.config.profiles import config_folder, resolve
from ledgerframes.config.settings import INTERFACES, Settings
from ledgerframes.errors import ConfigurationError

TOKEN = "secret-token-of-alice"


def write(folder: Path, text: str) -> Path:
    (folder / "config.toml").write_text(text, encoding="utf-8")
    return folder


def token_of(settings: Settings, interface="ledger") -> str | None:
    secret = settings.token(interface)
    return secret and secret.reveal()


def test_an_argument_wins_over_a_variable_over_a_profile_over_a_default(tmp_path):
    write(tmp_path, "[profiles.main]\nscan_url='https://profile'\nrate=1\nburst=2\nparallel=3\n")
    variables = {"LEDGERFRAMES_PROFILE": "main", "LEDGERFRAMES_RATE": "5", "LEDGERFRAMES_BURST": "6"}
    made = resolve(environ=variables, config_dir=tmp_path, burst=7)
    assert (made.burst, made.rate, made.parallel, made.attempts) == (7, 5.0, 3, 8)
    assert made.scan_url == ("https://profile",)
    (tmp_path / "config.toml").write_text("[profiles.main]\n[profiles.other]\nrate=1\n")
    assert resolve(profile="other", environ=variables | {"LEDGERFRAMES_RATE": ""}, config_dir=tmp_path).rate == 1


def test_variables_hold_lists_numbers_and_tokens():
    made = resolve(
        environ={
            "LEDGERFRAMES_SCAN_URL": "https://a/api/scan, https://b/api/scan/",
            "LEDGERFRAMES_TOKEN": TOKEN,
            "LEDGERFRAMES_SCAN_TOKEN": "other-token",
            "LEDGERFRAMES_MAX_ANSWER_BYTES": "1000",
            "LEDGERFRAMES_RATE": "",
        }
    )
    assert made.scan_url == ("https://a/api/scan", "https://b/api/scan")
    assert [token_of(made, interface) for interface in INTERFACES] == ["other-token", TOKEN, None, TOKEN]
    assert (made.max_answer_bytes, made.rate) == (1000, 8.0)


def test_the_shared_token_goes_to_ledger_and_validator_only_and_as_an_argument_wins_over_a_variable():
    made = resolve(environ={}, token=TOKEN, validator_token="of-the-validator")
    assert [token_of(made, interface) for interface in INTERFACES] == [None, "of-the-validator", None, TOKEN]
    assert token_of(resolve(environ={"LEDGERFRAMES_LEDGER_TOKEN": "from-variable"}, token=TOKEN)) == TOKEN
    with pytest.raises(ConfigurationError, match=r"^token is empty"):
        resolve(environ={}, token="")


@pytest.mark.parametrize("line", ["token_env = 'MY'", "ledger_token_env = 'MY'", "token_file = 't'"])
def test_a_profile_takes_its_token_from_a_variable_or_a_file_beside_it_at_each_use(line, tmp_path):
    variables, file = {}, tmp_path / "t"
    made = resolve(profile="p", environ=variables, config_dir=write(tmp_path, f"[profiles.p]\n{line}\n"))
    for token in ("one-token", "two-token"):
        variables["MY"] = token
        file.write_text(f"{token}\n")
        assert token_of(made) == token
    del variables["MY"]
    file.unlink()
    with pytest.raises(ConfigurationError, match=r"variable MY, which is not set|token_file.*cannot be read"):
        token_of(made)


@pytest.mark.parametrize(
    ("code", "reason"),
    [("print('s3cr3t'); raise SystemExit('s3cr3t')", "exit code 1"), ("print('s3cr3t two')", "space")],
    ids=["fails", "odd"],
)
def test_a_command_that_gives_no_token_is_named_without_its_output(code, reason, tmp_path):
    (tmp_path / "make.py").write_text(code)
    for command, said in ((f"{sys.executable} {tmp_path / 'make.py'}", reason), ("no-such-one", "no-such-one gave no")):
        folder = write(tmp_path, f"[profiles.p]\ntoken_command = '{command}'\n")
        with pytest.raises(ConfigurationError, match=said) as caught:
            token_of(resolve(profile="p", environ={}, config_dir=folder))
        assert "s3cr3t" not in repr(caught.value)


def test_files_that_an_editor_saved_with_a_byte_order_mark_are_read(tmp_path):
    (tmp_path / "t").write_text("one-token\n", encoding="utf-8-sig")
    (tmp_path / "config.toml").write_text("[profiles.p]\ntoken_file = 't'\n", encoding="utf-8-sig")
    assert token_of(resolve(profile="p", environ={}, config_dir=tmp_path)) == "one-token"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[profiles.p]\ntoken = 's3cr3t'", "one of token_env, token_file, token_command, token_oauth"),
        ("[profiles.p]\nscan_token = 's3cr3t'", "scan_token_env"),
        ("[profiles.p]\nscan_ulr = 'x'", "'scan_ulr' is not a known key; did you mean 'scan_url'"),
        ("[profiles.p]\ntokn_env = 'x'", "did you mean 'token_env'"),
        ("[profiles.p]\nrate_env = 'x'", "'rate_env' is not a known key"),
        ("[profiles.p]\ntoken_env = 'A'\ntoken_file = 'B'", "names a token for the second time; keep one of them$"),
        ("[profiles.p]\ntoken_env = 7", "token_env is a int"),
        ("[profiles.p]\ntoken_command = []", "token_command"),
        ("[profiles.p]\nrate = true", "rate=True"),
        ("[profiles.other]\n", r"no table \[profiles.p\]; it has: other"),
        ("profiles = 7", "stand under"),
        ("[profile.p]\n", "'profile' is not a known key"),
        ("[profiles.p\n", "is not valid TOML"),
    ],
)
def test_a_profile_that_is_wrong_is_named(text, message, tmp_path):
    with pytest.raises(ConfigurationError, match=message) as caught:
        resolve(profile="p", environ={}, config_dir=write(tmp_path, text))
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize(
    ("platform", "environ", "folder"),
    [
        ("linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/ledgerframes"),
        ("linux", {"XDG_CONFIG_HOME": "relative"}, "HOME/.config/ledgerframes"),
        ("linux", {}, "HOME/.config/ledgerframes"),
        ("darwin", {"XDG_CONFIG_HOME": "/xdg"}, "HOME/Library/Application Support/ledgerframes"),
        ("win32", {"APPDATA": "/roaming"}, "/roaming/ledgerframes"),
        ("win32", {}, "HOME/AppData/Roaming/ledgerframes"),
    ],
)
def test_profiles_are_read_from_the_users_own_folder(platform, environ, folder, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert config_folder(environ) == Path(folder.replace("HOME", str(tmp_path)))


def test_a_profile_is_not_read_from_the_working_directory_and_one_without_a_file_is_named(monkeypatch, tmp_path):
    write(tmp_path, "[profiles.p]\nrate=1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"config\.toml has no table \[profiles\.p\]"):
        resolve(profile="p", environ={"XDG_CONFIG_HOME": str(tmp_path / "elsewhere")})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://HOST.example/api/scan/", "https://host.example/api/scan"),
        (" https://h ", "https://h"),
        ("http://127.0.0.1:8080//", "http://127.0.0.1:8080"),
        ("https://[::1]:9/Api", "https://[::1]:9/Api"),
    ],
)
def test_a_url_is_kept_in_one_spelling(given, kept):
    assert Settings(scan_url=given).scan_url == (kept,)


@pytest.mark.parametrize(
    "url",
    [
        "", "host", "ftp://host", "http://", "https://:443", "https://host:0", "https://host:99999",
        "https://user:pw@host", "https://host?x=1", "https://host/#top", "https://host/a b", "https://host\n.example",
        "https://host/../x", "https://good\\@evil", "https://h\u00f6st", "https://[zz]", 7,
    ],
)  # fmt: skip
def test_a_url_that_breaks_a_rule_is_refused(url):
    with pytest.raises(ConfigurationError, match="scan_url") as caught:
        Settings(scan_url=(url,))
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "host"),
    [("scan", "host.example"), ("validator", "10.0.0.1"), ("registry", "0.0.0.0"), ("ledger", "localhost.example")],
)
def test_a_token_over_plain_http_beyond_loopback_is_refused(name, host):
    urls = {f"{name}_url": ("https://fine.example", f"http://{host}")}
    with pytest.raises(ConfigurationError, match="unencrypted") as caught:
        Settings(**urls, **{f"{name}_token": TOKEN})
    assert TOKEN not in str(caught.value)
    assert Settings(**urls).urls(name)


@pytest.mark.parametrize("token", ["", "two words", "line\n", "caf\u00e9", "nul\0", 7], ids=repr)
def test_a_token_that_can_be_none_is_refused_without_showing_it(token):
    with pytest.raises(ConfigurationError, match="ledger_token") as caught:
        Settings(ledger_token=token)
    assert not token or str(token) not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rate", 0), ("rate", float("nan")), ("rate", float("inf")), ("rate", True), ("rate", "8"),
        ("burst", 1.5), ("parallel", 0), ("budget", 0), ("deadline", None), ("ledger_carrier", "cookie"),
        ("scan_url", 7), ("failover", "Network"), ("failover", True), ("decimals", "double"),
    ],
)  # fmt: skip
def test_a_number_that_makes_no_sense_is_named(name, value):
    with pytest.raises(ConfigurationError, match=f"{name}"):
        Settings(**{name: value})


def test_what_is_wrong_is_named_with_the_nearest_or_the_argument_to_give():
    with pytest.raises(ConfigurationError, match="did you mean 'scan_url'"):
        resolve(environ={}, scan_uri="https://host")
    with pytest.raises(ConfigurationError, match=r"connect\(validator_url="):
        Settings().urls("validator")
    with pytest.raises(ConfigurationError, match="needs a scan"):
        Settings(registry_url="https://registry.example.com", failover="network")
