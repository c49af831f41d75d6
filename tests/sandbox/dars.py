"""Makes DAR archives, good ones and spoilt ones; the tests of packages call it."""

import io
import zipfile
from collections.abc import Mapping

NAME = f"iou-1.0.0-{'ab' * 32}"
MAIN = f"{NAME}/{NAME}.dalf"
PRIM = f"{NAME}/ghc-prim-{'cd' * 32}.dalf"
FILES = {MAIN: b"main package", PRIM: b"primitive package"}


def folded(header: str) -> bytes:
    """A manifest header, cut into lines of 72 bytes at most, wherever that falls."""
    first, rest = header.encode()[:72], header.encode()[72:]
    return b"\r\n ".join([first, *(rest[at : at + 71] for at in range(0, len(rest), 71))]) + b"\r\n"


def manifest(main: str | None = MAIN, dalfs: str | None = None) -> bytes:
    """A manifest that names these packages."""
    headers = {"Manifest-Version": "1.0", "Format": "daml-lf", "Encryption": "non-encrypted"}
    if main is not None:
        headers["Main-Dalf"] = main
    headers["Dalfs"] = ", ".join(FILES) if dalfs is None else dalfs
    return b"".join(folded(f"{name}: {value}") for name, value in headers.items())


def dar(files: Mapping[str, bytes] = FILES, said: bytes | None = None, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of these files with a manifest; an empty one leaves the manifest out."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        if said != b"":
            archive.writestr("META-INF/MANIFEST.MF", manifest(dalfs=", ".join(files)) if said is None else said)
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()
