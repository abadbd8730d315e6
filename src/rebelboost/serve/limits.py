"""What a request may ask for, and how it is read."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import anyio
from starlette.requests import ClientDisconnect, Request

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


async def asked(request: Request, limits: Limits) -> Asked:
    """Read the rows of a request: a JSON object of column and cell, or a list of them."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != JSON:  # pages of other sites cannot send this type without leave
        raise Refusal(415, f"the content type is {kind or 'missing'}: send {JSON}")
    told = request.headers.get("content-length", "")
    if told.isdigit() and int(told) > limits.max_bytes:
        raise Refusal(413, _too_large(limits))
    body = bytearray()
    try:
        with anyio.fail_after(limits.seconds):
            async for part in request.stream():
                body += part
                if len(body) > limits.max_bytes:
                    raise Refusal(413, _too_large(limits))
    except TimeoutError:
        raise Refusal(408, f"the body took longer than {limits.seconds:g} seconds") from None
    except ClientDisconnect:
        raise Refusal(400, "the connection was closed") from None
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


def _too_large(limits: Limits) -> str:
    return f"the body is too large: send {limits.max_bytes:,} bytes at most"
