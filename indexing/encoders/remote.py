"""One JSON request over HTTP, bounded in time and bytes, with retries of transient errors."""

from __future__ import annotations

import json
import math
import queue
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeVar

from chunkers.errors import UsageError
from chunkers.plain_text import one_line
from indexing.encoders.secrets import redacted

T = TypeVar("T")

LONGEST_WAIT = 120.0
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}
_LONGEST_WORDS = 300
_CHUNK = 65_536


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where to send a request and how often to retry."""

    url: str
    key: str = field(repr=False)
    key_env: str
    timeout: float
    """Seconds that a request may take, up to the last byte of its reply."""
    retries: int
    backoff: float
    largest: int = 32 * 2**20
    """Maximum bytes of a reply."""


class _Reply(NamedTuple):
    status: int
    reason: str
    retry_after: str
    body: bytes


class _TooLargeError(ValueError):
    """The reply is larger than any valid one."""


def post(endpoint: Endpoint, body: Mapping[str, Any], *, read: Callable[[Any], T]) -> T:
    """Return the result of ``read`` on the reply; a ValueError from it counts as a transient error.

    Busy servers, timeouts, broken connections and malformed replies are retried, after the time that the server names
    or a doubling delay; anything else, and the last failure, is a UsageError without the key in it.
    """
    fault = ""
    for attempt in range(endpoint.retries + 1):
        wait = endpoint.backoff * 2**attempt
        try:
            reply = _send(endpoint, body)
        except OSError as error:  # exceptions of requests are OSErrors
            fault = f"{type(error).__name__}"
        except _TooLargeError as error:
            fault = str(error)
        else:
            if 200 <= reply.status < 300:
                try:
                    return read(_parsed(reply.body))
                except ValueError as error:
                    fault = f"a malformed reply ({error})"
            else:
                fault = f"HTTP {reply.status} ({_message(reply)})"
                if reply.status not in _PASSING:
                    raise _error(endpoint, fault, _hint(reply.status, endpoint))
                wait = _asked_wait(reply.retry_after, default=wait)
        if wait > LONGEST_WAIT:
            raise _error(endpoint, fault, f"; the next try would be in {wait:.0f} s. Run again later")
        if attempt < endpoint.retries:
            time.sleep(wait)
    tries = f"{endpoint.retries + 1} tries" if endpoint.retries else "1 try"
    last = f"gave up after {tries}; the last was {fault}"
    raise _error(endpoint, last, ". What was embedded before is kept: run again to go on")


def _error(endpoint: Endpoint, fault: str, advice: str) -> UsageError:
    """Return the only error that leaves this module: it contains the server's words, but not the key."""
    words = one_line(redacted(fault[: 4 * _LONGEST_WORDS], endpoint.key), limit=_LONGEST_WORDS)
    return UsageError(f"{endpoint.url}: {words}{advice}")


def _send(endpoint: Endpoint, body: Mapping[str, Any]) -> _Reply:
    """Return the whole reply, or raise when time is up: a server that drips bytes resets the socket's timeout."""
    if endpoint.key and not (endpoint.key.isascii() and endpoint.key.isprintable()):
        raise UsageError(f"the key in {endpoint.key_env} holds characters that no header can: set it again")
    answers: queue.SimpleQueue[_Reply | BaseException] = queue.SimpleQueue()
    late = threading.Event()

    def ask() -> None:
        try:
            answers.put(_exchange(endpoint, body, late))
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            answers.put(error)

    # Not joined after the deadline: a daemon, which ends with the process if the server never replies.
    threading.Thread(target=ask, daemon=True, name="embeddings request").start()
    try:
        answer = answers.get(timeout=endpoint.timeout)
    except queue.Empty:
        raise TimeoutError from None
    finally:
        late.set()
    if isinstance(answer, BaseException):
        raise answer
    return answer


def _exchange(endpoint: Endpoint, body: Mapping[str, Any], late: threading.Event) -> _Reply:
    import requests
    from urllib3.exceptions import HTTPError

    headers = {"Accept-Encoding": "identity"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    # A redirect would turn the request into another one and might send the texts elsewhere.
    with requests.post(
        endpoint.url, json=body, headers=headers, timeout=endpoint.timeout, allow_redirects=False, stream=True
    ) as reply:
        received = bytearray()
        try:
            for chunk in reply.raw.stream(_CHUNK, decode_content=False):
                received += chunk
                if len(received) > endpoint.largest:
                    raise _TooLargeError(f"a reply of over {endpoint.largest // 2**20} MB")
                if late.is_set():
                    raise TimeoutError
        except HTTPError as error:
            raise ConnectionError(type(error).__name__) from error
        coding = str(reply.headers.get("Content-Encoding", "identity")).strip().lower()
        if coding not in ("", "identity"):
            received = bytearray(_unpacked(bytes(received), coding, endpoint.largest))
        retry_after = str(reply.headers.get("Retry-After", ""))[:100]
        return _Reply(reply.status_code, str(reply.reason or ""), retry_after, bytes(received))


def _unpacked(body: bytes, coding: str, largest: int) -> bytes:
    """Unpack a reply that was compressed against our request; it may unpack to no more than a plain reply may have."""
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise ConnectionError(f"a reply packed as {coding[:20]!r}")
    unpacking = zlib.decompressobj(wbits=47)  # gzip or zlib, by its first bytes
    try:
        found = unpacking.decompress(body, largest + 1)
    except zlib.error:
        raise ConnectionError("a reply that cannot be unpacked") from None
    if len(found) > largest:
        raise _TooLargeError(f"a reply of over {largest // 2**20} MB")
    return found


def _parsed(body: bytes) -> Any:  # noqa: ANN401 - any JSON that the server sent
    try:
        return json.loads(body)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _message(reply: _Reply) -> str:
    """Return the server's own error message."""
    try:
        found = _parsed(reply.body)
        error = found.get("error", found) if isinstance(found, dict) else found
        text = error.get("message", error) if isinstance(error, dict) else error
        return str(text)[: 4 * _LONGEST_WORDS] or reply.reason
    except (ValueError, RecursionError):
        return reply.body[: 4 * _LONGEST_WORDS].decode("utf-8", "replace") or reply.reason


def _hint(status: int, endpoint: Endpoint) -> str:
    if status not in (401, 403):
        return ""
    return f". The key is read from {endpoint.key_env}, which is {'set' if endpoint.key else 'not set'}"


def _asked_wait(asked: str, *, default: float) -> float:
    """Return the seconds to wait that the server names, as a number or a date; invalid values are ignored."""
    try:
        seconds = float(asked)
        return default if math.isnan(seconds) else max(seconds, 0.0)
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(asked.strip())
        return max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, TypeError, LookupError, OverflowError):
        return default
