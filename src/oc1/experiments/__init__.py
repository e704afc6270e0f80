"""The paper's tables, figures, measures and claims, run again and put beside what the paper says.

In goes an experiment, by name, and perhaps a folder of data; out come a journal, results as JSON, tables, charts and a
page. `oc1.experiments.definitions.make_experiments` says what there is, `oc1.experiments.reproduce.reproduce` runs it
(``oc1 reproduce``), and `oc1.experiments.figures.draw_all` draws; what goes beyond the paper is in ``benchmarks/``.
"""
