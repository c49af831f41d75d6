"""A recording gives back what servers said: the same frames, offline, without a token in any file."""

import base64
import json
from pathlib import Path

import pandas as pd
import pytest

import ledgerframes as lf
from ledgerframes.sandbox.faults import Faults
from tests.transport.hostile_server import HostileServer, Reply


def everything(net, parties):
    """Frames of every kind of request: pages, tokens of pages, answers to bodies, a 404, a hash."""
    history = lf.load_history(net, start=(0, "0001-01-01"), page_size=50)
    return {
        **history._asdict(),
        "instruments": lf.load_instruments(net),
        "licenses": lf.load_licenses(net),
        "users": lf.load_users(net),
        "holdings": lf.load_holdings_summary(net, parties, record_time="2100-01-01"),
        "holdings now": lf.load_holdings_summary(net, parties),
        "preapprovals": lf.load_transfer_preapprovals(net, ["nobody::12", *parties]),
        "one": lf.load_update(net, history.updates.update_id[5]).events,
    }


@pytest.mark.parametrize("faults", [None, "429:0.1,503:0.1,truncated:0.05"], ids=["sound", "faulty"])
def test_a_replay_gives_what_was_loaded_without_a_network(tmp_path, faults):
    with lf.sandbox(updates=120) as net:
        parties = sorted(lf.load_users(net).primary_party.dropna())[:3]
        if faults:
            net.sandbox.faults = Faults.parse(faults, seed=2)
        with lf.record(tmp_path / "kept", net=net) as kept:
            loaded = everything(kept, parties)
        token = net.settings.token("ledger").reveal()
    with lf.replay(tmp_path / "kept") as again:
        found = everything(again, parties)
    for name, frame in loaded.items():
        pd.testing.assert_frame_equal(found[name], frame)
        assert found[name].attrs == frame.attrs
    for path in (tmp_path / "kept").iterdir():
        assert token not in path.read_text()


def test_what_was_not_recorded_is_said_and_nothing_is_sent(tmp_path):
    with lf.sandbox(updates=50) as net, lf.record(tmp_path / "kept", net=net) as kept:
        lf.load_updates(kept)
    with lf.replay(tmp_path / "kept") as again, pytest.raises(lf.errors.NoAnswerError, match="record that too"):
        lf.load_instruments(again)


@pytest.mark.parametrize("release", ["0.7", "0.5"])
def test_a_recording_of_an_earlier_release_is_read_on_the_routes_that_were_asked_then(release, tmp_path):
    """As a ledgerframes made it that did not know of the newest routes, and so did not ask for them."""

    def snapshots(net):
        return [lf.load_coins(net, parties), lf.load_active_contracts(net)]

    with lf.sandbox(updates=80, release=release, migrations=2) as net:
        parties = lf.load_licenses(net).validator.to_list()
        with lf.record(tmp_path / "kept", net=net) as kept:
            loaded = snapshots(kept)
    for path in (tmp_path / "kept").glob("*-*.json"):
        one = json.loads(path.read_text())
        if "/v2/state/" in one["request"]["url"] or "/v2/holdings/" in one["request"]["url"]:
            assert one["answer"]["status"] == 404
            path.unlink()
    with lf.replay(tmp_path / "kept") as again:
        for frame, found in zip(loaded, snapshots(again), strict=True):
            assert len(frame) > 0
            pd.testing.assert_frame_equal(found, frame)
        with pytest.raises(lf.errors.NoAnswerError, match=r"not recorded in .*, on no route that it may have"):
            lf.load_holdings_summary(again, parties, record_time="2100-01-01")


def test_the_same_request_gives_its_answers_in_turn_and_none_that_is_gone_is_replaced_by_an_older_one(tmp_path):
    with lf.sandbox(updates=50) as net, lf.record(tmp_path / "kept", net=net) as kept:
        for _ in range(3):
            kept.scan.updates(page_size=100)
            net.sandbox.advance(updates=10)
    with lf.replay(tmp_path / "kept") as again:
        assert [len(again.scan.updates(page_size=100).items) for _ in range(4)] == [50, 60, 70, 70]
    (second,) = (tmp_path / "kept").glob("*-0001.json")
    second.unlink()
    with lf.replay(tmp_path / "kept") as again:
        assert len(again.scan.updates(page_size=100).items) == 50
        with pytest.raises(lf.errors.InputError, match=r"-0001.json' is missing, and a later answer"):
            again.scan.updates(page_size=100)


@pytest.mark.parametrize("end", [b"", b"\xff"], ids=["text", "bytes"])
def test_a_token_in_a_request_or_an_answer_is_masked(end, tmp_path):
    token = "sesame+sesame"
    with HostileServer([Reply(404, token.encode() + end)]) as server:
        net = lf.connect(scan_url=server.url, scan_token=token)
        with lf.record(tmp_path, net) as kept, pytest.raises(lf.errors.StatusError):
            kept.scan.update_by_id(token)
    for file in tmp_path.glob("*-0000.json"):
        answered = json.loads(file.read_bytes())["answer"]["body"]
        assert base64.b64decode(answered["base64"]) == b"***\xff" if end else answered["text"] == "***"
        assert "sesame" not in file.read_text()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mine.txt", "x", "something else"),
        ("recording.json", '{"format": 1, "urls": {}}', "other servers"),
        ("recording.json", "torn", "not a recording"),
        ("recording.json", '{"format": 99, "urls": {}}', "newer"),
    ],
)
def test_a_folder_that_does_not_fit_is_refused(tmp_path, net, name, content, said):
    (tmp_path / name).write_text(content)
    with pytest.raises((lf.errors.InputError, lf.errors.ConfigurationError), match=said):
        lf.record(tmp_path, net=net)
    if said in {"newer", "not a recording"}:
        with pytest.raises((lf.errors.InputError, lf.errors.ConfigurationError), match=said):
            lf.replay(tmp_path)


@pytest.mark.parametrize("write", [lf.record, lambda place, _: lf.open_store(place)])
def test_a_path_that_was_an_address_is_refused_and_no_folder_here(tmp_path, monkeypatch, net, write):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lf.errors.InputError, match="'s3:/lakes/one' is not a folder of this machine"):
        write(Path("s3://lakes/one"), net)
    assert not [*tmp_path.iterdir()]


def test_a_recording_of_a_lake_makes_the_same_lake(tmp_path):
    with lf.sandbox(updates=120) as net, lf.record(tmp_path / "kept", net=net) as kept:
        lf.open_store(tmp_path / "one").sync(kept, workers=1)
    with lf.replay(tmp_path / "kept") as again:
        lf.open_store(tmp_path / "two").sync(again, workers=1, now="2100-01-01")
    one, two = (lf.open_store(tmp_path / name).load("events") for name in ("one", "two"))
    pd.testing.assert_frame_equal(one, two)
