"""Compiled: sums of weights, values and squares without rounding (see `oc1.data.exact_moments`).

A float is a whole number below 2**53, the mantissa, times a power of two. Products of mantissas are written in digits
of 26 bits (the first may have a few more), and a digit is added to the bin of its place. Sixteen neighbouring exponents
share a bin: a digit is shifted to the lowest of them, which leaves an int64 room for `MOST_VALUES`::

    bins[power, k, i]   counts in units of   2 ** (SMALLEST * (power + 1) + 16 * k + 26 * i)

Power 0 has the weights of known values, 1 weight * value, 2 weight * value**2; the last, `MISSING`, has the weights of
missing values, in the units of power 0.
"""

import numpy as np

from ._jit import kernel

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
        exponent = (value_bits[j] >> 52) & 0x7FF
        mantissa = value_bits[j] & _FRACTION
        if exponent > 0:  # else the number is too small for a full mantissa
            mantissa |= 1 << 52
            exponent -= 1
        sign = 1 | (value_bits[j] >> 63)
        low, high = mantissa & _LOW, mantissa >> DIGIT_BITS
        product = low * low
        square_0 = product & _LOW
        product = 2 * low * high + (product >> DIGIT_BITS)
        square_1 = product & _LOW
        product = high * high + (product >> DIGIT_BITS)
        square_2, square_3 = product & _LOW, product >> DIGIT_BITS

        if counts_alike:  # the same as a weight of 1, in half the time
            place = exponent - SMALLEST
            k, shift = place >> BIN_BITS, place & _WITHIN
            bins[1, k, 0] += sign * (low << shift)
            bins[1, k, 1] += sign * (high << shift)
            place += exponent
            k, shift = place >> BIN_BITS, place & _WITHIN
            bins[2, k, 0] += square_0 << shift
            bins[2, k, 1] += square_1 << shift
            bins[2, k, 2] += square_2 << shift
            bins[2, k, 3] += square_3 << shift
            continue

        weight_exponent = weight_bits[j] >> 52
        weight = weight_bits[j] & _FRACTION
        if weight_exponent > 0:
            weight |= 1 << 52
            weight_exponent -= 1
        for part in range(2):
            digit = weight >> DIGIT_BITS if part else weight & _LOW
            if digit == 0:  # the lower one, if the weight is a whole number
                continue
            place = weight_exponent + DIGIT_BITS * part
            k, shift = place >> BIN_BITS, place & _WITHIN
            if not is_known:
                bins[MISSING, k, 0] += digit << shift
                continue
            bins[0, k, 0] += digit << shift
            place += exponent
            k, shift = place >> BIN_BITS, place & _WITHIN
            product = digit * low
            bins[1, k, 0] += sign * ((product & _LOW) << shift)
            product = digit * high + (product >> DIGIT_BITS)
            bins[1, k, 1] += sign * ((product & _LOW) << shift)
            bins[1, k, 2] += sign * ((product >> DIGIT_BITS) << shift)
            place += exponent
            k, shift = place >> BIN_BITS, place & _WITHIN
            product = digit * square_0
            bins[2, k, 0] += (product & _LOW) << shift
            product = digit * square_1 + (product >> DIGIT_BITS)
            bins[2, k, 1] += (product & _LOW) << shift
            product = digit * square_2 + (product >> DIGIT_BITS)
            bins[2, k, 2] += (product & _LOW) << shift
            product = digit * square_3 + (product >> DIGIT_BITS)
            bins[2, k, 3] += (product & _LOW) << shift
            bins[2, k, 4] += (product >> DIGIT_BITS) << shift
    if counts_alike:
        k, shift = -SMALLEST >> BIN_BITS, -SMALLEST & _WITHIN
        bins[0, k, 0] += n_known << shift
        bins[MISSING, k, 0] += (values.size - n_known) << shift
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
    return n_known, lowest, highest, n_used
