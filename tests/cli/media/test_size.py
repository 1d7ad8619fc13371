"""Files are measured before they are decoded: small ones that announce huge arrays are refused."""

import resource
import struct
import subprocess
import sys
import zlib

import imagecodecs
import numpy as np
import pytest
import soundfile
import tifffile

from sparsebayes.cli.media import MediaError, read_media
from sparsebayes.cli.media.size import jpeg_size, png_size
from tests.cli.refusal import fails

SIDE = 20_000  # 400 million pixels


def png_chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + zlib.crc32(name + content).to_bytes(4)


def png_bomb(path):
    """A whole PNG file of a black square, in some hundred kB."""
    squeeze = zlib.compressobj(9)
    row = bytes(1 + SIDE // 8)
    packed = b"".join(squeeze.compress(row) for _ in range(SIDE)) + squeeze.flush()
    head = struct.pack(">IIBBBBB", SIDE, SIDE, 1, 0, 0, 0, 0)
    chunks = [(b"IHDR", head), (b"IDAT", packed), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*one) for one in chunks))


def tiff_bomb(path):
    """Pages that share one compressed strip of zeros."""
    pages = np.zeros((40, 4000, 4000), np.uint8)
    tifffile.imwrite(path, pages, compression="zlib", photometric="minisblack", metadata=None)


def jpeg_bomb(path):
    """An image of which the announced size was changed."""
    content = bytearray(imagecodecs.jpeg8_encode(np.zeros((16, 16), np.uint8)))
    frame = content.index(b"\xff\xc0")
    content[frame + 5 : frame + 9] = struct.pack(">HH", 60_000, 60_000)
    path.write_bytes(bytes(content))


def flac_bomb(path):
    soundfile.write(path, np.zeros((1 << 22, 2), np.int16), 48_000, format="FLAC")


@pytest.mark.parametrize(
    ("make", "name", "most"),
    [
        (png_bomb, "a.png", 1 << 28),
        (jpeg_bomb, "a.jpg", 1 << 28),
        (tiff_bomb, "a.tif", 1 << 28),
        (flac_bomb, "a.flac", 1 << 20),
    ],
)
def test_bombs_are_refused_before_they_are_decoded(make, name, most, tmp_path):
    path = tmp_path / name
    make(path)
    assert path.stat().st_size < 3 << 20
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MediaError, match=rf"announces \d+ values, and at most {most} are read"):
        read_media(path, max_values=most)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10  # kB


def test_the_command_says_how_to_raise_the_limit(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    values = np.zeros((20, 20, 3), np.uint8)
    (tmp_path / "a.png").write_bytes(imagecodecs.png_encode(values))
    argv = ["denoise", "a.png", "-o", "b.png", "--max-values", "1199"]
    fails(capsys, argv, "a.png: announces 1200 values, .* give --max-values 1200")
    assert read_media("a.png", max_values=1200).values.shape == values.shape


def test_sizes_are_those_of_the_images():
    for shape in [(7, 5), (6, 9, 3), (4, 3, 4)]:
        values = np.zeros(shape, np.uint8)
        assert png_size(imagecodecs.png_encode(values)) == values.size
        if shape[2:] != (4,):
            assert jpeg_size(imagecodecs.jpeg8_encode(values)) == values.size


def test_an_array_that_is_not_all_there(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    content = (tmp_path / "a.npy").read_bytes()
    head = content.replace(b"(3,), }           ", b"(3000000000000,), }")[: len(content)]
    (tmp_path / "a.npy").write_bytes(head)
    with pytest.raises(MediaError, match=r"announces an array of shape \(3000000000000,\)"):
        read_media(tmp_path / "a.npy")


@pytest.mark.slow
def test_a_bomb_ends_in_one_line_with_little_memory(tmp_path):
    png_bomb(tmp_path / "a.png")
    code = (
        "import resource, sys; from sparsebayes.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 29, 3 << 29))\n"
        "sys.exit(main(['denoise', 'a.png', '-o', 'b.png', '--max-values', '9999999999']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "b.png").exists()
