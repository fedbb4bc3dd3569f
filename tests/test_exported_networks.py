"""The networks of exported scripts of tc, built in a Linux kernel."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

import guest
import tailback as tb
from test_export import ALL, CHANGING, dumbbell

if words := guest.missing():
    pytest.skip(f"needs {words} (Debian: user-mode-linux, kmod, iproute2, iputils-ping, iperf3)", allow_module_level=True)


def queue(**settings: Any) -> tb.Scenario:
    return dumbbell({"buffer": "100 packets", **settings})


RED = {"policy": "red", "max_threshold": "60 packets"}
# Settings that tc or the kernel refuse unless they are adapted.
EDGES = [
    queue(shaper={"rate": "12 Mbps", "burst": "15 kB"}),
    queue(shaper={"rate": "20 Mbps", "burst": "1 kB"}),
    queue(policy="codel", scheduler={"kind": "flow_queue", "queues": 100_000}),
    queue(policy="codel", scheduler={"kind": "flow_queue", "quantum": "100 B"}),
    queue(scheduler="sfq", buffer="1 packets"),
    queue(scheduler="sfq", buffer="100000 packets"),
    queue(**RED, min_threshold="0 packets"),
    queue(**RED, min_threshold="1 packets"),
    queue(**RED, min_threshold="20 packets", weight=1e-7),
    queue(policy="red", queue_unit="bytes", min_threshold="1 MB", max_threshold="500 MB", buffer="1 GB", weight=0.001),
    queue(buffer="1 packets"),
    dumbbell({"buffer": "100 packets"}, duplication="1 %", jitter={"delay": {"uniform": ["0 ms", "5 ms"]}}),
    tb.dumbbell(rate="10 kbps", delay="0 ms", buffer="5 packets", duration="5 s", flows=1),
    tb.dumbbell(rate="100 Gbps", delay="1 us", buffer="5 packets", duration="5 s", flows=1),
]


def script(scenario: tb.Scenario) -> str:
    """The script; warnings about settings without effect are not the subject."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tb.errors.ScenarioWarning)
        return scenario.export("tc").text


# `dualpi2` needs Linux 6.17.
SCRIPTS = [text for text in map(script, [*ALL, *EDGES]) if "dualpi2" not in text]
UDP: Any = {"web": {"from": "left", "to": "right", "source": {"kind": "constant", "rate": "1 Mbps", "packet_size": "1500 B"}}}
ORDERED = dumbbell({"buffer": "100 packets"}, jitter={"delay": {"uniform": ["0 ms", "20 ms"]}}).with_({"flows": UDP})

FULL = tb.dumbbell(
    rate="10 Mbps", delay="10 ms", buffer="10 packets", duration="3 s", flows={"web": {"tcp": {"preset": "linux/cubic"}}}
)
TRANSFER = """
bash full.sh up
bash full.sh run > report.json
tc -s -n tb-left qdisc show dev l0a | grep -A1 pfifo
bash full.sh down
"""

PINGS = """
bash ordered.sh up
ip netns exec tb-left ping -q -c 100 -i 0.002 10.128.0.2 > /dev/null
ip netns exec tb-left ping -c 200 -i 0.002 10.128.0.2 | sed -n 's/.*icmp_seq=\\([0-9]*\\).*/seq \\1/p'
bash ordered.sh down
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the kernel shows of the first queue of each script, by its number; `changed`, `order` and `full` by others."""
    directory = tmp_path_factory.mktemp("guest")
    changing = script(CHANGING)
    body = re.findall(r"changes\(\) \{\n(.*?)\n\}", changing, re.S)[0]
    (directory / "changes.sh").write_text("set -e; PREFIX=tb-; WIRES=tb-wires\n" + re.sub(r" at \d+\n", "\n", body))
    (directory / "changing.sh").write_text(changing)
    (directory / "ordered.sh").write_text(script(ORDERED))
    (directory / "full.sh").write_text(script(FULL))
    parts = ["echo part order", PINGS, "echo part full", TRANSFER, "echo part changed; bash changing.sh up; bash changes.sh"]
    parts += ["tc -n tb-left qdisc show; tc -n tb-wires qdisc show; ip -n tb-wires link show b0"]
    # The commands of each script for the first link, in the network that exists, and in few processes: starting one is slow here.
    for number, text in enumerate(SCRIPTS):
        for node, interface in (("left", "l0a"), ("wires", "w0z")):
            words = [line.split('" ', 1)[1] for line in first_link(text) if f" dev {interface} " in line]
            lines = [f"qdisc del dev {interface} root", *words, f"qdisc show dev {interface}"]
            (directory / f"{number}.{node}").write_text("\n".join(lines) + "\n")
        parts.append(f"echo part {number}; tc -n tb-left -batch {number}.left; tc -n tb-wires -batch {number}.wires")
    parts.append("bash changing.sh down")
    code, output = guest.run("\n".join(parts), directory)
    assert code == 0, output[-2000:]
    found = re.split(r"^part (\w+)\n", output, flags=re.M)
    return dict(zip(found[1::2], found[2::2], strict=True))


def first_link(text: str) -> list[str]:
    """The commands of tc that build the first link from left to right."""
    lines = text[text.index("up() {") : text.index("}\n\n", text.index("up() {"))].splitlines()
    return [line for line in lines if line.startswith("    tc ") and (" dev l0a " in line or " dev w0z " in line)]


@pytest.mark.parametrize("number", range(len(SCRIPTS)))
def test_the_kernel_has_every_qdisc_of_a_script(number: int, shown: dict[str, str]) -> None:
    adds = r"qdisc add .* handle (\w+): (?:stab overhead -14 linklayer ethernet )?(\w+)"
    wanted = sorted(re.findall(adds, "\n".join(first_link(SCRIPTS[number]))))
    assert wanted
    assert sorted((handle, kind) for kind, handle in re.findall(r"^qdisc (\w+) (\w+): ", shown[str(number)], re.M)) == wanted


def test_changes_apply_to_the_network(shown: dict[str, str]) -> None:
    assert "rate 6Mbit" in shown["changed"]
    assert "limit 50p" in shown["changed"]
    assert "delay 20ms loss 1% rate 6Mbit" in shown["changed"]
    assert ",UP" in shown["changed"].partition("b0: ")[2]


def test_jitter_in_order_keeps_the_order(shown: dict[str, str]) -> None:
    numbers = [int(number) for number in re.findall(r"^seq (\d+)$", shown["order"], re.M)]
    assert len(numbers) == 200
    assert numbers == sorted(numbers)


def test_a_sender_fills_the_queue_at_its_own_interface(shown: dict[str, str]) -> None:
    """TCP Small Queues would stop it at two packets, which leave ten places free."""
    dropped = re.findall(r"dropped (\d+)", shown["full"])
    assert len(dropped) == 1
    assert int(dropped[0]) > 0
