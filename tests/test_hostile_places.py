"""Ids, names and links that would lead elsewhere end in the place they name, on every system, or in an error."""

import os
import re
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pytest

import ledgerframes as lf
from ledgerframes.cli.output import write_files
from tests.asking import asking_one
from tests.transport.hostile_server import HostileServer, text

IDS = {
    "up": "../../admin", "dots": "..", "dot": ".", "coded dots": "%2e%2e", "coded slash": "..%2Fadmin", "NUL": "a\0b",
    "line": "a\r\nHost: x", "backslash": "..\\admin", "query": "a?b=c#d", "unicode": "\u202eé\u2028/\u3000",
    "long": "x" * 40_000,
    "half a character": "\ud800", "nothing": "",
}  # fmt: skip
CALLS = {
    "update": (lambda net, one: net.scan.update_by_id(one), ("/v1/updates/", "/v2/updates/")),
    "hash": (lambda net, one: net.scan.update_by_hash(one), ("/v2/updates/hash/",)),
    "party": (
        lambda net, one: net.validator.transfer_preapproval(one),
        ("/v0/scan-proxy/transfer-preapprovals/by-party/",),
    ),
}


@pytest.fixture(scope="module")
def far():
    """A network without anything, and the requests that it was sent."""
    with HostileServer([text("not here", 404)]) as server, asking_one(f"{server.url}/api") as net:
        yield net, server.heard


@pytest.mark.parametrize(("call", "routes"), CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("identifier", IDS.values(), ids=IDS)
def test_an_id_stays_one_segment_of_its_own_route(far, call, routes, identifier):
    net, asked = far
    asked.clear()
    with pytest.raises((lf.errors.InputError, lf.errors.NotFoundError)):
        call(net, identifier)
    for heard in asked:
        assert heard.path.startswith(tuple(f"/api{route}" for route in routes))
        assert unquote(heard.target.rpartition("/")[2]) == identifier


@pytest.mark.parametrize("token", ["x" * 70_000, "\ud800", "../..\r\nX: y&limit=1"], ids=["long", "half", "more"])
def test_a_page_token_stays_one_value_of_the_query(far, token):
    net, asked = far
    asked.clear()
    for call in (
        lambda: net.scan.validator_licenses(after=token),
        lambda: net.ledger.list_users(page_token=token),
        lambda: net.registry.instruments(page_token=token),
    ):
        with pytest.raises((lf.errors.InputError, lf.errors.NotFoundError)):
            call()
    assert all(".." not in heard.path for heard in asked)


@pytest.mark.parametrize(
    "name", ["../t", "..", "a/b", "a\\b", "%2e%2e", "a\0b", "\u202e", "x" * 70_000, "updates/../x"]
)
def test_a_table_that_a_store_does_not_keep_is_no_folder(net, store, tmp_path, name):
    for ask in (lambda: store.load(name), lambda: store.sync(net, tables=[name]), lambda: store.scan(name)):
        with pytest.raises(lf.errors.InputError):
            ask()
    assert list(tmp_path.iterdir()) == []


MISREAD = {"dots": "%2e%2e", "slash": "a%2Fb", "letter": "%41", "backslash": "a\\b", "bracket": "a[b", "caret": "a^b"}


@pytest.mark.skipif(os.name == "nt", reason="a backslash is a separator there")
@pytest.mark.parametrize("name", MISREAD.values(), ids=MISREAD)
def test_a_store_is_not_opened_where_its_library_would_look_elsewhere(tmp_path, name):
    with pytest.raises(lf.errors.InputError, match="another folder"):
        lf.open_store(tmp_path / name)


def test_a_recording_is_named_by_digests_whatever_was_asked(tmp_path, far):
    net, _ = far
    with lf.record(tmp_path / "kept", net=net) as kept, pytest.raises(lf.errors.NotFoundError):
        kept.scan.update_by_hash("../../../x\\y")
    names = {path.name for path in (tmp_path / "kept").iterdir()} - {"recording.json"}
    assert len(names) == 1
    assert all(len(name) == len(f"{'0' * 40}-0000.json") and "x" not in name for name in names)


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"answer":{"status":"x"}}', b'{"answer":{"status":200,"body":{"base64":"%%"}}}']
)
def test_a_damaged_answer_of_a_recording_is_named(net, tmp_path, content):
    with lf.record(tmp_path, net=net) as kept:
        lf.load_instruments(kept)
    for path in tmp_path.glob("*-0000.json"):
        path.write_bytes(content)
    with pytest.raises(lf.LedgerframesError, match="not a recorded answer"):
        lf.load_instruments(lf.replay(tmp_path))


FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(?:con|prn|aux|nul|(?:com|lpt)\d)(?:\.|$)', re.IGNORECASE)
LONGEST = 180  # of the 260 characters that Windows takes by default, below a folder of the user


def unfit(folder):
    """The names below a folder that another system would refuse."""
    paths = [path.relative_to(folder) for path in folder.rglob("*")]
    assert len(paths) > 3
    return [
        str(path) for path in paths if any(FORBIDDEN.search(part) for part in path.parts) or len(str(path)) > LONGEST
    ]


def test_a_tilde_is_the_home_folder_wherever_a_path_is_given_and_names_fit_every_system(tmp_path, monkeypatch):
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(work)
    (home / "labels.csv").write_text("party,label\na::1220,A\n")

    with lf.sandbox(updates=120) as net, lf.record("~/record", net=net) as kept:
        history = lf.load_history(kept)
        store = lf.open_store("~/lake")
        store.sync(net, progress=False)
        store.sync(kept, tables=["licenses"], derive=["rewards"], progress=False)
        refs = list(net.scan.iter_update_objects(after="2025-03-03T09:00:00Z", up_to="2025-03-03T09:02:00Z"))
        net.scan.download_object(refs[0], "~/object.zstd")
        net.sandbox.save("~/world")
    store.compact()
    history.save(Path("~/history"))
    lf.report(history, "~/report.html", sections=["provenance"])
    store.export("~/hive", layout="hive", tables=["updates", "events"])
    store.export("~/book.xlsx", format="xlsx", tables=["licenses"])

    written = {"record", "lake", "object.zstd", "world", "history", "report.html", "hive", "book.xlsx"}
    assert {path.name for path in home.iterdir()} == {"labels.csv", *written}
    assert list(work.iterdir()) == []
    assert unfit(home) == []
    names = [str(path.relative_to(home)).lower() for path in home.rglob("*")]
    assert len(names) == len(set(names))
    assert lf.supply("~/history").equals(lf.supply(history))
    assert lf.labels("~/labels.csv").label.tolist() == ["A"]
    with lf.replay("~/record") as net:
        assert lf.load_history(net).updates.equals(history.updates)
    lf.sandbox(load="~/world").close()


@pytest.mark.long
def test_names_of_a_star_fit_every_system(net, store, tmp_path):
    store.sync(net, progress=False)
    store.export(tmp_path / "star", model="star", profile="bi")
    assert unfit(tmp_path / "star") == []


linking = pytest.mark.skipif(os.name == "nt", reason="links need rights there")

ONE = pa.table({"a": ["x"]})
#: Exported tables have a test of their own, by each form.
FILES = {
    "a loaded file": ("t.json", lambda _net, folder: write_files({"t": ONE}, folder / "t.json")),
    "a report": (
        "r.html",
        lambda net, folder: lf.report(
            lf.load_history(net, limit=3), folder / "r.html", sections=["provenance"], overwrite=True
        ),
    ),
    "the lock of a store": (".sync.lock", lambda net, folder: lf.open_store(folder).sync(net, tables=["instruments"])),
}
REPLACED = {
    "a ledger": ("world.json", lambda net, folder: net.sandbox.save(folder / "world.json")),
    "a recording": ("recording.json", lambda net, folder: lf.record(folder, net=net).close()),
}


@pytest.fixture
def elsewhere(tmp_path):
    """Something of somebody's that a link may point to."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    (place / "kept").write_text("kept")
    return place


@linking
@pytest.mark.parametrize(("name", "write"), FILES.values(), ids=FILES)
@pytest.mark.parametrize("target", ["elsewhere/kept", "elsewhere/new", "nowhere/new"], ids=["file", "free", "dangling"])
def test_a_link_in_the_place_of_a_file_is_refused(net, tmp_path, elsewhere, name, write, target):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(tmp_path / target)

    with pytest.raises(lf.LedgerframesError):
        write(net, out)

    assert {path.name: path.read_text() for path in elsewhere.iterdir()} == {"kept": "kept"}
    assert (out / name).is_symlink()
    assert [path.name for path in out.iterdir()] == [name]


@linking
@pytest.mark.parametrize(("name", "write"), REPLACED.values(), ids=REPLACED)
def test_a_dangling_link_is_replaced_and_not_followed(net, tmp_path, elsewhere, name, write):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(elsewhere / "new")

    try:
        write(net, out)
    except lf.errors.InputError:
        assert (out / name).is_symlink()
    else:
        assert not (out / name).is_symlink()

    assert {path.name for path in elsewhere.iterdir()} == {"kept"}


WRITING = FILES | {"a recording": REPLACED["a recording"]}


@linking
@pytest.mark.parametrize(("name", "write"), WRITING.values(), ids=WRITING)
def test_a_folder_may_be_a_link_as_people_arrange_their_disks(net, tmp_path, name, write):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")

    write(net, tmp_path / "out")

    assert (tmp_path / "disk" / name).exists()
    assert (tmp_path / "out").is_symlink()


@linking
def test_a_link_that_appears_while_an_export_runs_is_not_followed(tmp_path, elsewhere):
    out = tmp_path / "out"

    def meanwhile():
        (out / "t.parquet").symlink_to(elsewhere / "kept")
        yield from ONE.to_batches()

    with pytest.raises(lf.errors.InputError, match="is a link"):
        lf.export({"t": meanwhile}, out, overwrite=True)
    assert (elsewhere / "kept").read_text() == "kept"
