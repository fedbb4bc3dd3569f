"""Execution on a Dask cluster. The scheduler reassigns runs of workers that die."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from tailback._processors import processors
from tailback.errors import MissingExtra, StudyError

__all__ = ["connected"]

# Timeout for connecting to a scheduler.
_TIMEOUT_S = 10


@contextmanager
def connected(address: str, workers: int | None) -> Iterator[tuple[Executor, int]]:
    """An executor on the cluster at `address`, or on a new local cluster for ``local``, and its number of workers.

    Raises
    ------
    MissingExtra
        Dask's distributed is not installed.
    StudyError
        There is no scheduler at `address`, or it has no workers.
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
        at_once = sum(client.nthreads().values())
        if not at_once:
            raise StudyError(f"the cluster at `{address}` has no workers; nothing was run")
        yield client.get_executor(), workers or at_once
