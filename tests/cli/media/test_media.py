"""Files of arrays, sounds and images: read and written without loss, refused if damaged."""

import io
import logging
import struct
import sys
import wave
import zlib

import imagecodecs
import numpy as np
import pytest
import tifffile
from numpy.testing import assert_array_equal
from scipy.io import wavfile

from sparsebayes.cli.media import Media, MediaError, encode_npy, read_media

RNG = np.random.default_rng(0)


def random_values(shape, dtype):
    """All of the dtype's range, its ends included; floats beyond 1."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return (3.0 * RNG.standard_normal(shape)).astype(dtype)
    info = np.iinfo(dtype)
    values = RNG.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values.flat[0], values.flat[-1] = info.min, info.max
    return values


def wav(path, samples, rate=8000):
    wavfile.write(path, rate, samples)
    return path


def wav24(path, samples, rate=48000):
    """Written by the standard library, from bytes made one by one."""
    with wave.open(str(path), "wb") as stream:
        stream.setnchannels(samples.shape[1])
        stream.setsampwidth(3)
        stream.setframerate(rate)
        stream.writeframes(
            b"".join(int(v).to_bytes(3, "little", signed=True) for v in samples.flat)
        )
    return path


def png(path, values):
    path.write_bytes(imagecodecs.png_encode(values))
    return path


def tif(path, values, **options):
    tifffile.imwrite(path, values, **options)
    return path


def chunk(name, content):
    """A chunk of a PNG file."""
    body = name + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def rewritten(path, values=None):
    """The file made of what was read from `path`, or of other values, in its place."""
    media = read_media(path)
    path.write_bytes(media.encode(media.values if values is None else values))
    return path


@pytest.mark.parametrize("channels", [1, 2, 6])
@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f4", "f8"])
def test_wav_as_scipy_reads_it(tmp_path, dtype, channels):
    samples = random_values((101, channels), dtype)
    media = read_media(wav(tmp_path / "a.wav", samples))
    assert media.values.dtype == samples.dtype
    assert_array_equal(media.values, samples)
    assert len(media.channels) == channels
    assert f"8000 Hz, {8 * samples.itemsize}-bit" in media.about
    new = random_values(samples.shape, dtype)
    rate, back = wavfile.read(rewritten(tmp_path / "a.wav", new))
    assert rate == 8000 and back.dtype == samples.dtype
    assert_array_equal(back.reshape(samples.shape), new)


def test_wav_of_24_bits(tmp_path):
    ends = [-(2**23), 2**23 - 1, -1, 0, 1, 255, 256, -256]
    samples = np.array([ends, ends[::-1], [12345, -54321] * 4]).T
    media = read_media(wav24(tmp_path / "a.wav", samples))
    assert_array_equal(media.values, samples)
    assert media.values.dtype == np.int32 and "48000 Hz, 24-bit integers" in media.about
    before = (tmp_path / "a.wav").read_bytes()
    assert media.encode(media.values) == before
    with wave.open(str(rewritten(tmp_path / "a.wav", samples[::-1]))) as stream:
        assert (stream.getsampwidth(), stream.getframerate()) == (3, 48000)
        raw = stream.readframes(stream.getnframes())
    values = [int.from_bytes(raw[k : k + 3], "little", signed=True) for k in range(0, len(raw), 3)]
    assert_array_equal(values, samples[::-1].ravel())


def test_wav_chunks_are_kept(tmp_path):
    # Extensible format with a channel mask, a chunk of odd length before the samples, one after.
    samples = random_values((5, 2), "i2")
    guid = b"\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"
    form = struct.pack("<HHIIHHHHI", 0xFFFE, 2, 96000, 384000, 4, 16, 22, 16, 3)
    form += struct.pack("<H", 1) + guid
    parts = [(b"fmt ", form), (b"odd ", b"abc"), (b"data", samples.tobytes()), (b"LIST", b"INFO")]
    body = b"".join(n + struct.pack("<I", len(c)) + c + b"\0" * (len(c) % 2) for n, c in parts)
    content = b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body
    (tmp_path / "a.wav").write_bytes(content)
    media = read_media(tmp_path / "a.wav")
    assert_array_equal(media.values, samples)
    changed = media.encode(media.values[::-1])
    assert changed == content.replace(samples.tobytes(), samples[::-1].tobytes())
    assert changed != content


def test_whole_numbers_are_rounded_and_clipped(tmp_path):
    def encoded(path, values):
        return read_media(rewritten(path, np.array(values))).values.ravel().tolist()

    wild = [[-1e9], [-1.6], [0.4], [2.6], [1e9]]
    zeros = np.zeros((5, 1))
    assert encoded(wav(tmp_path / "a.wav", zeros.astype("u1")), wild) == [0, 0, 0, 3, 255]
    expected = [-(2**15), -2, 0, 3, 2**15 - 1]
    assert encoded(wav(tmp_path / "a.wav", zeros.astype("i2")), wild) == expected
    expected = [-(2**23), -2, 0, 3, 2**23 - 1]
    assert encoded(wav24(tmp_path / "a.wav", zeros), wild) == expected
    wild[0], wild[-1] = [-1e12], [1e12]
    expected = [-(2**31), -2, 0, 3, 2**31 - 1]
    assert encoded(wav(tmp_path / "a.wav", zeros.astype("i4")), wild) == expected
    assert encoded(png(tmp_path / "a.png", zeros.astype("u1")), wild) == [0, 0, 0, 3, 255]
    assert encoded(tif(tmp_path / "a.tif", zeros.astype("u2")), wild) == [0, 0, 0, 3, 65535]
    assert encoded(tif(tmp_path / "a.tif", zeros), wild) == np.ravel(wild).tolist()  # floats


@pytest.mark.parametrize("channels", [None, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["u1", "u2"])
def test_png(tmp_path, dtype, channels):
    values = random_values((7, 9) if channels is None else (7, 9, channels), dtype)
    media = read_media(png(tmp_path / "a.png", values))
    assert media.values.dtype == values.dtype
    assert_array_equal(media.values, values)
    assert len(media.channels) == {None: 1, 2: 1, 3: 3, 4: 3}[channels]  # without alpha
    assert ("alpha kept" in media.about) == (channels in (2, 4))
    for k, (name, place) in enumerate(media.channels):
        assert name == (["red", "green", "blue"][k] if len(media.channels) == 3 else "")
        assert_array_equal(values[place], values if channels is None else values[:, :, k])
    new = random_values(values.shape, dtype)
    back = imagecodecs.png_decode(rewritten(tmp_path / "a.png", new).read_bytes())
    assert back.dtype == values.dtype
    assert_array_equal(back, new)


def test_png_keeps_what_says_how_to_show_it(tmp_path):
    values = random_values((4, 5, 3), "u1")
    plain = imagecodecs.png_encode(values)
    gamma, size = chunk(b"gAMA", struct.pack(">I", 45455)), chunk(b"pHYs", b"\0\0\1\0\0\0\1\0\1")
    text = chunk(b"tEXt", b"Software\0x")
    (tmp_path / "a.png").write_bytes(plain[:33] + gamma + text + size + plain[33:])
    assert read_media(tmp_path / "a.png").encode(values) == plain[:33] + gamma + size + plain[33:]


@pytest.mark.parametrize(
    ("dtype", "shape", "options", "denoised"),
    [
        ("u1", (7, 9), {}, 1),
        ("u2", (7, 9), {}, 1),
        ("u2", (7, 9), {"compression": "lzw"}, 1),
        ("u2", (7, 9), {"byteorder": ">"}, 1),
        ("i2", (7, 9), {}, 1),
        ("u4", (7, 9), {}, 1),
        ("f2", (7, 9), {}, 1),
        ("f4", (7, 9), {"compression": "zlib", "predictor": True}, 1),
        ("f8", (7, 9), {"tile": (16, 16)}, 1),
        ("u1", (7, 9), {"photometric": "miniswhite"}, 1),
        ("u1", (7, 9, 3), {"photometric": "rgb"}, 3),
        ("u2", (7, 9, 3), {"photometric": "rgb"}, 3),
        ("f4", (7, 9, 3), {"photometric": "rgb"}, 3),
        ("u2", (7, 9, 4), {"photometric": "rgb", "extrasamples": ["unassalpha"]}, 3),
        ("u1", (7, 9, 4), {"photometric": "rgb", "extrasamples": ["assocalpha"]}, 3),
        ("u1", (7, 9, 2), {"photometric": "minisblack", "extrasamples": ["unassalpha"]}, 1),
        ("u2", (7, 9, 5), {"photometric": "minisblack"}, 5),
    ],
)
def test_tiff(tmp_path, dtype, shape, options, denoised):
    values = random_values(shape, dtype)
    contig = {"planarconfig": "contig"} if len(shape) == 3 else {}
    path = tif(tmp_path / "a.tiff", values, **options, **contig)
    media = read_media(path)
    assert media.values.dtype == values.dtype
    assert_array_equal(media.values, values)
    assert [place for _, place in media.channels] == (
        [...] if len(shape) == 2 else [(..., k) for k in range(denoised)]
    )
    with tifffile.TiffFile(path) as file:
        before = file.pages[0]
    new = random_values(shape, dtype)
    with tifffile.TiffFile(rewritten(path, new)) as file:
        page = file.pages[0]
        assert_array_equal(page.asarray(), new)
        assert (page.dtype, page.photometric) == (before.dtype, before.photometric)
        assert page.extrasamples == before.extrasamples
        assert (page.compression == 1) == (before.compression == 1)


def test_tiff_of_separate_planes_with_profile_and_resolution(tmp_path):
    values = random_values((7, 9, 3), "u1")
    path = tif(
        tmp_path / "a.tif",
        np.moveaxis(values, -1, 0),
        photometric="rgb",
        planarconfig="separate",
        resolution=(300, 150),
        resolutionunit="inch",
        iccprofile=b"profile",
    )
    assert_array_equal(read_media(path).values, values)
    with tifffile.TiffFile(rewritten(path)) as file:
        page = file.pages[0]
        assert_array_equal(page.asarray(), values)
        assert page.resolution == (300, 150) and page.resolutionunit.name == "INCH"
        assert page.iccprofile == b"profile"


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i2", "u1", "i8"])
@pytest.mark.parametrize("shape", [(5,), (4, 3), (2, 3, 4)])
def test_npy(tmp_path, dtype, shape):
    values = random_values(shape, dtype)
    np.save(tmp_path / "a.npy", values)
    media = read_media(tmp_path / "a.npy")
    assert_array_equal(media.values, values)
    back = np.load(rewritten(tmp_path / "a.npy", values + 0.25))
    assert back.dtype == (dtype if dtype.startswith("f") else "f8")
    assert_array_equal(back, (values + 0.25).astype(back.dtype))


def uneven_pages(path):
    with tifffile.TiffWriter(path) as file:
        for rows in (4, 5):
            file.write(np.zeros((rows, 6), "u1"), photometric="minisblack")


def damaged_files():
    """A whole file of each type."""
    stream = io.BytesIO()
    wavfile.write(stream, 8000, random_values((50, 2), "i2"))
    yield "wav", stream.getvalue()
    yield "png", imagecodecs.png_encode(random_values((20, 30, 3), "u1"))
    yield "jpg", imagecodecs.jpeg8_encode(random_values((20, 30, 3), "u1"))
    yield "npy", encode_npy(random_values((40,), "f8"))
    for options in ({}, {"compression": "zlib"}, {"compression": "lzw"}):
        stream = io.BytesIO()
        tifffile.imwrite(stream, random_values((20, 30), "u2"), **options)
        yield "tif", stream.getvalue()


@pytest.mark.parametrize(("suffix", "content"), list(damaged_files()))
def test_truncated_files(tmp_path, capfd, caplog, suffix, content):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content)
    assert isinstance(read_media(path), Media)
    for length in (*range(60), len(content) // 2, len(content) - 13, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(MediaError, match=r"a\.\w+: "):
            read_media(path)
    path.write_bytes(b"\x00\x01garbage" * 30)
    with pytest.raises(MediaError, match="not a readable"):
        read_media(path)
    assert capfd.readouterr().err == "" and not caplog.records


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("a.npy", lambda p: np.save(p, np.float64(3.0)), "has 0 dimensions; 1 to 3"),
        ("a.npy", lambda p: np.save(p, np.zeros((2, 2, 2, 2))), "has 4 dimensions"),
        ("a.npy", lambda p: np.save(p, np.zeros(3, complex)), "complex128; real numbers"),
        ("a.npy", lambda p: np.save(p, np.array(["a"])), "real numbers are needed"),
        (
            "a.npy",
            lambda p: np.save(p, np.array([{}]), allow_pickle=True),
            "not a readable .npy file",
        ),
        ("a.npy", lambda p: np.save(p, np.zeros((0, 3))), "there are no values"),
        (
            "a.npy",
            lambda p: p.write_bytes(b"PK\x03\x04" * 9),
            r"not a readable .npy file \(the magic",
        ),
        ("a.wav", lambda p: wav(p, np.zeros(0, "i2")), "there are no values"),
        ("a.wav", lambda p: wav(p, np.zeros(9, "i8")), "format 1 with 64 bits .* convert"),
        ("a.wav", lambda p: png(p, np.zeros((2, 2), "u1")), "not a WAV file"),
        ("a.png", lambda p: wav(p, np.zeros(9, "i2")), "not a PNG file"),
        ("a.tif", lambda p: png(p, np.zeros((2, 2), "u1")), "not a TIFF file"),
        ("a.tif", uneven_pages, "the 2 pages are not all alike; split"),
        ("a.jpg", lambda p: png(p, np.zeros((2, 2), "u1")), "not a JPEG file"),
        ("a.tif", lambda p: tif(p, np.zeros((4, 4), bool)), "pixels of 1 bits .* convert"),
        ("a.tif", lambda p: tif(p, np.zeros((4, 4), "u8")), "pixels of 64 bits"),
        ("a.tif", lambda p: tif(p, np.zeros((4, 4), complex)), "pixels of 128 bits"),
        (
            "a.tif",
            lambda p: tif(p, np.zeros((4, 4), "u1"), colormap=np.zeros((3, 256), "u2")),
            "the pixels are palette; convert to grey or RGB",
        ),
    ],
)
def test_wrong_files(tmp_path, name, make, message):
    path = tmp_path / name
    make(path)
    with pytest.raises(MediaError, match=message):
        read_media(path)


def test_a_damaged_checksum_is_noticed(tmp_path):
    content = bytearray(imagecodecs.png_encode(random_values((20, 30), "u1")))
    content[100] ^= 0xFF
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(MediaError, match="checksum is wrong"):
        read_media(tmp_path / "a.png")


def test_a_damaged_size_does_not_fill_the_memory(tmp_path):
    path = tif(tmp_path / "a.tif", random_values((20, 30), "u2"), compression="zlib")
    with tifffile.TiffFile(path, mode="r+") as file:
        file.pages[0].tags["ImageLength"].overwrite(60_000)
    with pytest.raises(MediaError, match="announces more pixels than it can hold"):
        read_media(path)


@pytest.mark.parametrize("name", ["a.png", "a.tif"])
def test_the_missing_extra_is_named(tmp_path, monkeypatch, name):
    path = (png if name == "a.png" else tif)(tmp_path / name, np.zeros((3, 3), "u1"))
    monkeypatch.setitem(sys.modules, "imagecodecs", None)
    with pytest.raises(ImportError, match=r'imagecodecs: pip install "sparsebayes\[images\]"'):
        read_media(path)
    monkeypatch.setitem(sys.modules, "tifffile", None)
    with pytest.raises(ImportError, match=r"sparsebayes\[images\]"):
        read_media(path)


def test_the_logger_of_tifffile_is_left_as_it_was(tmp_path):
    read_media(tif(tmp_path / "a.tif", np.zeros((3, 3), "u1")))
    assert not logging.getLogger("tifffile").disabled
