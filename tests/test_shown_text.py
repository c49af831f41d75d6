"""What servers say is shown, never run: in errors, logs, terminals, notebooks and pages."""

import json
import logging
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ledgerframes as lf
from ledgerframes.cli import main
from ledgerframes.errors import visible
from tests.asking import answering
from tests.decoding.items import page_of, transaction

#: Colours, a window's title, a C1 escape, a return, a faked line, a turned direction, script, and half a character.
EVIL = "\x1b[31m\x1b]0;owned\x07\x9b2J\rok\nERROR root: faked\u202egpj\u2066\x00\x7f<script>alert(1)</script>"


@given(text=st.text())
def test_visible_text_is_printable_and_printable_text_stays(text):
    lines = visible(text, lines=True)
    assert lines.count("\n") == text.count("\n")
    assert lines.replace("\n", "").replace("\t", "").isprintable()
    shown = visible(text)
    assert shown.isprintable()
    assert (shown == text) == text.isprintable()
    if not {'"', "\\"} & set(text):
        assert json.loads(f'"{shown}"') == text


ERRORS = {
    "plain text": (503, EVIL.encode()),
    "an error of scan": (400, {"error": EVIL}),
    "an error of the ledger": (
        409, {"code": EVIL, "cause": EVIL, "correlationId": EVIL, "traceId": EVIL, "context": {EVIL: EVIL}},
    ),
    "a page of a gateway": (502, b"<html><title>\x1b[31m</title><body>\xc2\x9b2J \xe2\x80\xae</body></html>"),
    "no JSON": (200, EVIL.encode()),
    "an unknown member": (200, {"entries": [{EVIL: 1}], "users": [{EVIL: 1}]}),
    "a wrong value": (200, {"users": [{"id": EVIL, "primaryParty": 7}]}),
}  # fmt: skip


@pytest.mark.parametrize(("status", "body"), ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("load", [lf.load_users, lf.load_name_entries], ids=["users", "names"])
def test_an_error_is_one_printable_line(status, body, load, caplog):
    caplog.set_level(logging.DEBUG, "ledgerframes")
    with answering(body, status=status, kind="text/\x9b2J") as net, pytest.raises(lf.LedgerframesError) as caught:
        load(net)
    error = caught.value
    assert str(error).isprintable()
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    for name in ("detail", "code", "correlation_id", "trace_id"):
        assert (getattr(error, name, None) or "").isprintable()
    assert all("".join(pair).isprintable() for pair in getattr(error, "context", {}).items())
    assert all(record.getMessage().isprintable() for record in caplog.records if record.name.startswith("ledgerframes"))


PAGES = {
    "no place": page_of({**transaction(update_id=EVIL), "record_time": EVIL}),
    "out of order": page_of(transaction(update_id=EVIL, migration_id=9), transaction(update_id=f"{EVIL}2")),
    "a wrong column": page_of(transaction({"u:0": {"consuming": EVIL}}, update_id=EVIL)),
    "a wrong tree": page_of(transaction(update_id=EVIL, root_event_ids=[EVIL])),
    "a strange member": page_of(transaction({"u:0": {EVIL: 1, "choice": None}}, update_id=EVIL)),
}


@pytest.mark.parametrize("body", PAGES.values(), ids=PAGES)
def test_an_id_in_a_message_cannot_fake_a_line(body):
    with answering(body) as net, pytest.raises(lf.LedgerframesError) as caught:
        lf.load_history(net, limit=1)
    assert str(caught.value).isprintable()


def test_a_terminal_is_not_steered_by_a_table(tmp_path, monkeypatch, capsys):
    item = {"id": EVIL, "name": EVIL, "symbol": "X", "decimals": 10, "supportedApis": {}}
    about = {"adminId": EVIL, "supportedApis": {}}
    with answering({"instruments": [item], "transactions": [], **about}) as net:
        lf.open_store(tmp_path / "lake").sync(net, tables=["instruments"])
    for more in ([], ["--json"]):
        monkeypatch.setattr(
            "sys.argv", ["ledgerframes", "sql", str(tmp_path / "lake"), "select name from instruments", *more]
        )
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr().out
        assert "owned" in said
        assert "".join(said.splitlines()).isprintable()
    assert json.loads(said)[0]["name"] == EVIL
