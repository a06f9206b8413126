"""OpenAI-compatible endpoints, against a real HTTP server that misbehaves in every way it can."""

from __future__ import annotations

import base64
import contextlib
import functools
import gzip
import itertools
import json
import socket
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from chunkers.errors import UsageError
from indexing import embedding_cache
from indexing.embedding_cache import EmbeddingCache
from indexing.encoders.openai import OpenAI

KEY = "sk-a-secret-that-must-not-be-seen"
Answer = tuple[int, dict[str, str], str | None]
"""Status, headers, and a body; None stands for the right one."""


class Server:
    """A server that gives the planned answers first, then right ones, and remembers what it was asked."""

    def __init__(self) -> None:
        self.plan: list[Answer | Callable[[], Answer]] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.dimensions = 4
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.bodies.append(body)
                outer.keys.append(self.headers.get("Authorization"))
                step = outer.plan.pop(0) if outer.plan else (200, {}, None)
                status, headers, text = step() if callable(step) else step
                data = (text if text is not None else outer.right(body)).encode()
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except BrokenPipeError:
                    return  # the client had stopped waiting

            def log_message(self, *_args: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def vector(self, text: str) -> list[float]:
        """Return a vector that only this text has."""
        return [float(len(text)), float(sum(map(ord, text)) % 97), 1.0, *[0.5] * (self.dimensions - 3)]

    def right(self, body: dict[str, Any]) -> str:
        """Return a right reply, its items in another order than the texts."""
        items = [{"index": at, "embedding": self.vector(text)} for at, text in enumerate(body["input"])]
        return json.dumps({"object": "list", "data": items[::-1]})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """Run a server on a free port, with a key in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server = Server()
    thread = threading.Thread(target=server.http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.http.shutdown()
    server.http.server_close()
    thread.join()


def _encoder(server: Server, **options: Any) -> OpenAI:
    return OpenAI(**{"model": "some-model", "base_url": server.url, "backoff": 0.01, "retries": 3, **options})


def _expected(server: Server, texts: list[str]) -> np.ndarray:
    rows = np.array([server.vector(text) for text in texts])
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_vectors_in_order_of_the_texts(server: Server) -> None:
    """Replies are sorted by index, made unit rows, and asked for in batches."""
    texts = [f"text {number}" * number for number in range(1, 8)]
    rows = _encoder(server, batch=3).encode(texts, kind="document")
    assert rows == pytest.approx(_expected(server, texts), abs=1e-6)
    assert rows.dtype == np.float32
    assert [len(body["input"]) for body in server.bodies] == [3, 3, 1]
    assert server.keys[0] == f"Bearer {KEY}"
    assert server.bodies[0]["model"] == "some-model"


def test_requests_are_limited_in_tokens(server: Server) -> None:
    """A request holds no more tokens than allowed, unless one text alone does."""
    _encoder(server, request_tokens=25).encode(["word " * 10] * 5, kind="document")
    assert [len(body["input"]) for body in server.bodies] == [2, 2, 1]


@pytest.mark.parametrize(
    "fault",
    [
        (429, {"Retry-After": "0.05"}, "{}"),
        (429, {"Retry-After": formatdate(0, usegmt=True)}, "slow down"),
        (500, {}, "oops"),
        (503, {"Retry-After": "soon"}, ""),
        (200, {}, "this is not JSON"),
        (200, {}, '{"data": []}'),
        (200, {}, '{"data": [{"index": 0}]}'),
        (200, {}, '{"data": [{"index": 7, "embedding": [1]}]}'),
        (200, {}, '{"data": [{"index": 0, "embedding": [NaN, 1]}]}'),
        (200, {}, '{"data": [{"index": 0, "embedding": "AAAA"}]}'),
        (200, {}, "[1, 2]"),
    ],
)
def test_passing_faults_are_retried(server: Server, fault: Answer) -> None:
    """After two faults of any passing kind the third answer is taken."""
    server.plan = [fault, fault]
    assert _encoder(server).encode(["a"], kind="query") == pytest.approx(_expected(server, ["a"]), abs=1e-6)
    assert len(server.bodies) == 3


def test_retry_after_is_honoured(server: Server) -> None:
    """The server's own waiting time comes before the back-off."""
    server.plan = [(429, {"Retry-After": "0.4"}, "{}")]
    began = time.monotonic()
    _encoder(server).encode(["a"], kind="query")
    assert time.monotonic() - began >= 0.4


def test_timeouts_are_retried(server: Server) -> None:
    """A server that does not answer in time is asked again."""
    asked_again = threading.Event()

    def late() -> Answer:
        asked_again.wait()
        return 200, {}, "{}"

    def heard() -> Answer:
        asked_again.set()
        return 503, {}, "{}"

    server.plan = [late, heard]
    rows = _encoder(server, timeout=2).encode(["a"], kind="query")
    assert rows == pytest.approx(_expected(server, ["a"]), abs=1e-6)
    assert len(server.bodies) >= 3


def test_giving_up_names_the_last_fault(server: Server) -> None:
    """When every try fails the error says how often and why."""
    server.plan = [(200, {}, "not JSON")] * 9
    with pytest.raises(UsageError, match="gave up after 4 tries; the last was a malformed reply"):
        _encoder(server).encode(["a"], kind="query")
    assert len(server.bodies) == 4


def test_a_wait_that_is_too_long_is_an_error(server: Server) -> None:
    """Nobody waits an hour unawares."""
    server.plan = [(429, {"Retry-After": "3600"}, '{"error": {"message": "daily limit"}}')]
    with pytest.raises(UsageError, match=r"daily limit.*in 3600 s"):
        _encoder(server).encode(["a"], kind="query")


@pytest.mark.parametrize(
    ("status", "says"), [(401, "OPENAI_API_KEY, which is set"), (400, "HTTP 400"), (302, "HTTP 302")]
)
def test_lasting_faults_end_at_once_without_the_key(server: Server, status: int, says: str) -> None:
    """A refusal is not repeated, and the key is in no message even where the server repeats it."""
    server.plan = [(status, {"Location": "/elsewhere"}, json.dumps({"error": {"message": f"bad key {KEY}"}}))]
    with pytest.raises(UsageError, match=says) as caught:
        _encoder(server).encode(["a"], kind="query")
    assert len(server.bodies) == 1
    assert KEY not in str(caught.value)


def test_nobody_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed port is a clear error; the key is in neither it nor any view of the encoder."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    encoder = OpenAI(model="m", base_url="http://127.0.0.1:9", retries=1, backoff=0.01)
    with pytest.raises(UsageError, match="gave up after 2 tries; the last was ConnectionError") as caught:
        encoder.encode(["a"], kind="query")
    seen = f"{caught.value} {encoder!r} {encoder.identity()} {encoder._endpoint!r}"
    assert KEY not in seen


def test_no_key_no_header(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A local server is asked without authorization where no key is set."""
    monkeypatch.delenv("OPENAI_API_KEY")
    _encoder(server).encode(["a"], kind="query")
    assert server.keys == [None]


def test_wrong_dimensions(server: Server) -> None:
    """Another size than was asked for, or one that changes between requests, is an error."""
    with pytest.raises(UsageError, match="asked for 8 dimensions, got 4"):
        _encoder(server, dimensions=8).encode(["a"], kind="query")
    server.plan = [(200, {}, '{"data": [{"index": 0, "embedding": [1, 2, 3]}]}')]
    with pytest.raises(UsageError, match="of 3 and then of 4 dimensions"):
        _encoder(server, batch=1).encode(["a", "b"], kind="query")


def test_prompts_empty_and_long_texts(server: Server) -> None:
    """Prompts go before the text of their kind, an empty text becomes a space, a long one is cut or pooled."""
    encoder = _encoder(server, query_prompt="Q: ", window=3)
    encoder.encode(["one two three four five"], kind="query")
    encoder.encode(["", "\udc80"], kind="document")
    assert [body["input"] for body in server.bodies] == [["Q: one two three"], [" ", "\ufffd"]]
    assert encoder.max_tokens == 3
    server.bodies.clear()
    pooled = _encoder(server, window=3, long="max")
    rows = pooled.encode(["one two three four five"], kind="document")
    assert server.bodies[0]["input"] == ["one two three", " four five"]
    maximum = _expected(server, ["one two three", " four five"]).max(axis=0)
    assert rows[0] == pytest.approx(maximum / np.linalg.norm(maximum), abs=1e-6)
    assert pooled.max_tokens is None
    mean = _encoder(server, window=4, long="mean").encode(["one two three four five"], kind="document")
    weighted = np.array([4, 1]) @ _expected(server, ["one two three four", " five"])
    assert mean[0] == pytest.approx(weighted / np.linalg.norm(weighted), abs=1e-6)
    assert list(encoder.count_tokens(["one two three four five", ""])) == [5, 0]


def test_a_failed_run_goes_on_where_it_ended(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that were paid for before the endpoint failed are in the cache."""
    monkeypatch.setattr(embedding_cache, "INCREMENT", 2)
    texts = ["a", "bb", "ccc", "dddd"]
    server.plan = [(200, {}, None), (400, {}, "{}")]
    with pytest.raises(UsageError, match="HTTP 400"):
        EmbeddingCache(tmp_path).embed(_encoder(server), texts, kind="document")
    cache = EmbeddingCache(tmp_path)
    assert cache.embed(_encoder(server), texts, kind="document") == pytest.approx(_expected(server, texts), abs=1e-6)
    assert (cache.statistics.hits, cache.statistics.embedded) == (2, 2)
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert KEY.encode() not in stored


@pytest.mark.parametrize("url", ["api.openai.com", "ftp://x", "https://user:secret@host/v1", "https://"])
def test_addresses_are_checked(url: str) -> None:
    """An address without scheme or host, or with a password in it, is refused without repeating a password."""
    with pytest.raises(UsageError, match="base_url") as caught:
        OpenAI(model="m", base_url=url)
    assert "secret" not in str(caught.value)


ECHOES = {
    "as it is": KEY,
    "a part": KEY[:16],
    "its end": KEY[-12:],
    "in JSON": json.dumps(KEY + '"')[:-2],
    "in an address": "https%3A%2F%2Fh%2F" + quote(KEY, safe=""),
    "in base64": base64.b64encode(f"user:{KEY}".encode()).decode(),
    "in hexadecimal": KEY.encode().hex(),
    "as a header": f"Bearer {KEY}",
}


@pytest.mark.parametrize("status", [200, 400, 401, 429, 503])
@pytest.mark.parametrize("form", ECHOES)
def test_no_reply_makes_the_key_appear(server: Server, status: int, form: str) -> None:
    """A server that echoes the key, in a good reply or a bad one, in words, fields or headers: it is not told."""
    echo = ECHOES[form]
    bodies = [
        json.dumps({"error": {"message": f"bad key {echo}"}}),
        json.dumps({"data": echo}),
        json.dumps({"data": [{"index": echo, "embedding": [1.0]}]}),
        json.dumps({"data": [{"index": 0, "embedding": echo}]}),
        f"<html>{echo}</html>",
    ]
    for body in bodies:
        server.plan = [(status, {"Retry-After": "0", "X-Key": echo}, body)] * 2
        with pytest.raises(UsageError) as caught:
            _encoder(server, retries=1).encode(["a"], kind="document")
        said = str(caught.value)
        seen = [echo[at : at + 8] for at in range(len(echo) - 7) if echo[at : at + 8] in said]
        assert not any(part in ECHOES["in hexadecimal"] or part in KEY for part in seen), said
        assert KEY[:8] not in said
        assert KEY[-8:] not in said


def _raw_server(answer: Callable[[socket.socket], None]) -> tuple[socket.socket, str]:
    """Run a server that reads a request and then does anything with the connection."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                connection.recv(65_536)
                answer(connection)

    threading.Thread(target=serve, daemon=True).start()
    return listening, f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


@pytest.mark.parametrize("where", ["head", "body"])
def test_a_reply_that_drips_ends_with_its_time(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One byte at a time keeps a socket awake for ever; the request has its seconds all the same."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    done = threading.Event()

    def drip(connection: socket.socket) -> None:
        if where == "body":
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        for byte in itertools.cycle(b"HTTP/1.1 200 OK\r\nX-Long: aaaaaaaa"):
            connection.sendall(bytes([byte]))
            if done.wait(0.05):
                return

    listening, url = _raw_server(drip)
    with listening:
        began = time.monotonic()
        with pytest.raises(UsageError, match="TimeoutError"):
            OpenAI(model="m", base_url=url, timeout=0.5, retries=0).encode(["a"], kind="document")
        assert time.monotonic() - began < 20
        done.set()


def test_a_reply_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gigabytes are refused after the megabytes that an answer of this many texts can have."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    sent = 0

    def flood(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 3000000000\r\n\r\n{"data": [')
        while True:
            sent += connection.send(b"1.0, " * 100_000)

    listening, url = _raw_server(flood)
    with listening, pytest.raises(UsageError, match="a reply of over 1 MB"):
        OpenAI(model="m", base_url=url, batch=1, timeout=60, retries=0).encode(["a"], kind="document")
    assert sent < 50_000_000


def _send_all(reply: bytes, connection: socket.socket) -> None:
    connection.sendall(reply)
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(65_536):  # closed with a request unread, a connection loses what was sent
        pass


def test_a_packed_reply_is_unpacked_no_further_than_a_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand times its size, packed three times over, or in a way that nobody asked for: a fault of one line."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    good = json.dumps({"data": [{"index": 0, "embedding": [3.0, 4.0]}]}).encode()
    replies = {
        "gzip": gzip.compress(good),
        "deflate": zlib.compress(good),
        "GZIP": gzip.compress(b" " * 200_000_000, compresslevel=1),
        "gzip, gzip": gzip.compress(gzip.compress(good)),
        "br": good,
        "x-gzip": b"not packed",
    }
    said = {}
    for coding, body in replies.items():
        head = f"HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        listening, url = _raw_server(functools.partial(_send_all, head + body))
        with listening:
            encoder = OpenAI(model="m", base_url=url, batch=1, timeout=60, retries=0)
            try:
                said[coding] = str(encoder.encode(["a"], kind="document").astype(float).round(1).tolist())
            except UsageError as error:
                said[coding] = str(error)
    assert said["gzip"] == said["deflate"] == "[[0.6, 0.8]]"
    assert "a reply of over 1 MB" in said["GZIP"]
    assert all("ConnectionError" in said[coding] for coding in ("gzip, gzip", "br", "x-gzip"))


@pytest.mark.parametrize("asked", ["nan", "NaN", "-nan", "", "soon", "Mon, 99 Foo 99999 99:99:99", "1e-400"])
def test_a_wait_that_is_no_number_is_no_wish(server: Server, asked: str) -> None:
    """The usual pause is made instead."""
    server.plan = [(429, {"Retry-After": asked}, "{}")]
    assert _encoder(server).encode(["a"], kind="document").shape == (1, 4)


@pytest.mark.parametrize("asked", ["inf", "1e999", "86400", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_of_a_day_ends_the_run(server: Server, asked: str) -> None:
    """The line says how long the server wants; nobody sleeps until then."""
    server.plan = [(429, {"Retry-After": asked}, "{}")]
    with pytest.raises(UsageError, match="the next try would be in"):
        _encoder(server).encode(["a"], kind="document")


@pytest.mark.parametrize("vector", [[1e308, 1e308], [0.0, 0.0], [1e300, 0], ["1", "x"], [None, 1], [10**5000, 1], []])
def test_vectors_that_are_none_are_refused_with_a_reason(server: Server, tmp_path: Path, vector: list[Any]) -> None:
    """Overflow, zeros and what is no number: nothing is stored, and the line says which."""
    items = [{"index": 0, "embedding": vector}]
    sys.set_int_max_str_digits(0)
    body = json.dumps({"data": items})
    sys.set_int_max_str_digits(4300)
    server.plan = [(200, {}, body)] * 4
    with pytest.raises(UsageError, match="malformed reply"):
        EmbeddingCache(tmp_path).embed(_encoder(server, dimensions=None), ["a"], kind="document")
    assert list(tmp_path.rglob("*.shard")) == []


@pytest.mark.parametrize(
    "body", ["[" * 200_000, '{"data":' * 50_000, '{"error":' + '{"message":' * 90_000, "\x1b[2J" * 9]
)
@pytest.mark.parametrize("status", [200, 400])
def test_a_reply_of_nonsense_is_one_plain_line(server: Server, body: str, status: int) -> None:
    """Depth is no traceback, and what a terminal would obey is written out."""
    server.plan = [(status, {}, body)] * 2
    with pytest.raises(UsageError) as caught:
        _encoder(server, retries=1).encode(["a"], kind="document")
    assert "\x1b" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_a_key_that_no_header_can_hold_is_named_by_its_variable(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by its content."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-ab\ncd€")
    with pytest.raises(UsageError, match="the key in OPENAI_API_KEY") as caught:
        _encoder(server).encode(["a"], kind="document")
    assert "sk-ab" not in str(caught.value)
