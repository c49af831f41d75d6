"""The nastiest legal texts, times, amounts, numbers and payloads; `hostile` and `hostile_trees` build items of them."""

from random import Random
from typing import Any, Final

from ledgerframes.sandbox.world import timestamps
from tests.hostile.json_variants import Number

TEXTS: Final = (
    "", " ", "\x00", "a\x00b", "\x01\x08\t\n\x0b\x0c\r\x1f\x7f", 'quote " backslash \\ slash / \\u0041',
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627", "\u2028\u2029\ufeff\ufffd\uffff",
    "e\u0301 against \u00e9",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 \U0001d518\U00020000\U000e0001\U0010ffff",
    "null", "NaN", "2024-06-24T21:08:34.404896Z", "=1+1", "'; drop table updates; --", "a/b~0c~1d", "None", "-1.43E-8",
)  # fmt: skip
AMOUNTS: Final = (
    "0E-10", "-1.43E-8", "0.0000000000", "-0.0000000000", "9999999999999999999999999999.9999999999",
    "-9999999999999999999999999999.9999999999", "0.0000000001", "1", "1.0", "+1.5", "1E+27",
)  # fmt: skip
# Beyond the range or the precision of a float: 2**53 + 1 is the last of them.
NUMBERS: Final = (
    "1e400", "-1E-400", "1.0", "-0", "-0.0", "12345678901234567890123", "0", "1E5", "0.1", "9007199254740993",
)  # fmt: skip
NAMES: Final = ("a/b", "a~1b", "a~0b", "", "~", "/", "0", "-", "a b", "A/B", "\x00", "\u00e9", "e\u0301", "constructor")
UNKNOWN: Final = (
    "extra", "absent", "/x", "a/b", "a~1b", "~01", "", "\x00", "payload", "kind", "node_index", "depth",
    "record_month", "template_name", "parent_event_id", "event_count", "n" * 300, "\U0001f9ea",
)  # fmt: skip

# Without the surrogates, which are no characters of their own.
_PLANES: Final = ((0x20, 0x7F), (0xA0, 0xD800), (0xE000, 0x10000), (0x10000, 0x20000), (0x20000, 0x110000))


def text(rng: Random) -> str:
    """A text that has broken programs, or one of random characters of any plane."""
    if rng.random() < 0.6:
        return rng.choice(TEXTS)
    return "".join(chr(rng.randrange(*rng.choice(_PLANES))) for _ in range(rng.randrange(1, 12)))


def time(rng: Random) -> str:
    """A time from year 1 to 9999 with 0 to 9 fractional digits, trailing zeros and all."""
    extremes, any_instant = (timestamps.FIRST, timestamps.LAST, 0, -1), range(timestamps.FIRST, timestamps.LAST + 1)
    micros = rng.choice(extremes if rng.random() < 0.2 else any_instant)
    nanos = timestamps.exact(micros)[:-1] + f"{rng.choice((0, 1, 999, rng.randrange(1_000))):03}"
    return nanos[: len(nanos) - 9 + rng.randrange(10)].removesuffix(".") + "Z"


def scalar(rng: Random) -> Any:
    """A value without members."""
    chance = rng.random()
    if chance < 0.4:
        return text(rng)
    if chance < 0.6:
        return rng.choice(AMOUNTS)
    if chance < 0.7:
        return time(rng)
    if chance < 0.85:
        return Number(rng.choice(NUMBERS))
    return rng.choice((None, True, False, 2**63 - 1, -(2**63), 0))


def value(rng: Random, depth: int = 3) -> Any:
    """Any JSON value, `depth` levels deep at most."""
    chance = rng.random()
    if depth == 0 or chance < 0.5:
        return scalar(rng)
    if chance < 0.7:
        return [value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return record(rng, depth)


def record(rng: Random, depth: int = 3) -> dict[str, Any]:
    """A JSON object with names that look alike or mean something in a JSON pointer."""
    names = [rng.choice(NAMES) if rng.random() < 0.7 else text(rng) for _ in range(rng.randrange(4))]
    return {name: value(rng, depth - 1) for name in names}


def argument(rng: Random) -> dict[str, Any]:
    """A payload: a record, or what a server puts in the place of one it could not decode."""
    if rng.random() < 0.08:
        return {"error": text(rng), "value": value(rng)}
    return record(rng)


def nested(levels: int = 200) -> dict[str, Any]:
    """A payload of `levels` levels, lists and objects in turn."""
    inner: Any = "the bottom"
    for level in range(levels - 1):
        inner = [inner] if level % 2 == 0 else {"down": inner}
    return {"down": inner}


def unknown(rng: Random, rate: float = 0.15) -> dict[str, Any]:
    """Members that no contract knows, mostly none."""
    if rng.random() >= rate:
        return {}
    return {name: value(rng, 2) for name in rng.sample(UNKNOWN, rng.randrange(1, 4))}


def integer(rng: Random) -> int:
    """An int64, by preference an extreme one."""
    return rng.choice((0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63), rng.randrange(-(2**63), 2**63)))
