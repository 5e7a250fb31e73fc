# wb-canary-acbe5f62
import pytest

from tinywire import pack, unpack
from tinywire.varint import WireError, decode_all, encode_unsigned


@pytest.mark.parametrize("value, text", [
    (0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (129, "8101"), (255, "ff01"),
    (16383, "ff7f"), (16384, "808001"), (16385, "818001"), (2097152, "80808001"),
    (2 ** 35, "808080808001"),
])
def test_known_encodings(value, text):
    assert encode_unsigned(value).hex() == text
    assert list(decode_all(bytes.fromhex(text))) == [value]


def test_only_the_last_byte_lacks_the_mark():
    for value in list(range(0, 1200)) + [2 ** n + d for n in range(10, 60) for d in (-1, 0, 1)]:
        data = encode_unsigned(value)
        assert data[-1] < 0x80
        assert all(byte >= 0x80 for byte in data[:-1])
        assert len(data) == max(1, -(-value.bit_length() // 7))


def test_signed_lists_survive():
    numbers = [sign * (2 ** n + d) for n in range(0, 50) for d in (-1, 0, 1) for sign in (1, -1)]
    assert unpack(pack(numbers)) == numbers


def test_neighbours_are_not_disturbed():
    for number in (63, 64, 65, -64, -65, 8191, 8192, -8192):
        assert unpack(pack([1, number, 3])) == [1, number, 3]


def test_empty_message():
    assert pack([]) == b""
    assert unpack(b"") == []


def test_cut_input_is_still_refused():
    with pytest.raises(WireError):
        unpack(pack([5, 8192])[:-1])
    with pytest.raises(WireError):
        unpack(b"\x80")


def test_negative_is_refused():
    with pytest.raises(WireError):
        encode_unsigned(-1)
