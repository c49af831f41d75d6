"""Makes a private authority and servers' certificates by it, for tests of TLS on loopback."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from inspect import signature
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
        made = self._signed(self._key, self._name, x509.BasicConstraints(ca=True, path_length=None), from_=-DAY, to=DAY)
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
        chain = self._signed(key, self._x509.Name([]), named, from_=from_, to=to)
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file = self._folder / "server.pem"
        file.write_bytes(private + chain)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(self, key, subject, extension, *, from_, to) -> bytes:
        """A certificate with what Python 3.13 asks for in addition: who signed what, and that an authority may."""
        from cryptography.hazmat.primitives import hashes, serialization

        now, x509 = dt.datetime.now(dt.UTC), self._x509
        usage = dict.fromkeys(signature(x509.KeyUsage).parameters, False)
        usage |= {"key_cert_sign": key is self._key, "digital_signature": True}
        builder = x509.CertificateBuilder(
            issuer_name=self._name, subject_name=subject, public_key=key.public_key(),
            serial_number=x509.random_serial_number(), not_valid_before=now + from_, not_valid_after=now + to,
        ).add_extension(extension, critical=True).add_extension(x509.KeyUsage(**usage), critical=True)  # fmt: skip
        for one in (
            x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
        ):
            builder = builder.add_extension(one, critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
