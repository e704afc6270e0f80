"""Compiled: sums of weights, values and squares without rounding (see `oc1.data.exact_moments`).

A float is a whole number below 2**53, the mantissa, times a power of two. Products of mantissas are written in digits
of 26 bits (the first may have a few more), and a digit is added to the bin of its place. Sixteen neighbouring exponents
share a bin: a digit is shifted to the lowest of them, which leaves an int64 room for `MOST_VALUES`::

    bins[power, k, i]   counts in units of   2 ** (SMALLEST * (power + 1) + 16 * k + 26 * i)

Power 0 has the weights of known values, 1 weight * value, 2 weight * value**2; the last, `MISSING`, has the weights of
missing values, in the units of power 0.
"""

import numpy as np

from ._jit import inlined, inner, kernel, spliced

#: All floats are whole multiples of 2**SMALLEST.
SMALLEST = -1074
#: Values that may be added to a set of bins: a shifted digit has at most 45 bits, and a weight has two digits.
MOST_VALUES = 2**16
DIGIT_BITS = 26
BIN_BITS = 4
MISSING = 3
#: Bins for the exponents of one factor, and for the second digit of the weight.
N_BINS = ((2048 + DIGIT_BITS) >> BIN_BITS) + 1
SHAPE = (4, 3 * N_BINS, 5)

_LOW = (1 << DIGIT_BITS) - 1
_FRACTION = (1 << 52) - 1
_WITHIN = (1 << BIN_BITS) - 1
_SIGN = np.int64(-(2**63))


@kernel
def add_values(values, weights, bins, sums):
    """Add up weights, values and squares; return (values that are known, the lowest, the highest, length of `sums`).

    Parameters
    ----------
    values : contiguous float64 array, at most `MOST_VALUES`; NaN is missing
    weights : contiguous float64 array, of the same length, or empty if all count one; not negative
    bins : int64 array of `SHAPE`, all zero; left so
    sums : int64 array (n, 3) of room for all bins
        Gets a row (power, place, digits) for each bin that is used: the sum for a power is that of its
        ``digits << place``.
    """
    value_bits, weight_bits = values.view(np.int64), weights.view(np.int64)
    counts_alike = weights.size == 0
    n_known, lowest, highest = 0, np.inf, -np.inf
    for j in range(values.size):
        x = values[j]
        is_known = x == x
        if is_known:
            n_known += 1
            lowest, highest = min(lowest, x), max(highest, x)
        elif counts_alike:
            continue
        exponent, mantissa = split_float(value_bits[j] & ~_SIGN)
        sign = 1 | (value_bits[j] >> 63)
        low, high = mantissa & _LOW, mantissa >> DIGIT_BITS
        squares = square_digits(low, high)
        if counts_alike:  # the same as a weight of 1, in half the time
            add_to(bins, 1, 0, exponent - SMALLEST, sign * low)
            add_to(bins, 1, 1, exponent - SMALLEST, sign * high)
            for i in range(4):
                add_to(bins, 2, i, 2 * exponent - SMALLEST, squares[i])
            continue
        weight_exponent, weight = split_float(weight_bits[j])
        for part in range(2):
            digit = weight >> DIGIT_BITS if part else weight & _LOW
            place = weight_exponent + DIGIT_BITS * part
            if not is_known:
                add_to(bins, MISSING, 0, place, digit)
            elif digit > 0:  # the lower one is 0, if the weight is a whole number
                add_to(bins, 0, 0, place, digit)
                add_product(bins, place + exponent, digit, sign, low, high)
                add_square(bins, place + 2 * exponent, digit, squares)
    if counts_alike:
        add_to(bins, 0, 0, -SMALLEST, n_known)
        add_to(bins, MISSING, 0, -SMALLEST, values.size - n_known)
    return n_known, lowest, highest, collect(bins, sums)


@inlined
def split_float(bits):
    """Return the exponent, from 0 on, and the mantissa of a float that is not negative."""
    exponent, mantissa = bits >> 52, bits & _FRACTION
    if exponent > 0:  # else the number is too small for a full mantissa
        mantissa |= 1 << 52
        exponent -= 1
    return exponent, mantissa


@spliced
def add_to(bins, power, i, place, digit):
    """Add a digit to the bin of its place."""
    bins[power, place >> BIN_BITS, i] += digit << (place & _WITHIN)


@inlined
def square_digits(low, high):
    """Return the four digits of the square of a number of two digits."""
    first = low * low
    second = 2 * low * high + (first >> DIGIT_BITS)
    third = high * high + (second >> DIGIT_BITS)
    return first & _LOW, second & _LOW, third & _LOW, third >> DIGIT_BITS


@inlined
def add_product(bins, place, digit, sign, low, high):
    """Add a digit of a weight times a number of two digits."""
    product = digit * low
    add_to(bins, 1, 0, place, sign * (product & _LOW))
    product = digit * high + (product >> DIGIT_BITS)
    add_to(bins, 1, 1, place, sign * (product & _LOW))
    add_to(bins, 1, 2, place, sign * (product >> DIGIT_BITS))


@inlined
def add_square(bins, place, digit, squares):
    """Add a digit of a weight times a square."""
    carry = 0
    for i in range(4):
        product = digit * squares[i] + carry
        add_to(bins, 2, i, place, product & _LOW)
        carry = product >> DIGIT_BITS
    add_to(bins, 2, 4, place, carry)


@inner
def collect(bins, sums):
    """Write the bins that are used to `sums`, and empty them; return how many there are."""
    n_used = 0
    for power in range(4):
        factors = power if power < MISSING else 0  # apart from the weight
        for k in range((factors + 1) * N_BINS):
            for i in range(2 * factors + 1):
                if bins[power, k, i] != 0:
                    sums[n_used, 0] = power
                    sums[n_used, 1] = (k << BIN_BITS) + i * DIGIT_BITS
                    sums[n_used, 2] = bins[power, k, i]
                    bins[power, k, i] = 0
                    n_used += 1
    return n_used
