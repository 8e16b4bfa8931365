"""The generator: published vectors, positions, and the distributions made from it."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

import distal
from distal.model import draws


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [  # Random123's known answers for philox4x32-10
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_its_published_vectors(
    counter: tuple[int, ...], key: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert tuple(draws.philox(counter, key).tolist()) == expected


def test_the_generators_constants_stand_in_one_file_for_all_engines() -> None:
    sources = [path for path in Path(distal.__file__).parent.rglob("*") if path.suffix in (".py", ".cu")]
    texts = {path.name: path.read_text().upper() for path in sources}
    for constant in (*draws.MULTIPLIERS, *draws.KEY_STEPS, int(draws.SQRT_HALF_BITS)):
        assert [name for name, text in texts.items() if f"{constant:08X}" in text] == ["draws.py"]


def test_a_word_is_the_philox_word_at_its_position() -> None:
    seed = 0x299F31D0A4093822
    words = draws.words(seed, draws.NOISE, episode=7, lanes=range(3, 6), draws=10)
    assert words.shape == (3, 12)  # whole blocks
    for lane in range(3):
        for draw in range(12):
            block = draws.philox([draw // 4, 3 + lane, 7, draws.NOISE], [0xA4093822, 0x299F31D0])
            assert words[lane, draw] == block[draw % 4]


def test_uniform_numbers_are_the_upper_24_bits_as_a_signed_fraction() -> None:
    bits = np.array([0, 0xFF, 0x100, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF], np.uint32)
    expected = [0, 0, 2**-23, 1 - 2**-23, -1, -(2**-23)]
    assert draws.uniform(bits).tolist() == expected


def test_a_deviate_follows_box_and_muller() -> None:
    words = draws.words(5, draws.NOISE, 0, range(1), 4000)[0]
    deviates = draws.normals(words)
    for pair in range(2000):
        first, second = int(words[2 * pair]), int(words[2 * pair + 1])
        radius = math.sqrt(-2 * math.log(((first >> 1) + 0.5) / 2**31))
        rest = second << 2 & 0xFFFFFFFF
        rest = rest - 2**32 if rest >= 2**31 else rest
        angle = (second >> 30) * math.pi / 2 + rest * math.pi / 4 / 2**31
        assert deviates[2 * pair] == pytest.approx(radius * math.cos(angle), abs=2e-6)
        assert deviates[2 * pair + 1] == pytest.approx(radius * math.sin(angle), abs=2e-6)


def test_the_extreme_words_give_finite_deviates() -> None:
    bits = np.array([0, 0, 0xFFFFFFFF, 0, 0, 0xFFFFFFFF, 0xFFFFFFFF, 0x80000000], np.uint32)
    deviates = draws.normals(bits)
    assert np.isfinite(deviates).all()
    # the largest radius there is: √(2 ln 2^32)
    assert np.hypot(deviates[0], deviates[1]) == pytest.approx(math.sqrt(64 * math.log(2)), rel=1e-6)
    # the smallest: a word that rounds to 1 has the radius 0
    assert deviates[2:4].tolist() == [0, 0]


def test_ten_million_deviates_are_normal_in_moments_bins_and_tails() -> None:
    n = 10_000_000
    deviates = draws.normals(draws.words(2019, draws.NOISE, 0, range(1000), n // 1000))
    x = deviates.astype(np.float64)
    # Moments, each within 4.5 standard errors of the normal distribution's.
    assert abs(x.mean()) < 4.5 / math.sqrt(n)
    assert abs((x**2).mean() - 1) < 4.5 * math.sqrt(2 / n)
    assert abs((x**3).mean()) < 4.5 * math.sqrt(15 / n)
    assert abs((x**4).mean() - 3) < 4.5 * math.sqrt(96 / n)
    # A thousand bins of equal probability: chi-square of 999 degrees of freedom, 4.5 deviations.
    edges = [NormalDist().inv_cdf(k / 1000) for k in range(1, 1000)]
    counts = np.bincount(np.searchsorted(edges, x.ravel()), minlength=1000)
    chi_square = ((counts - n / 1000) ** 2 / (n / 1000)).sum()
    assert abs(chi_square - 999) < 4.5 * math.sqrt(2 * 999)
    # Tails on either side, as far as ten million draws reach.
    for edge in (2.0, 3.0, 4.0, 4.5, 5.0):
        expected = n * NormalDist().cdf(-edge)
        for beyond in ((x > edge).sum(), (x < -edge).sum()):
            assert abs(beyond - expected) < 4.5 * math.sqrt(expected) + 1
    assert 4.8 < np.abs(x).max() < 6.7
    # The two deviates of a pair, and neighbours across pairs, are not correlated; nor are their squares.
    for one, other in ((x[:, 0::2], x[:, 1::2]), (x[:, 1:-1:2], x[:, 2::2])):
        assert abs((one * other).mean()) < 4.5 / math.sqrt(one.size)
        assert abs(((one**2 - 1) * (other**2 - 1)).mean()) < 4.5 * 2 / math.sqrt(one.size)


def test_a_million_uniform_numbers_are_uniform_in_moments_and_bins() -> None:
    n = 1_000_000
    x = draws.uniform(draws.words(2019, draws.WEIGHTS, 0, range(1000), n // 1000)).astype(np.float64)
    assert x.min() >= -1
    assert x.max() < 1
    assert abs(x.mean()) < 4.5 * math.sqrt(1 / 3 / n)
    assert abs((x**2).mean() - 1 / 3) < 4.5 * math.sqrt(4 / 45 / n)
    counts = np.histogram(x, bins=1000, range=(-1, 1))[0]
    chi_square = ((counts - n / 1000) ** 2 / (n / 1000)).sum()
    assert abs(chi_square - 999) < 4.5 * math.sqrt(2 * 999)


def test_a_choice_divides_the_words_into_equal_ranges() -> None:
    edges = {3: (0, 0x55555555, 0x55555556, 0xAAAAAAAA, 0xAAAAAAAB, 0xFFFFFFFF), 1: (0, 0xFFFFFFFF)}
    assert [draws.choice(np.uint32(word), 3) for word in edges[3]] == [0, 0, 1, 1, 2, 2]
    assert [draws.choice(np.uint32(word), 1) for word in edges[1]] == [0, 0]


def test_child_seeds_differ_by_every_part_and_by_parent() -> None:
    parts = [(a, b, c) for a in range(5) for b in range(5) for c in range(5)]
    seeds = {draws.child_seed(parent, *part) for parent in (0, 1, 2**63) for part in parts}
    assert len(seeds) == 3 * len(parts)
    low, high = draws.philox([1, 2, 3, draws.SEED], [9, 0])[:2].tolist()
    assert draws.child_seed(9, 1, 2, 3) == high * 2**32 + low
