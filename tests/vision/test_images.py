"""Image files: those that cannot be read end in one line that names the file."""

import struct
import zlib

import numpy as np
import pytest

from rebelboost import ImageError
from rebelboost.vision.images import grey_image, image_files, read_colours, read_image

pil = pytest.importorskip("PIL.Image")


def png(width, height, data):
    def chunk(kind, body):
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def jpeg(tmp_path):
    pil.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64), dtype=np.uint8)).save(
        tmp_path / "good.jpg"
    )
    return (tmp_path / "good.jpg").read_bytes()


HOSTILE = {
    "empty.png": lambda _: b"",
    "text.jpg": lambda _: b"this is not an image\n" * 20,
    "truncated.jpg": lambda folder: jpeg(folder)[:400],
    "header only.png": lambda _: png(100, 100, b"")[:33],
    "bomb.png": lambda _: png(60_000, 60_000, zlib.compress(bytes(100))),
    "large.png": lambda _: png(20_000, 6_000, zlib.compress(bytes(100))),
    "no pixels.png": lambda _: png(0, 10, zlib.compress(b"")),
    "damaged.png": lambda _: png(50, 50, b"\x00\xff" * 40),
    "zeros.bmp": lambda _: b"BM" + bytes(200),
    "noise.gif": lambda _: b"GIF89a" + np.random.default_rng(1).bytes(500),
    "tiff loop.tif": lambda _: b"II*\x00\x08\x00\x00\x00" + b"\xff" * 64,
    "web page.webp": lambda _: b"RIFF\x10\x00\x00\x00WEBP<html></html>",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("read", [read_image, read_colours])
def test_hostile_files_end_in_one_line_with_their_name(tmp_path, name, read):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name](tmp_path))
    with pytest.raises(ImageError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    assert len(message) < len(str(path)) + 200


def test_a_folder_is_not_an_image(tmp_path):
    with pytest.raises(ImageError, match="is a folder"):
        read_image(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_image(tmp_path / "nowhere.png")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr"])
def test_all_kinds_of_pixels_are_read_as_grey(tmp_path, mode):
    suffix = "jpg" if mode in {"CMYK", "YCbCr"} else "png"
    pil.new(mode, (30, 20)).save(tmp_path / f"image.{suffix}")
    assert read_image(tmp_path / f"image.{suffix}").shape == (20, 30)


def test_16_bits_are_stretched_to_bytes(tmp_path):
    wide = np.linspace(1000, 3000, 200).reshape(10, 20).astype(np.uint16)
    pil.fromarray(wide).save(tmp_path / "wide.png")
    image = read_image(tmp_path / "wide.png")
    assert (image.min(), image.max()) == (0, 255)


def test_files_turned_by_the_camera_are_turned_back(tmp_path):
    image = pil.new("L", (30, 20))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "turned.jpg", exif=exif)
    assert read_image(tmp_path / "turned.jpg").shape == (30, 20)


def test_folders_are_searched_for_images_by_name(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("b.png", "a.JPG", "notes.txt", "sub/c.bmp"):
        (tmp_path / name).write_bytes(b"")
    assert [p.name for p in image_files(tmp_path)] == ["a.JPG", "b.png", "c.bmp"]
    with pytest.raises(ImageError, match="no folder"):
        list(image_files(tmp_path / "nowhere"))


def test_grey_is_the_usual_mixture_of_colours():
    image = np.zeros((1, 3, 3), dtype=np.uint8)
    image[0, [0, 1, 2], [0, 1, 2]] = 255
    assert grey_image(image).tolist() == [[76, 150, 29]]


@pytest.mark.parametrize("shape", [(5,), (2, 3, 4, 5), (4, 4, 2), (0, 4)])
def test_arrays_that_are_not_images_are_refused(shape):
    with pytest.raises(ImageError, match="shape"):
        grey_image(np.zeros(shape))
