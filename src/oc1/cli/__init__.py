"""The ``oc1`` command. Heavy imports are inside the commands, so that ``oc1 --help`` answers at once."""
