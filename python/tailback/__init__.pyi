# The public names of `tailback` and the modules that define them; each module is imported on first use.
from . import (
    allocation as allocation,
    errors as errors,
    models as models,
    papers as papers,
    plots as plots,
    prices as prices,
    statistics as statistics,
    user_code as user_code,
)
from ._analysis import Analysis as Analysis, CaptureDamage as CaptureDamage, analyse as analyse
from ._core import __version__ as __version__
from ._formats.mahimahi import write_mahimahi as write_mahimahi
from ._diff import (
    EventDifference as EventDifference,
    RunDifferences as RunDifferences,
    SettingDifference as SettingDifference,
    ValueDifference as ValueDifference,
    diff as diff,
)
from ._emulation import Command as Command, CommandEnd as CommandEnd, Emulated as Emulated, emulate as emulate
from ._export import Export as Export
from ._run.fairness import Distance as Distance, Fairness as Fairness
from ._formats.netem_trace import read_netem_trace as read_netem_trace
from ._packetdrill import Replay as Replay, packetdrill as packetdrill
from ._progress import ProgressBar as ProgressBar, RunsBar as RunsBar
from ._run import Interrupted as Interrupted, Run as Run, read_run as read_run
from ._simulation.runs import Runs as Runs, RunsInterrupted as RunsInterrupted
from ._scenario import Scenario as Scenario, load as load, schema as schema
from ._simulation import simulate as simulate
from ._simulation.stepped import Simulation as Simulation
from ._study import Range as Range, Study as Study, Threshold as Threshold, sweep as sweep, threshold as threshold
from ._tables.table import Table as Table
from ._topologies import (
    chain as chain,
    dragonfly as dragonfly,
    dumbbell as dumbbell,
    dwdm as dwdm,
    fat_tree as fat_tree,
    from_networkx as from_networkx,
    leaf_spine as leaf_spine,
    parking_lot as parking_lot,
    random_regular as random_regular,
    torus as torus,
    waxman as waxman,
)
from ._types import (
    Application as Application,
    Event as Event,
    Flow as Flow,
    Link as Link,
    Node as Node,
    Policy as Policy,
    Prices as Prices,
    Queue as Queue,
    Record as Record,
    Source as Source,
    Stack as Stack,
    Tcp as Tcp,
)
from ._validation import Validation as Validation, ValidationInterrupted as ValidationInterrupted, validate as validate
from ._lab.widget import lab as lab
from .errors import (
    ArgumentError as ArgumentError,
    CaptureError as CaptureError,
    CheckpointError as CheckpointError,
    CheckpointWarning as CheckpointWarning,
    EmulationError as EmulationError,
    EmulationWarning as EmulationWarning,
    HostError as HostError,
    HostWarning as HostWarning,
    InternalError as InternalError,
    IntervalWarning as IntervalWarning,
    MissingExtra as MissingExtra,
    OutputError as OutputError,
    ParameterError as ParameterError,
    PredictionWarning as PredictionWarning,
    ScenarioError as ScenarioError,
    ScenarioWarning as ScenarioWarning,
    ThreadsWarning as ThreadsWarning,
    StarvationWarning as StarvationWarning,
    StudyError as StudyError,
    StudyInterrupted as StudyInterrupted,
    StudyWarning as StudyWarning,
    TailbackError as TailbackError,
    UnknownName as UnknownName,
    UserCodeError as UserCodeError,
    UserCodeWarning as UserCodeWarning,
)
from .papers import ReproductionInterrupted as ReproductionInterrupted, reproduce as reproduce
from .prediction import predict as predict, size_buffer as size_buffer
from .user_code import (
    application as application,
    controller as controller,
    host as host,
    policy as policy,
    source as source,
)

__all__: list[str]
