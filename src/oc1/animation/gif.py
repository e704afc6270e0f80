"""A recorded search (see `recording`) as an animated GIF: examples and hyperplane, and the impurity curve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from PIL import Image

from ..files.atomic import replacing
from ..files.problems import FilePath
from ..growing.progress_bar import progress_bar
from ..plotting.regions import cut_polygon
from ..plotting.style import class_style, plain
from .recording import JUMP, START, SearchRecord, frames_of, histograms_of, impurity_range, pieces_of, shown

#: Colours of the hyperplane, of a jump, and of earlier positions; classes have others.
INK, JUMPED, EARLIER, PALE = "#1A1A1A", "#E6007E", "#6B6B6B", "#C4C4C4"
HALO = [withStroke(linewidth=4.5, foreground="white")]
#: Earlier positions of a run that are shown.
TAIL = 12
#: Points that are drawn, and letters for the names of classes.
MAX_POINTS, MAX_LETTERS = 3000, 130
#: Frames that a start, a jump and the end last, since there is more to look at.
START_LASTS, JUMP_LASTS, END_LASTS = 2, 3, 8
COLOURS = 200


def write_gif(
    record: SearchRecord, path: FilePath, *, fps: float = 8.0, max_frames: int = 300, width: int = 900
) -> int:
    """Write a recorded search as an animated GIF.

    Two attributes are drawn as a plane: the examples, the hyperplane, its previous positions in grey, jumps in a
    different colour, and the best hyperplane so far as a dashed line. For more attributes, a histogram shows the
    examples along the direction of the test. Next to it is the impurity after each step.

    Parameters
    ----------
    record : SearchRecord
    path : str or path-like
        The file is written completely or not at all.
    fps : float, default=8
        Steps per second.
    max_frames : int, default=300
        See `oc1.animation.recording.frames_of`. One more frame at the end shows the node's final test.
    width : int, default=900
        Width of the GIF in pixels.

    Returns
    -------
    int
        The number of frames.
    """
    if not fps > 0:
        raise ValueError(f"fps must be above 0, got {fps}")
    frames = frames_of(record, max_frames)
    picture = _Picture(record, frames, width)
    kinds = [record.steps[number].kind for number in frames]
    lasting = [{START: START_LASTS, JUMP: JUMP_LASTS}.get(kind, 1) for kind in kinds] + [END_LASTS]
    # GIF counts hundredths of a second, and programs that show it slow down below two of them.
    durations = [max(20, 10 * round(100 * own / fps)) for own in lasting]
    n = len(durations)
    with progress_bar("drawing", n) as bar, replacing(path) as file:
        # A palette for all frames, of some that hold every colour.
        samples = {0, n // 2, n - 2, n - 1} | {kinds.index(JUMP) if JUMP in kinds else 0}
        palette = Image.fromarray(np.concatenate([picture.frame(i) for i in sorted(samples)])).quantize(COLOURS)
        colours = np.array(palette.getpalette() or (), dtype=np.int64).reshape(-1, 3)
        colours[colours.min(axis=1) >= 248] = 255  # paper is white, not nearly so
        palette.putpalette(colours.ravel().tolist())

        def images() -> Iterator[Image.Image]:
            for i in range(n):
                yield Image.fromarray(picture.frame(i)).quantize(palette=palette, dither=Image.Dither.NONE)
                bar.advance()

        drawn = images()
        first = next(drawn)
        first.save(file, "GIF", save_all=True, append_images=drawn, duration=durations, loop=0, optimize=True)
    return n


class _Picture:
    """The picture of a search: what stays is drawn once, what moves again for each frame.

    Parameters
    ----------
    record : SearchRecord
    frames : int array
        The steps that are shown; the frame after the last is the end.
    width : int
    """

    def __init__(self, record: SearchRecord, frames: np.ndarray, width: int) -> None:
        self.record, self.frames = record, frames
        self.impurities = record.impurities
        # Everything grows with the width.
        self.figure = Figure(figsize=(9.0, 4.5), dpi=width / 9.0, facecolor="white")
        self.canvas = cast("Any", FigureCanvasAgg(self.figure))
        self.font = 10.5
        self.left, self.right = self.figure.subplots(1, 2)
        self.figure.subplots_adjust(left=0.075, right=0.985, bottom=0.225, top=0.84, wspace=0.19)
        for ax in (self.left, self.right):
            ax.tick_params(labelsize=0.85 * self.font)
            ax.spines[["top", "right"]].set_visible(False)
        self.moving: list[Any] = []
        self.is_plane = record.X.shape[1] == 2
        if self.is_plane:
            self._prepare_plane()
        else:
            self._prepare_histogram()
        self._prepare_curve()
        self.title = self._moves(
            self.figure.text(0.012, 0.975, "", size=1.1 * self.font, weight="bold", va="top", color=INK)
        )
        self.subtitle = self._moves(self.figure.text(0.012, 0.908, "", size=self.font, va="top", color=EARLIER))
        self._explain()
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(self.figure.bbox)

    def _moves(self, artist: Any) -> Any:
        artist.set_animated(True)
        self.moving.append(artist)
        return artist

    def frame(self, number: int) -> np.ndarray:
        """Draw a frame; return its pixels."""
        is_end = number == len(self.frames)
        place = min(number, len(self.frames) - 1)
        step = self.frames[place]
        (self._show_plane if self.is_plane else self._show_histogram)(place, is_end)
        self._show_curve(step, is_end)
        self.title.set_text(plain(self._title(step, is_end)))
        self.subtitle.set_text(plain(self._test(step, is_end)))
        for text, size in ((self.title, 1.1 * self.font), (self.subtitle, self.font)):
            text.set_fontsize(size)
            room = 0.976 * self.figure.bbox.width / text.get_window_extent().width
            text.set_fontsize(size * min(1.0, room))
        self.canvas.restore_region(self.still)
        for artist in sorted(self.moving, key=lambda artist: artist.get_zorder()):
            if artist.get_visible():
                self.figure.draw_artist(artist)
        return np.asarray(self.canvas.buffer_rgba())[:, :, :3].copy()

    def _title(self, number: int, is_end: bool) -> str:
        record = self.record
        if is_end:
            best = record.best[-1]
            return f"best: run {record.steps[best].run}, step {best + 1}, impurity {shown(self.impurities[best])}"
        step = record.steps[number]
        where = f"run {step.run} of {record.n_runs}, step {number + 1} of {len(record.steps)}"
        return f"{where}: {record.describe(number)}"

    def _test(self, number: int, is_end: bool) -> str:
        record = self.record
        if is_end and record.split is None:
            return "the node stays a leaf"
        if is_end and record.split is not None:
            return f"the split of the node: {record.write_test(*record.split)}"
        step = record.steps[number]
        return record.write_test(step.coefficients, step.threshold)

    # ------------------------------------------------------------------------------------------------ left

    def _prepare_plane(self) -> None:
        record, ax = self.record, self.left
        (left, bottom), (right, top) = record.box
        self.box = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
        X, y = record.drawn_examples(MAX_POINTS)
        size = float(np.clip(9000 / len(y), 8, 60))
        for number in np.unique(y):
            colour, marker = class_style(int(number))
            edge = tuple(0.6 * part for part in to_rgb(colour))
            ax.scatter(*X[y == number].T, s=size, color=colour, marker=marker, edgecolor=edge, linewidth=0.5, zorder=2)
        ax.set(xlim=(left, right), ylim=(bottom, top))
        ax.set_xlabel(plain(_cut(record.feature_names[0], 40)), size=self.font)
        ax.set_ylabel(plain(_cut(record.feature_names[1], 30)), size=self.font)
        self.tail = self._moves(LineCollection([], zorder=3))
        ax.add_collection(self.tail)
        self.best_line = self._moves(ax.plot([], [], color=INK, linewidth=1.6, dashes=(4, 2.5), zorder=4)[0])
        self.line = self._moves(ax.plot([], [], linewidth=2.4, zorder=5, path_effects=HALO)[0])
        label = {"size": self.font, "color": EARLIER, "zorder": 6, "path_effects": HALO, "va": "top"}
        self.absent = self._moves(
            ax.text(0.5, 0.96, "outside the picture", transform=ax.transAxes, ha="center", **label)
        )

    def _segment(self, coefficients: np.ndarray, threshold: float) -> np.ndarray:
        """Return the two ends of a line inside the box; nothing if it passes by."""
        return cut_polygon(self.box, coefficients, threshold).segment[:2]

    def _line_of(self, number: int) -> np.ndarray:
        step = self.record.steps[number]
        return self._segment(step.coefficients, step.threshold)

    def _show_plane(self, place: int, is_end: bool) -> None:
        record, number = self.record, self.frames[place]
        step = record.steps[number]
        earlier = [i for i in self.frames[:place] if record.steps[i].run == step.run][-TAIL:]
        if is_end and record.split is not None:
            earlier, segment = [], self._segment(*record.split)
        else:
            segment = self._line_of(number)
        lines = [(self._line_of(i), record.steps[i].kind == JUMP) for i in earlier]
        fade = np.linspace(0.15, 0.75, TAIL)[TAIL - len(lines) :]
        kept = [(line, is_jump, alpha) for (line, is_jump), alpha in zip(lines, fade, strict=True) if len(line) == 2]
        self.tail.set_segments([line for line, _, _ in kept])
        self.tail.set_color([(*to_rgb(JUMPED if is_jump else EARLIER), alpha) for _, is_jump, alpha in kept])
        self.tail.set_linewidth(1.2)
        self.line.set_data(*segment.T if len(segment) == 2 else ([], []))
        self.line.set_color(JUMPED if step.kind == JUMP and not is_end else INK)
        best = self._line_of(record.best[number])
        self.best_line.set_data(*best.T if len(best) == 2 and not is_end else ([], []))
        self.absent.set_visible(len(segment) != 2)

    def _prepare_histogram(self) -> None:
        record, ax = self.record, self.left
        self.histograms = histograms_of(record, self.frames)
        ax.set(xlim=(0, 1), ylim=(0, 1.1), xticks=[], yticks=[])
        ax.set_xlabel("place along the test (each run on its own scale)", size=self.font)
        ax.set_ylabel("examples", size=self.font)
        self.bars = [
            self._moves(ax.add_collection(PolyCollection([], facecolor=class_style(c)[0], zorder=2)))
            for c in range(len(record.classes))
        ]
        self.line = self._moves(ax.axvline(0, linewidth=2.4, path_effects=HALO, zorder=5))
        label = {"size": 0.9 * self.font, "color": EARLIER, "zorder": 6, "path_effects": HALO, "va": "top"}
        self.sides = [
            self._moves(ax.text(0, 1.0, text, transform=ax.get_xaxis_transform(), ha=ha, **label))
            for text, ha in (("no  ", "right"), ("  yes", "left"))
        ]

    def _show_histogram(self, place: int, is_end: bool) -> None:
        histogram = self.histograms[-1] if is_end else self.histograms[place]
        n_bins, base = len(histogram.heights), np.zeros(len(histogram.heights))
        left = np.arange(n_bins) / n_bins
        right = left + 0.92 / n_bins
        for bars, heights in zip(self.bars, histogram.heights.T, strict=True):
            top = base + heights
            corners = np.stack([[left, base], [right, base], [right, top], [left, top]], axis=0).transpose(2, 0, 1)
            bars.set_verts(corners[heights > 0])
            base = top
        self.line.set_xdata([histogram.threshold] * 2)
        is_jump = self.record.steps[self.frames[place]].kind == JUMP and not is_end
        self.line.set_color(JUMPED if is_jump else INK)
        for text in self.sides:
            text.set_x(histogram.threshold)

    # ------------------------------------------------------------------------------------------------ right

    def _prepare_curve(self) -> None:
        record, ax = self.record, self.right
        bottom, top = impurity_range(record)
        n = len(self.impurities)
        ax.set(xlim=(0.5, 1.01 * n + 0.5), ylim=(bottom, top))
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.set_xlabel("step (the bands are runs)" if record.n_runs > 1 else "step", size=self.font)
        ax.set_ylabel(f"impurity ({plain(_cut(record.criterion, 24))})", size=self.font)
        self.heights = np.minimum(self.impurities, top)
        self.numbers = np.arange(1, n + 1)
        pieces = pieces_of(record)
        for begin, end in pieces[1::2]:
            ax.axvspan(begin + 0.5, end + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
        broken = np.array([begin for begin, _ in pieces[1:]], dtype=int)
        self.curve = np.insert(np.stack([self.numbers.astype(float), self.heights]), broken, np.nan, axis=1)
        self.places = self.numbers - 1 + np.searchsorted(broken, self.numbers - 1, side="right")
        ax.plot(*self.curve, color=PALE, linewidth=1.2, zorder=1)
        self.done = self._moves(ax.plot([], [], color=INK, linewidth=1.4, zorder=3)[0])
        self.lowest = self._moves(ax.plot([], [], color=INK, linewidth=1.2, dashes=(4, 2.5), zorder=2)[0])
        jumps = [i for i, step in enumerate(record.steps) if step.kind == JUMP]
        above = np.flatnonzero(self.impurities > top)
        ax.scatter(self.numbers[jumps], self.heights[jumps], s=22, color=JUMPED, zorder=4, clip_on=False)
        ax.scatter(self.numbers[above], self.heights[above], s=20, marker="^", color=PALE, zorder=4, clip_on=False)
        self.n_above = len(above)
        self.dot = self._moves(
            ax.plot([], [], "o", markersize=7.5, markeredgecolor="white", markeredgewidth=1.2, zorder=6, clip_on=False)[
                0
            ]
        )

    def _show_curve(self, number: int, is_end: bool) -> None:
        upto = len(self.numbers) - 1 if is_end else number
        self.done.set_data(*self.curve[:, : self.places[upto] + 1])
        best = self.heights[self.record.best[: upto + 1]]
        self.lowest.set_data(self.numbers[: upto + 1], best)
        at = self.record.best[-1] if is_end else number
        self.dot.set_data([self.numbers[at]], [self.heights[at]])
        self.dot.set_color(JUMPED if self.record.steps[at].kind == JUMP else INK)

    # ------------------------------------------------------------------------------------------------ below

    def _explain(self) -> None:
        """Write below the pictures what lines and colours mean."""
        record = self.record
        handles: list[Line2D | Patch] = []
        numbers, letters = np.unique(record.y).tolist(), 0
        for number in numbers:
            colour, marker = class_style(number)
            name = "class " + plain(_cut(str(record.classes[number]), 18))
            letters += len(name) + 8
            if letters > MAX_LETTERS:
                handles.append(Patch(color="none", label=f"and {len(numbers) - len(handles)} more"))
                break
            if self.is_plane:
                handles.append(Line2D([], [], linestyle="", marker=marker, color=colour, label=name))
            else:
                handles.append(Patch(color=colour, label=name))
        style = {"size": 0.85 * self.font}
        common: dict[str, Any] = {"frameon": False, "handletextpad": 0.4, "columnspacing": 1.2, "prop": style}
        short = {} if self.is_plane else {"handlelength": 1.2}
        self.figure.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0.005, 0.0), ncols=len(handles), **common, **short
        )
        lines = [Line2D([], [], color=INK, linewidth=2.4, label="this step")]
        if any(step.kind == JUMP for step in record.steps):
            lines.append(Line2D([], [], color=JUMPED, linewidth=2.4, marker="o", markersize=4, label="a jump"))
        if self.is_plane:
            lines.append(Line2D([], [], color=EARLIER, linewidth=1.2, alpha=0.6, label="earlier in this run"))
        lines.append(Line2D([], [], color=INK, linewidth=1.4, dashes=(4, 2.5), label="best so far"))
        if self.n_above:
            lines.append(Line2D([], [], linestyle="", marker="^", color=PALE, label="higher, or infinite"))
        self.figure.legend(handles=lines, loc="lower left", bbox_to_anchor=(0.005, 0.048), ncols=len(lines), **common)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
