"""Many machines, by Dask: its scheduler gives the runs of workers that die to others."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

from tailback._processors import processors
from tailback.errors import MissingExtra, StudyError

__all__ = ["connected"]

# A scheduler that does not answer for so long is not there.
_TIMEOUT_S = 10


@contextmanager
def connected(address: str, workers: int | None) -> Iterator[tuple[Executor, int]]:
    """An executor on the cluster at `address`, or on a new one of this machine if that is ``local``; and how many workers it has.

    Raises
    ------
    MissingExtra
        If Dask's distributed is not installed.
    StudyError
        Nobody answers at `address`, or there are no workers.
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
        raise StudyError(f"no Dask scheduler answers at `{address}`: {error}; nothing was run") from None
    with client:
        at_once = sum(client.nthreads().values())
        if not at_once:
            raise StudyError(f"the cluster at `{address}` has no workers; nothing was run")
        yield client.get_executor(), workers or at_once
