"""Replay of packetdrill scripts."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import tailback as tb
from tailback._cli import app
from tailback.errors import ParameterError, ScenarioError

SCRIPTS = sorted(Path(__file__).parent.joinpath("scripts").glob("*.pkt"))
HANDSHAKE = """0 < S 0:0(0) win 65535 <mss 1000,sackOK>
+0 > S. 0:0(0) ack 1 <mss 1460,sackOK>
+.1 < . 1:1(0) ack 1 win 60000
"""


def replay(tmp_path: Path, script: str, *, preset: str | None = None) -> tb.Replay:
    file = tmp_path / "script.pkt"
    file.write_text(script)
    return tb.packetdrill(file, preset=preset)


def verdicts(done: tb.Replay) -> dict[int, tuple[str, str]]:
    """Verdict and measured result of each line; not compared ones only if no other exists."""
    rows = sorted(done.lines.to_rows(), key=lambda row: row["verdict"] != "not compared")
    return {row["line"]: (row["verdict"], row["measured"]) for row in rows}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_linux_preset_does_what_the_script_expects(script: Path) -> None:
    done = tb.packetdrill(script)
    assert done.differ == 0, done.summary()
    assert done.agree >= 3


def test_another_preset_differs_where_it_should(tmp_path: Path) -> None:
    """Two instead of three segments for an acknowledgement, and half of the window instead of 0.7 of it."""
    (script,) = (script for script in SCRIPTS if script.stem == "fast_retransmit")
    done = tb.packetdrill(script, preset="linux/reno")
    wrong = [row["statement"] for row in done.lines.to_rows() if row["verdict"] == "differs"]
    assert wrong == ["assert tcpi_snd_ssthresh == 7"]
    assert str(done).endswith("7 agree, 1 differ from linux/reno")


def test_each_kind_of_difference_is_told_with_its_line(tmp_path: Path) -> None:
    script = (
        HANDSHAKE
        + """+0 write(4, ..., 3000) = 3000
+0 > . 1:2001(2000) ack 1
+.1 < . 1:1(0) ack 3001 win 60000
+.1 write(4, ..., 1000) = 1000
+.5 > . 3001:4001(1000) ack 1
+0 > . 4001:5001(1000) ack 1
+0 %{ assert tcpi_snd_cwnd == 9 and tcpi_unacked > 0 }%
"""
    )
    said = verdicts(replay(tmp_path, script))
    assert said[4] == ("differs", "sends 2001:3001(1000) at 0.1 s")
    assert said[5] == ("agrees", "sent at 0.1 s")
    assert said[8] == ("differs", "sent at 0.3 s instead of 0.8 s")
    assert said[9] == ("differs", "contains data that nothing has written")
    assert said[10] == ("differs", "tcpi_snd_cwnd = 10, tcpi_unacked = 1")


def test_what_is_not_compared_is_told(tmp_path: Path) -> None:
    script = (
        "--local_ip=1.2.3.4\n`sysctl -q net.ipv4.tcp_congestion_control=reno`\n"
        + HANDSHAKE
        + """+0 write(4, ..., 1000) = 1000
* > P. 1:1001(1000) ack 1
+.1 < . 1:1(0) ack 501 win 60000
+0 < . 1:1(0) ack 9001 win 60000
+0 < icmp unreachable [1:1001(1000)]
+0 %{ import os; os.remove("/"); assert tcpi_snd_mss == 1000; assert tcpi_unacked == 1 }%
+0 > F. 1001:1001(0) ack 1
"""
    )
    done = replay(tmp_path, script)
    assert done.preset == "linux/reno"
    notes = " ".join(done.notes())
    for told in [
        "an option of packetdrill",
        "shell commands are not run",
        "ends within a segment",
        "acknowledges data that the sender has not sent",
        "is not a TCP segment",
        "only assertions are evaluated",
        "`tcpi_snd_mss` does not exist here",
        "segments without data",
    ]:
        assert told in notes, notes
    assert (done.agree, done.differ) == (2, 0)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("", "there is no SYN"),
        (HANDSHAKE + "soon < . 1:1(0) ack 1\n", "line 4: expected a time such as"),
        (HANDSHAKE + "+0 ?\n", "line 4: expected a packet"),
        (HANDSHAKE + "+0 write(4, ..., 1000\n", "line 4: the arguments of `write` have no end"),
        ("0 < S 0:0(0) win 1 <mss 10,TS val 1 ecr 0>\n", "the segment size of the handshake is -2 B"),
        ("0 < S 0:0(0) win 1 <mss 99999>\n", "line 1: the MSS is 99999; expected 1 to 65,535"),
        ("0 < S 0:0(0) win 1 <mss 1000,wscale 99>\n", "line 1: the window scale is 99; expected 0 to 14"),
        (HANDSHAKE + f"+0 write(4, ..., {'9' * 5000}) = {'9' * 5000}\n", "line 4: the number of written bytes is 9999"),
        (HANDSHAKE + "+0 write(4, ..., 2000000000) = 2000000000\n", "line 4: 2,000,000,000 bytes make 2,000,000 segments"),
        (HANDSHAKE + "+99999999 write(4, ..., 1000) = 1000\n", "line 4: the time is 1e+08 s; expected at most 86,400 s"),
        (HANDSHAKE + "+0~+99999999 > P. 1:1001(1000) ack 1\n", "line 4: the time is 1e+08 s; expected at most 86,400 s"),
        ("--tolerance_usecs=99999999999\n" + HANDSHAKE, "line 1: `tolerance_usecs` is 99999999999; expected 0 to 60,000,000"),
        (HANDSHAKE + "+0 > P. 1:1001(999) ack 1\n", "line 4: the length of 1:1001(999) is 999; expected 1000"),
        (HANDSHAKE + "+0 < . 1:1(0) ack 1 win 9 <sack 3001:1001>\n", "line 4: the SACK block 3001:1001 is empty"),
        (HANDSHAKE + "+0 < . 1:1(0) ack 1 win 70000\n", "line 4: the window is 70000; expected 0 to 65,535"),
        (HANDSHAKE + "+0 < . 1:1(0) ack 5000000000 win 9\n", "line 4: the acknowledgement is 5000000000; expected 0 to"),
        (HANDSHAKE + "+0 \x1b[31mfoo(4)\n", r"found `\x1b[31mfoo(4)`"),
    ],
)
def test_a_script_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path, script: str, told: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(told)):
        replay(tmp_path, script)


def test_control_characters_of_a_script_are_escaped(tmp_path: Path) -> None:
    done = replay(tmp_path, HANDSHAKE + "+0 ioctl(\x1b[31m)\n+0 < \x1b[2J\n+0 %{ assert 1\0 }%\n+0 `\x07`\n")
    assert (done.summary() + "".join(done.lines["statement"])).replace("\n", "").isprintable()


def test_a_segment_that_the_script_does_not_await_is_not_sent_yet(tmp_path: Path) -> None:
    done = replay(
        tmp_path, HANDSHAKE + "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n+.1 > P. 1:1001(1000) ack 1\n"
    )
    assert verdicts(done)[6] == ("differs", "not sent until 0.204 s, where the script ends")
    assert verdicts(done)[5][0] == "agrees"


def test_a_script_without_anything_to_compare_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "nothing.pkt").write_text(HANDSHAKE)
    done = CliRunner().invoke(app, ["packetdrill", str(tmp_path / "nothing.pkt")])
    assert done.exit_code == 1
    assert "nothing was compared with linux/cubic" in done.output


def test_a_preset_that_cannot_be_replayed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="linux/cubic"):
        replay(tmp_path, HANDSHAKE, preset="linux/cubik")
    with pytest.raises(ParameterError, match="requires feedback"):
        replay(tmp_path, HANDSHAKE, preset="linux/dctcp")


def test_the_command_prints_differences_and_ends_with_1(tmp_path: Path) -> None:
    (tmp_path / "wrong.pkt").write_text(HANDSHAKE + "+0 %{ assert tcpi_snd_cwnd == 9 }%\n")
    done = CliRunner().invoke(app, ["packetdrill", str(tmp_path / "wrong.pkt")])
    assert done.exit_code == 1
    assert "tcpi_snd_cwnd = 10" in done.output
    assert CliRunner().invoke(app, ["packetdrill", str(SCRIPTS[0]), "--json"]).exit_code == 0
    missing = CliRunner().invoke(app, ["packetdrill", str(tmp_path / "missing.pkt")])
    assert missing.exit_code == 2
    assert "missing.pkt" in missing.output


def test_a_range_of_times_may_begin_with_0(tmp_path: Path) -> None:
    # As google/packetdrill's scripts have it for calls that block: `+0...0.05 connect`.
    script = HANDSHAKE + "+0...0.05 read(4, ..., 100) = 0\n+.1...0.3 write(4, ..., 1000) = 1000\n+0 > . 1:1001(1000) ack 1\n"
    done = replay(tmp_path, script)
    assert (done.agree, done.differ) == (1, 0)


@pytest.mark.parametrize(
    "call", ["write(4, ..., 3000)", "sendmsg(4, {msg_iov(1)=[{..., 400}]}, 0)", "splice(5, NULL, 4, NULL, 9, 0)"]
)
def test_a_call_that_fails_writes_nothing(call: str, tmp_path: Path) -> None:
    script = HANDSHAKE + f"+0 {call} = -1 EAGAIN (Resource temporarily unavailable)\n+0 write(4, ..., 500) = 500\n"
    done = replay(tmp_path, script + "+0 > P. 1:501(500) ack 1\n")
    assert (done.agree, done.differ) == (1, 0)


@pytest.mark.parametrize(
    "call", ["sendmsg(4, {msg_iov(2)=[{..., 400}, {..., 600}], msg_flags=0}, 0)", "sendfile(4, 5, [0], 1000)"]
)
def test_every_call_that_writes_does_so(tmp_path: Path, call: str) -> None:
    done = replay(tmp_path, HANDSHAKE + f"+0 {call} = 1000\n+0 > . 1:1001(1000) ack 1\n+0 > . 1001:1002(1) ack 1\n")
    assert (done.agree, done.differ) == (1, 1)


def test_data_behind_a_write_of_an_unknown_number_of_bytes_are_not_compared(tmp_path: Path) -> None:
    script = HANDSHAKE + "+0 write(4, ..., 500) = 500\n+0 > . 1:501(500) ack 1\n+0 splice(5, NULL, 4, NULL, 60, 0) = 60\n"
    done = replay(tmp_path, script + "+0 > P. 501:561(60) ack 1\n")
    assert (done.agree, done.differ) == (1, 0)
    assert verdicts(done)[7] == ("not compared", "the data of line 6, which are not read, may be part of it")


def test_segments_behind_the_last_expectation_are_not_read(tmp_path: Path) -> None:
    script = HANDSHAKE + "+0 write(4, ..., 3000) = 3000\n+0 > . 1:1001(1000) ack 1\n"
    assert replay(tmp_path, script).differ == 0
    assert replay(tmp_path, script + "+0 > . 2001:3001(1000) ack 1\n").differ == 1


@pytest.mark.parametrize(("block", "sacked"), [("1001:2001", 1), ("2000:2001", 0), ("1001:1002", 0), ("1500:3001", 1)])
def test_a_part_of_a_segment_is_not_acknowledged(tmp_path: Path, block: str, sacked: int) -> None:
    script = (
        HANDSHAKE
        + f"""+0 write(4, ..., 4000) = 4000
+.1 < . 1:1(0) ack 1 win 60000 <sack {block},nop,nop>
+0 %{{ assert tcpi_sacked == {sacked} }}%
"""
    )
    assert (replay(tmp_path, script).agree, replay(tmp_path, script).differ) == (1, 0)


def test_an_unknown_name_in_a_part_that_is_not_evaluated_is_no_error(tmp_path: Path) -> None:
    done = replay(tmp_path, HANDSHAKE + "+0 %{ assert tcpi_snd_cwnd == 10 or tcpi_options > 0 }%\n")
    assert verdicts(done)[4] == ("agrees", "tcpi_snd_cwnd = 10")


def test_the_tolerance_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "script.pkt"
    file.write_text(HANDSHAKE + "+0 write(4, ..., 1000) = 1000\n+.02 > . 1:1001(1000) ack 1\n")
    assert tb.packetdrill(file).differ == 1
    assert tb.packetdrill(file, tolerance="20 ms").differ == 0
    assert CliRunner().invoke(app, ["packetdrill", str(file), "--tolerance", "20 ms"]).exit_code == 0
    with pytest.raises(ParameterError, match="`tolerance` is '20'; expected a time from 0 to 60 s"):
        tb.packetdrill(file, tolerance="20")
