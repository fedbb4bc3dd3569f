"""`tailback validate`: compare the simulator with the TCP stack of Linux."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from tailback._cli import options
from tailback._cli.output import ExitCode, command, data, jsonable, note, termination_as_interrupt
from tailback._progress import RunsBar
from tailback.errors import ParameterError

__all__ = ["validate"]

# Directory of the scenarios of draws that differ, in the directory of the report.
SCENARIOS = "scenarios"


@click.command
@click.option(
    "--out",
    type=options.PATH,
    metavar="DIR",
    help="Write the report and the results to DIR, created if missing; DIR/study stores the runs, and the same command "
    "resumes there.",
)
@click.option(
    "--kernel",
    type=options.PATH,
    metavar="FILE",
    help="Compare with the measurements in FILE, the kernel.json of an earlier validation, instead of running a kernel.",
)
@click.option(
    "--real-time",
    is_flag=True,
    help="Run on this machine's kernel in real time, which needs the privileges of `tailback emulate` and an idle machine.",
)
@click.option("--linux", metavar="VERSION", help="Version of the built kernel, such as 6.12; by default the newest.")
@click.option(
    "--hz",
    type=options.WholeNumber(1),
    metavar="N",
    default=1000,
    show_default=True,
    help="Timer ticks per second of the built kernel.",
)
@click.option(
    "--full",
    is_flag=True,
    help="Run all 90 cases, longer and more often: 630 runs of 40 s (in real time 76 cases and 530 runs), divided by the jobs.",
)
@click.option("--cases", metavar="PATTERN", default="*", help="Only cases whose name matches, for example 'BBRv1*'.")
@click.option(
    "--drawn",
    type=options.WholeNumber(1),
    metavar="N",
    help="Compare N scenarios drawn from distributions of what users type, instead of the cases of a pack: each with five runs "
    "on each side, or one if nothing in it is random.",
)
@click.option("--seed", type=options.WholeNumber(0), metavar="S", help="Seed of the drawn scenarios; by default 1.")
@click.option(
    "--jobs",
    type=options.WholeNumber(1),
    metavar="N",
    help="Number of parallel runs; by default one per processor, and two in real time.",
)
@click.option("--fresh", is_flag=True, help="Repeat runs that are already stored in DIR/study.")
@click.option("--json", "as_json", is_flag=True, help="Print all comparisons as one JSON document.")
@command
def validate(
    out: Path | None,
    kernel: Path | None,
    real_time: bool,
    linux: str | None,
    hz: int,
    full: bool,
    cases: str,
    drawn: int | None,
    seed: int | None,
    jobs: int | None,
    fresh: bool,
    as_json: bool,
) -> ExitCode:
    """Compare the simulator with Linux: a kernel that `tailback kernel build` has built, in virtual time.

    Both run the same scenarios. Exit code 1 if their results differ or, in real time, if the machine did not keep up.
    """
    if kernel is not None or real_time:
        _refuse_choices_of_kernels(kernel, real_time=real_time)
    if drawn is not None:
        for name, is_given in {"--real-time": real_time, "--full": full, "--cases": cases != "*"}.items():
            if is_given:
                raise ParameterError(f"{name} cannot be combined with --drawn; remove one of them")
        seed = 1 if seed is None else seed
        return _validate_drawn(drawn, seed, out, kernel, as_json, linux=linux, hz=hz, jobs=jobs, fresh=fresh)
    if seed is not None:
        raise ParameterError("--seed is the seed of drawn scenarios; add --drawn N")
    from tailback._store import ensure_writable, write_atomically
    from tailback._validation import STUDY
    from tailback._validation import validate as validated
    from tailback._validation.comparison import Verdict

    if out is not None:
        ensure_writable(out)
    with termination_as_interrupt(), RunsBar("kernel") as bar:
        done = validated(
            None if out is None else out / STUDY,
            kernel=kernel,
            real_time=real_time,
            linux=linux,
            hz=hz,
            full_pack=full,
            cases=cases,
            jobs=jobs,
            fresh=fresh,
            progress=bar,
        )
    numbers = json.dumps(jsonable(done.to_dict()), indent=1, allow_nan=False)
    data(numbers if as_json else done.markdown())
    if out is not None:
        note(
            "\n".join(
                f"wrote {write_atomically(out / name, text)}"
                for name, text in (
                    ("validation.md", done.markdown()),
                    ("validation.json", numbers),
                    ("kernel.json", done.kernel_runs.to_json() + "\n"),
                )
            )
        )
    if done.kept_up < done.runs:
        note(f"error: this machine could not keep up with real time in {done.runs - done.kept_up} of {done.runs} runs")
    if done.missing:
        note(f"error: there are no kernel runs of {len(done.missing)} cases, which the report lists")
    has_failed = done.count(Verdict.DIFFER) or done.kept_up < done.runs or done.missing
    return ExitCode.DIFFERENT if has_failed else ExitCode.DONE


def _refuse_choices_of_kernels(kernel: Path | None, *, real_time: bool) -> None:
    """Refuse options that choose a built kernel, or how it runs, if none runs."""
    source = click.get_current_context().get_parameter_source
    given = [f"--{name}" for name in ("linux", "hz") if source(name) is not ParameterSource.DEFAULT]
    if kernel is not None and real_time:
        given.append("--real-time")
    if given:
        reason = (
            "the file of --kernel determines the kernel" if kernel is not None else "--real-time uses the kernel of this machine"
        )
        raise ParameterError(f"{' and '.join(given)} cannot be used: {reason}")


def _validate_drawn(drawn: int, seed: int, out: Path | None, kernel: Path | None, as_json: bool, **others: Any) -> ExitCode:
    from tailback._store import ensure_writable, write_atomically
    from tailback._validation import STUDY, validate_drawn

    if out is not None:
        ensure_writable(out)
    with termination_as_interrupt():
        study = None if out is None else out / STUDY
        done = validate_drawn(drawn, seed, study, kernel=kernel, bars=RunsBar, **others)
    numbers = json.dumps(jsonable(done.to_dict()), indent=1, allow_nan=False)
    data(numbers if as_json else done.markdown())
    if out is not None:
        files = {"drawn.md": done.markdown(), "drawn.json": numbers, "kernel.json": done.kernel_runs.to_json() + "\n"}
        note("\n".join(f"wrote {write_atomically(out / name, text)}" for name, text in files.items()))
        scenarios = done.scenarios()
        if scenarios:
            (out / SCENARIOS).mkdir(exist_ok=True)
            for name, text in scenarios.items():
                write_atomically(out / SCENARIOS / name, text)
            note(f"wrote {len(scenarios)} scenarios of the draws that differ to {out / SCENARIOS}")
    return ExitCode.DIFFERENT if done.has_differences else ExitCode.DONE
