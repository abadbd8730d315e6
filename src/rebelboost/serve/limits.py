"""What a request may ask for, and how it is read."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import anyio
from starlette.types import Receive, Scope

JSON = "application/json"


class Limits(NamedTuple):
    """Limits of a request."""

    max_bytes: int = 1_000_000
    """Size of the body."""
    max_rows: int = 1_000
    seconds: float = 10.0
    """Time to send the body, and time to answer."""


class Refusal(Exception):  # noqa: N818  (an answer to the client)
    """A request that is not answered: what is said instead."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class Asked(NamedTuple):
    """Rows of a request."""

    rows: list[Any]
    is_single: bool
    """Whether the body was a lone row."""


async def asked(scope: Scope, receive: Receive, limits: Limits) -> Asked:
    """Read the rows of a request: a JSON object of column and cell, or a list of them."""
    headers = dict(scope["headers"])
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != JSON.encode():  # pages of other sites cannot send this type without leave
        shown = kind.decode("latin-1") or "missing"
        raise Refusal(415, f"the content type is {shown}: send {JSON}")
    told = headers.get(b"content-length", b"")
    if told.isdigit() and int(told) > limits.max_bytes:
        raise Refusal(413, _too_large(limits))
    try:
        with anyio.fail_after(limits.seconds):
            body = await _body(receive, limits)
    except TimeoutError:
        raise Refusal(408, f"the body took longer than {limits.seconds:g} seconds") from None
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refusal(400, f"the body is not JSON: {error}") from None
    rows = [given] if isinstance(given, Mapping) else given
    if not isinstance(rows, list) or not rows:
        raise Refusal(422, "send an object of column and cell, or a list of one or more of them")
    if len(rows) > limits.max_rows:
        raise Refusal(413, f"{len(rows):,} rows are too many: send {limits.max_rows:,} at most")
    return Asked(rows, isinstance(given, Mapping))


async def _body(receive: Receive, limits: Limits) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Refusal(400, "the connection was closed")
        body += message.get("body", b"")
        if len(body) > limits.max_bytes:
            raise Refusal(413, _too_large(limits))
        more = message.get("more_body", False)
    return body


def _too_large(limits: Limits) -> str:
    return f"the body is too large: send {limits.max_bytes:,} bytes at most"
