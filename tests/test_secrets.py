"""A token is in no place where it could leak: logs, reprs, exceptions, pickles, attrs, files, output."""

import json

import pandas as pd
import pytest

import ledgerframes as lf


@pytest.fixture(scope="module")
def token(net):
    return net.sandbox.token("validator_operator")


@pytest.fixture
def connected(net, token):
    sandbox = net.sandbox
    urls = {name: getattr(sandbox, name) for name in ("scan_url", "validator_url", "registry_url", "ledger_url")}
    with lf.connect(**urls, token=token) as network:
        yield network


def hidden(token, *shown):
    """The token, and its parts, stand nowhere in what is shown."""
    for part in (token, *token.split(".")):
        for text in shown:
            assert part not in text


def test_frames_and_files_hide_it(connected, token, tmp_path):
    users = lf.load_users(connected)
    hidden(token, json.dumps(users.attrs), users.to_string())
    users.to_parquet(tmp_path / "users.parquet")
    hidden(token, (tmp_path / "users.parquet").read_bytes().decode("latin-1"))
    assert pd.read_parquet(tmp_path / "users.parquet").attrs["source"] == connected.settings.ledger_url[0]


def test_the_command_line_hides_it(net, token, tmp_path, command):
    words = ("--verbose", "load", "users", "-o", "users.json", "--ledger-url", net.sandbox.ledger_url)
    for extra, code in (((), 0), (("--columns", "nonsense"), 2)):
        ended = command(*words, *extra, LEDGERFRAMES_LEDGER_TOKEN=token)
        assert ended.code == code, ended.err
        hidden(token, ended.out, ended.err)
    hidden(token, (tmp_path / "users.json").read_text())
