"""Files are written whole or not at all, whatever fails and whenever the process ends."""

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from rebelboost.base import writing
from rebelboost.base.writing import replaced, write_whole

OLD, NEW = b"what was there", [b"new " * 100, memoryview(b"contents " * 500)]
WHOLE = b"".join(NEW)


class FailingCalls:
    """`os`, whose calls are counted and of which one fails."""

    WATCHED = ("open", "write", "close", "fsync", "stat", "chmod", "link", "replace", "unlink")
    named = False
    """Whether files cannot be created without a name."""

    def __init__(self, fail_at=None, error=errno.EIO, most=None):
        self.made, self._fail_at, self._error, self._most = [], fail_at, error, most

    def __getattr__(self, name):
        if name == "O_TMPFILE" and self.named:
            raise AttributeError(name)
        real = getattr(os, name)
        return self._watched(name, real) if name in self.WATCHED else real

    def _watched(self, name, real):
        def call(*given, **more):
            self.made.append(name)
            failing = len(self.made) - 1 == self._fail_at
            if name == "close":
                real(*given)  # a failing close still closes
            if failing:
                raise OSError(self._error, os.strerror(self._error))
            if name == "write" and self._most is not None:
                given = (given[0], given[1][: self._most])
            return None if name == "close" else real(*given, **more)

        return call


@pytest.fixture(params=["without a name", "with a name"])
def way(request, monkeypatch):
    """How files are written: as here, and as on systems that cannot create files without a name."""
    monkeypatch.setattr(FailingCalls, "named", request.param == "with a name")
    monkeypatch.setattr(writing, "os", FailingCalls())
    return request.param


@pytest.fixture
def path(tmp_path, way):
    del way
    place = tmp_path / "model.safetensors"
    place.write_bytes(OLD)
    return place


def calls_of_a_write(path, monkeypatch):
    calls = FailingCalls()
    with monkeypatch.context() as patched:
        patched.setattr(writing, "os", calls)
        write_whole(path, NEW)
    path.write_bytes(OLD)
    return calls.made


def test_a_file_is_flushed_before_it_is_renamed_and_its_folder_afterwards(path, monkeypatch):
    made = calls_of_a_write(path, monkeypatch)
    assert [name for name in made if name in {"write", "fsync", "replace"}] == [
        "write",
        "write",
        "fsync",
        "replace",
        "fsync",
    ]


@pytest.mark.parametrize("error", [errno.EIO, errno.ENOSPC, errno.EINTR, errno.EDQUOT])
def test_each_system_call_that_fails_leaves_a_whole_file_and_nothing_beside(
    error, path, monkeypatch
):
    made = calls_of_a_write(path, monkeypatch)
    renamed = made.index("replace") + 1
    for i in range(len(made)):
        monkeypatch.setattr(writing, "os", FailingCalls(i, error))
        with pytest.raises(OSError, match=os.strerror(error)):
            write_whole(path, NEW)
        assert path.read_bytes() == (OLD if i < renamed else WHOLE), (i, made[i])
        assert [p.name for p in path.parent.iterdir()] == [path.name], (i, made[i])
        path.write_bytes(OLD)


def test_the_first_error_is_told_even_if_cleaning_up_fails(path, monkeypatch):
    class NothingWorks(FailingCalls):
        def _watched(self, name, real):
            def call(*given, **more):
                if name in {"fsync", "unlink"}:
                    raise OSError(errno.EIO if name == "fsync" else errno.EROFS, name)
                return real(*given, **more)

            return call

    monkeypatch.setattr(writing, "os", NothingWorks())
    with pytest.raises(OSError, match="fsync"):
        write_whole(path, NEW)
    assert path.read_bytes() == OLD


def test_a_folder_that_cannot_be_flushed_is_no_error(path, monkeypatch):
    made = calls_of_a_write(path, monkeypatch)
    last = len(made) - 1 - made[::-1].index("fsync")
    monkeypatch.setattr(writing, "os", FailingCalls(last, errno.EINVAL))
    write_whole(path, NEW)
    assert path.read_bytes() == WHOLE


@pytest.mark.parametrize("error", [errno.EPERM, errno.EXDEV, errno.ENOENT])
@pytest.mark.parametrize("is_new", [False, True])
def test_where_a_file_cannot_be_given_a_name_it_is_copied(error, is_new, way, path, monkeypatch):
    made = calls_of_a_write(path, monkeypatch)
    if way == "with a name":
        assert "link" not in made
        return
    if is_new:
        path.unlink()
    monkeypatch.setattr(writing, "os", FailingCalls(made.index("link"), error))
    write_whole(path, NEW)
    assert path.read_bytes() == WHOLE
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_file_has_no_name_until_it_is_complete(way, path):
    def pieces():
        for piece in NEW:
            yield piece
            names = {p.name for p in path.parent.iterdir()}
            assert (names == {path.name}) == (way == "without a name")

    write_whole(path, pieces())
    assert path.read_bytes() == WHOLE


def test_in_a_folder_that_is_not_there_no_file_is_written(path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_whole(path.parent / "nowhere" / "model", NEW)


def test_short_writes_are_continued(path, monkeypatch):
    monkeypatch.setattr(writing, "os", FailingCalls(most=7))
    write_whole(path, NEW)
    assert path.read_bytes() == WHOLE


def test_an_error_of_the_writer_leaves_the_old_file(path):
    def write_half():
        with replaced(path) as beside:
            beside.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == OLD
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_new_files_have_the_permissions_of_others_and_old_ones_keep_theirs(path):
    path.chmod(0o600)
    write_whole(path, NEW)
    assert path.stat().st_mode & 0o777 == 0o600
    write_whole(path.with_name("new"), NEW)
    path.with_name("plain").touch()
    assert path.with_name("new").stat().st_mode == path.with_name("plain").stat().st_mode


# ---- full disks


@pytest.fixture
def small_disk(tmp_path, way):
    """A file system of 128 KiB."""
    del way
    folder = tmp_path / "disk"
    folder.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mounting, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount command")
    if done.returncode:
        pytest.skip("mounting a small file system needs root; a size limit is tested below")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_on_a_full_disk_the_old_file_stays_whole(small_disk):
    path = small_disk / "model.safetensors"
    write_whole(path, [OLD])
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        write_whole(path, [b"x" * 4096] * 64)
    assert path.read_bytes() == OLD
    assert [p.name for p in small_disk.iterdir()] == [path.name]
    write_whole(path, NEW)  # there is room for this
    assert path.read_bytes() == WHOLE


def test_beyond_a_limit_of_file_sizes_the_old_file_stays_whole(path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 10, limits[1]))  # Python ignores SIGXFSZ
    try:
        with pytest.raises(OSError, match=os.strerror(errno.EFBIG)):
            write_whole(path, [b"x" * 4096] * 64)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == OLD
    assert [p.name for p in path.parent.iterdir()] == [path.name]


# ---- killed at any moment


def test_killed_at_200_random_moments_the_file_is_whole(tmp_path):
    script = Path(__file__).parents[1] / "fuzz" / "killing.py"
    done = subprocess.run(
        [sys.executable, str(script), "200", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("200 killed while saving, 0 files broken")
