"""A lake on object storage: an S3-compatible server on loopback, with everything that a folder can do."""

import os
import pickle
import subprocess
import sys
import threading
import traceback
import urllib.request
from functools import partial

import pytest

import ledgerframes as lf
from tests.store.conftest import assert_whole
from tests.store.test_reading import WORKER
from tests.transport.hostile_server import HostileServer, text

SERVER = """
import logging, sys
logging.getLogger("werkzeug").setLevel(logging.ERROR)
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
SECRET = "sesame-77aa01"


@pytest.fixture(scope="module")
def options():
    """Where the object store is; it ends with this process."""
    running = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    port = int(running.stdout.readline())
    request = urllib.request.Request(f"http://127.0.0.1:{port}/lakes", method="PUT")
    urllib.request.urlopen(request).close()
    yield {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "analyst", "AWS_SECRET_ACCESS_KEY": SECRET,
    }  # fmt: skip
    running.stdin.close()
    running.wait(10)
    running.stdout.close()


class Failing:
    """A file system, or a file of it, of which one call fails: the one of this number."""

    def __init__(self, inner, number):
        self._inner, self._left = inner, number

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        return partial(self._counted, found) if name in {"open_input_file", "read"} else found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._inner.close()

    def _counted(self, call, *given):
        self._left[0] -= 1
        if not self._left[0]:
            raise OSError("connection reset by peer")
        result = call(*given)
        return result if isinstance(result, bytes) else Failing(result, self._left)


def test_a_bucket_that_does_not_answer_once_is_no_damage(options, monkeypatch):
    """What `repair` takes for damaged it removes. A file is opened, and its footer and all of it are read."""
    store = lf.open_store("s3://lakes/failing", storage_options=options)
    with lf.sandbox(updates=60) as net:
        store.sync(net)
    files = store._lake.table("updates").refresh().files.filesystem
    for call in (1, 2, 4, 5):
        with monkeypatch.context() as patch:
            patch.setattr("ledgerframes.store.delta.stored_files.Files.filesystem", Failing(files, [call]))
            with pytest.raises(lf.errors.StoreError, match="connection reset by peer"):
                store.repair()
        assert len(store.load("updates")) == 60
    assert store.check(full=True)


@pytest.mark.long
def test_a_bucket_is_synced_read_asked_and_checked(options, tmp_path):
    store = lf.open_store("s3://lakes/one", storage_options=options)
    with lf.sandbox(updates=200) as net:
        first = store.sync(net, page_size=100, workers=2)
        assert_whole(store, net)
        assert store.sync(net).requests <= 6  # two at most per open migration, of which there are three
        net.sandbox.advance(updates=40)
        store.sync(net)
        store.sync(net, tables=["instruments"])
        assert_whole(store, net)
        assert store.verify(net, sample=2).agree
    assert store.sql("select count(*) n from updates").n[0] == 240
    assert len(store.load("updates", as_of=first.sync_id)) == 200
    assert store.check()
    store.compact()
    assert store.export(tmp_path / "out").tables[0].rows == 240
    frame = store.dask("updates")
    graph = pickle.dumps(frame)
    assert SECRET.encode() not in graph
    assert SECRET not in repr(frame) + repr(dict(frame.dask)) + repr(frame.expr.operands)
    assert len(frame.compute()) == 240
    (tmp_path / "graph").write_bytes(graph)
    worker = [sys.executable, "-c", WORKER, tmp_path / "graph"]
    ended = subprocess.run(worker, env={**os.environ, **options}, capture_output=True, text=True, check=False)
    assert ended.stdout == "240\n", ended.stderr
    assert SECRET not in repr(store) + str(store.syncs()) + repr(first) + str(store.load("updates").attrs)


@pytest.mark.long
def test_several_syncs_of_one_bucket_lose_nothing_and_double_nothing(options):
    """Nobody can be kept out of a bucket: commits tell of another writer."""
    store = lf.open_store("s3://lakes/contended", storage_options=options)
    errors = []

    def run():
        try:
            lf.open_store("s3://lakes/contended", storage_options=options).sync(
                net, page_size=40, commit_bytes=100_000, progress=False
            )
        except lf.errors.StoreError as error:
            errors.append(error)

    with lf.sandbox(updates=200) as net:
        threads = [threading.Thread(target=run) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        store.sync(net)
        assert_whole(store, net)
    assert errors


@pytest.mark.parametrize(
    ("url", "changed", "said"),
    [
        ("s3://nobody/lake", {}, "no such bucket"),
        ("s3://lakes/two", {"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "cannot be reached"),
    ],
    ids=["no bucket", "no server"],
)
def test_what_is_wrong_is_said_without_secrets(options, net, url, changed, said):
    store = lf.open_store(url, storage_options={**options, "max_retries": "0", **changed})
    with pytest.raises(lf.errors.StoreError, match=said) as raised:
        store.sync(net)
    assert SECRET not in str(raised.value)
    assert "\x1b" not in str(raised.value)


REFUSAL = (
    f"<?xml version='1.0'?>\n<Error><Code>InvalidToken</Code><Message>It is not valid.</Message><Token-0>{SECRET}"
    f"</Token-0><CanonicalRequest>GET\nx-amz-security-token:{SECRET}</CanonicalRequest></Error>"
)


def test_a_session_s_token_that_s3_repeats_is_in_no_error():
    with HostileServer((text(REFUSAL, 403),)) as server:
        own = {"AWS_ENDPOINT_URL": server.url, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "x", "AWS_SESSION_TOKEN": SECRET}
        own |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": SECRET}
        store = lf.open_store("s3://lakes/one", storage_options=own)
        with pytest.raises(lf.errors.StoreError, match=r"InvalidToken.*not valid.*credentials") as raised:
            store.load("updates")
    error, trace = raised.value, raised.value.__traceback__.tb_next  # without this test's own variables
    shown = traceback.TracebackException(type(error), error, trace, capture_locals=True).format()
    assert SECRET not in "".join(shown)


@pytest.mark.parametrize("times", [1, 99])
@pytest.mark.parametrize("read", [lambda s: s.load("updates"), lf.network_daily])
def test_nor_in_one_of_a_file_that_is_refused_while_it_is_read(tmp_path, monkeypatch, read, times):
    from deltalake.fs import DeltaStorageHandler

    opened, left = DeltaStorageHandler.open_input_file, [None] * times

    def refusing(self, path):
        if left:
            left.pop()
            raise OSError(REFUSAL)
        return opened(self, path)

    with lf.sandbox(updates=20) as net:
        lf.open_store(tmp_path / "lake").sync(net)
    monkeypatch.setattr(DeltaStorageHandler, "open_input_file", refusing)
    with pytest.raises(Exception, match="InvalidToken") as raised:
        read(lf.open_store(f"file://{tmp_path}/lake"))
    assert SECRET not in "".join(traceback.format_exception(raised.value))


@pytest.mark.parametrize(
    "url",
    [
        "s3://user:pass@lakes/one", "s3://user@lakes/one", "abfss://a:pass@c.dfs.core.windows.net",
        "abfss://a@c.dfs.core.windows.net/one?sv=1&sig=pass",
    ],
)  # fmt: skip
def test_a_url_with_a_secret_is_refused_and_a_container_is_none(url):
    for opens in (lf.open_store, lf.open_objects):
        with pytest.raises(lf.errors.InputError, match="storage_options") as refused:
            opens(url)
        assert "pass@" not in str(refused.value)
        assert "sig=" not in str(refused.value)
    assert lf.open_store("abfss://lakes@account.dfs.core.windows.net/one")
