"""A recorded search (see `recording`) as an animated GIF: examples and hyperplane, and the impurity curve."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from PIL import Image

from ..files.atomic import replacing
from ..files.problems import FilePath, explained
from ..growing.progress_bar import progress_bar
from ..plotting.partition import box_around, scatter
from ..plotting.regions import corners, cut_polygon
from ..plotting.style import class_style, plain, shortened
from .recording import JUMP, LASTS, Frame, SearchRecord, frames_of, histograms_of, impurity_range, pieces_of

#: Colours of the hyperplane, of a jump, and of earlier positions; classes have others.
INK, JUMPED, EARLIER, PALE = "#1A1A1A", "#E6007E", "#6B6B6B", "#C4C4C4"
HALO = [withStroke(linewidth=4.5, foreground="white")]
DASHES = (4, 2.5)
#: Size of letters, in points.
FONT = 10.5
STYLE: Any = {"font.size": FONT, "axes.spines.top": False, "axes.spines.right": False}
STYLE |= dict.fromkeys(("xtick.labelsize", "ytick.labelsize", "legend.fontsize"), "small")
#: Earlier positions of a run that are shown.
TAIL = 12
#: Points that are drawn, and letters for the names of classes.
MAX_POINTS, MAX_LETTERS = 3000, 130
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
    # GIF counts hundredths of a second, and programs that show it slow down below two of them.
    durations = [max(20, 10 * round(100 * LASTS[frame.kind] / fps)) for frame in frames]
    picture = _Picture(record, frames, width)
    n, jump = len(frames), next((i for i, frame in enumerate(frames) if frame.kind == JUMP), 0)
    with progress_bar("drawing", n) as bar, explained(path, "written"), replacing(path) as file:
        # A palette for all frames, of some that hold every colour.
        samples = sorted({0, jump, n // 2, n - 2, n - 1})
        palette = Image.fromarray(np.concatenate([picture.frame(i) for i in samples])).quantize(COLOURS)
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
    frames : list of Frame
    width : int
    """

    @rc_context(STYLE)
    def __init__(self, record: SearchRecord, frames: list[Frame], width: int) -> None:
        self.record, self.frames = record, frames
        # Everything grows with the width.
        self.figure = Figure(figsize=(9.0, 4.5), dpi=width / 9.0, facecolor="white")
        self.canvas = cast("Any", FigureCanvasAgg(self.figure))
        self.left, self.right = self.figure.subplots(1, 2)
        self.figure.subplots_adjust(left=0.075, right=0.985, bottom=0.225, top=0.84, wspace=0.19)
        self.moving: list[Any] = []
        self.is_plane = record.X.shape[1] == 2
        if self.is_plane:
            self._prepare_plane()
        else:
            self._prepare_histogram()
        self._prepare_curve()
        bold: dict[str, Any] = {"va": "top", "color": INK, "weight": "bold"}
        self.title = self._moves(self.figure.text(0.012, 0.975, "", **bold))
        self.subtitle = self._moves(self.figure.text(0.012, 0.908, "", va="top", color=EARLIER))
        self._explain()
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(self.figure.bbox)

    def _moves(self, artist: Any) -> Any:
        artist.set_animated(True)
        self.moving.append(artist)
        return artist

    def frame(self, number: int) -> np.ndarray:
        """Draw a frame; return its pixels."""
        frame = self.frames[number]
        if self.is_plane:
            self._show_plane(number)
        else:
            self._show_histogram(number)
        self.line.set_color(JUMPED if frame.kind == JUMP else INK)
        self._show_curve(frame)
        for text, words, size in ((self.title, frame.title, 1.1 * FONT), (self.subtitle, frame.test, FONT)):
            text.set(text=plain(words), fontsize=size)
            room = 0.976 * self.figure.bbox.width / text.get_window_extent().width
            text.set_fontsize(size * min(1.0, room))
        self.canvas.restore_region(self.still)
        for artist in sorted(self.moving, key=lambda artist: artist.get_zorder()):
            self.figure.draw_artist(artist)
        return np.asarray(self.canvas.buffer_rgba())[:, :, :3].copy()

    # ------------------------------------------------------------------------------------------------ left

    def _prepare_plane(self) -> None:
        record, ax = self.record, self.left
        self.box = box_around(record.X)
        X, y = record.drawn_examples(MAX_POINTS)
        for number, points in scatter(ax, X, y, record.classes).items():
            points.set(sizes=1.5 * points.get_sizes(), edgecolor=class_style(number)[0])
        ax.set(xlim=self.box[:2], ylim=self.box[2:])
        ax.set(xlabel=plain(shortened(record.feature_names[0], 40)), ylabel=plain(shortened(record.feature_names[1])))
        self.tail = self._moves(LineCollection([], linewidth=1.2, zorder=3))
        ax.add_collection(self.tail)
        self.best_line = self._moves(ax.plot([], [], color=INK, linewidth=1.6, dashes=DASHES, zorder=4)[0])
        self.line = self._moves(ax.plot([], [], linewidth=2.4, zorder=5, path_effects=HALO)[0])
        label = {"color": EARLIER, "zorder": 6, "path_effects": HALO, "va": "top", "ha": "center"}
        self.absent = self._moves(ax.text(0.5, 0.96, "outside the picture", transform=ax.transAxes, **label))

    def _segment(self, line: tuple[np.ndarray, float]) -> np.ndarray:
        """Return the two ends of a line inside the box; NaN if it passes by."""
        segment = cut_polygon(corners(self.box), *line).segment[:2]
        return segment if len(segment) == 2 else np.full((2, 2), np.nan)

    def _show_plane(self, number: int) -> None:
        frame = self.frames[number]
        earlier = [own for own in self.frames[:number] if own.run == frame.run][-TAIL:]
        fade = np.linspace(0.15, 0.75, TAIL)[TAIL - len(earlier) :]
        self.tail.set_segments([self._segment(own.line) for own in earlier])
        self.tail.set_color(
            [(JUMPED if own.kind == JUMP else EARLIER, a) for own, a in zip(earlier, fade, strict=True)]
        )
        segment = self._segment(frame.line)
        self.line.set_data(*segment.T)
        self.best_line.set_data(*self._segment(frame.best_line).T)
        self.absent.set_visible(bool(np.isnan(segment).any()))

    def _prepare_histogram(self) -> None:
        record, ax = self.record, self.left
        self.histograms = histograms_of(record, self.frames)
        ax.set(xlim=(0, 1), ylim=(0, 1.1), xticks=[], yticks=[], ylabel="examples")
        ax.set_xlabel("place along the test (each run on its own scale)")
        self.bars = [
            self._moves(ax.add_collection(PolyCollection([], facecolor=class_style(c)[0], zorder=2)))
            for c in range(len(record.classes))
        ]
        self.line = self._moves(ax.axvline(0, linewidth=2.4, path_effects=HALO, zorder=5))
        label = {"size": "small", "color": EARLIER, "zorder": 6, "path_effects": HALO, "va": "top"}
        self.sides = [
            self._moves(ax.text(0, 1.0, text, transform=ax.get_xaxis_transform(), ha=ha, **label))
            for text, ha in (("no  ", "right"), ("  yes", "left"))
        ]

    def _show_histogram(self, number: int) -> None:
        histogram = self.histograms[number]
        n_bins = len(histogram.heights)
        left = np.arange(n_bins) / n_bins
        right = left + 0.92 / n_bins
        tops = np.cumsum(histogram.heights, axis=1)
        for bars, heights, top in zip(self.bars, histogram.heights.T, tops.T, strict=True):
            base = top - heights
            verts = np.array([[left, base], [right, base], [right, top], [left, top]]).transpose(2, 0, 1)
            bars.set_verts(verts[heights > 0])
        self.line.set_xdata([histogram.threshold] * 2)
        for text in self.sides:
            text.set_x(histogram.threshold)

    # ------------------------------------------------------------------------------------------------ right

    def _prepare_curve(self) -> None:
        record, ax = self.record, self.right
        bottom, top = impurity_range(record)
        n = len(record.steps)
        ax.set(xlim=(0.5, 1.01 * n + 0.5), ylim=(bottom, top))
        ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        ax.set_xlabel("step (the bands are runs)" if record.n_runs > 1 else "step")
        ax.set_ylabel(f"impurity ({plain(shortened(record.criterion, 24))})")
        self.numbers, self.heights = np.arange(1, n + 1), np.minimum(record.impurities, top)
        pieces = pieces_of(record)
        for begin, end in pieces[1::2]:
            ax.axvspan(begin + 0.5, end + 0.5, color="#F0F0F0", linewidth=0, zorder=0)
        # The curve is broken between runs.
        breaks = np.array([begin for begin, _ in pieces[1:]], dtype=int)
        gaps = np.stack([breaks + 0.5, np.full(len(breaks), np.nan)])
        self.curve = np.insert(np.stack([self.numbers, self.heights]), breaks, gaps, axis=1)
        ax.plot(*self.curve, color=PALE, linewidth=1.2, zorder=1)
        self.done = self._moves(ax.plot([], [], color=INK, linewidth=1.4, zorder=3)[0])
        self.lowest = self._moves(ax.plot([], [], color=INK, linewidth=1.2, dashes=DASHES, zorder=2)[0])
        jumps = [i for i, step in enumerate(record.steps) if step.kind == JUMP]
        above = np.flatnonzero(record.impurities > top)
        ax.scatter(self.numbers[jumps], self.heights[jumps], s=22, color=JUMPED, zorder=4, clip_on=False)
        ax.scatter(self.numbers[above], self.heights[above], s=20, marker="^", color=PALE, zorder=4, clip_on=False)
        self.has_jumps, self.has_above = len(jumps) > 0, len(above) > 0
        edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 1.2, "clip_on": False}
        self.dot = self._moves(ax.plot([], [], "o", markersize=7.5, zorder=6, **edge)[0])

    def _show_curve(self, frame: Frame) -> None:
        self.done.set_data(*self.curve[:, self.curve[0] <= frame.n_done])
        self.lowest.set_data(self.numbers[: frame.n_done], self.heights[self.record.best[: frame.n_done]])
        self.dot.set_data([self.numbers[frame.step]], [self.heights[frame.step]])
        self.dot.set_color(JUMPED if frame.kind == JUMP else INK)

    # ------------------------------------------------------------------------------------------------ below

    def _explain(self) -> None:
        """Write below the pictures what lines and colours mean."""
        present = np.unique(self.record.y).tolist()
        names = ["class " + shortened(self.record.classes[number], 18) for number in present]
        n_fit = int(np.searchsorted(np.cumsum([len(name) + 8 for name in names]), MAX_LETTERS))
        classes = []
        for number, name in zip(present[:n_fit], names, strict=False):
            colour, marker = class_style(number)
            shape = marker if self.is_plane else "s"
            classes.append(Line2D([], [], linestyle="", marker=shape, color=colour, label=plain(name)))
        if n_fit < len(names):
            classes.append(Line2D([], [], linestyle="", label=f"and {len(names) - n_fit} more"))
        lines = [
            (True, Line2D([], [], color=INK, linewidth=2.4, label="this step")),
            (self.has_jumps, Line2D([], [], color=JUMPED, linewidth=2.4, marker="o", markersize=4, label="a jump")),
            (self.is_plane, Line2D([], [], color=EARLIER, linewidth=1.2, alpha=0.6, label="earlier in this run")),
            (True, Line2D([], [], color=INK, linewidth=1.4, dashes=DASHES, label="best so far")),
            (self.has_above, Line2D([], [], linestyle="", marker="^", color=PALE, label="higher, or infinite")),
        ]
        for handles, height in ((classes, 0.0), ([line for is_shown, line in lines if is_shown], 0.048)):
            style: dict[str, Any] = {
                "frameon": False,
                "handletextpad": 0.4,
                "columnspacing": 1.2,
                "ncols": len(handles),
            }
            self.figure.legend(handles=handles, loc="lower left", bbox_to_anchor=(0.005, height), **style)
