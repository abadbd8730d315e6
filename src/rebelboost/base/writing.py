"""Write files completely or not at all, so that they outlast a crash.

A new file is written beside the old one, flushed to the disk and then renamed, which is a single step for
the file system. Whenever the program or the computer stops, the old or the new file is there, whole. All
system calls are made here, by way of `os`, so that tests can let each of them fail.
"""
# ruff: noqa: PTH101, PTH105, PTH108, PTH116  (by way of `os`, see above)

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF, errno.EISDIR}
"""Errors of file systems that cannot flush a folder; others mean that the file may be lost."""

Piece = bytes | memoryview


def write_whole(path: str | os.PathLike[str], pieces: Iterable[Piece]) -> None:
    """Write a file from pieces, all or nothing."""
    with replaced(path) as beside:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _binary(), 0o666)
        try:
            for piece in pieces:
                _write_all(handle, piece)
        finally:
            os.close(handle)


def write_text_whole(path: str | os.PathLike[str], text: str) -> None:
    """Write text in UTF-8, all or nothing."""
    write_whole(path, [text.encode()])


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the name of a new file, which the caller writes and which then replaces `path`.

    A link stays a link to the new file. An old file's permissions are kept. If anything fails, the old
    file stays and the new one is deleted.
    """
    place = Path(os.path.realpath(path))
    # Its suffix is the file's, because writers choose the format by it.
    beside = place.with_name(f".{place.stem}.{secrets.token_hex(8)}{place.suffix}")
    try:
        yield beside
        _flush(beside)
        with suppress(FileNotFoundError):
            os.chmod(beside, stat.S_IMODE(os.stat(place).st_mode))
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise
    _flush_folder(place.parent)


def _write_all(handle: int, piece: Piece) -> None:
    left = memoryview(piece).cast("B")
    while left:
        left = left[os.write(handle, left) :]


def _flush(path: Path) -> None:
    """Wait until the contents are on the disk."""
    handle = os.open(path, os.O_RDWR | _binary())
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _flush_folder(folder: Path) -> None:
    """Make the new name durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    finally:
        os.close(handle)


def _binary() -> int:
    """Windows would change line ends otherwise."""
    return getattr(os, "O_BINARY", 0)
