"""Files in and out: tables of examples, fitted models, and how a file is written whole or not at all.

What goes in is a path and what the user says about the file; what comes out is a `Table`, batches of examples or an
estimator, or else a `FileProblem` that says where the file is wrong. Begin with `oc1.files.tables.read_table` and
`scan_table`, `oc1.files.models.load_model` and `save_model`, and `oc1.files.atomic.replacing`.
"""
