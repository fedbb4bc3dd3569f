"""Scenarios from text, from dictionaries and from helper functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailback as tb
from support import SMALL


def test_a_dictionary_a_file_and_a_helper_are_the_same_scenario() -> None:
    helper = tb.dumbbell(rate="10 Mbps", delay="10 ms", buffer="20 packets", flows=2, duration="5 s")
    text = """
        duration = "5 s"
        topology.dumbbell = { rate = "10 Mbps", delay = "10 ms", queue = { policy = "drop_tail", buffer = "20 packets" } }
        flows.tcp = { count = 2, from = "left", to = "right", tcp = { preset = "newreno" } }
    """
    runs = [tb.simulate(each) for each in (helper, helper.to_dict(), tb.Scenario.from_toml(text))]
    runs.append(tb.simulate(tb.Scenario.from_json(json.dumps(helper.to_dict()))))
    assert len({run.content_hash for run in runs}) == 1
    for run in runs:
        np.testing.assert_equal(run.flows.to_dict(), runs[0].flows.to_dict())


@pytest.mark.parametrize("path", ["flows..tcp.count", "flows.tcp.", ".flows", "flows[tcp]", "record.traces[x]", "[0].at", ""])
def test_an_invalid_path_is_rejected(scenario: tb.Scenario, path: str) -> None:
    with pytest.raises(KeyError):
        scenario[path]
    with pytest.raises(tb.ScenarioError) as caught:
        scenario.with_({path: 2}).check()
    assert str(caught.value).startswith(f"error: `{path}` is not a known key")


def test_with_returns_a_changed_copy(scenario: tb.Scenario) -> None:
    changed = scenario.with_({"topology.dumbbell.rate": "5 Mbps", "flows.*.count": 3, "record.traces[0]": "rtt", "warmup": None})
    assert scenario["topology.dumbbell.rate"] == "10 Mbps"
    assert (changed["topology.dumbbell.rate"], changed["flows.tcp.count"], changed["record.traces[0]"]) == ("5 Mbps", 3, "rtt")
    assert "warmup" not in changed.to_dict()
    changed.check()
    with pytest.raises(KeyError, match=r"flows\.web"):
        changed["flows.web"]


def test_numpy_values_are_numbers(scenario: tb.Scenario) -> None:
    changed = scenario.with_({"flows.tcp.count": np.int64(2), "flows.tcp.propagation_rtt": list(np.array(["50 ms", "60 ms"]))})
    assert changed["flows.tcp.count"] == 2
    changed.check()


def test_the_normalised_form_has_every_setting_and_is_the_same_scenario(scenario: tb.Scenario) -> None:
    run = tb.simulate(scenario)
    tcp = run.scenario["flows"]["tcp"]["tcp"]
    assert (tcp["preset"], tcp["mss"], tcp["initial_window"], tcp["recovery"]) == ("newreno", "1460 B", 10, "newreno")
    assert (tcp["timer"]["form"], tcp["timer"]["min_rto"]) == ("exact", "1 s")
    again = tb.simulate(run.scenario)
    assert (again.content_hash, again.scenario) == (run.content_hash, run.scenario)


SPD = {"policy": "spd", "epd_threshold": "80 %", "congestion_threshold": "200 cells", "dropping_threshold": "20 cells"}
BPD = {"policy": "bpd", "lower_threshold": "40 %", "upper_threshold": "90 %", "gap": 25}


def test_flows_that_start_after_the_end_cause_a_warning() -> None:
    scenario = tb.dumbbell(rate="10 Mbps", delay="1 ms", buffer="50 packets", duration="2 s").with_(
        {"flows.late": {"from": "left", "to": "right", "start": "1 s", "tcp": {"preset": "newreno"}}}
    )
    assert tb.simulate(scenario).flows.where(group="late")["sent_packets"][0] > 0
    with pytest.warns(tb.ScenarioWarning, match="never start") as warned:
        run = tb.simulate(scenario.with_({"duration": "1 s"}))
    assert run.flows.where(group="late")["sent_packets"].tolist() == [0]
    assert "flows.late.start" in str(warned[0].message)


def test_inputs_of_a_controller_can_be_traced() -> None:
    fast = {"preset": "newreno", "timestamps": True, "controller": {"kind": "fast", "alpha": 20}}
    flows: dict[str, Any] = {"fast": {"propagation_rtt": "40 ms", "tcp": fast}}
    scenario = tb.dumbbell(
        rate="10 Mbps", delay="1 ms", buffer="500 packets", flows=flows, duration="10 s", traces={"controller": ["fast"]}
    )
    law = tb.simulate(scenario).trace("controller")
    assert law.columns == ["time_s", "group", "flow", "quantity", "value"]
    last = {quantity: law.where(quantity=quantity)["value"][-1] for quantity in set(law["quantity"].tolist())}
    assert set(last) == {"alpha_packets", "base_rtt_s", "average_rtt_s", "target_packets", "draining_phase"}
    assert (last["alpha_packets"], last["draining_phase"]) == (20, 5)
    # Equation (4.4): 20 packets in the queue, of 1.2 ms each, plus or minus one.
    assert last["average_rtt_s"] - last["base_rtt_s"] == pytest.approx(0.024, abs=0.0012)
    plain = scenario.with_({"flows.fast.tcp": {"preset": "newreno"}})
    with pytest.warns(tb.ScenarioWarning, match="records nothing"):
        assert len(tb.simulate(plain).trace("controller")) == 0


def test_a_trunk_with_a_channel_per_input_causes_a_warning() -> None:
    trunk: dict[str, Any] = {"rate": "10 Mbps", "buffer": "0 packets", "flows": 4, "duration": "1 s"}
    tb.dwdm(inputs=3, transmitters=2, **trunk).check()
    tb.dwdm(inputs=2, transmitters=2, **trunk, wavelength_conversion=False).check()
    with pytest.warns(tb.ScenarioWarning, match="packets never wait or are lost at the trunk"):
        tb.dwdm(inputs=2, transmitters=2, **trunk).check()


def test_a_cut_through_trunk_with_small_edge_routers() -> None:
    trunk: dict[str, Any] = {"inputs": 3, "transmitters": 2, "rate": "10 Mbps", "flows": 6, "duration": "5 s"}
    edge: Any = {"policy": "drop_tail", "buffer": "4 packets"}
    scenario = tb.dwdm(**trunk, buffer="2 packets", edge_queue=edge, input_delay="1 ms", switching="cut_through")
    queues = tb.simulate(scenario, seed=1).queues
    assert max(queues.where(queue="input1")["max_queue_units"]) <= 4
    assert queues.where(queue="trunk")["departed_units"][0] > 100
    with pytest.raises(tb.ScenarioError, match="switching"):
        tb.dwdm(**trunk, buffer="2 packets", switching="cut_through").check()


@pytest.mark.parametrize(
    ("queue", "setting", "warning"),
    [
        (SPD, {"dropping_threshold": "0 cells"}, "discards every packet during congestion"),
        (SPD, {"congestion_threshold": "80 %"}, "this policy is `epd`"),
        (SPD, {"dropping_threshold": "80 %"}, "this policy is `epd`"),
        (BPD, {"lower_threshold": "0 cells"}, "no packet of several cells can begin"),
        ({"policy": "epd_per_vc", "threshold": "80 %"}, {"threshold": "0 cells"}, "no packet of several cells can begin"),
        (BPD, {"gap": 0}, "this policy is `epd`"),
        (BPD, {"lower_threshold": "90 %"}, "this policy is `epd`"),
        ({"policy": "epd", "threshold": "80 %"}, {"threshold": "0 %"}, "no packet of several cells can begin"),
    ],
)
def test_a_setting_that_turns_a_policy_into_another_causes_a_warning(
    queue: dict[str, Any], setting: dict[str, Any], warning: str
) -> None:
    dumbbell = {"rate": "10 Mbps", "delay": "1 ms", "queue": {"buffer": "900 cells", **queue}}
    scenario = tb.Scenario(
        {
            "duration": "1 s",
            "topology": {"dumbbell": dumbbell},
            "flows": {"vc": {"from": "left", "to": "right", "framing": {}, "tcp": {"preset": "spd-1998/tahoe"}}},
        }
    )
    scenario.check()
    with pytest.warns(tb.ScenarioWarning, match=warning):
        scenario.with_({f"topology.dumbbell.queue.{key}": value for key, value in setting.items()}).check()


def test_a_relative_schema_is_left_out_in_another_folder(tmp_path: Path) -> None:
    file, (near, far) = tmp_path / "own.toml", (tmp_path / "near.toml", tmp_path / "sub" / "far.toml")
    file.write_text(f"#:schema ./scenario.json\n{SMALL}")
    far.parent.mkdir()
    for path in (near, far):
        tb.load(file).save(path)
    assert near.read_text() == file.read_text()
    assert far.read_text() == SMALL


def test_numpy_text_and_long_doubles_have_python_types(scenario: tb.Scenario) -> None:
    changed = scenario.with_({"duration": np.str_("1 s"), "flows.tcp.count": np.longdouble(2), "seed": np.array(7)}).to_dict()
    values = (changed["duration"], changed["flows"]["tcp"]["count"], changed["seed"])
    assert [(type(value), value) for value in values] == [(str, "1 s"), (float, 2.0), (int, 7)]


def test_control_characters_of_a_name_do_not_reach_the_terminal() -> None:
    scenario = tb.dumbbell(rate="1 Mbps", delay="1 ms", buffer="9 packets", duration="60 s").with_(
        {"name": "a\x1b[31m\u202etxt\nb"}
    )
    run = tb.simulate(scenario)
    for text in (scenario.name, str(run), run.summary(), str(tb.predict(scenario))):
        assert not {"\x1b", "\u202e"} & set(text)
        assert text.startswith(scenario.name)
    # A line end would begin another line of the summary.
    assert scenario.name == r"a\x1b[31m\u202etxt\nb"
    # The description itself is unchanged.
    assert run.scenario["name"] == "a\x1b[31m\u202etxt\nb"
