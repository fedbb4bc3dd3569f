"""Execution on a Dask cluster. The scheduler reassigns runs of workers that die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress

from tailback._process.processors import processors
from tailback.errors import MissingExtra, StudyError

__all__ = ["WAIT_S", "connected"]

# Timeout for connecting to a scheduler.
_TIMEOUT_S = 10
# Default time to wait for the first worker: schedulers often start before their workers.
WAIT_S = 60.0


@contextmanager
def connected(
    address: str, workers: int | None, wait_s: float = WAIT_S, on_wait: Callable[[str], object] | None = None
) -> Iterator[tuple[Executor, int]]:
    """An executor on the cluster at `address`, or on a new local cluster for ``local``, and its number of workers.

    Waits up to `wait_s` for the first worker; `on_wait` is called with a message if there is none yet.

    Raises
    ------
    MissingExtra
        Dask's distributed is not installed.
    StudyError
        There is no scheduler at `address`, or it has no workers in time.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise MissingExtra("a cluster", "distributed", "cluster") from None
    if address == "local":
        wanted = workers or processors()
        with (
            LocalCluster(n_workers=wanted, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            yield client.get_executor(), wanted
        return
    try:
        client = Client(address, timeout=_TIMEOUT_S)
    except (OSError, ValueError) as error:
        raise StudyError(f"cannot connect to a Dask scheduler at `{address}`: {error}; nothing was run") from None
    with client:
        if not client.nthreads() and wait_s > 0:
            if on_wait is not None:
                on_wait(f"waiting up to {wait_s:g} s for a worker of the cluster at `{address}`")
            with suppress(TimeoutError):
                client.wait_for_workers(1, timeout=wait_s)
        at_once = sum(client.nthreads().values())
        if not at_once:
            raise StudyError(f"the cluster at `{address}` has no workers after {wait_s:g} s; nothing was run")
        yield client.get_executor(), workers or at_once
