"""Every file that is written has a name that Windows and macOS take, too."""

import re
from pathlib import PureWindowsPath

import pytest

import ledgerframes as lf
from ledgerframes.store.lake_folder import _MISREAD

FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')
LONGEST = 180  # of the 260 characters that Windows takes by default, below a folder of the user


def unfit(folder):
    """The names below a folder that another system would refuse."""
    paths = [path.relative_to(folder) for path in folder.rglob("*")]
    assert len(paths) > 3
    return [
        str(path)
        for path in paths
        if any(FORBIDDEN.search(part) for part in path.parts)
        or len(str(path)) > LONGEST
        or PureWindowsPath(path).is_reserved()
    ]


def names_that_differ_in_capitals_only(folder):
    names = [str(path.relative_to(folder)).lower() for path in folder.rglob("*")]
    return len(names) - len(set(names))


def test_lakes_exports_recordings_and_reports_have_names_for_every_system(tmp_path):
    with lf.sandbox(updates=120) as net, lf.record(tmp_path / "record", net=net) as kept:
        store = lf.open_store(tmp_path / "lake")
        store.sync(kept, progress=False)
        store.sync(net, tables=["licenses"], progress=False)
        store.derive(["rewards"])
        refs = list(net.scan.iter_update_objects(after="2025-03-03T09:00:00Z", up_to="2025-03-03T09:02:00Z"))
        net.scan.download_object(refs[0], tmp_path / "object.zstd")
    store.compact()
    store.export(tmp_path / "hive", layout="hive", tables=["updates", "events"])
    store.export(tmp_path / "star", model="star", profile="bi")
    store.export(tmp_path / "book.xlsx", format="xlsx", tables=["licenses"])

    assert unfit(tmp_path) == []
    assert names_that_differ_in_capitals_only(tmp_path) == 0


@pytest.mark.parametrize("path", [r"C:\Users\ann\my lake", r"\\server\share\lake", "D:/lake"])
def test_folders_of_windows_may_hold_a_lake(path):
    folder = PureWindowsPath(path)

    assert "://" not in str(folder)
    assert _MISREAD.search(folder.as_posix()) is None
