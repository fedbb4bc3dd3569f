"""Output of the commands: results on stdout, everything else on stderr, and stable exit codes."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TextIO, cast

import click

from tailback._cli.expected import OTHER_COMMANDS, OTHER_OPTIONS
from tailback._cli.renamed import RENAMED_COMMANDS, RENAMED_OPTIONS
from tailback.errors import (
    CaptureError,
    CheckpointError,
    CheckpointWarning,
    EmulationError,
    EmulationWarning,
    HostError,
    HostWarning,
    InternalError,
    MissingExtra,
    OutputError,
    ParameterError,
    ScenarioError,
    ScenarioWarning,
    StarvationWarning,
    StudyError,
    StudyInterrupted,
    StudyWarning,
    ThreadsWarning,
    UnknownName,
    UserCodeError,
    UserCodeWarning,
    readable,
)

if TYPE_CHECKING:
    from tailback._tables.summary import TextTable
    from tailback._tables.table import Table

__all__ = [
    "EXIT_CODES",
    "Commands",
    "ExitCode",
    "command",
    "data",
    "document",
    "guarded_stdout",
    "jsonable",
    "note",
    "summary",
    "termination_as_interrupt",
    "user_traceback",
]

P = ParamSpec("P")


class ExitCode(IntEnum):
    """All exit codes."""

    DONE = 0
    CLAIM_FAILED = 1
    # These four are different outcomes with the same code for scripts.
    RUNS_FAILED = 1
    DIFFERENT = 1
    INCOMPLETE = 1
    INPUT = 2
    BUG = 3
    INTERRUPTED = 130


# Descriptions for the reference documentation.
EXIT_CODES = {
    ExitCode.DONE: "Done.",
    ExitCode.CLAIM_FAILED: "Finished with a negative result: runs failed, a claim does not hold, a precision goal was not "
    "reached, studies differ, or results are incomplete.",
    ExitCode.INPUT: "An error in the input, in user code, or in reading or writing a file. The message names it; results that "
    "were already stored are kept.",
    ExitCode.BUG: "A bug in Tailback.",
    ExitCode.INTERRUPTED: "Interrupted (Ctrl-C); the message says which results are stored.",
}


class Commands(click.Group):
    """A command group that lists its commands in the order of their definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # `help COMMAND` is `COMMAND --help`.
        return super().parse_args(ctx, [*args[1:], "--help"] if args[:1] == ["help"] else args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        if args and (instead := OTHER_COMMANDS.get((self.name or "", args[0]))):
            ctx.fail(f"No such command '{args[0]}'; {instead}.")
        new = RENAMED_COMMANDS.get((self.name or "", args[0])) if args else None
        if new:
            ctx.fail(f"No such command '{args[0]}'; it has been renamed to '{new}'.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            old = error.option_name
            instead = OTHER_OPTIONS.get((error.ctx.info_name or "", old)) if error.ctx else None
            if instead is not None:
                raise click.NoSuchOption(old, f"No such option: {old}; {instead}.", ctx=error.ctx) from None
            new = RENAMED_OPTIONS.get((error.ctx.info_name or "", old)) if error.ctx else None
            if new is None:
                raise
            raise click.NoSuchOption(old, f"No such option: {old}; it has been renamed to {new}.", ctx=error.ctx) from None


def command(function: Callable[P, ExitCode]) -> Callable[P, None]:
    """Decorate a command: its exceptions become messages and exit codes."""

    @functools.wraps(function)
    def guarded(*arguments: P.args, **options: P.kwargs) -> None:
        as_json = bool(options.get("as_json"))
        try:
            with warnings_noted():
                code = function(*arguments, **options)
        except StdoutError:
            raise
        except BaseException as error:
            code = failed(error, as_json=as_json)
        raise click.exceptions.Exit(code)

    return guarded


_OWN_WARNINGS = (
    CheckpointWarning,
    EmulationWarning,
    HostWarning,
    ScenarioWarning,
    StarvationWarning,
    StudyWarning,
    ThreadsWarning,
    UserCodeWarning,
)


@contextmanager
def warnings_noted() -> Iterator[None]:
    """Print each of Tailback's own warnings once, in the format of errors; other warnings are unchanged."""
    with warnings.catch_warnings():
        usual = warnings.showwarning
        shown: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, _OWN_WARNINGS):
                usual(message, category, *where, **more)
            elif str(message) not in shown:
                shown.add(str(message))
                note(f"warning: {message}")

        warnings.showwarning = show
        yield


@contextmanager
def termination_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM in the block like Ctrl-C, so that temporary files are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


class StdoutError(Exception):
    """Writing to stdout failed."""


class GuardedStdout:
    """A stdout whose write errors are distinguishable from errors of files and libraries."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except (OSError, UnicodeEncodeError) as error:
            raise StdoutError from error

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise StdoutError from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded_stdout() -> Iterator[None]:
    """Turn a failure to write to stdout into an exit code: 0 if the reader closed the pipe, else 2 with a message."""
    stream = sys.stdout
    # `sys.stdout` is None in a process that was started without one; the type stubs omit this.
    if cast("TextIO | None", stream) is None:
        note("error: cannot write the output: stdout is closed")
        raise SystemExit(ExitCode.INPUT)
    sys.stdout = cast("TextIO", GuardedStdout(stream))
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except StdoutError as failure:
        # Prevents a second error when Python flushes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if isinstance(failure.__cause__, BrokenPipeError):
            raise SystemExit(ExitCode.DONE) from None
        note(f"error: cannot write the output: {getattr(failure.__cause__, 'strerror', None) or failure.__cause__}")
        raise SystemExit(ExitCode.INPUT) from None
    finally:
        sys.stdout = stream


def failed(error: BaseException, *, as_json: bool) -> ExitCode:
    """Report an error on stderr, and as JSON on stdout if requested. Returns the exit code."""
    file, problems = "", [{"message": str(error)}]
    if isinstance(error, ScenarioError):
        code, shown = ExitCode.INPUT, str(error)
        file, problems = error.file, [vars(problem) for problem in error.problems]
    elif isinstance(error, (StudyError, StudyInterrupted)):
        # The message of these errors already describes which runs are stored.
        code = ExitCode.INPUT if isinstance(error, StudyError) else ExitCode.INTERRUPTED
        shown = f"error: {error}" if isinstance(error, StudyError) else str(error)
    elif isinstance(error, UserCodeError):
        code, shown = ExitCode.INPUT, f"{user_traceback(error)}error: {error}\nno results were stored"
        problems = [{"message": error.message, "at": error.at}]
    elif isinstance(error, HostError):
        code, shown = ExitCode.INPUT, f"{user_traceback(error)}error: {error}\nno results were stored"
    elif isinstance(error, CaptureError):
        code, shown = ExitCode.INPUT, f"error: {error}\nnothing was analysed"
    elif isinstance(error, OutputError) and error.was_run:
        code, shown = ExitCode.INPUT, f"error: {error}"
    elif isinstance(error, (CheckpointError, EmulationError, OutputError, MissingExtra, ParameterError, UnknownName)):
        code, shown = ExitCode.INPUT, f"error: {error}\nnothing was run"
    elif isinstance(error, KeyboardInterrupt):
        code, shown = ExitCode.INTERRUPTED, str(error) or "interrupted; no results were stored"
        problems = [{"message": shown}]
    elif isinstance(error, InternalError):
        code, shown = ExitCode.BUG, f"error: {error}"
    elif isinstance(error, SystemExit):
        raise error
    else:
        import traceback

        trace = "".join(traceback.format_exception(error))
        code, shown = (
            ExitCode.BUG,
            f"{trace}error: this is a bug in Tailback; please report it with the traceback above and the scenario file",
        )
    note(shown)
    if as_json:
        data(json.dumps({"exit_code": code, "file": file, "errors": problems}, indent=2))
    return code


# Maximum length of a traceback in characters.
_TRACEBACK = 10_000


def user_traceback(error: UserCodeError | HostError) -> str:
    """The traceback of an exception in user code, starting at the first frame of user code."""
    cause = error.__cause__
    if cause is None:
        return ""
    import traceback

    trace, ours = cause.__traceback__, Path(__file__).parents[1]
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen") and ours not in Path(file).parents:
            break
        trace = trace.tb_next
    return readable("".join(traceback.format_exception(type(cause), cause, trace)), _TRACEBACK).rstrip("\n") + "\n"


def data(text: str) -> None:
    """Print a result to stdout."""
    sys.stdout.write(text.rstrip("\n") + "\n")


def summary(title: str, listings: Iterable[TextTable], text: str, notes: Iterable[str] = ()) -> None:
    """Print a title, listings and notes: as tables to a terminal, as the plain `text` to a pipe."""
    if not sys.stdout.isatty():
        data(text)
        return
    from rich.console import Console
    from rich.table import Table

    # Texts of files are not markup: `[fd00::1]` is an address, and `:100:` a part of one.
    console = Console(markup=False, emoji=False)
    console.print(title, style="bold", highlight=False)
    for listing in listings:
        caption = f"and {listing.left_out} more" if listing.left_out else None
        table = Table(title=listing.title, title_justify="left", caption=caption, box=None, padding=(0, 2, 0, 0), pad_edge=False)
        for index, column in enumerate(listing.columns):
            # One word per line, so that eight columns fit into 80 characters.
            table.add_column(column.replace(" ", "\n"), justify="left" if index == 0 else "right", vertical="bottom")
        for row in listing.rows:
            table.add_row(*row)
        console.print(table)
    for text in notes:
        console.print(text, highlight=False)


def note(text: str) -> None:
    """Print a message to stderr. Failure to write it is ignored."""
    with suppress(OSError, AttributeError):
        sys.stderr.write(text + "\n")


def document(provenance: Mapping[str, Any], tables: Mapping[str, Table]) -> str:
    """Provenance and tables as one JSON document."""
    return json.dumps(
        jsonable({**provenance, "tables": {name: table.to_dict() for name, table in tables.items()}}), allow_nan=False
    )


def jsonable(value: Any) -> Any:
    """`value` with ``null`` for NaN and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {key: jsonable(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [jsonable(inner) for inner in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value
