"""The contact points of validators' operators: which door lets them out, and what says that they were left out."""

from __future__ import annotations

import itertools
import json
import logging
import re
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ledgerframes as lf
from tests.replay import beyond

CONTACT = re.compile(rb"ops\d+@validators\.example")
BEGIN = (0, "0001-01-01")
LICENSE = "Splice.ValidatorLicense:ValidatorLicense"
MADE = {"contactPoint": "ops1@validators.example"}


@pytest.fixture(scope="module")
def keeping(small):
    with lf.connect(scan_url=small.sandbox.scan_url, personal=True) as net:
        yield net


@pytest.fixture(scope="module")
def lakes(small, tmp_path_factory):
    """A lake as sent and one without personal data, each with history and licenses."""
    made = {}
    for name, personal in (("sent", None), ("stripped", False)):
        store = lf.open_store(tmp_path_factory.mktemp("lakes") / name, personal=personal)
        store.sync(small, progress=False)
        store.sync(small, tables=["licenses"], progress=False)
        made[name] = store
    return made


def leaks(data: object) -> bool:
    """Whether a contact point can be read in something."""
    raw = data if isinstance(data, bytes) else str(data).encode()
    return bool(CONTACT.search(raw))


def leaking(folder: Path) -> list[str]:
    """The files of a folder in which a contact point can be read, whatever they are packed in."""
    found = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        texts = [path.read_bytes()]
        if path.suffix == ".parquet":
            table = pq.ParquetFile(path).read()
            texts += [json.dumps(table.to_pylist(), default=str), table.schema.to_string(), table.schema.metadata]
        if path.suffix == ".xlsx":
            with zipfile.ZipFile(path) as book:
                texts += [book.read(name) for name in book.namelist()]
        found += [str(path.relative_to(folder))] if any(map(leaks, texts)) else []
    return found


def whole(frame) -> str:
    return json.dumps(frame.astype("object").to_dict("records"), default=str) + str(frame.attrs)


# licenses


def test_licenses_show_them_only_as_connect_or_the_caller_says(small, keeping):
    for net, personal, shown in [(small, None, False), (small, True, True), (keeping, None, True)]:
        frame = lf.load_licenses(net, personal=personal)
        assert (leaks(whole(frame)), "contact_point" in frame) == (shown, shown)
        assert frame.attrs.get("left_out") == (None if shown else ["contact points"])
        described = [(json.loads(text).get("metadata") or {}).get("version") for text in frame.payload]
        assert [*frame.version.dropna()] == [*filter(None, described)] != []  # the rest of a member stays
    assert not leaks(whole(lf.load_licenses(keeping, personal=False)))


def test_blobs_of_licenses_need_them_for_they_can_be_read_in_them(small, keeping):
    for net, personal in ((small, None), (keeping, False)):
        before = net.stats.requests
        with pytest.raises(lf.errors.InputError, match="blobs=True needs personal=True: the contact points"):
            lf.load_licenses(net, blobs=True, personal=personal)
        assert net.stats.requests == before
    assert "created_event_blob" in lf.load_licenses(keeping, blobs=True)
    assert "created_event_blob" in lf.load_licenses(small, blobs=True, personal=True)


# where the setting comes from


@pytest.mark.parametrize(("text", "kept"), [("true", True), ("1", True), ("False", False), ("no", False)])
def test_the_setting_comes_from_a_variable_or_a_profile(text, kept, tmp_path):
    from ledgerframes.config.profiles import resolve

    assert resolve(environ={"LEDGERFRAMES_PERSONAL": text}).personal is kept
    (tmp_path / "config.toml").write_text(f"[profiles.a]\npersonal={str(kept).lower()}\n", encoding="utf-8")
    assert resolve(profile="a", environ={}, config_dir=tmp_path).personal is kept
    with pytest.raises(lf.errors.ConfigurationError, match="give true or false"):
        resolve(environ={"LEDGERFRAMES_PERSONAL": "perhaps"})


# expand


def test_expand_leaves_them_out_unless_told(small, keeping):
    sent, kept = (lf.load_events(net, start=BEGIN) for net in (small, keeping))
    assert not leaks(whole(lf.expand(sent, template=LICENSE)))
    assert "metadata.version" in lf.expand(sent, template=LICENSE)
    assert leaks(whole(lf.expand(sent, template=LICENSE, personal=True)))
    assert leaks(whole(lf.expand(kept, template=LICENSE)))
    assert not leaks(whole(lf.expand(kept, template=LICENSE, personal=False)))
    for fields in (["metadata"], ["validator", "metadata"]):
        assert not leaks(whole(lf.expand(sent, template=LICENSE, fields=fields)))
    with pytest.raises(lf.errors.InputError, match=r"metadata.contactPoint' contains personal data; pass personal="):
        lf.expand(sent, template=LICENSE, fields=["metadata.contactPoint"])
    assert leaks(whole(lf.expand(sent, template=LICENSE, fields=["metadata.contactPoint"], personal=True)))
    arrow = lf.load_events(keeping, start=BEGIN, as_="arrow")
    assert leaks(lf.expand(arrow, template=LICENSE).to_pylist())
    assert not leaks(lf.expand(lf.load_events(keeping, start=BEGIN, as_="polars"), template=LICENSE).to_dicts())


# exports


@pytest.mark.long(quick=1)
@pytest.mark.parametrize(
    ("form", "layout"), [("parquet", "hive"), ("parquet", "file"), ("csv", "file"), ("xlsx", "file")]
)
def test_exports_of_a_lake_leave_them_out_and_say_so(form, layout, lakes, tmp_path):
    for name, store in lakes.items():
        report = store.export(tmp_path / name, format=form, layout=layout)
        assert leaking(tmp_path / name) == []
        assert any(table.left_out for table in report.tables) == (name == "sent")
    assert "contact points left out of" in repr(lakes["sent"].export(tmp_path / "r", format=form, layout=layout))
    if form == "parquet":
        events = pq.read_table(tmp_path / "sent" / ("events.parquet" if layout == "file" else "events"))
        assert json.loads(events.schema.metadata[b"ledgerframes"])["left_out"] == ["contact points"]
        marked = [json.loads(text)["left_out"] for text in events["extra"].to_pylist() if text and "left_out" in text]
        assert {*itertools.chain(*marked)} == {"/payload/contactPoint", "/payload/metadata/contactPoint"}
    lakes["sent"].export(tmp_path / "kept", format="csv", personal=True)
    assert leaking(tmp_path / "kept") == ["events.csv"]
    with pytest.raises(lf.errors.InputError, match="was created without personal data"):
        lakes["stripped"].export(tmp_path / "never", personal=True)


def test_frames_are_exported_as_they_were_loaded_to_be(small, keeping, tmp_path):
    for net, shown in ((small, []), (keeping, ["active_contracts.csv", "events.csv", "licenses.csv"])):
        tables = {"events": lf.load_events(net, start=BEGIN), "licenses": lf.load_licenses(net, as_="arrow")}
        tables |= {"active_contracts": lf.load_active_contracts(net, templates=[LICENSE])}
        folder = tmp_path / str(bool(shown))
        lf.export(tables, folder, format="csv")
        assert leaking(folder) == shown
        lf.export(tables, folder, format="csv", overwrite=True, personal=False)
        assert leaking(folder) == []


def test_a_frame_that_does_not_say_where_it_is_from_is_exported_without(keeping, tmp_path):
    events = lf.load_events(keeping, start=BEGIN, as_="polars")
    licenses = lf.load_licenses(keeping, as_="polars", blobs=True)
    lf.export({"events": events, "licenses": licenses, "my_own": events}, tmp_path)
    assert leaking(tmp_path) == []
    assert not {"contact_point", "created_event_blob"} & set(pq.read_schema(tmp_path / "licenses.parquet").names)


# lakes


def test_a_lake_without_them_has_them_in_no_byte_and_says_so(lakes, small):
    store = lakes["stripped"]
    folder = Path(re.search(r"'(.*)'", repr(store))[1])
    assert leaking(folder) == []
    assert leaking(Path(re.search(r"'(.*)'", repr(lakes["sent"]))[1])) != []
    for name in ("updates", "events", "reassignments", "licenses"):
        frame = store.load(name)
        assert not leaks(whole(frame))
        assert frame.attrs["left_out"] == ["contact points"]
    assert "left_out" not in lakes["sent"].load("events").attrs
    assert store.check()
    assert store.verify(small, sample=None)


@pytest.mark.parametrize("form", ["pandas", "arrow", "polars", "exported"])
def test_the_history_of_a_lake_or_an_export_without_them_is_not_rebuilt(lakes, form, tmp_path):
    names = ("updates", "events", "reassignments")
    if form == "exported":
        lakes["sent"].export(tmp_path, tables=names)
        parts = lf.types.History(*(pq.read_table(tmp_path / f"{name}.parquet") for name in names))
    else:
        parts = lf.types.History(*(lakes["stripped"].load(name, as_=form) for name in names))
    with pytest.raises(lf.errors.InputError, match="cannot be rebuilt"):
        list(lf.rebuild_items(parts))
    if form == "pandas":
        for frame in parts:
            frame.attrs.clear()
        with pytest.raises(lf.errors.InputError, match="contactPoint was left out of a row"):
            list(lf.rebuild_items(parts))


@pytest.mark.parametrize("personal", [True, False])
def test_a_lake_stays_as_it_was_made_whoever_syncs_it(small, keeping, tmp_path, personal):
    place = tmp_path / "lake"
    late = lf.open_store(place, personal=not personal)
    lf.open_store(place, personal=personal).sync(small, tables=["licenses"], progress=False)
    lf.open_store(place).sync(keeping, progress=False)
    lf.open_store(place).sync(keeping, tables=["licenses", "active_contracts"], progress=False)
    assert (leaking(place) != []) is personal
    said = "created with personal data, which stays" if personal else "made without personal data, which cannot be put"
    for change in (lambda: lf.open_store(place, personal=not personal), lambda: late.sync(small, progress=False)):
        with pytest.raises(lf.errors.StoreError, match=f"{said}|sync into a new one"):
            change()
    lf.open_store(place, personal=personal)
    with pytest.raises(lf.errors.InputError, match="personal="):
        lf.open_store(place, personal="no")


@pytest.mark.parametrize(
    "broken",
    [
        {"workflow_id": MADE},
        {"events_by_id": [MADE]},
        {"workflow_id": {"contactPoint": "ops2@validators.example" + 60 * "."}},
    ],
    ids=["text", "object", "long"],
)
def test_rejected_items_of_a_lake_without_them_are_kept_without(broken, tmp_path, caplog):
    from tests.transport.hostile_server import HostileServer, answer

    event = {"event_type": "created_event", "event_id": "u:0", "create_arguments": {"metadata": MADE}}
    times = [f"2025-03-03T09:00:0{second}.000000Z" for second in range(3)]
    empty = {"migration_id": 0, "synchronizer_id": "s", "workflow_id": "", "root_event_ids": [], "events_by_id": {}}
    items = [{**empty, "update_id": f"u{n}", "record_time": at, "effective_at": at} for n, at in enumerate(times)]
    items[1] |= {"root_event_ids": ["u:0"], "events_by_id": {"u:0": event}} | broken

    def page(heard):
        return answer({"transactions": beyond(items, heard.json.get("after"))[: heard.json["page_size"]]})

    store = lf.open_store(tmp_path / "lake", personal=False)
    with HostileServer(page) as server, lf.connect(scan_url=server.url) as net, caplog.at_level(logging.DEBUG):
        for _ in range(2):
            store.sync(net, on_error="reject", start="begin", progress=False, now="2025-03-04")
    rejects = store.load("rejects")
    assert rejects.item.to_list() == ["item 0 (update u1)"]
    assert leaking(tmp_path) == []
    assert not leaks(whole(rejects))
    assert not leaks(caplog.text)


@pytest.mark.parametrize("payload", [[MADE], {"validator": MADE}, {"validator": "v", "sponsor": [MADE]}])
def test_a_license_that_cannot_be_read_is_refused_without_them(payload):
    from tests.transport.hostile_server import HostileServer, answer

    sent = {"template_id": LICENSE, "contract_id": "c", "created_at": "2025-03-03T09:00:00Z", "payload": payload}
    with (
        HostileServer([answer({"validator_licenses": [sent]})]) as server,
        lf.connect(scan_url=server.url) as net,
        pytest.raises(lf.errors.DecodeError, match=r"got (an object|a list) of \d+ bytes") as raised,
    ):
        lf.load_licenses(net)
    assert not leaks(repr(raised.value))


# reports, logs, the command line


@pytest.mark.long
def test_reports_show_none(lakes, small, tmp_path):
    for name, store in lakes.items():
        assert not leaks(lf.report(store, tmp_path / f"{name}.html").read_bytes())
    page = lf.report(lf.load_history(small, start=BEGIN), tmp_path / "h.html")
    assert not leaks(page.read_bytes())


def test_logs_show_none(small, tmp_path, caplog):
    with caplog.at_level(logging.DEBUG), lf.connect(scan_url=small.sandbox.scan_url) as net:
        lf.load_licenses(net)
        lf.load_history(net, limit=300)
        store = lf.open_store(tmp_path / "lake")
        store.sync(net, progress=False)
        store.export(tmp_path / "out")
        lf.doctor(net)
    assert caplog.text
    assert not leaks(caplog.text)


@pytest.mark.long(quick=1)
@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
def test_the_command_line_leaves_them_out_unless_told(ending, small, command, tmp_path):
    address = ("--scan-url", small.sandbox.scan_url)
    for table in ("events", "licenses"):
        for words, shown in (((), False), (("--personal",), True)):
            file = tmp_path / f"{table}-{shown}.{ending}"
            ended = command("load", table, "-o", str(file), "--limit", "300", *address, *words)
            assert ended.code == 0, ended.err
            assert not leaks(ended.out + ended.err)
            assert bool([one for one in leaking(tmp_path) if one == file.name]) is shown
