"""The archive: plain data come back as they are, and no file unpacks to more than it holds."""

import io
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from sparsebayes.persistence import archive
from sparsebayes.persistence.archive import Refused, read, read_array, seal, write

from .crafting import closed, joined, opened, same, taken_apart

PLAIN = [
    None,
    [True, False, 0, -(10**40), 0.1, float("inf"), float("nan"), -0.0, 5e-324],
    ["", "häßlich\n\x00", "𝛂", '"', (), [], {}, [[()]], {"a": {"": 1}}],
    [np.float64(0.1), np.float32(np.nan), np.int64(-3), np.uint8(7), np.bool_(True), np.str_("ä")],
    [np.complex128(1j), np.float16(0.5), np.array(3.0), np.array(["a", "bcd"])],
    [np.empty((0, 3)), np.arange(6.0).reshape(2, 3), np.arange(6).reshape(2, 3, order="F")],
    [np.array([True, False]), np.array([b"ab"]), np.arange(3, dtype=">i4"), np.zeros((1,) * 9)],
]


@pytest.mark.parametrize("value", PLAIN)
def test_plain_data_come_back(value):
    record = {"version": "1", "value": value}
    found = read(write(record))
    assert found.pop("format") == archive.FORMAT
    assert found.pop("format_version") == archive.FORMAT_VERSION
    assert same(found, record)


def test_arrays_can_be_written_to_and_stay_shared():
    array = np.arange(4.0)
    one, two, part = read(write({"a": [array, array, array[1:]]}))["a"]
    assert one is two and one is not part
    one[0] = 7.0
    assert one.flags.c_contiguous and two[0] == 7.0


def test_reading_needs_no_skops(monkeypatch):
    content = write({"a": 1})
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
    assert read(content)["a"] == 1


def header(text):
    data = text.encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(data)) + data


def described(descr="'<f8'", order="False", shape="(1,)"):
    return header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY",
        described(),
        described() + bytes(7),
        described() + bytes(9),
        described(shape="(1000000000000,)"),
        described(shape="(1000000000000, 1000000000000)") + bytes(8),
        described(shape="(0, 100000000000000, 100000000000000)"),
        described(shape="(-1,)"),
        described(shape="(1.0,)") + bytes(8),
        described(shape="1") + bytes(8),
        described(shape="(" + "1, " * 70 + "1)") + bytes(8),
        described("'|O'") + bytes(8),
        described("'<M8[D]'") + bytes(8),
        described("'<f16'") + bytes(16),
        described("'<U0'", shape="(100000000000000,)"),
        described("[('a', '<f8')]") + bytes(8),
        described("'<f8'", order="1") + bytes(8),
        described("__import__('os').system('true')") + bytes(8),
        header("0") + bytes(8),
        header(" " * 60000) + bytes(8),
        described("'|b1'") + b"\x02",
        described("'<U1'") + b"\xff\xff\xff\xff",
        described().replace(b"\x01\x00", b"\x02\x00", 1) + bytes(8),
        described() + bytes(8) + b"PK",
    ],
)
def test_arrays_that_are_none(data):
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match="damaged"):
            read_array(data)
        assert tracemalloc.get_traced_memory()[1] < 10**6
    finally:
        tracemalloc.stop()


def member(name, data, **fields):
    """A zip file of one member, with other numbers in its headers."""
    return patched(joined({name: data}, b""), name, **fields)


def patched(content, name, **fields):
    """The archive with other numbers in both headers of a member."""
    places = {"method": ("<H", 8, 10), "size": ("<I", 22, 24), "flags": ("<H", 6, 8)}
    content = bytearray(content)
    local = content.index(name.encode()) - 30
    central = content.rindex(name.encode()) - 46
    for field, value in fields.items():
        form, *offsets = places[field]
        struct.pack_into(form, content, local + offsets[0], value)
        struct.pack_into(form, content, central + offsets[1], value)
    return bytes(content)


def deflated_zeros(size):
    """A deflate stream of so many zeros, made without making them."""
    block = zlib.compressobj(9, zlib.DEFLATED, -15)
    part = block.compress(bytes(2**20)) + block.flush(zlib.Z_FULL_FLUSH)
    return part * (size // 2**20) + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def test_a_zip_bomb():
    """Two megabytes that would be two gigabytes, beside a good schema and in its place."""
    size = 2**31 - 2**20
    stream = deflated_zeros(size)
    assert len(stream) < 2.3e6
    unpacked = zlib.decompressobj(-15)
    assert len(unpacked.decompress(stream, 5 * 2**20)) == 5 * 2**20  # it is one
    schema = taken_apart(write({"a": 1}))[0]
    tracemalloc.start()
    try:
        for name in ("schema.json", "1.npy"):
            bomb = joined({**schema, name: stream}, b"")
            for claim in (size, 100, len(stream)):
                with pytest.raises(Refused, match=r"compressed|has a schema of .* bytes"):
                    read(patched(bomb, name, method=8, size=claim))
            with pytest.raises(Refused, match=r"compressed|has a schema of .* bytes"):
                read(patched(bomb, name, size=size))
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()


def test_members_that_overlap():
    """One megabyte that the directory names two thousand times."""
    members, _ = taken_apart(write({"a": "x" * 10**6}))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr("schema.json", members["schema.json"])
        first = file.infolist()[0]
        for i in range(2000):
            again = zipfile.ZipInfo(f"{i}.npy")
            for field in ("header_offset", "compress_size", "file_size", "CRC"):
                setattr(again, field, getattr(first, field))
            file.filelist.append(again)
            file.NameToInfo[again.filename] = again
        file._didModify = True
    with pytest.raises(Refused, match="unpack to more bytes than it has"):
        read(stream.getvalue())


def test_a_schema_that_is_too_long(monkeypatch):
    content = write({"a": "x" * 5000})
    monkeypatch.setattr(archive, "MAX_SCHEMA", 5000)
    with pytest.raises(Refused, match=r"has a schema of .* at most 5000"):
        read(content)
    monkeypatch.setattr(archive, "MAX_FILE", 5000)
    with pytest.raises(Refused, match="bytes; a model file has at most 5000"):
        read(content)


@pytest.mark.parametrize(
    "schema",
    [
        "[" * 10**5,
        '{"a":' * 10**5,
        "[" * 10**5 + "]" * 10**5,
        "7" * 10**6,
        "",
        "null",
        "[]",
        '"text"',
        "NaN",
        "\x00",
        '{"__loader__": "DictNode"}',
    ],
)
def test_schemas_that_are_none(schema):
    with pytest.raises(Refused, match=r"damaged|not a sparsebayes model"):
        read(seal(member("schema.json", schema)))


def test_lists_that_are_too_deep():
    value = 1
    for _ in range(archive.MAX_DEPTH - 2):
        value = [value]
    assert read(write({"a": value}))["a"] == value
    with pytest.raises(Refused, match="nested more than"):
        read(write({"a": [[value]]}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    "name",
    [
        "../1.npy",
        "/1.npy",
        "a/1.npy",
        "a/",
        "1.npy.exe",
        "1.npz",
        "schema.json",
        "1.npy",
        "sch€.npy",
    ],
)
def test_parts_that_no_file_has(name):
    stream = io.BytesIO(write({"a": np.arange(3)}))
    with zipfile.ZipFile(stream, "a") as file:
        file.writestr(name, b"{}")
    content = stream.getvalue() if name == "schema.json" else seal(stream.getvalue())
    content = content.replace("€".encode(), b"a\0b")  # Python's names end at a zero
    with pytest.raises(Refused, match=r"a part named|parts \[|belong to nothing"):
        read(content)


@pytest.mark.parametrize(
    "content",
    [
        member("schema.json", b"{}", flags=1),
        member("schema.json", b"{}", flags=0x20),
        member("schema.json", b"{}", method=14),
        member("schema.json", b"{}", method=99),
        member("1.npy", b"{}"),
        b"PK\x05\x06" + bytes(18),
        b"",
    ],
)
def test_archives_that_are_none(content):
    with pytest.raises(Refused, match=r"damaged|compressed|not a sparsebayes"):
        read(content)


def test_a_file_without_a_digest_or_with_more_than_it_says():
    content = write({"a": np.arange(3)})
    schema, members = opened(content)
    assert read(closed(schema, members))["a"][2] == 2
    with pytest.raises(Refused, match="its digest differs"):
        read(joined(taken_apart(content)[0], b""))
    parts, comment = taken_apart(content)
    assert read(joined(parts, comment))["a"][2] == 2
    changed = {name: data.replace(b"\x02", b"\x03") for name, data in parts.items()}
    with pytest.raises(Refused, match="its digest differs"):
        read(joined(changed, comment))
    with pytest.raises(Refused, match="belong to nothing"):
        read(closed(schema, {**members, "1.npy": next(iter(members.values()))}))
    with pytest.raises(Refused, match="no part named"):
        read(closed(schema, {}))


def test_messages_show_little_of_what_a_file_says():
    text = archive.short("a\n\x1b[31m" + "x" * 10**6)
    assert text.startswith("a??[31mx") and len(text) == 100
