"""The description of a training table in the metadata of a model file: plain or, if it is long, packed."""

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

PACKED = "packed"
MOST_UNPACKED = 20_000_000
"""Maximum number of bytes that a packed description may have."""


def unpacked_schema(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """The description itself, from what the metadata hold."""
    if PACKED not in told:
        return told
    stream = zlib.decompressobj()
    try:
        text = stream.decompress(base64.b64decode(told[PACKED], validate=True), MOST_UNPACKED)
        unpacked: dict[str, Any] = json.loads(text)
    except (zlib.error, RecursionError) as error:
        raise ValueError(str(error)) from error
    return unpacked
