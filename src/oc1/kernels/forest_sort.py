"""The examples of a node in their order along a direction: most of the work of growing a forest.

The values, as distances from that of the node's first example, are rounded to float32, whose bits are turned into a
whole number of the same order. With the place of the example below it, that is one 64-bit number: a radix sort of four
passes takes them in linear time. Values that are equal once they are rounded are taken to be equal; a node is small
beside the range of its attributes, so they all but are.
"""

import numpy as np

from ._jit import inlined, inner
from .forest_records import BUCKETS, PASSES

#: Up to this number, insertion is faster.
MAX_INSERTED = 48
_SIGN, _LOW = np.uint32(0x80000000), np.uint64(0xFF)
PLACE, HALF, EIGHT = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(8)


@inlined
def key_of(value):
    """Return a whole number for a float32, in the same order; there must be no -0."""
    bits = np.float32(value).view(np.uint32)
    return ~bits if bits & _SIGN else bits | _SIGN


@inlined
def shortened(value, origin):
    """Return a value as it is sorted; 0 is added because -0 is equal to 0."""
    return np.float32(value - origin) + np.float32(0.0)


@inner
def sort_line(line, origin, n, keys, short, starts):
    """Sort n values as seen from an origin; return the row of `keys` that has, in order, key and place of each."""
    for i in range(n):
        short[i] = shortened(line[i], origin)
    for i in range(n):
        keys[0, i] = (np.uint64(key_of(short[i])) << HALF) | np.uint64(i)
    if n <= MAX_INSERTED:
        for i in range(1, n):
            own, j = keys[0, i], i - 1
            while j >= 0 and keys[0, j] > own:
                keys[0, j + 1] = keys[0, j]
                j -= 1
            keys[0, j + 1] = own
        return 0
    return sort_by_digits(keys, n, starts)


@inner
def sort_by_digits(keys, n, starts):
    """Sort keys by one digit after the other, from the lowest; return the row that has them in the end."""
    for i in range(PASSES * BUCKETS):
        starts[i] = 0
    for i in range(n):
        key = keys[0, i] >> HALF
        for digit in range(PASSES):
            starts[BUCKETS * digit + np.int64(key & _LOW)] += 1
            key >>= EIGHT
    source = 0
    for digit in range(PASSES):
        base, shift, at = BUCKETS * digit, HALF + EIGHT * np.uint64(digit), 0
        if starts[base + np.int64((keys[source, 0] >> shift) & _LOW)] == n:  # all have the same digit
            continue
        for i in range(base, base + BUCKETS):
            starts[i], at = at, at + starts[i]
        for i in range(n):
            key = keys[source, i]
            bucket = base + np.int64((key >> shift) & _LOW)
            keys[1 - source, starts[bucket]] = key
            starts[bucket] += 1
        source = 1 - source
    return source
