"""Where several scans are given, an object counts if f + 1 of them have its digest, and fewer another one."""

from contextlib import ExitStack

import pytest

import ledgerframes as lf
from tests.rigs.object_faults import ObjectFaults
from tests.rigs.servers import replica

SAME, OTHER, NONE, LATER = ObjectFaults(), ObjectFaults(cut=True), ObjectFaults(served=False), "later"
BEGIN = (-(2**63), "0001-01-01")


@pytest.fixture(scope="module")
def net():
    with lf.sandbox(seed=7, updates=600) as network:
        yield network


@pytest.fixture(scope="module")
def whole(net):
    return lf.load_history(net, start=BEGIN, source="objects").updates


@pytest.fixture(scope="module")
def connected(net):
    """Connects to scans of one ledger, each with faults of its objects; the first one is asked for the lists."""
    with ExitStack() as stack:
        scans = {lag: [stack.enter_context(replica(net.sandbox, lag=lag)) for _ in range(4)] for lag in (0, 200)}

        def connect(*faults):
            asked = [scans[200 if fault == LATER else 0][number] for number, fault in enumerate(faults)]
            for scan, fault in zip(asked, faults, strict=True):
                scan.object_faults = SAME if fault == LATER else fault
            return stack.enter_context(lf.connect(scan_url=[scan.scan_url for scan in asked]))

        yield connect


@pytest.mark.parametrize(
    "faults",
    [
        [SAME, SAME],
        [SAME, NONE, NONE, NONE],
        [SAME, OTHER, SAME, NONE],
        [SAME, LATER],
        [SAME, SAME, LATER, LATER],
    ],
)
def test_objects_that_enough_scans_have_are_read(connected, whole, faults):
    part = lf.load_history(connected(*faults), start=BEGIN, source="objects").updates
    assert part.update_id.tolist() == whole.update_id.tolist()


@pytest.mark.parametrize("faults", [[SAME, OTHER], [SAME, OTHER, OTHER], [SAME, OTHER, NONE], [OTHER, SAME, SAME]])
def test_another_digest_is_refused_unless_more_scans_have_the_listed_one(connected, tmp_path, caplog, faults):
    scans = connected(*faults)
    with pytest.raises(lf.errors.DecodeError, match=r"with another digest than http.*lf\.cross_check.*source='pages'"):
        lf.load_history(scans, start=BEGIN, source="objects")
    with pytest.raises(lf.errors.DecodeError, match="with another digest than"):
        lf.load_active_contracts(scans, source="objects")

    lf.open_store(tmp_path / "lake").sync(scans, progress=False, source="auto")
    assert "Pages are read instead of objects." in caplog.text


def test_what_too_few_scans_have_is_read_later(connected, net, whole, caplog):
    scans = connected(SAME, LATER, LATER, LATER)
    part = lf.load_history(scans, start=BEGIN, source="objects").updates
    assert 0 < len(part) < len(whole)
    assert part.update_id.tolist() == whole.update_id.tolist()[: len(part)]
    end = tuple(whole.attrs["cursor"])
    assert lf.load_history(net, start=BEGIN, end=end, source="objects").updates.attrs["complete"]
    assert not lf.load_history(scans, start=BEGIN, end=end, source="objects").updates.attrs["complete"]
    assert "other scans have not written them yet" in caplog.text

    with pytest.raises(lf.errors.NotFoundError, match="too few of the other scans have written it yet"):
        lf.load_active_contracts(scans, source="objects")
