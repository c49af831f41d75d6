"""What is fuzzed: the decoders alone, and every call and loader of the client; each says whether a result is right."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

import ledgerframes as lf
from ledgerframes.config.settings import Settings
from ledgerframes.decoding.page_index import peek
from ledgerframes.decoding.rebuild import by_update, rebuild_rows, row_dicts
from ledgerframes.interfaces.answers import read_update
from ledgerframes.interfaces.paged_histories import HistoryPage
from ledgerframes.loaders.history import History
from tests.clocks import FakeClock
from tests.decoding.items import decoded
from tests.fuzz.corpus import Corpus
from tests.fuzz.far_side import FarSide, page_of
from tests.fuzz.frames import check_frame, number
from tests.fuzz.mutations import mutate
from tests.official.typed_calls import CALLS

URLS = ("http://127.0.0.1:1/api/scan", "http://127.0.0.1:2/api/scan")


class WrongError(Exception):
    """A result that is not what the answer says."""


@contextmanager
def all_digits() -> Iterator[None]:
    """Python reads whole numbers of any length; the package has to do without."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        yield
    finally:
        sys.set_int_max_str_digits(limit)


def truth_of(body: bytes) -> Any:
    """What a body says, read by Python's own reader; members beside the items may hold any bytes."""
    with all_digits():
        return json.loads(body.decode(errors="replace"), parse_float=number)


def decode_history(corpus: Corpus, rng: random.Random) -> bytes:
    """A page decodes and rebuilds to what it says, or is refused; and `peek` agrees."""
    history = rng.choice(corpus.histories)
    items = [rng.choice(history) for _ in range(rng.choice((1, 1, 2, 3, 6)))]
    body = mutate(page_of([item for item in items if len(item) < 20_000]), rng, history)
    check_page(body)
    return body


def check_page(body: bytes) -> None:
    """The page comes out right, or as an error of ours."""
    try:
        batches = decoded(body)
    except lf.errors.DecodeError:
        return
    updates = row_dicts(batches["updates"])
    ids = [row["update_id"] for row in updates]
    page_index = peek(body)
    if page_index.update_ids != ids or [tuple(one) for one in page_index.cursors] != [
        (row["migration_id"], row["record_time"]) for row in updates
    ]:
        raise WrongError(f"peek sees {page_index}, the columns say {ids}")
    if len(set(ids)) < len(ids):
        return  # the rows of an id that a server sent twice cannot be told apart
    with all_digits():
        try:
            rebuilt = list(rebuild_rows(by_update(batches)))
        except lf.errors.DecodeError:
            return  # more digits or levels than Python has values for
    expected = truth_of(body)["transactions"]
    if rebuilt != expected:
        raise WrongError(f"rebuilt {rebuilt!r}"[:3000] + f"\nnot    {expected!r}"[:3000])


def typed_page(corpus: Corpus, rng: random.Random) -> bytes:
    """A page read by its typed items, leniently, and as a single update."""
    history = rng.choice(corpus.histories)
    items = [rng.choice(history) for _ in range(rng.choice((1, 3)))]
    body = mutate(page_of([item for item in items if len(item) < 20_000]), rng, history)
    single = mutate(items[0] if len(items[0]) < 20_000 else b"{}", rng, history)
    for read in (
        *(lambda: HistoryPage.read(body).items, lambda: HistoryPage.read_leniently(body).items),
        lambda: read_update(single),
    ):
        # What a body does not hold is judged by the transport, which knows all of these.
        try:
            read()
        except (lf.errors.LedgerframesError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
    return body


Call = Callable[[lf.types.Network, Corpus, random.Random, FarSide], None]


def through_the_client(call: Call, *, rate: float) -> Callable[[Corpus, random.Random], bytes]:
    """A target: a call whose answers are broken now and then."""

    def run(corpus: Corpus, rng: random.Random) -> bytes:
        far = FarSide(corpus, rng, rate)

        settings = Settings(
            scan_url=URLS[: rng.choice((1, 2))], validator_url=("http://127.0.0.1:1",), attempts=3,
            registry_url=("http://127.0.0.1:1",), ledger_url=("http://127.0.0.1:1",), ledger_token="t0ken-t0ken",
            validator_token="t0ken-t0ken",
        )  # fmt: skip
        with lf.types.Network(settings, clock=FakeClock(), transport=far) as net:
            try:
                call(net, corpus, rng, far)
            except lf.errors.LedgerframesError as error:
                check_message(error)
                if far.calm and call in (_history, _window):
                    raise WrongError(f"all answers were good, yet {error!r}") from error
        return far.sent

    return run


def check_message(error: lf.errors.LedgerframesError) -> None:
    """A message is for people: of some length, and whole when it is shown."""
    text = str(error)
    if not text or len(text) > 20_000:
        raise WrongError(f"a message of {len(text)} characters")
    text.encode()


def _history(net: lf.types.Network, _corpus: Corpus, rng: random.Random, far: FarSide) -> None:
    loaded = lf.load_history(net, page_size=rng.choice((1, 3, 8, 50)), as_="arrow")
    ids = loaded.updates["update_id"].to_pylist()
    if len(ids) != len(set(ids)):
        raise WrongError("an update came twice")
    if far.calm and len(ids) != len(far.places):
        raise WrongError(f"{len(ids)} of {len(far.places)} updates came")
    list(lf.rebuild_items(History(*loaded)))


def _window(net: lf.types.Network, _corpus: Corpus, rng: random.Random, far: FarSide) -> None:
    (low, _), (high, _) = sorted(rng.choices(far.places, k=2), key=lambda one: one[0])
    if low < high:
        lf.load_updates(net, start=low, end=high, page_size=rng.choice((2, 10)), allow_partial=rng.random() < 0.3)


def _frame(name: str) -> Call:
    def call(net: lf.types.Network, corpus: Corpus, rng: random.Random, far: FarSide) -> None:
        allowed = rng.random() < 0.2
        if name in {"holdings_summary", "transfer_preapprovals"}:
            parties = rng.sample(corpus.parties, k=2)
            frame = getattr(lf, f"load_{name}")(net, parties, allow_partial=allowed, as_="arrow", **_given(name))
        else:
            asked = {"personal": True, "blobs": True} if name == "licenses" else {}
            frame = getattr(lf, f"load_{name}")(net, allow_partial=allowed, as_="arrow", **asked)
        if far.asked == 1 and not far.calm and not allowed:
            with all_digits():
                check_frame(name, frame, truth_of(far.sent))

    return call


def _given(name: str) -> dict[str, Any]:
    return {"record_time": "2026-01-30T06:00:00Z", "migration_id": 4} if name == "holdings_summary" else {}


def _calls(net: lf.types.Network, _corpus: Corpus, rng: random.Random, _far: FarSide) -> None:
    """The typed calls, one of them."""
    rng.choice([*CALLS.values()])(net)


def _single(net: lf.types.Network, _corpus: Corpus, rng: random.Random, far: FarSide) -> None:
    if rng.random() < 0.2:  # it answers with another update, unless the id was what it changed
        lf.load_update(net, "1220aa")
    (item,) = lf.rebuild_items(lf.load_update(net, hash="ab"))
    if far.asked == 1 and not far.calm and item != truth_of(far.sent):
        raise WrongError(f"rebuilt {item!r}"[:3000] + f"\nnot {truth_of(far.sent)!r}"[:3000])


def _transaction(net: lf.types.Network, _corpus: Corpus, _rng: random.Random, _far: FarSide) -> None:
    lf.load_ledger_transaction(net, "1220aa")


def _probes(net: lf.types.Network, _corpus: Corpus, rng: random.Random, _far: FarSide) -> None:
    if rng.random() < 0.5:
        lf.migrations(net)
    else:
        str(lf.plan(net))


FRAMES = (
    *("licenses", "instruments", "name_entries", "name_rules", "transfer_offers", "users"),
    *("holdings_summary", "transfer_preapprovals"),
)
TARGETS: dict[str, tuple[int, Callable[[Corpus, random.Random], bytes]]] = {
    "decode": (40, decode_history),
    "typed": (8, typed_page),
    "history": (8, through_the_client(_history, rate=0.15)),
    "window": (4, through_the_client(_window, rate=0.1)),
    "calls": (16, through_the_client(_calls, rate=0.9)),
    "single": (6, through_the_client(_single, rate=0.9)),
    "transaction": (6, through_the_client(_transaction, rate=0.9)),
    "probes": (1, through_the_client(_probes, rate=0.02)),
    **{name: (3, through_the_client(_frame(name), rate=0.9)) for name in FRAMES},
}
