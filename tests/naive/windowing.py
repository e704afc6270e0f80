"""Quinlan's windowing, slowly: one example after the other."""

import math


def first_window(labels, size, rng):
    """Which examples are in the first window: the classes take turns, in the order of their labels."""
    queues = {label: [] for label in sorted(set(labels))}
    for example in rng.permutation(len(labels)):
        queues[labels[example]].append(int(example))
    window = []
    while any(queues.values()) and len(window) < max(size, len(queues)):
        for queue in queues.values():
            if queue and len(window) < max(size, len(queues)):
                window.append(queue.pop(0))
    return window


def grow(fit, predict, labels, size, rng):
    """Fit and add errors until none is outside or three models in a row are no better; return all (errors, model)."""
    window = first_window(labels, size, rng)
    tried = []
    while True:
        model = fit(sorted(window))
        wrong = [i for i, answer in enumerate(predict(model)) if answer != labels[i]]
        tried.append((len(wrong), model))
        outside = [i for i in wrong if i not in window]
        errors = [number for number, _ in tried]
        if not outside or (len(errors) > 3 and min(errors[-3:]) >= min(errors[:-3])):
            return tried
        outside = [outside[place] for place in rng.permutation(len(outside))]
        window += outside[: max(math.ceil(len(outside) / 2), math.ceil(size / 5))]
