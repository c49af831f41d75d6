"""A token is in no place where it could leak: logs, reprs, exceptions, pickles, attrs, files, output."""

import json
import subprocess
import sys
import traceback

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


def chain(error):
    """All that can be shown of an error and what led to it."""
    shown = "".join(traceback.format_exception(error))
    while error is not None:
        shown += repr(error) + repr(vars(error)) + str(getattr(error, "request", ""))
        error = error.__cause__ or error.__context__
    return shown


@pytest.mark.parametrize("connect", [lf.connect, lambda token: lf.connect(profile=token)], ids=["first", "profile"])
def test_a_token_in_place_of_a_name_is_refused_without_being_shown(token, connect):
    with pytest.raises(lf.errors.ConfigurationError, match="a token goes into token=") as caught:
        connect(token)
    hidden(token, chain(caught.value))


def test_frames_and_files_hide_it(connected, token, tmp_path):
    users = lf.load_users(connected)
    hidden(token, json.dumps(users.attrs), users.to_string())
    users.to_parquet(tmp_path / "users.parquet")
    hidden(token, (tmp_path / "users.parquet").read_bytes().decode("latin-1"))
    assert pd.read_parquet(tmp_path / "users.parquet").attrs["source"] == connected.settings.ledger_url[0]


def test_the_command_line_hides_it(net, token, tmp_path):
    command = ["load", "users", "-o", "users.json", "--ledger-url", net.sandbox.ledger_url]
    for extra, code in (([], 0), (["--columns", "nonsense"], 2)):
        done = subprocess.run(
            [sys.executable, "-c", "from ledgerframes.cli import main; main()", "--verbose", *command, *extra],
            check=False, capture_output=True, text=True, cwd=tmp_path, timeout=300,
            env={"LEDGERFRAMES_LEDGER_TOKEN": token, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        hidden(token, done.stdout, done.stderr)
    hidden(token, (tmp_path / "users.json").read_text())


@pytest.mark.long
def test_a_notebook_hides_it(net, token, tmp_path, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("LEDGERFRAMES_LEDGER_TOKEN", token)
    source = f"""import ledgerframes as lf, logging
logging.basicConfig(level=logging.DEBUG)
net = lf.connect(ledger_url={net.sandbox.ledger_url!r})
display(net)
display(net.ledger.preview("list_users"))
display(lf.load_users(net, limit=2))
lf.load_users(net, columns=["nonsense"])"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, timeout=300, allow_errors=True, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = json.dumps(notebook)
    assert "nonsense" in shown
    assert "user_id" in shown
    printed = "".join(output.get("text", "") for output in notebook.cells[0].outputs)
    hidden(token, shown + printed)  # a kernel may send a line in two pieces
