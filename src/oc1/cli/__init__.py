"""The ``oc1`` command: words of a terminal in, text, JSON and files out.

Each subcommand is a function in a file of `oc1.cli.commands`, whose arguments and docstring are its options and help;
errors in the input end in one sentence and an exit code. Begin with `oc1.cli.app`, which puts the commands together,
`oc1.cli.options`, what they share, and `oc1.cli.screen`, how they speak. Heavy imports are inside the commands, so that
``oc1 --help`` answers at once.
"""
