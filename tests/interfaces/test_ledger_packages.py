"""What upload_package and validate_dar send and refuse."""

import pytest
from served_answers import NOWHERE, far, reply

import ledgerframes as lf
from ledgerframes.errors import InputError, StatusError
from ledgerframes.transport import DeprecatedEndpointWarning

DAR = bytes(range(256))
CALLS = ["upload_package", "validate_dar"]
pytestmark = pytest.mark.filterwarnings(f"ignore::{DeprecatedEndpointWarning.__module__}.DeprecatedEndpointWarning")


@pytest.mark.parametrize("form", [bytes, memoryview])
def test_the_bytes_go_out_as_they_are(form):
    with far(packages=reply({}), validate=reply(b"")) as there:
        assert there.net.ledger.upload_package(form(DAR)) is None
        assert there.net.ledger.validate_dar(form(DAR)) is None
    assert there.routes == ["POST /v2/packages", "POST /v2/dars/validate"]
    assert {asked.body for asked in there.asked} == {DAR}
    assert {asked.headers["content-type"] for asked in there.asked} == {"application/octet-stream"}


@pytest.mark.parametrize("call", CALLS)
def test_a_file_is_read_and_what_is_no_dar_is_refused(call, tmp_path):
    (tmp_path / "app.dar").write_bytes(DAR)
    (tmp_path / "empty.dar").touch()
    ledger = lf.connect(ledger_url=NOWHERE).ledger
    refused = {
        r"dar=b'' is empty": b"",
        r"dar='app.dar'; give the bytes, or the file as pathlib.Path": "app.dar",
        r"empty\.dar'\) is empty": tmp_path / "empty.dar",
        r"none\.dar' cannot be read: No such file": tmp_path / "none.dar",
    }

    assert ledger.preview(call, tmp_path / "app.dar").body == DAR
    for said, dar in refused.items():
        with pytest.raises(InputError, match=said):
            getattr(ledger, call)(dar)


def test_an_upload_is_sent_once_and_a_validation_again():
    busy = reply(b"busy", 503, "text/plain")
    with far(packages=busy, validate=[busy, reply(b"")]) as there:
        with pytest.raises(StatusError, match="busy"):
            there.net.ledger.upload_package(DAR)
        there.net.ledger.validate_dar(DAR)
    assert there.routes == ["POST /v2/packages"] + ["POST /v2/dars/validate"] * 2
