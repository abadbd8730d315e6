"""The web service, an ASGI application."""

import json
import logging
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rebelboost import __version__, load
from rebelboost.serve.answers import Answer, Service
from rebelboost.serve.limits import JSON, Limits, Refusal, asked
from rebelboost.serve.openapi import description

QUICK = 0.002
"""Answers that take less processor time, by the last ones, do without a thread, which takes time itself."""
MOST_REASONS = 100
LOG = logging.getLogger(__name__)


def app_of(model: Any, *, limits: Limits = Limits(), title: str = "") -> Starlette:  # noqa: B008
    """Make the application of a model.

    Parameters
    ----------
    model : RebelClassifier, RebelRegressor, str or path-like
        A fitted model, or its file. After this, no file is opened.
    limits : Limits, default=Limits()
        Limits of a request: bytes of the body, rows, and seconds.
    title : str
        Name of the service. Default: the name of the file.

    Returns
    -------
    Starlette
        Answers POST /predict and /explain, and GET /health and /openapi.json.
    """
    if isinstance(model, str | os.PathLike):
        title = title or Path(model).stem
        model = load(model)
    service, name = Service(model), title or "rebelboost"
    health = _json({"status": "ok", "model": name, "version": __version__})
    described = _json(description(service, name, limits))

    def explainer(scope: Scope) -> Callable[[list[Any]], Answer]:
        given = QueryParams(scope["query_string"]).get("top", "5")
        if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= MOST_REASONS:
            raise Refusal(422, f"top is {given!r}: give 1 to {MOST_REASONS}")
        return partial(service.explain, top=int(given))

    predict = _Answering(limits, lambda _: service.predict)
    explain = _Answering(limits, explainer)

    def fixed(body: bytes) -> Callable[[Request], Any]:
        async def say(request: Request) -> Response:
            del request
            return Response(body, media_type=JSON)

        return say

    return Starlette(
        routes=[
            Route("/predict", predict, methods=["POST"]),
            Route("/explain", explain, methods=["POST"]),
            Route("/health", fixed(health), methods=["GET"]),
            Route("/openapi.json", fixed(described), methods=["GET"]),
        ],
        exception_handlers={HTTPException: _not_found, Exception: _failed},
    )


class _Answering:
    """What answers requests with rows. Starlette calls it as it is, without objects for request and answer."""

    def __init__(
        self, limits: Limits, answer: Callable[[Scope], Callable[[list[Any]], Answer]]
    ) -> None:
        self.limits, self.answer = limits, answer
        self.by_row = 2 * QUICK
        """Processor time that a row takes, by the last answers."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            found = await self._found(scope, receive)
        except Refusal as refusal:
            await _refused(refusal)(scope, receive, send)
            return
        body = _json({"rows": found.each, "notes": found.notes})
        headers = [(b"content-length", b"%d" % len(body)), (b"content-type", JSON.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _found(self, scope: Scope, receive: Receive) -> Answer:
        answer = partial(self._timed, self.answer(scope))
        rows = (await asked(scope, receive, self.limits)).rows
        try:
            if len(rows) * self.by_row <= QUICK:
                return answer(rows)
            with anyio.fail_after(self.limits.seconds):
                return await anyio.to_thread.run_sync(partial(answer, rows), abandon_on_cancel=True)
        except TimeoutError:
            told = f"the answer takes longer than {self.limits.seconds:g} seconds"
            raise Refusal(503, told) from None
        except ValueError as error:  # of rows that cannot be read or decided
            raise Refusal(422, " ".join(str(error).split())) from None

    def _timed(self, answer: Callable[[list[Any]], Answer], rows: list[Any]) -> Answer:
        began = time.thread_time()
        found = answer(rows)
        now = (time.thread_time() - began) / len(rows)
        self.by_row += (now - self.by_row) / 8
        return found


def _json(told: Any) -> bytes:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _refused(refusal: Refusal) -> Response:
    told = {"error": {"message": refusal.message}}
    return Response(_json(told), status_code=refusal.status, media_type=JSON)


async def _not_found(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    remedy = "use POST /predict, POST /explain, GET /health or GET /openapi.json"
    told = f"{request.method} {request.url.path[:200]} is not there: {remedy}"
    return _refused(Refusal(error.status_code, told))


async def _failed(request: Request, error: Exception) -> Response:
    LOG.error("%s failed", request.url.path, exc_info=error)
    return _refused(Refusal(500, "the service failed; its log says why"))
