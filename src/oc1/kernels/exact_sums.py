"""Compiled: sums of weights, values and squares without rounding (see `oc1.data.exact_moments`).

A float is a whole number below 2**53, the mantissa, times a power of two. Mantissas are cut into digits of 26 bits, and
products of digits are added to a whole number for each place::

    sums[power, place]   counts in units of   2 ** (SMALLEST * (power + 1) + place)

Power 0 has the weights of known values, 1 weight * value, 2 weight * value**2; the last, `MISSING`, has the weights of
missing values, in the units of power 0.
"""

import numpy as np

from ._jit import inlined, kernel

#: All floats are whole multiples of 2**SMALLEST.
SMALLEST = -1074
DIGIT_BITS = 26
MISSING = 3
#: Powers, and places: three factors have up to 2046 each, and the last of their digits begins 5 digits further on.
SHAPE = (4, 3 * 2046 + 6 * DIGIT_BITS)

_LOW = (1 << DIGIT_BITS) - 1
_FRACTION = (1 << 52) - 1
_SIGN = np.int64(-(2**63))


@kernel
def add_values(values, weights, sums):
    """Add weights, values and squares to `sums`; return the lowest and the highest value.

    Parameters
    ----------
    values : contiguous float64 array, fewer than 2**32; NaN is missing
    weights : contiguous float64 array, of the same length, or empty if all count one; not negative
    sums : int64 array of `SHAPE`
    """
    value_bits, weight_bits = values.view(np.int64), weights.view(np.int64)
    lowest, highest = np.inf, -np.inf
    for j in range(values.size):
        x = values[j]
        if x == x:
            lowest, highest = min(lowest, x), max(highest, x)
        if weights.size == 0:
            add_value(sums, -SMALLEST, 1, x, value_bits[j])
        else:
            place, weight = split_float(weight_bits[j])
            add_value(sums, place, weight & _LOW, x, value_bits[j])
            add_value(sums, place + DIGIT_BITS, weight >> DIGIT_BITS, x, value_bits[j])
    return lowest, highest


@inlined
def add_value(sums, place, weight, x, bits):
    """Add a value to the sums, with one digit of its weight."""
    if weight == 0:  # the lower digit of whole numbers
        return
    if x != x:
        sums[MISSING, place] += weight
        return
    sums[0, place] += weight
    exponent, mantissa = split_float(bits & ~_SIGN)
    place, sign = place + exponent, 1 | (bits >> 63)
    low, high = mantissa & _LOW, mantissa >> DIGIT_BITS
    add_product(sums, 1, place, weight, sign * low)
    add_product(sums, 1, place + DIGIT_BITS, weight, sign * high)
    place, square = place + exponent, low * low
    add_product(sums, 2, place, weight, square & _LOW)
    square = 2 * low * high + (square >> DIGIT_BITS)
    add_product(sums, 2, place + DIGIT_BITS, weight, square & _LOW)
    square = high * high + (square >> DIGIT_BITS)
    add_product(sums, 2, place + 2 * DIGIT_BITS, weight, square & _LOW)
    add_product(sums, 2, place + 3 * DIGIT_BITS, weight, square >> DIGIT_BITS)


@inlined
def split_float(bits):
    """Return the exponent, from 0 on, and the mantissa of a float that is not negative."""
    exponent, mantissa = bits >> 52, bits & _FRACTION
    if exponent > 0:  # else the number is too small for a full mantissa
        mantissa |= 1 << 52
        exponent -= 1
    return exponent, mantissa


@inlined
def add_product(sums, power, place, digit, other):
    """Add the product of two digits, in two parts, so that there is room for many."""
    if digit == 1:
        sums[power, place] += other
    else:
        product = digit * other
        sums[power, place] += product & _LOW
        sums[power, place + DIGIT_BITS] += product >> DIGIT_BITS
