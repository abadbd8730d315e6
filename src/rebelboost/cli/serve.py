"""`rebel serve`: answer requests over HTTP."""

import socket
from importlib.util import find_spec
from pathlib import Path

from rebelboost.cli.model_files import load_model
from rebelboost.cli.output import Output
from rebelboost.exceptions import TableError

NEEDED = ("starlette", "uvicorn")


def run_server(
    model: Path,
    *,
    host: str,
    port: int,
    max_rows: int,
    max_bytes: int,
    seconds: float,
    output: Output,
) -> None:
    """Serve a model until the process is stopped."""
    if not all(map(find_spec, NEEDED)):
        raise TableError('rebel serve needs extra packages: pip install "rebelboost[serve]"')
    import uvicorn

    from rebelboost.serve import Limits, app_of

    app = app_of(load_model(model), limits=Limits(max_bytes, max_rows, seconds), title=model.stem)
    try:
        listening = _listening(host, port)
    except OSError as error:
        raise TableError(
            f"cannot listen on {host}, port {port} ({error.strerror}): choose another with --host and "
            "--port"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}"
    output.outlast_reader()
    output.record("serving", {"model": str(model), "address": address})
    output.text(
        f"Serving {model} at {address}: POST /predict and /explain, GET /health and /openapi.json. "
        "Ctrl-C stops it."
    )
    config = uvicorn.Config(app, log_level="warning", access_log=False)
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens. Its protocol is named, as asyncio sends answers at once only then."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(128)
    except OSError:
        found.close()
        raise
    return found
