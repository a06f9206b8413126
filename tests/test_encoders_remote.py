"""Requests to an embeddings service at their bounds: how long is waited, how much is read, and what is said."""

from __future__ import annotations

import base64
import gzip
import html
import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import quote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkers.errors import UsageError
from indexing.encoders.openai import OpenAI, _rows
from indexing.encoders.remote import LONGEST_WAIT, Endpoint, _asked_wait, post
from indexing.encoders.secrets import redacted

KEY = "sk-0123456789-abcdefghij-KLMN"


class Reply(NamedTuple):
    """What the server says."""

    status: int = 200
    body: bytes = b'"yes"'
    headers: tuple[tuple[str, str], ...] = ()


class Service:
    """A server that gives the planned replies one after the other, the last one for ever."""

    def __init__(self) -> None:
        self.plan: list[Reply] = []
        self.asked: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                reply = outer.plan.pop(0) if len(outer.plan) > 1 else outer.plan[0]
                self.send_response(reply.status, "Reason")
                for name, value in (*reply.headers, ("Content-Length", str(len(reply.body)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)

            def log_message(self, *_args: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"

    def post(self, *plan: Reply, key: str = KEY, **options: Any) -> Any:
        """Ask the server that has this plan, and return what it says."""
        self.plan = list(plan)
        usual = {"url": self.url, "key": key, "key_env": "MY_KEY", "timeout": 30.0, "retries": 3, "backoff": 1.0}
        return post(Endpoint(**{**usual, **options}), {"a": 1}, read=lambda found: found)


@pytest.fixture
def service() -> Iterator[Service]:
    """Run a server on a free port."""
    made = Service()
    thread = threading.Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield made
    made.http.shutdown()
    made.http.server_close()
    thread.join()


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Write down how long is slept instead of sleeping."""
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    return slept


BUSY = Reply(503, b"{}")


def test_the_pause_doubles_and_is_not_made_after_the_last_try(service: Service, waits: list[float]) -> None:
    """As many retries as are asked for; none is one try."""
    with pytest.raises(UsageError, match=r"gave up after 4 tries; the last was HTTP 503"):
        service.post(BUSY, backoff=0.75)
    assert waits == [0.75, 1.5, 3.0]
    assert len(service.asked) == 4
    waits.clear()
    with pytest.raises(UsageError, match=r"gave up after 1 try;"):
        service.post(BUSY, retries=0)
    assert waits == []
    assert service.post(BUSY, BUSY, Reply()) == "yes"
    assert waits == [1.0, 2.0]


@pytest.mark.parametrize(
    ("asked", "slept"), [("120", 120.0), ("7.5", 7.5), ("0", 0.0), ("-3", 0.0), ("soon", 1.0), ("", 1.0)]
)
def test_a_server_is_given_the_time_that_it_asks_for(
    service: Service, waits: list[float], asked: str, slept: float
) -> None:
    """Up to two minutes."""
    assert service.post(BUSY._replace(headers=(("Retry-After", asked),)), Reply()) == "yes"
    assert waits == [slept]


def test_a_longer_wait_ends_the_run(service: Service, waits: list[float]) -> None:
    """Whether the server asks for it or the doubling comes to it."""
    with pytest.raises(UsageError, match="the next try would be in 121 s"):
        service.post(BUSY._replace(headers=(("Retry-After", "121"),)))
    assert waits == []
    with pytest.raises(UsageError, match="the next try would be in 240 s"):
        service.post(BUSY, backoff=LONGEST_WAIT / 2, retries=5)
    assert waits == [60.0, 120.0]


def test_a_date_is_a_wait_until_then() -> None:
    """In the future; one that has passed is none, and one without a zone is in UTC."""
    soon = datetime.now(UTC) + timedelta(seconds=50)
    assert 40 < _asked_wait(format_datetime(soon, usegmt=True), default=9.0) <= 50
    assert 40 < _asked_wait(soon.strftime(" %a, %d %b %Y %H:%M:%S -0000 "), default=9.0) <= 50
    assert _asked_wait(format_datetime(soon - timedelta(days=1), usegmt=True), default=9.0) == 0.0
    assert _asked_wait("nan", default=9.0) == _asked_wait("no date", default=9.0) == 9.0


@pytest.mark.parametrize(("status", "taken"), [(200, True), (201, True), (299, True), (300, False), (404, False)])
def test_a_reply_is_good_by_its_status(service: Service, waits: list[float], status: int, *, taken: bool) -> None:
    """Whatever is in it; a lasting refusal is not repeated."""
    if taken:
        assert service.post(Reply(status)) == "yes"
    else:
        with pytest.raises(UsageError, match=rf"HTTP {status} \(yes\)$"):
            service.post(Reply(status))
    assert (len(service.asked), waits) == (1, [])


@pytest.mark.parametrize("packed", [False, True])
def test_a_reply_may_have_as_many_bytes_as_it_needs(service: Service, *, packed: bool) -> None:
    """Not one more, plain or packed."""
    size = 2 * 2**20
    body = json.dumps("x" * (size - 2)).encode()
    headers = (("Content-Encoding", "gzip"),) if packed else ()
    for largest in (size, size - 1):
        reply = Reply(200, gzip.compress(body) if packed else body, headers)
        if largest == size:
            assert service.post(reply, largest=largest) == "x" * (size - 2)
        else:
            with pytest.raises(UsageError, match="the last was a reply of over 1 MB"):
                service.post(reply, largest=largest, retries=0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "too many"}}', "too many"),
        (b'{"error": "too many"}', "too many"),
        (b'{"message": "too many"}', "too many"),
        (b'"too many"', "too many"),
        (b"<p>too many", "<p>too many"),
        (b"[1]", "[1]"),
        (b'""', "Reason"),
        (b"", "Reason"),
    ],
)
def test_the_server_is_quoted(service: Service, body: bytes, said: str) -> None:
    """In the words of its error, its text, or the reason beside the status."""
    with pytest.raises(UsageError) as caught:
        service.post(Reply(400, body))
    assert str(caught.value) == f"{service.url}: HTTP 400 ({said})"


@pytest.mark.parametrize(("status", "hinted"), [(401, True), (403, True), (400, False), (404, False)])
@pytest.mark.parametrize(("key", "words"), [(KEY, "set"), ("", "not set")])
def test_a_refused_key_is_named_by_its_variable(
    service: Service, status: int, key: str, words: str, *, hinted: bool
) -> None:
    """With whether it is set, where the status is about keys."""
    with pytest.raises(UsageError) as caught:
        service.post(Reply(status), key=key)
    assert (f". The key is read from MY_KEY, which is {words}" in str(caught.value)) == hinted


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-é", "sk-\x7f"])
def test_a_key_that_no_header_can_hold_is_refused(service: Service, key: str) -> None:
    """Before anything is sent."""
    with pytest.raises(UsageError, match="the key in MY_KEY holds characters that no header can"):
        service.post(Reply(), key=key)
    assert service.asked == []


OTHER = st.text(" ~!", max_size=12)


@given(OTHER, OTHER, st.integers(0, len(KEY) - 8), st.integers(8, len(KEY)))
def test_no_eight_signs_of_a_key_are_left(before: str, after: str, at: int, size: int) -> None:
    """Wherever they are; the rest of the text stays, and what is hidden is one sign."""
    part = KEY[at : at + size]
    assert redacted(before + part + after, KEY) == f"{before}…{after}"
    assert redacted(before + KEY[at : at + 7] + after, KEY) == before + KEY[at : at + 7] + after
    assert redacted(f"{before}{KEY}{KEY}.{after}{KEY}", KEY) == f"{before}….{after}…"


@pytest.mark.parametrize(("over", "first", "end"), [(0, 4, 42), (1, 8, 43), (2, 8, 45)])
def test_a_key_in_base64_is_hidden_wherever_it_begins(over: int, first: int, end: int) -> None:
    """Three bytes are four signs: the same key is written in three ways, of which the ends hold other bytes too."""
    told = base64.b64encode(b"x" * (3 + over) + KEY.encode() + b"yyy").decode()
    assert redacted(told, KEY) == f"{told[:first]}…{told[end:]}"


@pytest.mark.parametrize("form", [KEY[::-1], KEY.upper(), KEY.lower(), KEY.encode().hex()])
def test_a_key_in_other_clothes_is_hidden(form: str) -> None:
    """Backwards, in capitals, in small letters, in hexadecimal."""
    assert redacted(f"<{form}>", KEY) == "<…>"


@pytest.mark.parametrize(
    "key", ['ab"cd\\ef"gh"', "key&of<tags>'quoted'", "sk/a+b/c=d&e/f", "schlüssel-größe-ßß", "tab\tand\nline"]
)
def test_a_key_of_odd_signs_is_hidden_in_every_way_of_writing_it(key: str) -> None:
    """In JSON, in Python, in an address and in a page, to its first and last sign."""
    for form in (key, json.dumps(key)[1:-1], ascii(key)[1:-1], quote(key, safe=""), html.escape(key), key[::-1]):
        assert redacted(f"<{form}>", key) == "<…>"


def test_a_short_key_is_hidden_whole() -> None:
    """Its parts say nothing; without a key there is nothing to hide."""
    assert redacted("a key abc12 b abc1", "abc12") == "a key … b abc1"
    assert redacted("unchanged", "") == "unchanged"
    assert redacted("", "abc12") == ""


def test_parameters_of_the_service_at_their_bounds() -> None:
    """No retries are allowed, fewer are not; an address has no question, fragment, name or password."""
    assert OpenAI(model="m", retries=0).retries == 0
    with pytest.raises(UsageError, match="retries must be 0 or more, not -1"):
        OpenAI(model="m", retries=-1)
    for tail in ("http://h/v1?a=1", "http://h/v1#a", "http://user@h/v1", "http://:word@h/v1"):
        with pytest.raises(UsageError, match="base_url"):
            OpenAI(model="m", base_url=tail)
    assert OpenAI(model="m", base_url="http://h/v1/").identity()["base_url"] == "http://h/v1"
    assert OpenAI(model="m", base_url="http://h/v1/")._endpoint.url == "http://h/v1/embeddings"
    assert OpenAI(model="m").encode([], kind="query").shape == (0, 0)
    assert OpenAI(model="m", dimensions=7).encode([], kind="query").shape == (0, 7)


def test_texts_are_cut_at_the_window() -> None:
    """A text that just fills it is sent as it is; with pooling each piece has its tokens, and nothing counts as one."""
    text = "one two three four"
    for long, window, pieces, weights in (
        ("truncate", 4, [text], [4]),
        ("truncate", 3, ["one two three"], [3]),
        ("mean", 4, [text], [4]),
        ("mean", 3, ["one two three", " four"], [3, 1]),
        ("mean", 2, ["one two", " three four"], [2, 2]),
        ("max", 1, ["one", " two", " three", " four"], [1, 1, 1, 1]),
    ):
        encoder = OpenAI(model="m", window=window, long=long)  # type: ignore[arg-type] # one of the literals
        assert encoder._windows([text, ""], "") == ([*pieces, " "], [0] * len(pieces) + [1], [*weights, 1])
        assert encoder._windows([""], "Q: ") == (["Q: "], [0], [1])
    cut = OpenAI(model="m", window=1)._windows(["😀😀"], "")[0]
    assert cut == [" "]


def test_requests_are_filled_to_their_bounds() -> None:
    """So many texts, so many tokens, not one more; a text that has more goes alone."""
    encoder = OpenAI(model="m", batch=3, request_tokens=10)
    sizes = [4, 6, 1, 5, 4, 1, 1, 11, 10, 1]
    pieces = [str(number) for number in range(len(sizes))]
    groups = [[sizes[int(piece)] for piece in batch] for batch in encoder._batches(pieces, sizes)]
    assert groups == [[4, 6], [1, 5, 4], [1, 1], [11], [10], [1]]
    assert list(encoder._batches([], [])) == []
    bare = Endpoint(url="u", key="", key_env="K", timeout=1.0, retries=0, backoff=1.0)
    assert bare.largest == 32 * 1024 * 1024
    few, more = (OpenAI(model="m", batch=batch)._endpoint.largest for batch in (1, 3))
    assert few > 16_384 * 20
    assert more - few == 2 * (few - 2**20)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ([], "got NoneType"),
        ({"data": "ab"}, "got str"),
        ({"data": [{"index": 0, "embedding": [1.0]}]}, "expected 2 vectors under 'data', got 1"),
        ({"data": [{"index": at, "embedding": [1.0]} for at in (0, 0)]}, "indexes are [0, 0]…, not 0 to 1"),
        ({"data": [{"index": at, "embedding": [1.0]} for at in (1, 2)]}, "indexes are [1, 2]…, not 0 to 1"),
        ({"data": [{"index": at, "embedding": 1.0} for at in (0, 1)]}, "not a list of numbers"),
        ({"data": [{"index": at, "embedding": []} for at in (0, 1)]}, "not a list of numbers"),
        ({"data": [{"index": at, "embedding": [float(at)]} for at in (0, 1)]}, "row 0 is all zeros"),
    ],
)
def test_a_malformed_reply_says_what_is_wrong_with_it(reply: Any, words: str) -> None:
    """Two vectors were asked for."""
    with pytest.raises(ValueError, match=r".") as caught:
        _rows(reply, 2)
    assert words in str(caught.value)
    sound = {"data": [{"index": 1, "embedding": [1, 2]}, {"index": 0, "embedding": [3, 4]}]}
    assert np.array_equal(_rows(sound, 2), [[3, 4], [1, 2]])
