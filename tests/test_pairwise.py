import itertools

import pytest
from pairwise import pairwise


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (3, 2, 4), (2, 2, 2, 2, 2), (5, 3, 2)])
def test_any_two_values_meet_in_few_combinations(sizes):
    factors = [[f"{number}-{value}" for value in range(size)] for number, size in enumerate(sizes)]
    found = pairwise(*factors)
    met = {pair for chosen in found for pair in itertools.combinations(chosen, 2)}
    assert met == {pair for two in itertools.combinations(factors, 2) for pair in itertools.product(*two)}
    first, second = sorted(sizes)[-2:]
    assert first * second <= len(found) <= 2 * first * second
    assert all(chosen[number] in factor for chosen in found for number, factor in enumerate(factors))
