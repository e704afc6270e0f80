"""A GPU that is none: what `oc1.cuda.device.Device` does, slowly and obviously, with numpy in the place of CuPy."""

import numpy as np

from oc1.growing.calls import Histograms

FAR = np.float32(1e30)


def margins_of(columns, plane):
    """Add up a plane in float32, term by term, those that are 0 left out."""
    margins = np.full(columns.shape[1], plane[-1], dtype=np.float32)
    for column, coefficient in zip(columns, plane[:-1], strict=True):
        if coefficient != 0:
            margins = margins + np.float32(coefficient) * column
    return margins


def buckets_of(margins, rates, centre, scale, half):
    """Find the bucket in which each example crosses, one after the other."""
    codes = np.empty(len(margins), dtype=np.int64)
    for j, (margin, rate) in enumerate(zip(margins, rates, strict=True)):
        t = -margin / rate
        if not abs(t) < FAR:
            codes[j] = 4 * half + (margin > 0)
            continue
        u, end = t - centre, np.float32(half)
        inner = min(int(end - (end * scale) / (abs(u) + scale)), half - 1)
        codes[j] = (half + inner if u >= 0 else half - 1 - inner) + (2 * half if rate < 0 else 0)
    return codes


class NumpyDevice:
    """See `oc1.cuda.device.Device`."""

    xp = np

    def __init__(self, free_bytes=2**40):
        self.free_bytes, self.n_counted = free_bytes, 0

    def count_lines(self, part, lines, half):
        self.n_counted += 1
        d, width = len(part.columns), 4 * half + 2
        shape = len(lines.which), len(part.bounds) - 1, width
        counts = np.zeros(shape, dtype=np.int64)
        sums = np.zeros(shape if part.weights is not None else (0, 0, 0), dtype=np.int64)
        for q, (plane, moving, side) in enumerate(zip(lines.plane_of, lines.which, lines.sides, strict=True)):
            for c, (first, stop) in enumerate(zip(part.bounds[:-1], part.bounds[1:], strict=True)):
                columns = part.columns[:, first:stop]
                rates = margins_of(columns, lines.directions[q])
                if moving >= 0:
                    rates = columns[moving] if moving < d else np.ones(stop - first, dtype=np.float32)
                with np.errstate(all="ignore"):
                    margins = margins_of(columns, lines.planes[plane])
                    codes = buckets_of(margins, rates, lines.centres[q], lines.scales[q], half)
                if side != 0 and part.missing_mask is not None:
                    only = np.flatnonzero(lines.planes[plane][:-1])[0]
                    codes[part.missing_mask[only, first:stop] != 0] = 4 * half + (side > 0)
                counts[q, c] = np.bincount(codes, minlength=width)
                if sums.size:
                    np.add.at(sums[q, c], codes, part.weights[first:stop])
        return Histograms(counts, sums * part.unit)

    def find_near(self, columns, start, stop, plane, width):
        return start + np.flatnonzero(np.abs(margins_of(columns[:, start:stop], plane)) <= width)

    def gather_columns(self, X, rows, fill, space):
        with np.errstate(divide="ignore"):
            factors = np.where(space.scale > 0.0, 2.0 / space.scale, 0.0)
        known = np.where(np.isnan(X[rows]), fill, X[rows]).astype(np.float64)
        return np.ascontiguousarray(((0.5 * known - 0.5 * space.shift) * factors).astype(np.float32).T)

    def project(self, X, rows, fill, test):
        chosen = X[rows].astype(np.float64)
        values = np.zeros(len(rows))
        for feature, coefficient in zip(test.features, test.coefficients, strict=True):
            values += coefficient * np.where(np.isnan(chosen[:, feature]), fill[feature], chosen[:, feature])
        if test.missing != 0:
            values[np.isnan(chosen[:, test.features[0]])] = np.inf * test.missing
        return values

    def find_leaves(self, X, tree):
        return tree.apply(X)
