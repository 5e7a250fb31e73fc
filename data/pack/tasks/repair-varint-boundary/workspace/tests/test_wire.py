from tinywire import pack, unpack
from tinywire.message import fold, unfold


def test_sixty_four_survives():
    assert unpack(pack([1, 64, 3])) == [1, 64, 3]


def test_message_may_end_in_sixty_four():
    assert unpack(pack([64])) == [64]


def test_small_numbers_take_one_byte():
    assert pack([0, -1, 1, 5]) == bytes([0, 1, 2, 10])


def test_larger_numbers_survive():
    numbers = [300, -300, 7, 100000, -1]
    assert unpack(pack(numbers)) == numbers


def test_fold_alternates():
    assert [fold(n) for n in (0, -1, 1, -2, 2)] == [0, 1, 2, 3, 4]
    assert [unfold(v) for v in range(5)] == [0, -1, 1, -2, 2]
