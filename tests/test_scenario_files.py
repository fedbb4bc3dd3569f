"""Scenarios that are written to files and read again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tailback as tb
from support import ROOT, SMALL
from tailback import _core
from tailback._scenario.named_files import KEYS_OF_FILES
from tailback.errors import OutputError


@pytest.mark.parametrize("suffix", ["toml", "json"])
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_examples_as_dictionaries_remain_the_same_in_a_file(path: Path, suffix: str, tmp_path: Path) -> None:
    scenario = tb.Scenario(tb.load(path).to_dict())
    file = tmp_path / f"scenario.{suffix}"
    scenario.save(file)
    assert tb.load(file) == scenario
    assert tb.load(file).normalised() == scenario.normalised()


def test_text_from_toml_is_written_as_it_was(tmp_path: Path) -> None:
    text = f"# A comment.\r\n{SMALL}"
    scenario = tb.Scenario.from_toml(text)
    assert scenario.to_toml() == text
    scenario.save(tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_bytes() == text.encode()
    assert "# A comment." not in scenario.with_({"seed": 2}).to_toml()


def test_a_scenario_contains_the_files_that_it_names(tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "sizes.csv").write_text("value_bytes,share\n1000,0.3\n20000,1\n")
    (folder / "day.csv").write_text("at,factor\n0 s,1\n10 s,3\n")
    (folder / "writes.csv").write_text("at,size\n0 s,1 kB\n1 s,2 kB\n")
    tcp = 'from = "left"\nto = "right"\ntcp = {preset = "sack"}'
    web = f'[flows.web]\n{tcp}\nsize = {{cdf = "sizes.csv"}}\narrivals = {{mean_interval = "1 s", profile = "day.csv"}}\n'
    script = f'[flows.script]\n{tcp}\napplication = {{kind = "script", writes = "writes.csv"}}\n'
    (folder / "scenario.toml").write_text(f"{SMALL}{web}{script}")
    scenario = tb.load(folder / "scenario.toml")
    complete = scenario.normalised()
    scenario.save(tmp_path / "elsewhere.toml")
    for file in folder.iterdir():
        file.unlink()
    assert tb.load(tmp_path / "elsewhere.toml").normalised() == complete
    assert scenario.with_({"seed": 2}).normalised() == {**complete, "seed": 2}


TCP = 'from = "a"\nto = "b"\ntcp = {preset = "sack"}\n'
LINK = 'delay = "1 ms"\nqueue = {buffer = "9 packets"}\n'
PAIR = f'[topology.graph]\nlinks = [{{from = "a", to = "b"}}]\nrate = "8 Mbps"\n{LINK}'
SIZES = "weight,value_bytes\n3,40\n1,1500\n"
GRAPH = 'graph [ node [ id 0 label "a" ] node [ id 1 label "b" ] edge [ source 0 target 1 delay "2 ms" ] ]'
MARKUP = (
    '<graphml><key id="d" for="edge" attr.name="delay"/><graph edgedefault="undirected"><node id="a"/><node id="b"/>'
    '<edge source="a" target="b"><data key="d">2 ms</data></edge></graph></graphml>'
)
ROWS = "at_s,rate_Mbps\n0,8\n2,4\n"
PARKING_LOT = '[topology.parking_lot]\nhops = 2\nrate = {trace = "FILE"}\n'
CHAIN = '[topology.chain]\nrates = ["8 Mbps", {trace = "FILE"}]\ndelays = ["1 ms", "1 ms"]\nqueue = {buffer = "9 packets"}\n'
LEAVES = '[topology.leaf_spine]\nleaves = 1\nspines = 1\nhosts = 2\nrate = "8 Mbps"\nhost_rate = {trace = "FILE"}\n'
REQUESTS = 'application = {kind = "requests", requests = 3, response_size = {weights = "FILE"}, think_time = "1 ms"}\n'
# A scenario with a file, the name of the file, its content, and a part of it that another content replaces.
FILES = {
    "weights": (f'{PAIR}[flows.web]\n{TCP}count = 2\nsize = {{weights = "FILE"}}\n', "f.csv", SIZES, ("40", "41")),
    "cdf": (f'{PAIR}[flows.web]\n{TCP}size = {{cdf = "FILE"}}\n', "f.csv", "value,share\n9 kB,1\n", ("9 kB", "8 kB")),
    "csv": (
        f'{PAIR}[flows.web]\n{TCP}size = {{csv = {{file = "FILE", column = "s_bytes"}}}}\n',
        "f.csv",
        "s_bytes\n9\n",
        ("9", "8"),
    ),
    "start": (f'{PAIR}[flows.web]\n{TCP}start = {{weights = "FILE"}}\n', "f.csv", "value_s,weight\n1,2\n", ("1,2", "1.5,2")),
    "rtt": (
        f'{PAIR}[flows.web]\n{TCP}propagation_rtt = {{weights = "FILE"}}\n',
        "f.csv",
        "value_s,weight\n1,2\n",
        ("1,2", "1.5,2"),
    ),
    "message": (f"{PAIR}[flows.web]\n{TCP}{REQUESTS}", "f.csv", SIZES, ("40", "41")),
    "writes": (
        f'{PAIR}[flows.web]\n{TCP}application = {{kind = "script", writes = "FILE"}}\n',
        "f.csv",
        "at,size\n0 s,1 kB\n",
        ("1 kB", "2 kB"),
    ),
    "profile": (
        f'{PAIR}[flows.web]\n{TCP}size = "9 B"\narrivals = {{mean_interval = "1 s", profile = "FILE"}}\n',
        "f.csv",
        "at,factor\n0 s,1\n10 s,3\n",
        ("3\n", "4\n"),
    ),
    "table": (
        f'{PAIR}[flows.web]\ntraffic = {{table = "FILE"}}\ntcp = {{preset = "sack"}}\n',
        "f.csv",
        "source,sink,size_bytes\na,b,9\n",
        ("9", "8"),
    ),
    "matrix": (
        f'{PAIR}[flows.web]\ntraffic = {{matrix = {{table = "FILE"}}}}\ncount = 2\ntcp = {{preset = "sack"}}\n',
        "f.csv",
        "source,sink,demand\na,b,9\nb,a,1\n",
        ("9", "8"),
    ),
    "gml": (
        f'[topology.graph]\ngml = "FILE"\nname_attribute = "label"\nrate = "8 Mbps"\n{LINK}[flows.web]\n{TCP}',
        "f.gml",
        GRAPH,
        ("2 ms", "3 ms"),
    ),
    "graphml": (
        f'[topology.graph]\ngraphml = "FILE"\nrate = "8 Mbps"\n{LINK}[flows.web]\n{TCP}',
        "f.graphml",
        MARKUP,
        ("2 ms", "3 ms"),
    ),
    "trace": (
        f'[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nfrom = "a"\nto = "b"\nrate = {{trace = "FILE"}}\n{LINK}[flows.web]\n{TCP}',
        "f.trace",
        "1\n2\n4\n",
        ("4", "5"),
    ),
    "rows": (
        f'[nodes]\na = {{}}\nb = {{}}\n[links.ab]\nfrom = "a"\nto = "b"\nrate = {{trace = "FILE"}}\n{LINK}[flows.web]\n{TCP}',
        "f.csv",
        ROWS,
        ("4", "5"),
    ),
    "parking_lot": (
        f"{PARKING_LOT}{LINK}[flows.web]\n{TCP.replace('a', 'n0', 1).replace(chr(34) + 'b', chr(34) + 'n2')}",
        "f.trace",
        "1\n4\n",
        ("4", "5"),
    ),
    "chain": (f'{CHAIN}[flows.web]\nfrom = "n0"\nto = "n2"\ntcp = {{preset = "sack"}}\n', "f.trace", "1\n4\n", ("4", "5")),
    "host_rate": (
        f'{LEAVES}{LINK}[flows.web]\nfrom = "host0"\nto = "host1"\ntcp = {{preset = "sack"}}\n',
        "f.csv",
        ROWS,
        ("4", "5"),
    ),
}


@pytest.mark.parametrize("kind", FILES)
def test_the_content_of_every_file_is_part_of_the_scenario(kind: str, tmp_path: Path) -> None:
    text, name, content, (old, new) = FILES[kind]
    file = tmp_path / name
    (tmp_path / "scenario.toml").write_text(f'duration = "5 s"\n{text.replace("FILE", name)}')
    file.write_text(content)
    scenario, again = (tb.load(tmp_path / "scenario.toml") for _ in range(2))
    assert old in content
    file.write_text(content.replace(old, new))
    other = tb.load(tmp_path / "scenario.toml")
    assert scenario == again
    assert scenario != other
    file.unlink()
    assert name not in scenario.to_toml()
    hashes = [tb.simulate(each, seed=1).content_hash for each in (scenario, again, other)]
    assert hashes[0] == hashes[1] != hashes[2]
    scenario.save(tmp_path / "saved.toml")
    assert tb.load(tmp_path / "saved.toml").normalised() == scenario.normalised()
    assert len(tb.simulate(scenario.with_({"duration": "4 s"}), seed=1).flows) > 0


def test_all_keys_that_may_name_files_are_known() -> None:
    """Free text in the schema is the name of a file, or has one of these keys."""
    names = {"name", "column", "name_attribute", "rate_attribute", "delay_attribute", "distance_attribute", "parameters"}
    schema = json.loads(_core.schema())
    del schema["properties"]["record"]
    assert set(free_texts(schema, schema["properties"], "", set())) - names == KEYS_OF_FILES


def free_texts(schema: Any, part: Any, key: str, seen: set[tuple[str, str]]) -> Iterator[str]:
    """The keys inside a part of the schema whose value may be any text."""
    for inner in part if isinstance(part, list) else []:
        yield from free_texts(schema, inner, key, seen)
    if not isinstance(part, dict):
        return
    if part.get("type") == "string" and not {"pattern", "enum", "const"} & part.keys():
        yield key
    reference = part.get("$ref", "")
    if reference and (reference, key) not in seen:
        seen.add((reference, key))
        yield from free_texts(schema, schema["$defs"][reference.rpartition("/")[2]], key, seen)
    for word, inner in part.items():
        own = key if word in SCHEMA_WORDS else word
        if word != "default":
            yield from free_texts(schema, inner, own, seen)


SCHEMA_WORDS = {"properties", "additionalProperties", "patternProperties", "items", "prefixItems", "anyOf", "oneOf", "not"}


def test_a_study_survives_a_change_of_its_files(tmp_path: Path) -> None:
    """The runs after the change have the contents from before."""
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("value,weight\n1 kB,1\n")
    start = {"uniform": ["0 s", "0.1 s"]}
    web: Any = {"count": 2, "size": {"weights": str(sizes)}, "start": start, "tcp": {"preset": "sack"}}
    link = tb.dumbbell(rate="10 Mbps", delay="1 ms", buffer="20 packets", duration="1 s", flows={"web": web})

    def change(progress: object) -> None:
        sizes.write_text("value,weight\n2 kB,1\n")

    axis = {"topology.dumbbell.rate": ["5 Mbps", "10 Mbps"]}
    study = tb.sweep(link, axis, seeds=5, out=tmp_path / "study", executor="threads", workers=1, progress=change)
    assert study.counts.done == 10
    sizes.unlink()
    assert set(tb.sweep(link, axis, seeds=5, out=tmp_path / "study").resume().flows["size_bytes"]) == {1000.0}
    # The files of an axis are read when the sweep is planned; another content is another study.
    files = {"flows.web.size": [{"weights": str(tmp_path / name)} for name in ("few.csv", "many.csv")]}
    for name, size in (("few.csv", "1 kB"), ("many.csv", "9 kB")):
        (tmp_path / name).write_text(f"value,weight\n{size},1\n")
    varied = tb.sweep(link, files, seeds=2, out=tmp_path / "varied")
    assert set(varied.flows["size_bytes"]) == {1000.0, 9000.0}
    (tmp_path / "many.csv").write_text("value,weight\n8 kB,1\n")
    assert set(varied.resume().flows["size_bytes"]) == {1000.0, 9000.0}
    with pytest.raises(tb.StudyError, match="another"):
        tb.sweep(link, files, seeds=2, out=tmp_path / "varied")


def test_any_name_of_a_scenario_is_text_in_toml(scenario: tb.Scenario) -> None:
    named = scenario.with_({"name": 'a "name" with \\, \n, \x7f, \u2028 and ünicode'})
    assert tb.Scenario.from_toml(named.to_toml()) == named


def test_invalid_scenarios_and_existing_files_are_errors(scenario: tb.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    with pytest.raises(tb.ScenarioError, match="tpc"):
        scenario.with_({"flows.tcp.tpc": {}}).save(file)
    assert not file.exists()
    scenario.save(file)
    with pytest.raises(OutputError, match="exists"):
        scenario.save(file)
