"""Neuron activation traces: counts, frequencies, rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from distal.model import traces


def test_the_traces_of_a_four_step_episode_written_out() -> None:
    pre = np.array([[0, 1], [0, 1], [1, 1], [0, 0]], np.uint8)  # (steps, 2 neurons)
    post = np.array([[0], [1], [1], [0]], np.uint8)
    # synapse 0: (0,0), (0,1), (1,1), (0,0); synapse 1: (1,0), (1,1), (1,1), (0,0)
    count = traces.counts(pre, post)
    assert count[:, 0, 0].tolist() == [2, 1, 0, 1]
    assert count[:, 0, 1].tolist() == [1, 0, 1, 2]
    frequency = traces.frequencies(count, steps=4)
    assert frequency[:, 0, 0].tolist() == [0.5, 0.25, 0, 0.25]
    # above 0.25 only 00 of synapse 0 and only 11 of synapse 1: rows 1000 and 0001
    assert traces.rows(frequency, np.float32(0.25), m=-1).tolist() == [[16, 2]]
    assert traces.rows(frequency, np.float32(0.25), m=+1).tolist() == [[17, 3]]
    # above 0.2: rows 1101 and 1011
    assert traces.rows(frequency, np.float32(0.2), m=-1).tolist() == [[26, 22]]


@pytest.mark.parametrize("row", range(32))
def test_every_row_is_reached_by_some_synapse(row: int) -> None:
    states = [(0, 0), (0, 1), (1, 0), (1, 1)]
    wanted = [state for bit, state in zip(format(row // 2, "04b"), states, strict=True) if bit == "1"]
    # each wanted state equally often and above θ = 0.2; for none, two states at exactly θ = 0.5
    history, theta = (wanted, 0.2) if wanted else (states[:2], 0.5)
    pre, post = (np.array(side, np.uint8)[:, None] for side in zip(*history, strict=True))
    frequency = traces.frequencies(traces.counts(pre, post), len(history))
    assert traces.rows(frequency, np.float32(theta), m=1 if row % 2 else -1).tolist() == [[row]]


@given(st.integers(1, 30), st.integers(1, 5), st.integers(1, 5), st.data())
def test_the_four_counts_of_a_synapse_sum_to_the_steps(
    steps: int, n_pre: int, n_post: int, data: st.DataObject
) -> None:
    bits = st.integers(0, 1)
    pre = data.draw(hnp.arrays(np.uint8, (steps, n_pre), elements=bits))
    post = data.draw(hnp.arrays(np.uint8, (steps, n_post), elements=bits))
    count = traces.counts(pre, post)
    assert count.shape == (4, n_post, n_pre)
    assert (count.sum(axis=0) == steps).all()
    assert traces.frequencies(count, steps).sum(axis=0) == pytest.approx(np.ones((n_post, n_pre)), abs=1e-6)
    for i in range(n_post):
        for j in range(n_pre):
            by_hand = [0, 0, 0, 0]
            for t in range(steps):
                by_hand[2 * int(pre[t, j]) + int(post[t, i])] += 1
            assert count[:, i, j].tolist() == by_hand
