"""One JSON request over HTTP, repeated with patience where the fault may pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from chunkers.errors import UsageError

if TYPE_CHECKING:
    from requests import Response

T = TypeVar("T")

LONGEST_WAIT = 120.0
_PASSING = {408, 409, 425, 429, 500, 502, 503, 504, 529}


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where to send a request and how patient to be."""

    url: str
    key: str = field(repr=False)
    key_env: str
    timeout: float
    retries: int
    backoff: float


def post(endpoint: Endpoint, body: Mapping[str, Any], *, read: Callable[[Any], T]) -> T:
    """Return what ``read`` makes of the reply; a ValueError from it counts as a fault that may pass.

    Busy servers, timeouts, broken connections and malformed replies are tried again, after the time that the server
    names or a doubling one; anything else, and the last failure, is a UsageError without the key in it.
    """
    fault = ""
    for attempt in range(endpoint.retries + 1):
        wait = endpoint.backoff * 2**attempt
        try:
            reply = _send(endpoint, body)
        except OSError as error:  # what requests raises are OSErrors
            fault = f"{type(error).__name__}"
        else:
            if 200 <= reply.status_code < 300:
                try:
                    return read(reply.json())
                except ValueError as error:
                    fault = f"a malformed reply ({error})"
            else:
                fault = f"HTTP {reply.status_code} ({_message(reply, endpoint)})"
                if reply.status_code not in _PASSING:
                    raise UsageError(f"{endpoint.url}: {fault}{_hint(reply.status_code, endpoint)}")
                wait = _asked_wait(reply, default=wait)
        if wait > LONGEST_WAIT:
            raise UsageError(f"{endpoint.url}: {fault}; the next try would be in {wait:.0f} s. Run again later")
        if attempt < endpoint.retries:
            time.sleep(wait)
    raise UsageError(
        f"{endpoint.url}: gave up after {endpoint.retries + 1} tries; the last was {fault}. "
        "What was embedded before is kept: run again to go on"
    )


def _send(endpoint: Endpoint, body: Mapping[str, Any]) -> Response:
    import requests

    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    # A redirect would turn the request into another one and might carry the texts elsewhere.
    return requests.post(endpoint.url, json=body, headers=headers, timeout=endpoint.timeout, allow_redirects=False)


def _message(reply: Response, endpoint: Endpoint) -> str:
    """Return the server's own words on one short line, without the key should it repeat it."""
    try:
        found = reply.json()
        error = found.get("error", found) if isinstance(found, dict) else found
        text = error.get("message", error) if isinstance(error, dict) else error
    except ValueError:
        text = reply.text
    line = " ".join(str(text).split())
    return (line.replace(endpoint.key, "…") if endpoint.key else line)[:200] or reply.reason


def _hint(status: int, endpoint: Endpoint) -> str:
    if status not in (401, 403):
        return ""
    return f". The key is read from {endpoint.key_env}, which is {'set' if endpoint.key else 'not set'}"


def _asked_wait(reply: Response, *, default: float) -> float:
    """Return the seconds that the server asks for, given as a number or as a date."""
    asked = reply.headers.get("Retry-After", "").strip()
    try:
        return max(float(asked), 0.0)
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(asked)
    except ValueError:
        return default
    return max((when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds(), 0.0)
