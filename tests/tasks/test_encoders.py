"""Observations become bits: named encoders for every space, or a function."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distal import InputError
from distal.tasks.encoders import SEEN, Encoder, FunctionEncoder, encoder_of
from tests.refusals import refused

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")

from gymnasium.spaces import (  # noqa: E402
    Box,
    Dict,
    Discrete,
    Graph,
    MultiBinary,
    MultiDiscrete,
    Sequence,
    Text,
    Tuple,
)

LINE = Box(0, 8, (1,))
ROOM = Box(np.array([0, -1], np.float32), np.array([8, 1], np.float32))


def nothing() -> Iterator[Any]:
    raise AssertionError("nothing has to be seen for this")


def encoder(space: Any, encode: object = None, seen: list[Any] | None = None) -> Any:
    return encoder_of(encode, space, nothing if seen is None else lambda: iter(seen))


@pytest.mark.parametrize(
    ("space", "encode", "observation", "bits"),
    [
        (Discrete(5), "binary", 4, (0, 0, 1)),
        (Discrete(5), None, 3, (1, 1, 0)),
        (Discrete(4), "binary", 3, (1, 1)),
        (Discrete(1), "binary", 0, (0,)),
        (Discrete(5, start=-2), "binary", 1, (1, 1, 0)),
        (Discrete(5, start=3), "one-hot", np.int64(4), (0, 1, 0, 0, 0)),
        (MultiBinary((2, 2)), None, np.array([[1, 0], [0, 1]]), (1, 0, 0, 1)),
        (MultiBinary(2), "bits", [0, 1], (0, 1)),
        (MultiDiscrete([3, 2]), None, np.array([2, 1]), (0, 1, 1)),
        (MultiDiscrete([3, 2], start=[1, -1]), "one-hot", np.array([1, 0]), (1, 0, 0, 0, 1)),
        (LINE, "bins:4", np.array([4.0], np.float32), (1, 1, 0)),  # edges at 2, 4 and 6
        (LINE, "bins:4", np.array([3.99]), (1, 0, 0)),  # 64-bit floats are no mistake
        (ROOM, "bins:2", np.array([3, 0], np.float32), (0, 1)),
        (Box(0, 255, (2,), np.uint8), "bins:2", np.array([127, 128], np.uint8), (0, 1)),
        (Tuple([Discrete(2), LINE]), "bins:2", (1, np.array([5.0])), (1, 1)),
        (Tuple([LINE, Discrete(3)]), " bins:2 , one-hot ", (np.array([5.0]), 0), (1, 1, 0, 0)),
        (
            Dict({"b": Discrete(2), "a": Tuple([MultiBinary(2), Discrete(3)])}),
            None,
            {"a": (np.array([1, 0]), 2), "b": 1},
            None,
        ),
    ],
)
def test_an_observation_becomes_these_bits(
    space: Any, encode: Any, observation: Any, bits: tuple[int, ...] | None
) -> None:
    made = encoder(space, encode)
    if bits is None:  # in the order that the space has, whichever it is
        parts = {"b": (1,), "a": (1, 0, 0, 1)}
        bits = tuple(bit for name in space.spaces for bit in parts[name])
    assert made(observation) == bits
    assert made.bits == len(bits)


@given(st.integers(1, 300), st.integers(-5, 5))
def test_binary_digits_are_few_and_tell_all_values_apart(count: int, start: int) -> None:
    made = encoder(Discrete(count, start=start), "binary")
    assert 2 ** (made.bits - 1) < max(count, 2) <= 2**made.bits
    assert len({made(start + k) for k in range(count)}) == count


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=2), st.integers(2, 9))
def test_more_is_never_fewer_bits_and_bins_are_equal(numbers: list[float], count: int) -> None:
    made = encoder(Box(-1, 1, (1,)), f"bins:{count}")
    low, high = (sum(made(np.array([value]))) for value in sorted(numbers))
    assert low <= high
    # bin k is −1 + 2 k / N … −1 + 2 (k + 1) / N
    assert high == min(count - 1, max(k for k in range(count) if max(numbers) >= -1 + 2 * (k / count)))


def test_quantiles_are_edges_between_which_a_random_policy_sees_equally_much() -> None:
    seen = [np.array([k**2, -k], np.float32) for k in range(SEEN)]
    made = encoder(Box(-np.inf, np.inf, (2,)), "bins:4:quantiles", [*seen, np.array([1e30, 0], np.float32)])
    bits = np.array([made(each) for each in seen])
    assert made.bits == 6
    assert (np.abs(bits.mean(axis=0) - [0.75, 0.5, 0.25] * 2) < 2 / SEEN).all()
    assert made.columns[0].edges == tuple(float(k**2) for k in (499, 999, 1499))  # numbers that were seen


def test_without_a_word_numbers_are_binary_and_boxes_have_four_bins_by_quantiles() -> None:
    space = Tuple([Discrete(3), MultiBinary(1), LINE])
    seen = [(0, np.array([1]), np.array([k % 8], np.float32)) for k in range(SEEN)]
    made = encoder(space, None, seen)
    assert made.word == "binary,bits,bins:4:quantiles"
    assert made.bits == 2 + 1 + 3
    assert made((2, np.array([1]), np.array([3], np.float32))) == (0, 1, 1, 1, 1, 0)  # edges 1, 3, 5


@pytest.mark.parametrize(
    ("space", "observation"),
    [
        (Discrete(3), 3),
        (Discrete(3), 1.5),
        (MultiBinary(2), np.array([0, 2])),
        (MultiDiscrete([2, 2]), np.array([0, 2])),
        (LINE, np.array([np.nan])),
        (LINE, np.array([8.5])),
        (LINE, np.array([1.0, 2.0])),
        (Tuple([Discrete(2), Discrete(2)]), (0,)),
        (Dict({"a": Discrete(2)}), {"b": 0}),
    ],
)
def test_an_observation_that_is_not_in_the_space_is_refused(space: Any, observation: Any) -> None:
    boxes = isinstance(space, Box)
    said = refused(lambda: encoder(space, "bins:2" if boxes else None)(observation))
    assert said.startswith("an observation is ")
    assert f"which is not in {space}; mend the environment" in said


def test_the_number_that_is_out_of_its_bounds_is_named() -> None:
    seen = np.full(180, 1.0)
    seen[40] = 1.25
    with pytest.raises(InputError, match=r", with 1\.25 as number 41, which is not in Box"):
        encoder(Box(0.0, 1.0, (180,), np.float64), "bins:2")(seen)


@pytest.mark.parametrize(
    ("space", "encode", "problem"),
    [
        (Discrete(3), "one_hot", "encode holds 'one_hot', expected binary, one-hot, bits, bins:N, bins:N:q"),
        (Discrete(3), "binary,one-hot", "encode is 'binary,one-hot', expected one of binary and one-hot"),
        (Discrete(3), "bins:4", "encode holds 'bins:4', which Discrete(3) has no use for; leave it out"),
        (LINE, "bins:x", "the number of bins in encode is 'x', expected a whole number from 2 to 257"),
        (
            Box(-np.inf, 1, (1,)),
            "bins:3",
            "infinite bounds cannot be divided into bins; use bins:3:quantiles",
        ),
        (Text(3), None, "and text cannot become bits; encode with a function of your own"),
        (Tuple([Discrete(2), Sequence(Discrete(2))]), None, "observations are Sequence(Discrete(2), stack=F"),
        (Graph(Discrete(2), None), None, "or Dict of them; encode with a function of your own that turns th"),
        (Box(0, 255, (350, 350, 3), np.uint8), "bins:4", "observations become 1,102,500 bits, at most 1,048"),
        (MultiBinary(2**20 + 1), None, "become 1,048,577 bits, at most 1,048,576 are allowed; use fewer bi"),
    ],
)
def test_an_encoder_that_does_not_fit_is_refused_with_what_to_do(
    space: Any, encode: Any, problem: str
) -> None:
    assert problem in refused(lambda: encoder(space, encode))


def test_as_many_bits_as_a_network_may_have_are_allowed() -> None:
    assert encoder(Discrete(2**20), "one-hot").bits == 2**20
    assert encoder(LINE, "bins:257").bits == 256


def test_infinite_numbers_have_no_quantiles() -> None:
    with pytest.raises(InputError, match="are infinite at times; encode with a function of your own"):
        encoder(Box(-np.inf, np.inf, (1,)), None, [np.array([np.inf], np.float32)] * 3)


# ---------------------------------------------------------------- whole numbers, images and text

BYTES = Box(0, 255, (2,), np.uint8)
NINETEEN = (1, 1, 0, 0, 1)  # the highest that was seen
SEEN_BYTES = [np.array([k % 3, k], np.uint8) for k in range(20)]


@pytest.mark.parametrize(
    ("space", "encode", "seen", "word", "bits"),
    [
        # Bounds that are near say which values there are; nothing has to be seen.
        (Box(0, 1, (2,), np.int8), None, None, "binary", {(0, 1): (0, 1)}),
        (Box(-1, 6, (1,), np.int64), None, None, "binary", {(-1,): (0, 0, 0), (3,): (0, 0, 1)}),
        (Box(-1, 1, (1,), np.int64), "one-hot", None, "one-hot", {(0,): (0, 1, 0)}),
        (Box(0, 1, (1,), np.int8), "bins:2", None, "bins:2", {(0,): (0,), (1,): (1,)}),
        # Of other bounds, few values are digits, and many go into bins: each number of a list by itself.
        (
            BYTES, None, SEEN_BYTES, "binary,bins:4:quantiles",  # edges at 4, 9 and 14
            {(0, 0): (0, 0, 0, 0, 0), (2, 9): (0, 1, 1, 1, 0), (9, 14): (0, 1, 1, 1, 1)},
        ),
        (BYTES, "binary", SEEN_BYTES, "binary", {(1, 5): (1, 0, 1, 0, 1, 0, 0), (1, 99): (1, 0, *NINETEEN)}),
        (BYTES, "one-hot", SEEN_BYTES[:3], "one-hot", {(1, 1): (0, 1, 0) * 2, (7, 2): (0, 0, 0, 0, 0, 1)}),
        (BYTES, "bins:2:quantiles", SEEN_BYTES, "bins:2:quantiles", {(0, 9): (0, 1), (1, 8): (1, 0)}),
        # A number that never changes says nothing.
        (BYTES, None, [np.array([7, k], np.uint8) for k in (0, 1)], "binary", {(7, 1): (1,), (9, 0): (0,)}),
    ],
)  # fmt: skip
def test_a_box_of_whole_numbers_becomes_digits_or_bins(
    space: Any, encode: Any, seen: Any, word: str, bits: dict[tuple[int, ...], tuple[int, ...]]
) -> None:
    made = encoder(space, encode, seen)
    assert made.word == word
    for observation, expected in bits.items():
        assert made(np.array(observation, space.dtype)) == expected
    again = Encoder.from_dict(json.loads(json.dumps(made.to_dict())), space)
    assert again == made


def test_the_pixels_of_a_channel_have_the_same_values_wherever_they_were_seen() -> None:
    image = Box(0, 255, (2, 2, 2), np.uint8)
    seen = [np.zeros((2, 2, 2), np.uint8), np.zeros((2, 2, 2), np.uint8)]
    seen[1][0, 0] = 3, 1  # the first channel has 0 and 3, the second 0 and 1
    made = encoder(image, None, seen)
    assert made.bits == 4 * (2 + 1)
    other = np.zeros((2, 2, 2), np.uint8)
    other[1, 1] = 2, 1
    assert made(other) == (0,) * 9 + (0, 1, 1)
    assert encoder(Box(0, 99, (2, 3), np.int64), "one-hot", [np.arange(6).reshape(2, 3)]).bits == 6 * 6


@given(
    st.lists(st.integers(0, 255), min_size=27, max_size=27), st.sampled_from(["binary", "one-hot", "bins:5"])
)
def test_many_columns_at_once_are_the_columns_one_by_one(values: list[int], word: str) -> None:
    space: Any = Tuple([Box(0, 255, (3, 3, 3), np.uint8), Box(-1, 256, (3,)), Discrete(7, start=-3)])
    seen = [(np.full((3, 3, 3), k, np.uint8), np.full(3, k, np.float32), 0) for k in (3, 90, 200)]
    made = encoder(space, word, seen)
    box = np.array(values, np.uint8).reshape(3, 3, 3)
    numbers = np.array(values[:3], np.float32) + 0.5
    one_by_one = [
        bit for column, value in zip(made.columns, [*values, *numbers.tolist(), 2], strict=True)
        for bit in column(value)
    ]  # fmt: skip
    assert list(made((box, numbers, 2))) == one_by_one


def test_text_is_left_out_and_named() -> None:
    space = Dict({"mission": Text(9), "at": Discrete(3), "more": Dict({"said": Text(3), "b": Discrete(2)})})
    made = encoder(space)
    assert made.left_out == ("mission", "more.said")
    assert made({"mission": "go", "at": 2, "more": {"said": "no", "b": 1}}) == (0, 1, 1)
    assert Encoder.from_dict(made.to_dict(), space) == made


def test_an_encoder_of_an_older_version_has_its_bins() -> None:
    data = {"word": "bins:3:quantiles", "bits": 4, "edges": [[1.0, 2.0], [5.0, 9.0]]}
    made = Encoder.from_dict(data, BYTES)
    assert made(np.array([1, 9], np.uint8)) == (1, 0, 1, 1)
    assert made.to_dict() == data


def test_what_a_random_policy_always_sees_the_same_is_refused() -> None:
    with pytest.raises(InputError, match="always sees the same one; encode with a function of your own"):
        encoder(BYTES, None, [np.array([1, 2], np.uint8)] * 3)


# ---------------------------------------------------------------- functions


def halves(observation: Any) -> list[Any]:
    return [observation > 2, np.int8(observation % 2)]


def test_a_function_is_an_encoder() -> None:
    made = encoder(Discrete(9), halves, [0])
    assert isinstance(made, FunctionEncoder)
    assert (made.bits, made.word) == (2, "function halves")
    assert made(5) == (1, 1)
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda observation: 3, "the result of encode is 3, expected a sequence of 0 and 1"),
        (lambda observation: [], "the result of encode is [], expected a sequence of 0 and 1"),
        (lambda observation: 1 / 0, "encode failed for 0: ZeroDivisionError: division by zero"),
        (
            lambda observation: [0] * (2**20 + 1),
            "the result of encode has 1,048,577 entries, at most 1,048,5",
        ),
    ],
)
def test_a_function_that_gives_no_bits_is_refused(function: Any, problem: str) -> None:
    assert refused(lambda: encoder(Discrete(9), function, [0])).startswith(problem)


def test_a_function_gives_always_as_many_bits() -> None:
    made = encoder(Discrete(9), lambda observation: [0] * (observation + 1), [0])
    with pytest.raises(
        InputError, match="encode gives 3 bits for 2, and gave 1 before; expected the same number each time"
    ):
        made(2)


# ---------------------------------------------------------------- kept and made again

CASES = [
    (Discrete(5), "one-hot", []),
    (Tuple([Discrete(3), LINE]), "bins:3", []),
    (ROOM, "bins:5:quantiles", [np.array([k / 9, 1 / (k + 1)], np.float32) for k in range(60)]),
]


@pytest.mark.parametrize(("space", "encode", "seen"), CASES)
def test_an_encoder_is_made_again_from_json_and_from_a_pickle(
    space: Any, encode: str, seen: list[Any]
) -> None:
    made = encoder(space, encode, seen)
    again = Encoder.from_dict(json.loads(json.dumps(made.to_dict())), space)
    assert again == made
    assert again.word == made.word
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301


@pytest.mark.parametrize(
    ("data", "space", "problem"),
    [
        (3, LINE, "encoder is 3, expected word, bits and edges"),
        ({"word": "binary", "bits": 2, "edges": []}, Discrete(9), "was not made for Discrete(9); the env"),
        ({"word": "bins:2", "bits": 1, "edges": [[3.0]]}, LINE, "was not made for Box(0.0, 8.0, (1,)"),
        ({"word": "bins:3:quantiles", "bits": 2, "edges": [[2.0, 1.0]]}, LINE, "expected ascending numbers"),
        ({"word": "bins:2:quantiles", "bits": 1, "edges": [["x"]]}, LINE, "expected a finite number"),
        ({"word": "bins:2:quantiles", "bits": 1, "edges": 5}, LINE, "edges of the encoder is 5, expected"),
        ({"word": "binary", "bits": 1, "edges": [], "seen": [[0, 1]]}, BYTES, "was not made for Box(0, 255,"),
        (
            {"word": "binary", "bits": 1, "edges": [], "seen": [[1, 0], [0]]},
            BYTES,
            "expected ascending whole nu",
        ),
        ({"word": "function f", "bits": 1}, LINE, "encode was the function f; give the function again"),
    ],
)
def test_what_is_no_encoder_or_one_of_another_space_is_refused(data: Any, space: Any, problem: str) -> None:
    assert problem in refused(lambda: Encoder.from_dict(data, space))
