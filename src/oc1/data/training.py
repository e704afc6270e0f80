"""The checked training data of one fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from . import sampling
from .categories import Categories, Codes, code_categories, renumber, replace_by_codes
from .exact_moments import ExactMoments, exact_moments


class Training(NamedTuple):
    """The checked training data of one fit.

    Parts of the examples, to grow a tree on or to judge it by, are given as *shares*: for each example, how much of it
    (0 to 1) belongs to the part.
    """

    X: np.ndarray  # float64 or float32 (n, d), may hold NaN
    y: np.ndarray  # int (n): class indices; float64 (n): numbers to predict
    weights: np.ndarray | None  # None if all examples count alike
    fill: np.ndarray  # what missing values count as
    classes: np.ndarray
    feature_names: tuple[str, ...]
    seed: int
    categories: Categories = ()  # empty if no attribute is categorical; else X holds category numbers
    coded: tuple[bool, ...] = ()  # which attributes hold the codes of categories; empty if none do
    moments: ExactMoments | None = None  # of all examples, with their weights, if they are known
    rows: np.ndarray | None = None  # which rows of the user's table these are; None: all, in their order

    @classmethod
    def make(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
        classes: np.ndarray,
        feature_names: tuple[str, ...],
        seed: int,
        categories: Categories = (),
        n_jobs: int = 1,
    ) -> Training:
        """Leave out examples without weight, number the categories by frequency, find the means of the attributes."""
        kept = None
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights > 0)
            if not len(kept):
                raise ValueError("class_weight and sample_weight leave no example: all weights are zero")
            X, y, weights = X[kept], y[kept], weights[kept]
        if categories:
            X, categories = renumber(X, categories, y, weights)
        moments = exact_moments(X, weights, n_jobs=n_jobs)
        return cls(X, y, weights, moments.means, classes, feature_names, seed, categories, moments=moments, rows=kept)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.y)

    @property
    def varies(self) -> bool:
        """Whether there is something to learn: more than one class, or different numbers."""
        return bool(np.ptp(self.y) > 0)

    @property
    def everything(self) -> np.ndarray:
        """The share of each example in all of them: 1, in an array of one number."""
        return np.broadcast_to(1.0, len(self.y))

    def some(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the attributes and the answers of all examples or, if there are more than `most`, of some of them."""
        if self.n_examples <= most:
            return self.X, self.y
        rows = np.linspace(0, self.n_examples - 1, most).astype(np.int64)  # the same ones at every fit
        return self.X[rows], self.y[rows]

    def with_ratios(self, counts_evidence: bool = True) -> Training:
        """Return the data with weights as ratios, so that nothing depends on their unit (see `sampling.as_ratios`)."""
        weights = sampling.as_ratios(self.weights, counts_evidence)
        moments = self.moments if weights is None else exact_moments(self.X, weights)
        return self._replace(weights=weights, moments=moments)

    def in_canonical_order(self, max_rows: int) -> Training:
        """Return the data with rows in an order that their content decides, so that no rounding depends on it.

        More than `max_rows` stay in their order.
        """
        if self.n_examples > max_rows:
            return self
        content = [self.X.astype(np.float64), self.y[:, None]]
        if self.weights is not None:
            content.append(self.weights[:, None])
        rows = np.ascontiguousarray(np.column_stack(content) + 0.0)  # -0.0 is 0.0
        return self._of_rows(np.argsort(rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel(), kind="stable"))

    def _of_rows(self, rows: np.ndarray) -> Training:
        return self._replace(
            X=self.X[rows],
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            rows=rows if self.rows is None else self.rows[rows],
        )

    def sample(self, max_rows: int) -> Training:
        """Return about this number of examples at most, drawn by their places."""
        if self.n_examples <= max_rows:
            return self
        share = max_rows / self.n_examples
        rows = np.flatnonzero(sampling.place_hashes(0, self.n_examples, self.seed) < share * 2.0**64)
        sample = self._of_rows(rows)
        return sample._replace(moments=exact_moments(sample.X, sample.weights))

    def hold_out(self, fraction: float) -> tuple[np.ndarray, np.ndarray]:
        """Draw a part to be kept back; return (the others, that part)."""
        return sampling.hold_out(self.X, self._labels, self.weights, fraction, self.seed)

    def deal_folds(self, n_folds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Deal the examples into folds; yield (the others, that fold) for each."""
        return sampling.deal_folds(self.X, self._labels, self.weights, n_folds, self.seed)

    def mass(self, share: np.ndarray) -> float:
        """Return the weight of a part."""
        return float(share.sum() if self.weights is None else (self.weights * share).sum())

    def part(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the rows that have a share, and all weights times their shares (None if all count alike)."""
        rows = np.arange(len(share)) if share.strides == (0,) else np.flatnonzero(share)
        return rows, None if self.weights is None else self.weights * share

    def with_codes(self, rows: np.ndarray, weights: np.ndarray | None) -> tuple[Training, Codes]:
        """Return the data with the codes that some rows give to the categories in their place, and these codes."""
        codes, means = code_categories(self.X, self.categories, self.y, len(self.classes), rows, weights)
        is_coded = tuple(own is not None for own in codes)
        fill = np.where(is_coded, means, self.fill)
        return self._replace(
            X=replace_by_codes(self.X, codes), fill=fill, categories=(), coded=is_coded, moments=None
        ), codes

    @property
    def _labels(self) -> np.ndarray:
        # Numbers, too, are drawn by what they are, not by their size.
        return np.unique(self.y, return_inverse=True)[1]
