"""Random streams (splitmix64).

A search gets its own stream from (seed, node path, run) inside the kernel, which neither numpy's generators nor Numba's
global state can give. A stream is an array whose first element is its state.
"""

import numpy as np

from ._jit import inlined, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)


@inlined
def scramble(z):
    """Turn a number into one that looks random."""
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@kernel
def mix(seed, salt):
    """Derive an independent stream from a stream and a number."""
    return scramble(seed ^ (np.uint64(salt) * _GOLDEN + _MIX1))


@inlined
def random_bits(stream):
    """Return the next 64 random bits of a stream."""
    stream[0] += _GOLDEN
    return scramble(stream[0])


@inlined
def uniform(stream):
    """Return the next number of a stream, uniform in [0, 1)."""
    return np.float64(random_bits(stream) >> _S11) * (1.0 / 9007199254740992.0)


@inlined
def lot(salt, passed):
    """Return the lot that a position draws among equally good ones.

    It depends on the weight of the crossings before the position only, so the draw does not depend on how they were
    bucketed, on the order of the rows, or on whether an example has weight 2 or stands there twice.
    """
    return mix(salt, np.uint64(np.float32(passed).view(np.int32)))
