"""A bucket of objects is opened as a folder is, from an S3-compatible server on loopback."""

import tempfile
from pathlib import Path

import pytest

import ledgerframes as lf
from tests.objects.conftest import assert_same_rows
from tests.objects.test_opened_folders import download
from tests.store.test_object_store import SECRET
from tests.store.test_object_store import options as options  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.long


def upload(folder, url, options):
    from deltalake._internal import DeltaFileSystemHandler

    handler = DeltaFileSystemHandler(url, options)
    for path in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        stream = handler.open_output_stream(path.relative_to(folder).as_posix())
        stream.write(path.read_bytes())
        stream.close()


def test_a_bucket_gives_the_rows_of_the_scan(options, tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with lf.sandbox(days=10) as scan:
        upload(download(scan, tmp_path / "objects"), "s3://lakes/objects", options)
        with lf.open_objects("s3://lakes/objects", storage_options=options) as net:
            mine = lf.load_history(net, end="2025-03-09", as_="arrow")
            store = lf.open_store(tmp_path / "lake")
            assert store.sync(net, workers=2, page_size=40, progress=False).complete
            # Four that were read, and six that were fetched ahead.
            assert len(list(next(temporary.iterdir()).iterdir())) <= 10
        theirs = lf.load_history(scan, end="2025-03-09", as_="arrow")
        assert_same_rows(mine, theirs)
        assert store.verify(scan, sample=None)
    assert b"objects.invalid/lakes/objects" in mine.updates.schema.metadata[b"ledgerframes"]
    assert list(temporary.iterdir()) == []


def test_a_bucket_that_refuses_says_so_without_the_secret(options):
    wrong = {**options, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    with pytest.raises(lf.errors.StoreError, match="cannot be listed") as refused:
        lf.open_objects("s3://lakes/objects", storage_options=wrong | {"timeout": "1s", "max_retries": "0"})
    assert SECRET not in str(refused.value)


def test_an_empty_bucket_is_refused(options):
    with pytest.raises(lf.errors.InputError, match="no objects of updates here"):
        lf.open_objects("s3://lakes/none", storage_options=options)
