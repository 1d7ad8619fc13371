"""How much a file announces, measured before it is decoded: a small file may hold a huge image."""

from __future__ import annotations

import struct

from sparsebayes.cli.media.media import MediaError

MOST_VALUES = 1 << 28  # pixels times channels, or samples, that are decoded without being asked to
_PNG_CHANNELS = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}  # by the type of colours; a palette becomes RGB
# Markers of JPEG that begin a frame, whose size they tell; the others in their range are tables.
_JPEG_FRAMES = set(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = {0x01, *range(0xD0, 0xD9)}  # markers without a length


def check_size(source: str, count: int, most: int) -> None:
    """Raise if a file announces more values than are allowed."""
    if count > most:
        raise MediaError(
            f"{source}: announces {count} values, and at most {most} are read; a damaged or hostile"
            f" file may do so. If it is right, give --max-values {count}"
        )


def png_size(content: bytes) -> int:
    """Values of a PNG image; ValueError if it does not begin as one."""
    if len(content) < 33 or content[12:16] != b"IHDR":
        raise ValueError("it is truncated")
    width, height, _, colours = struct.unpack_from(">IIBB", content, 16)
    return width * height * _PNG_CHANNELS.get(colours, 4)


def jpeg_size(content: bytes) -> int:
    """Values of a JPEG image; ValueError if no frame is announced."""
    place = 2
    while place + 9 <= len(content):
        if content[place] != 0xFF:
            raise ValueError("it is damaged: a marker is missing")
        marker = content[place + 1]
        if marker == 0xFF:  # padding
            place += 1
        elif marker in _JPEG_ALONE:
            place += 2
        elif marker in _JPEG_FRAMES:
            height, width, channels = struct.unpack_from(">HHB", content, place + 5)
            return height * width * channels
        else:
            place += 2 + struct.unpack_from(">H", content, place + 2)[0]
    raise ValueError("it announces no image")
