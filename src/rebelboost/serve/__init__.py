"""A model as a web service: predictions and reasons for rows as they stand in a table, over HTTP.

`app_of` makes an ASGI application, which any server runs; `rebel serve` runs it with uvicorn.
"""

from rebelboost.serve.app import app_of
from rebelboost.serve.limits import Limits

__all__ = ["Limits", "app_of"]
