"""Makes a private authority and servers' certificates by it, for tests of TLS on loopback."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

import pytest

DAY = dt.timedelta(days=1)


class Authority:
    """An authority of its own: `file` is its certificate; `server` gives a context with a certificate by it."""

    def __init__(self, folder: Path, name: str = "Private authority") -> None:
        x509 = pytest.importorskip("cryptography.x509", reason="cryptography makes the certificates for this test")
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID

        self._folder = folder
        self._x509 = x509
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.file = folder / f"{name.replace(' ', '-')}.pem"
        made = self._signed(
            self._key, self._name, from_=-DAY, to=DAY, extension=x509.BasicConstraints(ca=True, path_length=None)
        )
        self.file.write_bytes(made)

    def server(self, host: str = "127.0.0.1", *, from_: dt.timedelta = -DAY, to: dt.timedelta = DAY) -> ssl.SSLContext:
        """The context of a server."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        key = ec.generate_private_key(ec.SECP256R1())
        try:
            name = self._x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            name = self._x509.DNSName(host)
        named = self._x509.SubjectAlternativeName([name])
        chain = self._signed(key, self._x509.Name([]), from_=from_, to=to, extension=named)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file = self._folder / "server.pem"
        file.write_bytes(private + chain)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(self, key, subject, *, from_, to, extension) -> bytes:
        from cryptography.hazmat.primitives import hashes, serialization

        now = dt.datetime.now(dt.UTC)
        builder = self._x509.CertificateBuilder(
            issuer_name=self._name, subject_name=subject, public_key=key.public_key(),
            serial_number=self._x509.random_serial_number(), not_valid_before=now + from_, not_valid_after=now + to,
        ).add_extension(extension, critical=True)  # fmt: skip
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
