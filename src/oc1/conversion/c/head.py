"""How a C header begins: what it says of itself, sizes and labels, and how attributes and categories become numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import __version__
from ...learners.reduction import ReducedModel
from ..values import all_different, made_of
from .fixed_point import highest
from .style import ONE, Style, table
from .text import comment, identifiers, string


@dataclass(frozen=True, eq=False)
class Head:
    """Writes the beginning of a header.

    Attributes
    ----------
    style : Style
    plain : ReducedModel
    learner : str
    categories : dict of int to list
        The values of each categorical column in the order of their numbers.
    units : array (n_features,)
        What attributes are multiplied by.
    cost : tuple of int or None
        Number of rows it was tried on, and of those that get another answer; both None if it was not.
    """

    style: Style
    plain: ReducedModel
    learner: str
    categories: dict[int, list[Any]]
    units: np.ndarray
    cost: tuple[int | None, int | None]

    def description(self) -> str:
        """Write the comment at the top."""
        plain, style = self.plain, self.style
        kind = f"{style.bits}-bit integers" if style.is_fixed else f"{style.input}s"
        what = "numbers" if plain.has_numbers else f"{len(plain.classes)} classes"
        lines = [
            f"A model made by oc1 {__version__} ({self.learner}), as C99 with {kind}.",
            "",
            f"It is {made_of(plain)}, for {what}.",
            "",
            *self._how_to_call(),
            "",
            *self._how_it_computes(),
            *(f"Note: {note}." for note in plain.notes),
            "",
            "Attributes:",
            *(self._attribute(m, comment(name)) for m, name in enumerate(plain.feature_names)),
        ]
        if not plain.has_numbers:
            lines += ["", "Classes:", *(f"  {c}  {comment(label)}" for c, label in enumerate(plain.classes.tolist()))]
        return "/* " + "\n * ".join(lines).replace("* \n", "*\n") + "\n */"

    def _how_to_call(self) -> list[str]:
        style, calls = self.style, {}
        if self.plain.has_numbers:
            calls["predict(x)"] = "the predicted number" + (f" times {style.big}_SCALE" if style.is_fixed else "")
        else:
            total = f", as integers that add up to {ONE}" if style.is_fixed else ""
            if style.is_fixed and self.plain.task != "class":
                total += f" or up to {len(self.plain.classes)} less"
            calls["predict(x)"] = f"the class, an index of {style.big}_LABELS"
            calls["probabilities(x, p)"] = f"the share of each class{total}"
        if not self.plain.is_one_of_many:
            calls["leaf(x)"] = "the number of the leaf"
        wide = max(map(len, calls))
        lines = [f"  {style.name}_{call.ljust(wide)}  {what}" for call, what in calls.items()]
        return [f"With a row {style.input} x[{style.big}_N_FEATURES]:", *lines]

    def _how_it_computes(self) -> list[str]:
        style = self.style
        lines = ["Rows take the same way as in Python: sums are rounded alike, term by term."]
        if style.is_fixed:
            lines = [
                f"Attributes are integers: x times a power of two, rounded ({style.big}_FIX_... does it, and cuts off",
                f"at the ends of the range); {style.big}_MISSING where a value is missing. No sum can overflow.",
            ]
        elif style.is_float:
            lines = ["Parameters and sums are floats: rows very near a test may go another way than in doubles."]
        if not style.is_fixed:
            lines += [
                "A missing value is NaN. A compiler that fuses a * b + c into one operation rounds once where two are",
                "meant; the pragmas below forbid it (as do -std=c99 or -ffp-contract=off). Do not use -ffast-math,",
                "nor an x87, whose sums have more digits.",
            ]
        if self.cost[0] is not None:
            rows, different = self.cost
            other = {"number": "end in another leaf", "mean": "get another number"}.get(
                self.plain.task, "get another class"
            )
            lines += ["", f"Of the {rows} rows it was tried on, {different} {other} than in doubles."]
        return lines

    def _attribute(self, m: int, name: str) -> str:
        line = f"  x[{m}]  {name}"
        if m in self.categories:
            n = len(self.categories[m])
            return f"{line}: a category, by number (out of range: missing); {n} of them, see below"
        if self.style.is_fixed:
            end = highest(self.style.bits) / self.units[m]
            return f"{line}: times {self.units[m]:.17g}, between {-end:.6g} and {end:.6g}"
        return line

    def sizes(self) -> str:
        """Write the sizes and the labels of the classes."""
        big = self.style.big
        lines = [f"#define {big}_N_FEATURES {len(self.plain.feature_names)}"]
        if self.cost[0] is not None:
            for what, value in zip(("TESTED", "DIFFERENT"), self.cost, strict=True):
                lines.append(f"#define {big}_ROWS_{what} {value}")
        if not self.plain.has_numbers:
            labels = [string(str(label)) for label in self.plain.classes.tolist()]
            written = table("char *const", f"{big}_LABELS", labels, indent="", size=f"{big}_N_CLASSES")
            lines += [f"#define {big}_N_CLASSES {len(labels)}", "", written]
        return "\n".join(lines)

    def inputs(self) -> str:
        """Write the macros that turn measurements into integers."""
        style = self.style
        most, marker = highest(style.bits), f"INT{style.bits}_MIN"
        lines = [
            "/* What a missing value is, and measurements as integers (constants are turned at compile time). */",
            f"#define {style.big}_MISSING {marker}",
            f"#define {style.big}_FIX(x, scale) (({style.input})( \\",
            f"    (x) != (x) ? {marker} : \\",
            f"    (x) * (scale) >= {most}.0 ? {most} : (x) * (scale) <= -{most}.0 ? -{most} : \\",
            f"    ({style.input})((x) * (scale) + ((x) < 0 ? -0.5 : 0.5))))",
        ]
        for m, end in enumerate(identifiers(self.plain.feature_names)):
            if m not in self.categories:
                lines.append(f"#define {style.big}_FIX_{end}(x) {style.big}_FIX(x, {float(self.units[m])!r})")
        return "\n".join(lines)

    def category_numbers(self) -> list[str]:
        """Write the numbers of the categories, an enumeration for each attribute."""
        style, parts = self.style, []
        if not style.is_fixed:
            most = float(np.finfo(np.float32 if style.is_float else np.float64).max)
            parts.append(f"#define {style.marker} {style.number(most)} /* the code of what is not known */")
        names = self.plain.feature_names
        ends = identifiers(names)
        taken: set[str] = set()
        for m, values in ((m, values) for m, values in self.categories.items() if values):
            lines = [f"enum {{ /* numbers of the categories of {comment(names[m])} */"]
            called = all_different((f"{style.big}_VALUE_{ends[m]}_{end}" for end in identifiers(values)), taken)
            taken |= {*called}
            for number, (value, name) in enumerate(zip(values, called, strict=True)):
                comma = "," if number + 1 < len(values) else ""
                lines.append(f"    {name} = {number}{comma} /* {comment(value)} */")
            parts.append("\n".join([*lines, "};"]))
        return parts
