"""The web service, an ASGI application."""

import json
import logging
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rebelboost import __version__, load
from rebelboost.serve.answers import Answer, Service
from rebelboost.serve.limits import JSON, Limits, Refusal, asked
from rebelboost.serve.openapi import description

AT_ONCE = 32
"""Predictions for at most so many rows take less time than a thread, and do without one."""
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

    async def predict(request: Request) -> Response:
        return await _answered(request, limits, service.predict)

    async def explain(request: Request) -> Response:
        given = request.query_params.get("top", "5")
        if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= MOST_REASONS:
            return _refused(Refusal(422, f"top is {given!r}: give 1 to {MOST_REASONS}"))
        return await _answered(
            request, limits, partial(service.explain, top=int(given)), quick=False
        )

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


async def _answered(
    request: Request, limits: Limits, answer: Callable[[list[Any]], Answer], *, quick: bool = True
) -> Response:
    try:
        given = await asked(request, limits)
        if quick and len(given.rows) <= AT_ONCE:
            found = answer(given.rows)
        else:
            with anyio.fail_after(limits.seconds):
                found = await anyio.to_thread.run_sync(
                    partial(answer, given.rows), abandon_on_cancel=True
                )
    except Refusal as refusal:
        return _refused(refusal)
    except TimeoutError:
        return _refused(Refusal(503, f"the answer takes longer than {limits.seconds:g} seconds"))
    except ValueError as error:  # of rows that cannot be read or decided
        return _refused(Refusal(422, " ".join(str(error).split())))
    return Response(_json({"rows": found.each, "notes": found.notes}), media_type=JSON)


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
