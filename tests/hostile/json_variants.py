"""One JSON value in many legal spellings: other spaces, other escapes, numbers digit by digit; for hostile data."""

from collections.abc import Callable
from dataclasses import dataclass
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Number:
    """A number exactly as it is to be written, such as `1e400` or `-0`; a float would lose the spelling."""

    text: str


@dataclass(frozen=True, slots=True)
class Spelling:
    """How JSON is written: how texts are quoted, and what stands between members, behind names and inside brackets."""

    quote: Callable[[str], str]
    comma: str = ","
    colon: str = ":"
    inside: str = ""

    def write(self, value: Any) -> str:
        """Write a value of dicts, lists, texts, integers, booleans, None and `Number`."""
        if isinstance(value, dict):
            members = [f"{self.quote(name)}{self.colon}{self.write(member)}" for name, member in value.items()]
            return f"{{{self.inside}{self.comma.join(members)}{self.inside}}}"
        if isinstance(value, list):
            return f"[{self.inside}{self.comma.join([self.write(element) for element in value])}{self.inside}]"
        if isinstance(value, str):
            return self.quote(value)
        if isinstance(value, Number):
            return value.text
        return "null" if value is None else str(value).lower()


def _escape_everything(text: str) -> str:
    """Every UTF-16 unit as an escape with upper-case digits; characters beyond U+FFFF take two."""
    units = text.encode("utf-16-be").hex("~", 2).upper().replace("~", "\\u")
    return f'"\\u{units}"' if units else '""'


SPELLINGS: Final = (
    Spelling(encode_basestring),
    Spelling(encode_basestring_ascii),
    Spelling(encode_basestring_ascii, comma=", ", colon=": "),
    Spelling(encode_basestring, comma=" ,\n\t", colon=" : ", inside="\r\n "),
    Spelling(lambda text: encode_basestring_ascii(text).replace("/", "\\/")),
    Spelling(_escape_everything, comma=",\n"),
)
