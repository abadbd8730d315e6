"""Write files completely or not at all, so that they outlast a crash.

A new file has no name until it is complete and on the disk, where the system can create such files: if the
process is killed, nothing of it is left. Elsewhere it is written beside the old one under a hidden name. Then
it is renamed, which is a single step for the file system. Whenever the program or the computer stops, the old
or the new file is there, whole. All system calls are made here, by way of `os`, so that tests can let each of
them fail.
"""
# ruff: noqa: PTH101, PTH105, PTH108, PTH110, PTH116  (by way of `os`, see above)

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

UNSUPPORTED = {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF, errno.EISDIR}
"""Errors of file systems that cannot flush a folder; others mean that the file may be lost."""
NAMED_ONLY = {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT}
"""Errors of file systems that cannot create files without a name; ENOENT also of a folder that is not there."""
NOT_LINKED = {errno.EPERM, errno.EXDEV, errno.ENOENT, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""Errors of systems that can create such files, but not give them a name."""
AT_ONCE = 1 << 20
"""Bytes that are copied at a time."""

Piece = bytes | memoryview


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether this is a pipe or a device such as /dev/null, which is written to and never replaced.

    Raises an error for disks and sockets.
    """
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(
            errno.EINVAL, "is a disk or a socket: give the name of a file", os.fspath(path)
        )
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def write_whole(path: str | os.PathLike[str], pieces: Iterable[Piece]) -> None:
    """Write a file from pieces, all or nothing; or a pipe or device, piece by piece."""
    if is_stream(path):
        _write_through(path, pieces)
        return
    place = Path(os.path.realpath(path))
    handle = _nameless(place.parent)
    if handle is None:
        _write_named(place, pieces)
        return
    try:
        for piece in pieces:
            _write_all(handle, piece)
        os.fsync(handle)
        try:
            _name(handle, place)
        except OSError as error:
            if error.errno not in NOT_LINKED:
                raise
            os.lseek(handle, 0, os.SEEK_SET)
            _write_named(place, iter(lambda: os.read(handle, AT_ONCE), b""))
    finally:
        os.close(handle)
    _flush_folder(place.parent)


def _write_through(path: str | os.PathLike[str], pieces: Iterable[Piece]) -> None:
    handle = os.open(path, os.O_WRONLY)
    try:
        for piece in pieces:
            _write_all(handle, piece)
    finally:
        os.close(handle)


def _nameless(folder: Path) -> int | None:
    """Create a file without a name; None if the system cannot, or could not give it one later."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None
    try:
        handle: int = os.open(folder, os.O_RDWR | flag, 0o666)
    except OSError as error:
        if error.errno not in NAMED_ONLY:
            raise
        return None
    if os.path.exists(_by_handle(handle)):
        return handle
    os.close(handle)
    return None


def _by_handle(handle: int) -> str:
    return f"/proc/self/fd/{handle}"


def _name(handle: int, place: Path) -> None:
    """Give a file its name, in place of the file that has it."""
    try:
        _link(handle, place)
    except FileExistsError:
        with _renamed(place) as beside:
            _take_permissions(handle, place)
            _link(handle, beside)


def _link(handle: int, to: Path) -> None:
    folder = os.open(to.parent, os.O_RDONLY)
    try:
        # Without a folder's handle, Python would link the symbolic link itself.
        os.link(_by_handle(handle), to.name, dst_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _write_named(place: Path, pieces: Iterable[Piece]) -> None:
    with replaced(place) as beside:
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
    file stays and the new one is deleted. A pipe or device gets the contents of the new file.
    """
    if is_stream(path):
        with tempfile.TemporaryDirectory(prefix="rebelboost-") as folder:
            copy = Path(folder) / Path(path).name
            yield copy
            with copy.open("rb") as file:
                _write_through(path, iter(lambda: file.read(AT_ONCE), b""))
        return
    place = Path(os.path.realpath(path))
    with _renamed(place) as beside:
        yield beside
        _flush(beside)
        _take_permissions(beside, place)
    _flush_folder(place.parent)


@contextmanager
def _renamed(place: Path) -> Iterator[Path]:
    """Yield a hidden name beside a file; what has that name afterwards replaces the file, or is deleted."""
    # Its suffix is the file's, because writers choose the format by it.
    beside = place.with_name(f".{place.stem}.{secrets.token_hex(8)}{place.suffix}")
    try:
        yield beside
        os.replace(beside, place)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def _take_permissions(to: int | Path, place: Path) -> None:
    """Give a new file the permissions of the old one, if there is one."""
    with suppress(FileNotFoundError):
        os.chmod(to, stat.S_IMODE(os.stat(place).st_mode))


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
