"""The validation packs: scenarios that a kernel can run, each with the measures to compare.

An emulation runs the three controllers that machines usually have; a kernel in virtual time also runs other congestion modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tailback._scenario import Scenario
from tailback._validation import measures
from tailback._validation.measures import Measure

__all__ = ["BOTTLENECK", "PACKET", "Case", "CaseSet", "emulated", "full", "quick"]

BOTTLENECK = measures.BOTTLENECK

# Packet size with headers, and size of the headers with the timestamp option, as in the presets.
PACKET = 1500
_HEADERS = 52


@dataclass(frozen=True)
class Case:
    """A scenario and the measures to compare.

    Attributes
    ----------
    name : str
    labels : mapping
        Settings of the case: ``controller``, ``flows``, ``rate``, ``buffer``, ``policy``, ...
    scenario : Scenario
    groups : tuple of str
        Groups that run on the kernel.
    modules : tuple of str
        Their congestion modules, in the kernel's names.
    measures : tuple of Measure
    seeds : int
        Number of runs.
    """

    name: str
    labels: Mapping[str, Any]
    scenario: Scenario
    groups: tuple[str, ...]
    measures: tuple[Measure, ...]
    seeds: int
    modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseSet:
    """Cases, and the duration of their runs."""

    name: str
    cases: tuple[Case, ...]
    duration_s: float


@dataclass(frozen=True)
class Setting:
    """Settings of a dumbbell; by default one flow of Reno with SACK at 20 Mbit/s and 40 ms."""

    preset: tuple[str, ...] = ("linux/reno",)
    flows: int = 1
    rate_mbps: int = 20
    rtt_ms: float = 40
    # In bandwidth-delay products.
    buffer: float = 1.0
    queue: Mapping[str, Any] = field(default_factory=dict)
    queue_name: str = "drop-tail"
    ecn: bool = False
    sack: bool = True
    delayed_ack: bool = True
    loss: float = 0.0
    # The maximum of a uniform delay with which packets overtake one another.
    jitter_ms: float = 0.0
    size_packets: int | None = None
    # An application that limits the sender, and its name.
    application: Mapping[str, Any] = field(default_factory=dict)
    application_name: str = ""
    # Time between the reads of the receiver.
    read_interval_ms: float | None = None

    @property
    def bdp_packets(self) -> float:
        return self.rate_mbps * 1e3 * self.rtt_ms / 8 / PACKET

    def labels(self) -> dict[str, Any]:
        return {
            "controller": " and ".join(_CONTROLLERS[preset].label for preset in self.preset),
            "flows": self.flows * len(self.preset),
            "rate_mbps": self.rate_mbps,
            "rtt_ms": self.rtt_ms,
            "buffer_bdp": self.buffer,
            "queue": self.queue_name,
            "ecn": self.ecn,
            "sack": self.sack,
            "delayed_ack": self.delayed_ack,
            "random_loss": self.loss,
            "reordering_ms": self.jitter_ms,
            "size_packets": self.size_packets,
            "application": self.application_name or None,
            **({} if self.read_interval_ms is None else {"read_interval_ms": self.read_interval_ms}),
        }

    def name(self) -> str:
        """A name from the settings that differ from one flow at 20 Mbit/s and 40 ms."""
        flows = self.flows * len(self.preset)
        words = [" and ".join(_CONTROLLERS[preset].label for preset in self.preset)]
        words += [f"{flows} flows"] * (flows > len(self.preset))
        words += [f"{self.rate_mbps} Mbps, {self.rtt_ms:g} ms"] * ((self.rate_mbps, self.rtt_ms) != (20, 40))
        words.append(self.queue_name if self.queue else f"{self.buffer:g} BDP")
        words += ["no SACK"] * (not self.sack) + ["every packet acknowledged"] * (not self.delayed_ack)
        words += [f"{self.loss:.1%} random loss"] * (self.loss > 0)
        words += [f"reordering by {self.jitter_ms:g} ms"] * (self.jitter_ms > 0)
        words += [f"transfers of {self.size_packets} packets"] * (self.size_packets is not None)
        words += [self.application_name] * bool(self.application)
        if self.read_interval_ms is not None:
            words.append(f"read every {self.read_interval_ms:g} ms")
        return ", ".join(words)

    def scenario(self, duration_s: float, warmup_s: float) -> Scenario:
        """The scenario. RTTs depend on the seed, because the sharing of drop-tail queues is sensitive to them."""
        bdp = self.bdp_packets
        places = max(1, round((4 if self.queue else self.buffer) * bdp))
        queue = {"buffer": f"{places} packets", **_threshold(self.queue, bdp)}
        link: dict[str, Any] = {
            "from": "left",
            "to": "right",
            "rate": f"{self.rate_mbps} Mbps",
            "delay": f"{self.rtt_ms / 8:g} ms",
            "queue": queue,
        }
        if self.loss:
            link["loss"] = {"probability": self.loss}
        if self.jitter_ms:
            link["jitter"] = {"delay": {"uniform": ["0 ms", f"{self.jitter_ms:g} ms"]}, "reordering": True}
        low, high = (0.9, 1.1) if self.flows * len(self.preset) < 3 else (0.5, 1.5)
        flow = {
            "from": "left",
            "to": "right",
            "count": self.flows,
            "propagation_rtt": {"uniform": [f"{low * self.rtt_ms:g} ms", f"{high * self.rtt_ms:g} ms"]},
            "start": {"uniform": ["0 s", "0.5 s"]},
        }
        if self.size_packets is not None:
            # Whole segments in the simulator; transfers start at even intervals.
            last = f"{duration_s - 2:g} s"
            flow |= {"size": f"{self.size_packets * (PACKET - _HEADERS)} B", "start": {"evenly": ["0 s", last]}}
        if self.application:
            flow["application"] = dict(self.application)
        flows = {
            f"flow{place}": {
                **flow,
                "tcp": {"preset": preset, "ecn": self.ecn, "delayed_ack": self.delayed_ack, **_recovery(self)},
            }
            for place, preset in enumerate(self.preset, 1)
        }
        return Scenario(
            {
                "name": self.name(),
                "duration": f"{duration_s:g} s",
                "warmup": f"{warmup_s:g} s",
                "nodes": {"left": {}, "right": {}},
                "links": {BOTTLENECK: link},
                "flows": flows,
                "record": {"traces": {"queue": [BOTTLENECK], "drops": [BOTTLENECK]}},
            }
        )

    def measures(self) -> tuple[Measure, ...]:
        """The measures that are well defined for this case."""
        if self.size_packets is not None:
            return (measures.COMPLETION, measures.RETRANSMISSIONS)
        some = [measures.UTILISATION, measures.QUEUE]
        if any(preset in _OTHERS for preset in self.preset):
            return (*some, measures.PERIOD, measures.RETRANSMISSIONS, measures.TIMEOUTS)
        is_undisturbed = not self.queue and not self.loss and not self.jitter_ms and not self.application
        is_sawtooth = self.flows * len(self.preset) == 1 and is_undisturbed and "linux/bbr" not in self.preset
        if is_sawtooth:
            some += [measures.PERIOD, measures.DEPTH, measures.DROPS_PER_EVENT]
        if self.flows * len(self.preset) > 1:
            some.append(measures.SHARE if len(self.preset) > 1 else measures.FAIRNESS)
        if not self.ecn:
            some.append(measures.RETRANSMISSIONS)
        return (*some, measures.TIMEOUTS)


@dataclass(frozen=True)
class Algorithm:
    """A congestion control in both worlds: the label in the report, and the kernel's module."""

    label: str
    module: str


_EMULATED = {
    "linux/reno": Algorithm("Reno", "reno"),
    "linux/cubic": Algorithm("CUBIC", "cubic"),
    "linux/bbr": Algorithm("BBRv1", "bbr"),
}
_DCTCP = {"linux/dctcp": Algorithm("DCTCP", "dctcp")}
_OTHERS = {
    "linux/bic": Algorithm("BIC", "bic"),
    "linux/highspeed": Algorithm("HighSpeed", "highspeed"),
    "linux/htcp": Algorithm("H-TCP", "htcp"),
    "linux/hybla": Algorithm("Hybla", "hybla"),
    "linux/illinois": Algorithm("Illinois", "illinois"),
    "linux/scalable": Algorithm("Scalable", "scalable"),
    "linux/vegas": Algorithm("Vegas", "vegas"),
    "linux/veno": Algorithm("Veno", "veno"),
    "linux/westwood": Algorithm("Westwood", "westwood"),
    "linux/yeah": Algorithm("YeAH", "yeah"),
}
_CONTROLLERS = {**_EMULATED, **_DCTCP, **_OTHERS}


def _recovery(setting: Setting) -> dict[str, Any]:
    return {} if setting.sack else {"recovery": "newreno"}


def _threshold(queue: Mapping[str, Any], bdp: float) -> dict[str, Any]:
    """Convert RED's thresholds from bandwidth-delay products to packets."""
    given = dict(queue)
    for key in ("min_threshold", "max_threshold"):
        if key in given:
            given[key] = f"{max(1, round(given[key] * bdp)) + (key == 'max_threshold')} packets"
    return given


# Step marking: RED without averaging, with adjacent thresholds.
_STEP: dict[str, Any] = {
    "policy": "red",
    "min_threshold": 0.25,
    "max_threshold": 0.25,
    "weight": 1.0,
    "max_probability": 1.0,
    "gentle": False,
}
_RED = {"policy": "red", "min_threshold": 0.25, "max_threshold": 0.75}
_STEP_MARKING: dict[str, Any] = {"ecn": True, "queue": _STEP, "queue_name": "marks above 0.25 BDP"}
_BY_RED: dict[str, Any] = {"queue": _RED, "queue_name": "RED from 0.25 to 0.75 BDP"}
_BY_CODEL: dict[str, Any] = {"queue": {"policy": "codel"}, "queue_name": "CoDel"}
_BY_PIE: dict[str, Any] = {"queue": {"policy": "pie"}, "queue_name": "PIE"}

# Half the link's rate; and bursts at almost twice its rate, with pauses that are often longer than an RTO.
_LIMITED: dict[str, Any] = {
    "application": {"kind": "constant", "rate": "10 Mbps", "burst": 10},
    "application_name": "application of 10 Mbps",
}
_ON_OFF: dict[str, Any] = {
    "application": {"kind": "on_off", "rate": "35 Mbps", "burst": 10, "mean_on": "0.5 s", "mean_off": "0.5 s"},
    "application_name": "application on and off",
}


def _quick_settings() -> Iterator[Setting]:
    """Settings of the quick pack."""
    yield Setting(buffer=0.25)
    yield Setting()
    yield Setting(delayed_ack=False)
    yield Setting(sack=False)
    yield Setting(("linux/cubic",))
    yield Setting(("linux/cubic",), buffer=0.25)
    yield Setting(("linux/reno", "linux/cubic"))
    yield Setting(("linux/cubic",), flows=10, buffer=0.5)
    yield Setting(**_STEP_MARKING)
    yield Setting(("linux/cubic",), flows=2, **_BY_CODEL)
    yield Setting(loss=0.01)
    yield Setting(("linux/cubic",), size_packets=100)


def _full_settings() -> Iterator[Setting]:
    """Additional settings of the full pack."""
    for preset in (("linux/reno",), ("linux/cubic",)):
        for buffer in (0.1, 0.5):
            yield Setting(preset, buffer=buffer)
        # Larger buffers have longer sawteeth, so the RTT is shorter.
        for buffer in (2.0, 4.0):
            yield Setting(preset, rtt_ms=20, buffer=buffer)
        yield Setting(preset, flows=2)
        yield Setting(preset, rate_mbps=10)
        yield Setting(preset, rate_mbps=100, rtt_ms=10)
        yield Setting(preset, loss=0.001)
        yield Setting(preset, flows=2, **_STEP_MARKING)
        yield Setting(preset, flows=10, **_BY_RED)
        yield Setting(preset, **_BY_CODEL)
        yield Setting(preset, flows=2, **_BY_PIE)
        for size in (10, 1000):
            yield Setting(preset, size_packets=size)
        yield Setting(preset, loss=0.03)
        yield Setting(preset, jitter_ms=1)
    for senders in (("linux/bbr",), ("linux/bbr", "linux/cubic")):
        for buffer in (0.25, 1.0, 4.0):
            yield Setting(senders, buffer=buffer)
    yield Setting(("linux/bbr",), flows=2)
    for loss in (0.01, 0.03):
        yield Setting(("linux/bbr",), loss=loss)
    yield Setting(("linux/bbr",), size_packets=100)
    yield Setting(("linux/cubic",), jitter_ms=4)
    yield Setting(("linux/cubic",), flows=10)
    for size in (30, 300):
        yield Setting(("linux/cubic",), size_packets=size)
    yield Setting(size_packets=100)
    yield Setting(size_packets=100, delayed_ack=False)
    yield Setting(flows=10, buffer=0.5)
    yield Setting(("linux/cubic",), loss=0.01)
    yield Setting(("linux/cubic",), delayed_ack=False)
    yield Setting(("linux/cubic",), sack=False)
    yield Setting(("linux/cubic",), **_STEP_MARKING)
    yield Setting(("linux/cubic",), flows=10, rate_mbps=100, rtt_ms=20, buffer=0.5)
    for preset in (("linux/reno",), ("linux/cubic",)):
        yield Setting(preset, loss=0.001, **_LIMITED)
        yield Setting(preset, **_ON_OFF)
    yield Setting(("linux/bbr",), **_ON_OFF)
    for size in (30, 300):
        yield Setting(size_packets=size)
    for size in (10, 30, 300):
        yield Setting(("linux/bbr",), size_packets=size)


def _virtual_settings() -> Iterator[Setting]:
    """Settings of the full pack that only a kernel in virtual time runs."""
    for preset in _EMULATED:
        yield Setting((preset,), read_interval_ms=20)
    yield Setting(("linux/dctcp",), **_STEP_MARKING)
    for preset in _OTHERS:
        yield Setting((preset,))


def quick() -> CaseSet:
    """A dozen cases, 64 runs of 20 s."""
    return CaseSet("quick", tuple(_cases(_quick_settings(), RunLength(20, 5), 4)), 20)


def full() -> CaseSet:
    """All cases, longer and more often: 630 runs of 40 s."""
    settings = (*_quick_settings(), *_full_settings(), *_virtual_settings())
    return CaseSet("full", tuple(_cases(settings, RunLength(40, 10), 5)), 40)


def emulated(pack: CaseSet) -> CaseSet:
    """The cases whose controllers an emulation supports; 530 runs of the full pack."""
    known = {algorithm.module for algorithm in _EMULATED.values()}
    return replace(
        pack, cases=tuple(case for case in pack.cases if known.issuperset(case.modules) and "read_interval_ms" not in case.labels)
    )


@dataclass(frozen=True)
class RunLength:
    """Duration and warm-up of a run, in seconds."""

    duration_s: float
    warmup_s: float


# Factor for the number of runs that vary most: two flows, whose shares differ, reordering, and bursts.
_MORE_OFTEN = 3


def _cases(settings: Iterable[Setting], length: RunLength, seeds: int) -> Iterator[Case]:
    for setting in settings:
        count = 20 if setting.size_packets is not None else setting.flows
        given = Setting(**{**vars(setting), "flows": count}) if setting.size_packets is not None else setting
        scenario = given.scenario(length.duration_s, 0 if setting.size_packets is not None else length.warmup_s)
        varies = setting.jitter_ms or setting.read_interval_ms or setting.flows * len(setting.preset) == 2
        often = _MORE_OFTEN if varies else 1
        groups = tuple(f"flow{place}" for place in range(1, len(setting.preset) + 1))
        modules = tuple(_CONTROLLERS[preset].module for preset in setting.preset)
        yield Case(setting.name(), setting.labels(), scenario, groups, setting.measures(), seeds * often, modules)
