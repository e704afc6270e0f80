"""Independent fits on the workers of a Dask cluster: cross-validations, experiments, votes.

Inside ``with on_cluster(address):`` whatever joblib runs in parallel runs on the workers. Large arrays and frames go
to the cluster once, in tasks that can be done again: no worker holds something that dies with it.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import math
import pickle
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from joblib import parallel_config
from joblib.parallel import ParallelBackendBase, SequentialBackend

from .. import __version__

try:
    import distributed
    from cloudpickle import Pickler
    from distributed import Client, Future
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker
except ImportError as missing:
    raise ImportError('a cluster needs Dask: pip install "oc1[dask]"') from missing

#: Seconds to wait for a scheduler, and for its first worker.
MAX_CONNECTING_SECONDS = 10.0
#: Seconds that a cluster may be without any worker, or not answer, before we give up.
MAX_SILENT_SECONDS = 60.0
#: Seconds between two looks at the cluster.
SECONDS_BETWEEN_LOOKS = 1.0
#: Bytes: larger arrays and frames are sent once, smaller ones with each task.
MIN_SHARED_BYTES = 20_000
#: Bytes of a task, at most, when large data are sent.
MAX_BYTES_PER_TASK = 4_000_000

LOST = "the connection to the Dask scheduler was lost"
NO_WORKERS = "the Dask cluster has no workers left"


class ClusterError(RuntimeError):
    """The cluster failed, not the computation; the message explains how in one sentence."""


# ---------------------------------------------------------------------------------------------------- connecting


def find_address(address: str) -> str:
    """Return the address of a scheduler; refuse what can be neither one nor a scheduler file.

    Parameters
    ----------
    address : str
        ``"tcp://host:8786"``, or the path of the file that ``dask scheduler --scheduler-file`` wrote.

    Returns
    -------
    str

    Raises
    ------
    ValueError
    """
    if Path(address).is_file():
        try:
            return str(json.loads(Path(address).read_text(encoding="utf-8"))["address"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{address} is no scheduler file: it holds no address") from None
    if re.fullmatch(r"inproc://.+|(tcp|tls|ucx|wss?)://[^/]+:\d+", address):
        return address
    raise ValueError(f"{address!r} is no address of a Dask scheduler, such as tcp://host:8786, and no scheduler file")


def connect(address: str, timeout: float | None = None) -> Client:
    """Return a client of a scheduler whose workers can do our work.

    Parameters
    ----------
    address : str
        ``"tcp://host:8786"``, or the path of the file that ``dask scheduler --scheduler-file`` wrote.
    timeout : float, optional
        Seconds to wait for the scheduler, and for its first worker; by default `MAX_CONNECTING_SECONDS`.

    Returns
    -------
    distributed.Client
        Not the default one; close it when the work is done.

    Raises
    ------
    ClusterError
        If the scheduler does not answer, or has no workers, or they have another version of oc1.
    ValueError
        If the address is none.
    """
    timeout = MAX_CONNECTING_SECONDS if timeout is None else timeout
    address = find_address(address)
    try:
        _shake_hands(address, timeout)
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, OverflowError, MemoryError, EOFError) as problem:  # also of junk as an answer
        raise ClusterError(f"no Dask scheduler answers at {address}") from problem
    try:
        client.wait_for_workers(1, timeout=timeout)
        _check_versions(client)
    except BaseException as problem:
        client.close()
        if isinstance(problem, TimeoutError):
            raise ClusterError(f"the Dask scheduler at {address} has no workers: start some") from problem
        raise
    return client


def _shake_hands(address: str, timeout: float) -> None:
    """See whether a scheduler answers; `Client` itself would wait forever for a server of another kind."""
    if not address.startswith("tcp://"):
        return

    async def ask() -> None:
        comm = await asyncio.wait_for(distributed.comm.connect(address, timeout=timeout), 2 * timeout)
        comm.abort()

    with ThreadPoolExecutor(1) as thread:  # this one may have a loop of its own, as in notebooks
        thread.submit(asyncio.run, ask()).result()


def _check_versions(client: Client) -> None:
    """Refuse workers that would give other numbers, or none."""

    # Inside, so that it is sent as code: a worker may not have the module that it could be found in.
    def version() -> str | None:
        try:
            import oc1
        except ImportError:
            return None
        return oc1.__version__

    for worker, found in client.run(version, on_error="ignore").items():  # one that just died will come back
        if found is None:
            raise ClusterError(f"the worker {worker} has no oc1: install oc1 {__version__} where workers run")
        if found != __version__:
            raise ClusterError(f"the worker {worker} has oc1 {found}, here is {__version__}: they must be the same")


@contextmanager
def on_cluster(address: str | Client) -> Iterator[Client]:
    """Run everything that joblib runs in parallel on the workers of a cluster.

    This applies to `cross_validate`, `compare`, `reproduce`, ensembles (`OC1EnsembleClassifier`) and whatever
    scikit-learn does in parallel. All workers are used, regardless of `n_jobs`; the results are the same as on one
    machine. It only affects the thread that enters it.

    Parameters
    ----------
    address : str or distributed.Client
        ``"tcp://host:8786"``, the path of a scheduler file, or a client (which is not closed).

    Yields
    ------
    distributed.Client

    Raises
    ------
    ClusterError
        If the cluster cannot be reached or is lost.

    Examples
    --------
    >>> from distributed import Client, LocalCluster  # doctest: +SKIP
    >>> with LocalCluster() as cluster, on_cluster(cluster.scheduler_address):  # doctest: +SKIP
    ...     clf = OC1EnsembleClassifier(n_estimators=101, random_state=0).fit(X, y)
    """
    client = connect(address) if isinstance(address, str) else address
    try:
        with _quiet(), clear_failures(client), parallel_config(backend=ClusterBackend(client)):
            yield client
    finally:
        if client is not address:
            client.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's tracebacks of a lost connection from the screen: our error says it."""
    log = logging.getLogger("distributed.client")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)


# ---------------------------------------------------------------------------------------------------- failures


@contextmanager
def clear_failures(client: Client, patience: float | None = None) -> Iterator[None]:
    """Turn what Dask raises when the cluster fails into a `ClusterError`; other errors pass.

    Dask waits for workers forever. Here, when there is none for `patience` seconds, the futures that were made inside
    are cancelled, so that whoever waits for them gets the error.

    Parameters
    ----------
    client : distributed.Client
        The one that the code inside uses, not an asynchronous one.
    patience : float, optional
        Seconds; by default `MAX_SILENT_SECONDS`.

    Raises
    ------
    ClusterError
    """
    watch = _Watch(client, MAX_SILENT_SECONDS if patience is None else patience)
    watch.start()
    try:
        yield
    except Exception as problem:
        said = _explain(problem, client, watch.trouble)
        if said is None:
            raise
        raise ClusterError(said) from problem
    finally:
        watch.done.set()


def _explain(problem: Exception, client: Client, trouble: str | None) -> str | None:
    """Return what an exception says about the cluster; None if it is about something else."""
    if isinstance(problem, KilledWorker):
        return (
            "several workers died, one after the other, of the same piece of work, most likely because their memory "
            "was not enough: give each worker more memory, or fewer threads"
        )
    is_closed = type(problem).__name__ == "ClosedClientError"  # which older versions of Dask do not have
    if not (is_closed or isinstance(problem, CancelledError | CommClosedError)):
        return None
    if trouble is not None:
        return trouble
    if client.status != "running" or isinstance(problem, CommClosedError):
        return LOST
    return "the Dask cluster gave up the work: it was restarted, or lost data that only one worker had"


class _Watch(threading.Thread):
    """Looks whether a cluster is still there; if it is not, cancels what was begun since the watch began."""

    def __init__(self, client: Client, patience: float) -> None:
        super().__init__(name="oc1-cluster-watch", daemon=True)
        self.client, self.patience = client, patience
        self.done = threading.Event()
        self.trouble: str | None = None
        self._before = set(client.futures)

    def run(self) -> None:
        last_seen = time.monotonic()
        while not self.done.wait(min(SECONDS_BETWEEN_LOOKS, self.patience / 4)):
            n_workers = None
            with suppress(Exception):  # of many kinds, while a connection breaks
                n_workers = len(self.client.nthreads())
            if n_workers:
                last_seen = time.monotonic()
            elif time.monotonic() - last_seen > self.patience or self.client.status in ("closing", "closed"):
                self.trouble = NO_WORKERS if n_workers == 0 else LOST
                if (loop := self.client.loop) is not None:
                    loop.add_callback(self._cancel)
                return

    def _cancel(self) -> None:
        # Not by `Client.cancel`, which would ask the scheduler: it may be gone.
        for key, state in list(self.client.futures.items()):
            if key not in self._before:
                state.cancel()


# ---------------------------------------------------------------------------------------------------- joblib


class ClusterBackend(ParallelBackendBase):
    """Where joblib sends its calls: to the workers of a cluster.

    In place of joblib's own Dask backend, which sends data with every call, or leaves the only copy with one worker
    (when that one dies, `Parallel` ends with a FutureCancelledError), and whose calls begin calls of their own.
    """

    supports_retrieve_callback = True
    default_n_jobs = -1

    def __init__(self, client: Client) -> None:
        super().__init__(nesting_level=0)
        self.client = client
        self._shared: dict[int, tuple[Any, Future[Any]]] = {}
        self._lock = threading.Lock()

    def effective_n_jobs(self, n_jobs: int | None) -> int:
        """Return the threads of all workers, whatever is asked for; at least 2, because joblib does 1 right here."""
        threads: dict[str, int] = self.client.nthreads()
        return max(2, sum(threads.values()))

    def get_nested_backend(self) -> tuple[ParallelBackendBase, None]:
        """Return what calls inside a call use: all workers are busy as it is."""
        return SequentialBackend(nesting_level=1), None

    def submit(self, func: Callable[[], Any], callback: Callable[[Future[Any]], None] | None = None) -> Future[Any]:
        """Send calls to the cluster."""
        with self._lock:
            packer = _Packer(self._share)
            packer.dump(func)
            future = self.client.submit(_call, packer.text(), packer.futures, pure=False)
        future.add_done_callback(callback)
        return future

    apply_async = submit  # its name before joblib 1.5

    def retrieve_result_callback(self, out: Future[Any]) -> Any:
        """Return what came of calls."""
        return out.result()

    def _share(self, data: Any) -> Future[Any]:
        """Return a future of data, the same one each time in a call of `Parallel`."""
        if id(data) not in self._shared:  # the id is nobody else's as long as the data are kept here
            text = pickle.dumps(data, protocol=5)
            pieces = [
                self.client.submit(bytes, text[start : start + MAX_BYTES_PER_TASK], pure=False)
                for start in range(0, len(text), MAX_BYTES_PER_TASK)
            ]
            self._shared[id(data)] = data, self.client.submit(_unpacked, pieces, pure=False)
        return self._shared[id(data)][1]

    def stop_call(self) -> None:
        """Let the workers forget the data."""
        with self._lock:
            self._shared.clear()


def _is_large(data: Any) -> bool:
    if isinstance(data, np.ndarray):
        return data.nbytes > MIN_SHARED_BYTES
    return hasattr(data, "__dataframe__") and 8 * math.prod(getattr(data, "shape", ())) > MIN_SHARED_BYTES


class _Packer(Pickler):
    """Pickles calls, but for the large data in them: those are `futures`."""

    def __init__(self, share: Callable[[Any], Future[Any]]) -> None:
        self._file = io.BytesIO()
        super().__init__(self._file, protocol=5)
        self._share = share
        self.futures: dict[Any, Future[Any]] = {}  # by their keys

    def persistent_id(self, obj: Any) -> Any:
        if isinstance(obj, type) or not _is_large(obj):
            return None
        future = self._share(obj)
        self.futures[future.key] = future
        return future.key

    def text(self) -> bytes:
        return self._file.getvalue()


class _Unpacker(pickle.Unpickler):
    """Reads what a packer wrote."""

    def __init__(self, text: bytes, data: dict[Any, Any]) -> None:
        super().__init__(io.BytesIO(text))
        self._data = data

    def persistent_load(self, key: Any) -> Any:
        return self._data[key]


def _unpacked(pieces: list[bytes]) -> Any:
    return pickle.loads(b"".join(pieces))


def _call(text: bytes, data: dict[Any, Any]) -> Any:
    """Do calls, on a worker."""
    return _Unpacker(text, data).load()()
