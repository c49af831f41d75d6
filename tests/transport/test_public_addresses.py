"""Which addresses that a server names are asked: public ones by https."""

import pytest

from ledgerframes.transport.public_addresses import why_not_public


def leading_to(*addresses):
    return lambda _host: list(addresses)


PUBLIC = leading_to("93.184.216.34", "2606:2800:220:1::1")


def unknown(_host):
    raise OSError(-2, "Name or service not known")


def test_a_public_https_address_may_be_asked():
    assert why_not_public("https://scan.example.com/api/scan", PUBLIC) is None
    assert why_not_public("https://93.184.216.34/api/scan", unknown) is None


@pytest.mark.parametrize(
    ("url", "lookup", "reason"),
    [
        ("http://scan.example.com", PUBLIC, "not https"),
        ("https://localhost", PUBLIC, "private network"),
        ("https://intranet", PUBLIC, "private network"),
        ("https://scan.internal", PUBLIC, "private network"),
        ("https://printer.local.", PUBLIC, "private network"),
        ("https://127.0.0.1", PUBLIC, "not public"),
        ("https://10.1.2.3", PUBLIC, "not public"),
        ("https://169.254.169.254", PUBLIC, "not public"),
        ("https://100.64.0.1", PUBLIC, "not public"),
        ("https://0.0.0.0", PUBLIC, "not public"),
        ("https://224.0.0.1", PUBLIC, "not public"),
        ("https://[::1]", PUBLIC, "not public"),
        ("https://[fe80::1]", PUBLIC, "not public"),
        ("https://[fd00::1]", PUBLIC, "not public"),
        ("https://[::ffff:127.0.0.1]", PUBLIC, "127.0.0.1 is not public"),
        ("https://[64:ff9b::a00:1]", PUBLIC, "10.0.0.1 is not public"),
        ("https://[2002:7f00:1::]", PUBLIC, "127.0.0.1 is not public"),
        ("https://192.0.0.192", PUBLIC, "192.0.0.192 is not public"),
        ("https://[64:ff9b:1::7f00:1]", PUBLIC, "not public"),
        ("https://[fec0::1]", PUBLIC, "fec0::1 is not public"),
        ("https://[::127.0.0.1]", PUBLIC, "not public"),
        ("https://[::ffff:0:127.0.0.1]", PUBLIC, "not public"),
        ("https://scan.example.com", leading_to("192.168.1.1"), "192.168.1.1 is not public"),
        ("https://scan.example.com", leading_to("93.184.216.34", "127.0.0.1"), "127.0.0.1 is not public"),
        ("https://scan.example.com", leading_to("fe80::1%eth0"), "fe80::1 is not public"),
        ("https://2130706433.example.com", leading_to("127.0.0.1"), "127.0.0.1 is not public"),
        ("https://scan.example.com", leading_to(), "no address"),
        ("https://scan.example.com", leading_to("nonsense"), "cannot be read"),
        ("https://scan.example.com", unknown, "cannot be looked up (Name or service not known)"),
    ],
)  # fmt: skip
def test_other_addresses_may_not_and_the_reason_is_given(url, lookup, reason):
    assert reason in (why_not_public(url, lookup) or "")
