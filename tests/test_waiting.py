import signal
import subprocess
import sys

import pytest
from waiting import comes_true, obeying_ctrl_c


def test_waiting_ends_as_soon_as_it_can():
    answers = iter([False, False, True])
    assert comes_true(lambda: next(answers))
    assert next(answers, "asked no further") == "asked no further"


@pytest.mark.parametrize("before", [signal.SIG_IGN, signal.default_int_handler])
def test_started_processes_obey_ctrl_c_whoever_started_the_tests(before):
    own = signal.signal(signal.SIGINT, before)
    try:
        with obeying_ctrl_c():
            code = "import signal; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
            said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        assert signal.getsignal(signal.SIGINT) is before
    finally:
        signal.signal(signal.SIGINT, own)
    assert said == "True\n"
