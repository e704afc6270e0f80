"""An explanation in words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..tree.printable import MINUS, printable
from ..tree.wording import number, percent, wrapped

if TYPE_CHECKING:
    from .explanation import Explanation, NamedChange, Votes
    from .steps import Evidence, Look, Side, Step

WIDTH = 79
#: Longer names are cut.
MAX_NAME = 40
#: Attributes that are named for an answer, against it, and in a change; those that matter less are counted.
MAX_FOR, MAX_AGAINST, MAX_CHANGED = 3, 2, 8
#: An attribute that moves an example by a smaller share of the strongest one's push is not named.
MIN_PUSH = 0.1
#: Class names that are no adjectives or nouns: "it looks yes" would not be English.
ANSWERS = ("yes", "no", "true", "false", "none")

UNITS = "Distances are in standard deviations of the attributes in the training data."
UNITS_UNKNOWN = "Distances are in the units of the attributes: the model does not know their standard deviations."


# ---------------------------------------------------------------------------------------------------- small words


def cut(text: str, most: int = MAX_NAME) -> str:
    """Return a name without line breaks and control characters, cut where it is longer than so many characters."""
    text = printable(text, kept="")
    return text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def class_words(label: str) -> str:
    """Return what a class is called in a sentence, like "benign" or "class 3"."""
    shown = cut(label.strip() or "(empty)")
    is_word = shown[0].isalpha() and len(shown) > 2 and shown.lower() not in ANSWERS
    return shown if is_word else f"class {shown}"


def looks(look: Look) -> str:
    """Return what examples at a node look like, after "it looks": "benign", "like class 3", "like any of 3 classes"."""
    if look.n_equal > 1:
        return f"like any of {look.n_equal} classes"
    named = class_words(look.label)
    if look.share < 0.5:
        return f"most like {named}"
    return f"like {named}" if named.startswith("class ") or re.search("[0-9_]", named) else named


def side_words(side: Side) -> str:
    """Return what a side of a test speaks for: "benign", "class 3 or class 5", "the other classes"."""
    return " or ".join(map(class_words, side.labels)) if side.labels else "the other classes"


def share_words(look: Look, what: str = "") -> str:
    """Return "(97% of 349)"."""
    return f"({percent(look.share)} {'each ' if look.n_equal > 1 else ''}of {weight_words(look)}{what})"


def weight_words(look: Look) -> str:
    """Return the number of training examples at a node."""
    return number(look.weight, 4 if look.weight < 1e4 else 12)


def exact(value: float | str, most: int = 17) -> str:
    """Write a number with all digits that it needs, but no more than so many; a category as it is."""
    if isinstance(value, str):
        return cut(value.strip() or "(empty)")
    digits = next((d for d in range(1, most) if float(f"{value:.{d}g}") == value), most)
    return number(value, digits)


def listed(words: Sequence[str]) -> str:
    """Write a list like "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def deviations(distance: float, knows_averages: bool) -> str:
    """Write a distance with its unit."""
    size = number(distance, 2)
    return f"{size} {'standard deviation' if size == '1' else 'standard deviations'}" if knows_averages else size


# ---------------------------------------------------------------------------------------------------- one step


def answer_sentence(step: Step) -> str:
    """Say what the example answers to a test."""
    if step.kind == "missing":
        (name,) = step.unknown or (cut(step.test.removesuffix(" missing")),)
        word = "is not known" if step.unknown else "is known"
        return f"{cut(name)} {word}{_speaks(step, ', which speaks for ')}."
    if step.kind == "categories":
        own = step.evidence[0]
        return f"{cut(own.name)} is {exact(own.value) if own.value is not None else 'not known'}."
    unknown = _unknown(step)
    if step.total is None or step.threshold is None:
        return ""
    digits = _digits(step.total, step.threshold)
    total, threshold = number(step.total, digits), number(step.threshold, digits)
    if step.kind == "machine":
        first, second = _sides(step)
        return f"The function of {first} is the largest ({total}); the next is that of {second} ({threshold}).{unknown}"
    where = "above" if step.total > step.threshold else "below" if step.total < step.threshold else "exactly"
    subject = "The sum"
    if step.kind == "number":
        subject = cut(step.evidence[0].name) if step.evidence else "It"
    return f"{subject} is {total}, {where} {threshold}{_speaks(step, ': that speaks for ')}.{unknown}"


def _speaks(step: Step, words: str) -> str:
    return f"{words}{side_words(step.speaks_for)}" if step.speaks_for is not None else ""


def _unknown(step: Step) -> str:
    averages = {own.name: own.average for own in step.evidence}
    words = []
    for name in step.unknown[:3]:
        average = averages.get(name)
        words.append(
            f"{cut(name)} is not known and counts as the average" + (f", {number(average)}" if average else "")
        )
    if len(step.unknown) > 3:
        words.append(f"{len(step.unknown) - 3} more are not known")
    return f" {listed(words)}." if words else ""


def evidence_sentences(step: Step) -> list[str]:
    """Say what speaks for the answer to a combination and what against it, compared with the average example."""
    if step.kind not in ("sum", "machine") or not step.evidence or step.average_push is None:
        return []
    known = [own for own in step.evidence if own.value is not None]
    helping = [own for own in known if own.push > 0]
    hindering = [own for own in known[::-1] if own.push < 0]
    own_side, other_side = _sides(step)
    average = own_side if step.average_push > 0 else other_side
    sentences = [f"An average training example would be on the side of {average}."] if average else []
    if helping:
        sentences.append(f"For {own_side or 'this side'}: {_named(helping, MAX_FOR)}.")
    if hindering:
        sentences.append(f"For {other_side or 'the other side'}: {_named(hindering, MAX_AGAINST)}.")
    return sentences


def _sides(step: Step) -> tuple[str | None, str | None]:
    """Return what the side taken and the other one are called."""
    taken, other = step.speaks_for, step.speaks_against
    return (None if taken is None else side_words(taken)), (None if other is None else side_words(other))


def _named(evidence: list[Evidence], most: int) -> str:
    strongest = abs(evidence[0].push)
    named = [own for own in evidence[:most] if abs(own.push) >= MIN_PUSH * strongest]
    words = [evidence_words(own) for own in named]
    rest = len(evidence) - len(named)
    return listed([*words, f"{rest} more"] if rest else words)


def evidence_words(own: Evidence) -> str:
    """Say what is special about a value, like "worst area is high (1034; average 881)"."""
    if isinstance(own.value, str) or own.value is None or own.average is None:
        return f"{cut(own.name)} is {exact(own.value or '')}"
    digits = _digits(own.value, own.average)
    direction = "high" if own.value > own.average else "low"
    return f"{cut(own.name)} is {direction} ({number(own.value, digits)}; average {number(own.average, digits)})"


def _digits(one: float, other: float) -> int:
    """Return how many digits tell two numbers apart."""
    return next((d for d in range(3, 17) if one == other or number(one, d) != number(other, d)), 17)


def closeness_sentence(step: Step, knows_averages: bool) -> str:
    """Say how close the example is to the other side of a test."""
    if step.distance is None:
        return ""
    alone = ""
    if step.alone is not None:
        own = step.alone
        only = "" if step.kind == "number" else " alone"
        alone = f"; {cut(own.name)}{only} would have to be {exact(own.after)} instead of {exact(own.before, 6)}"
        alone += ", an unusual value" if own.is_unusual else ""
    return f"The other side is {deviations(step.distance, knows_averages)} away{alone}."


def outcome_sentence(step: Step) -> str:
    """Say what the example looks like after a test."""
    before, after = step.look, step.next_look
    if before.prediction is not None and after.prediction is not None:
        if before.label == after.label:
            return f"The prediction stays at {after.label} ({weight_words(after)} training examples)."
        direction = "rises" if after.prediction > before.prediction else "falls"
        where = f"from {before.label} to {after.label} ({weight_words(after)} training examples)"
        return f"The prediction {direction} {where}."
    seems = f"{looks(after)} {share_words(after)}"
    if before.n_equal > 1 or after.n_equal > 1:
        return f"Now it looks {seems}."
    if before.label == after.label:
        return f"It still looks {seems}."
    return f"So it no longer looks {looks(before)}, but {seems}."


# ---------------------------------------------------------------------------------------------------- the whole


def headline(explanation: Explanation) -> str:
    """Say what the model answers."""
    if not explanation.predicts_classes:
        return f"The prediction is {explanation.answer}."
    by = votes_words(explanation.votes) if explanation.votes is not None else ""
    return f"Called {class_words(explanation.answer)}{by}."


def votes_words(votes: Votes) -> str:
    """Say how many trees vote for the answer, and for others."""
    total = sum(n for _, n in votes.counts)
    (_, first), *others = votes.counts
    words = listed([f"{n} for {class_words(label)}" for label, n in others[:5]]) if others else ""
    return f" by {first} of {total} trees" + (f"; {words}" if words else "")


def introduction(explanation: Explanation) -> list[str]:
    """Say what comes before the first test."""
    sentences, votes = [], explanation.votes
    if votes is not None:
        if votes.needed is not None:
            together = "another class" if votes.needed == 1 else "the same other class"
            sentences.append(f"To change the answer, {votes.needed} of them would have to vote for {together}.")
        if votes.tree is None:
            return [*sentences, "None of these trees has a single way that could be told."]
        sentences.append(f"This is the way through tree {votes.tree}, the shortest of those that agree.")
    start = explanation.steps[0].look if explanation.steps else explanation.leaf
    if start is None:
        return sentences
    if not explanation.steps:
        sentences.append("The tree has no test: all examples get this answer.")
    if explanation.predicts_classes:
        sentences.append(f"At first it looks {looks(start)} {share_words(start, ' training examples')}.")
    else:
        sentences.append(f"At first it is {start.label}, from {weight_words(start)} training examples.")
    return sentences


def change_sentences(explanation: Explanation) -> list[str]:
    """Say what would lead to another answer; after a colon, the table of a change of several attributes follows."""
    change, single = explanation.change, explanation.single_change
    if explanation.votes is not None:
        return ["The smallest change is worked out for single trees only, not for votes."]
    other = "another class" if explanation.predicts_classes else "another prediction"
    if change is None:
        if not explanation.steps:
            return []
        return [f"No change leads to {other}."]
    knows, sentences = explanation.knows_averages, []
    if change.is_on_boundary:
        sentences.append("It lies exactly on a boundary: the slightest change in the right direction is enough.")
    if single is not None and len(change.values) > 1:
        sentences.append(f"The smallest change of one attribute: {_one(single, explanation)}.")
    elif single is None:
        sentences.append(f"No change of one attribute alone leads to {other}.")
    if len(change.values) == 1:
        sentences.append(f"The smallest change: {_one(change, explanation)}.")
    else:
        size = deviations(change.distance, knows)
        sentences.append(f"The smallest change of several ({size} in all), with which {_then(change, explanation)}:")
    return sentences


def _then(change: NamedChange, explanation: Explanation) -> str:
    """Say what a change leads to."""
    if explanation.predicts_classes:
        return f"it would be called {class_words(change.answer)}"
    return f"the prediction would be {change.answer}"


def _one(change: NamedChange, explanation: Explanation) -> str:
    (own,) = change.values
    size = deviations(change.distance, explanation.knows_averages)
    how_far = (
        "another category" if isinstance(own.after, str) else size + (", an unusual value" if own.is_unusual else "")
    )
    words = f"with {cut(own.name)} {exact(own.after)} instead of {exact(own.before, 6)} ({how_far})"
    return f"{words}, {_then(change, explanation)}"


def changed_values(change: NamedChange) -> list[tuple[str, str, str]]:
    """Return (name, before, after) of the attributes that change, as they are shown."""
    return [(cut(own.name), exact(own.before, 6), exact(own.after)) for own in change.values]


def notes(explanation: Explanation) -> list[str]:
    """Say what the numbers mean."""
    if not explanation.steps:
        return []
    said = [UNITS if explanation.knows_averages else UNITS_UNKNOWN]
    if explanation.is_within_ranges:
        said.append("Changed values stay within the ranges of the data.")
    if explanation.missing:
        said.append("Missing values stay missing in all changes.")
    return said


def text(explanation: Explanation) -> str:
    """Return an explanation for a terminal of 80 columns."""
    parts = [_filled([headline(explanation), *introduction(explanation)])]
    for place, step in enumerate(explanation.steps, 1):
        mark, indent = f"{place}. ", " " * len(f"{place}. ")
        question = f"\n{indent}  ".join(wrapped(_terms(step.test), WIDTH - len(indent) - 2))
        ending = [outcome_sentence(step), closeness_sentence(step, explanation.knows_averages)]
        told = [[answer_sentence(step)], *([one] for one in evidence_sentences(step)), ending]
        lines = [mark + question, *(_filled(sentences, indent) for sentences in told)]
        parts.append("\n".join(lines))
    parts.append("\n".join([*(_filled([one]) for one in change_sentences(explanation)), *_table(explanation)]))
    parts.append(_filled(notes(explanation)))
    return "\n\n".join(part for part in parts if part)


def _terms(test: str) -> list[str]:
    """Return the terms of a test, which stay whole where a line ends, and its threshold."""
    return re.split(f" (?=[+{MINUS}>] )", test)


def _filled(sentences: Sequence[str], indent: str = "") -> str:
    words = " ".join(one for one in sentences if one)
    return textwrap.fill(words, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def _table(explanation: Explanation) -> list[str]:
    change = explanation.change
    if change is None or len(change.values) < 2:
        return []
    rows = changed_values(change)
    shown = rows[:MAX_CHANGED]
    widths = [max(len(row[i]) for row in shown) for i in range(2)]
    lines = [
        f"  {name:<{widths[0]}}  {before:>{widths[1]}} \N{RIGHTWARDS ARROW} {after}" for name, before, after in shown
    ]
    if len(shown) < len(rows):
        lines.append(f"  and {len(rows) - len(shown)} smaller steps")
    return lines
