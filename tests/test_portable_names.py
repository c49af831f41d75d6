"""Every file that is written has a name that Windows and macOS take, too."""

import re
from pathlib import Path, PureWindowsPath

import pytest

import ledgerframes as lf

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
def test_names_of_a_star_fit_every_system(net, tmp_path):
    store = lf.open_store(tmp_path / "lake")
    store.sync(net, progress=False)
    store.export(tmp_path / "star", model="star", profile="bi")
    assert unfit(tmp_path / "star") == []
