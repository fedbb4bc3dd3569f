"""ns-3: a program with point-to-point links, static routes, queue discs and bulk transfers, for version 3.37 and later."""

from __future__ import annotations

from collections.abc import Iterator

from tailback._export.common import datagrams, kind_of, number, omit_of_link, omit_outage
from tailback._export.network import Flow, Network, Omissions, Port, buffer_of, host_routes, seconds
from tailback._export.target import Target

__all__ = ["TARGET"]

_CONTROLLERS = {
    "bbrv1": "TcpBbr",
    "bic": "TcpBic",
    "cubic": "TcpCubic",
    "dctcp": "TcpDctcp",
    "hstcp": "TcpHighSpeed",
    "htcp": "TcpHtcp",
    "hybla": "TcpHybla",
    "illinois": "TcpIllinois",
    "ledbat": "TcpLedbat",
    "reno": "TcpNewReno",
    "stcp": "TcpScalable",
    "vegas": "TcpVegas",
    "veno": "TcpVeno",
    "yeah": "TcpYeah",
}

# A rate without serialisation delay, and a queue that is never full.
_FAST, _LONG = "1000Gbps", "10000000p"

# Bytes of UDP, IP and the framing of point-to-point links around a payload.
_HEADERS = 30

_USAGE = """\
// In a checkout of ns-3: cp {name} scratch/ && ./ns3 run {stem}
// Prints the goodput of every flow."""

_PROGRAM = """
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>

using namespace ns3;

// A direction of a link. Without a queue disc, packets wait in the device; otherwise the device holds one packet.
struct Direction
{
    const char* rate;
    const char* deviceQueue;
    double loss;
    TrafficControlHelper* disc;
};

struct Flow
{
    const char* name;
    double start;
    double stop;
    Ptr<PacketSink> sink;
};

static std::vector<NetDeviceContainer> links;
static std::vector<Flow> flows;

// Losses of packets that arrive at a device.
static void
Lose(Ptr<NetDevice> device, double probability)
{
    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(probability);
    device->SetAttribute("ReceiveErrorModel", PointerValue(errors));
}

static void
Connect(Ptr<Node> from, Ptr<Node> to, double delay, const Direction& forward, const Direction& backward)
{
    PointToPointHelper helper;
    if (!forward.disc && !backward.disc)
    {
        helper.DisableFlowControl();
    }
    helper.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
    NetDeviceContainer devices = helper.Install(from, to);
    for (uint32_t end = 0; end < 2; end++)
    {
        const Direction& own = end == 0 ? forward : backward;
        Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
        device->SetAttribute("DataRate", StringValue(own.rate));
        device->SetMtu(MTU);
        device->GetQueue()->SetMaxSize(QueueSize(own.deviceQueue));
        if (own.disc)
        {
            own.disc->Install(device);
        }
        if (own.loss > 0)
        {
            Lose(devices.Get(1 - end), own.loss);
        }
    }
    static Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    addresses.Assign(devices);
    addresses.NewNetwork();
    links.push_back(devices);
}

// Changes a direction of a link during the run; the end is that of the sender.
[[maybe_unused]] static void
Change(uint32_t link, uint32_t end, double delay, const char* rate, const char* queue, double loss)
{
    Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(links[link].Get(end));
    device->SetAttribute("DataRate", StringValue(rate));
    device->GetChannel()->SetAttribute("Delay", TimeValue(Seconds(delay)));
    Ptr<QueueDisc> disc = device->GetNode()->GetObject<TrafficControlLayer>()->GetRootQueueDiscOnDevice(device);
    if (disc)
    {
        disc->SetMaxSize(QueueSize(queue));
    }
    else
    {
        device->GetQueue()->SetMaxSize(QueueSize(queue));
    }
    Lose(links[link].Get(1 - end), loss);
}

static Ipv4Address
AddressOf(uint32_t link, uint32_t end)
{
    return Ipv4Address((10u << 24) + 4 * link + 1 + end);
}

static void
Route(Ptr<Node> node, Ipv4Address destination, uint32_t link, uint32_t end)
{
    Ptr<Ipv4> ipv4 = node->GetObject<Ipv4>();
    int32_t interface = ipv4->GetInterfaceForDevice(links[link].Get(end));
    Ipv4StaticRoutingHelper().GetStaticRouting(ipv4)->AddHostRouteTo(destination, AddressOf(link, 1 - end), interface);
}

static void
Start(ApplicationContainer sender, Ptr<Node> to, const char* factory, uint16_t port, Flow flow)
{
    PacketSinkHelper helper(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
    flow.sink = DynamicCast<PacketSink>(helper.Install(to).Get(0));
    sender.Start(Seconds(flow.start));
    sender.Stop(Seconds(flow.stop));
    flows.push_back(flow);
}

static void
Transfer(Ptr<Node> from, Ptr<Node> to, Ipv4Address own, Ipv4Address other, uint16_t port, uint64_t bytes, Flow flow)
{
    BulkSendHelper helper("ns3::TcpSocketFactory", InetSocketAddress(other, port));
    helper.SetAttribute("Local", AddressValue(InetSocketAddress(own, 0)));
    helper.SetAttribute("MaxBytes", UintegerValue(bytes));
    Start(helper.Install(from), to, "ns3::TcpSocketFactory", port, flow);
}

static OnOffHelper
Source(uint64_t rate, uint32_t size, uint64_t bytes, const char* on, const char* off)
{
    OnOffHelper helper("ns3::UdpSocketFactory", Address());
    helper.SetAttribute("DataRate", DataRateValue(DataRate(rate)));
    helper.SetAttribute("PacketSize", UintegerValue(size));
    helper.SetAttribute("MaxBytes", UintegerValue(bytes));
    helper.SetAttribute("OnTime", StringValue(on));
    helper.SetAttribute("OffTime", StringValue(off));
    return helper;
}

static void
Datagrams(Ptr<Node> from, Ptr<Node> to, Ipv4Address other, uint16_t port, OnOffHelper helper, Flow flow)
{
    helper.SetAttribute("Remote", AddressValue(InetSocketAddress(other, port)));
    Start(helper.Install(from), to, "ns3::UdpSocketFactory", port, flow);
}
"""

_END = """
    Simulator::Stop(Seconds(duration));
    Simulator::Run();
    for (const Flow& flow : flows)
    {
        printf("%s %.0f bit/s\\n", flow.name, flow.sink->GetTotalRx() * 8 / (std::min(duration, flow.stop) - flow.start));
    }
    Simulator::Destroy();
    return 0;
}
"""


def written(network: Network, omitted: Omissions) -> str:
    """The program."""
    nodes = {node: index for index, node in enumerate(network.nodes)}
    links = network.links()
    numbers = {port.name: index for index, (port, _) in enumerate(links)}
    lines = ["int", "main(int argc, char** argv)", "{", "    CommandLine cmd(__FILE__);", "    cmd.Parse(argc, argv);"]
    lines += [
        f"    const double duration = {network.duration_s!r};",
        f"    RngSeedManager::SetSeed({network.seed % 2**31 or 1});",
    ]
    lines += [f"    {line}" for line in _defaults(network, omitted)]
    lines += ["", "    NodeContainer nodes;", f"    nodes.Create({len(nodes)});", "    InternetStackHelper().Install(nodes);"]
    lines += [f"    // {index}: {node}" for node, index in nodes.items()]
    for port, _ in links:
        lines += ["", f"    // Link {numbers[port.name]}: {port.name}"]
        lines += [f"    {line}" for line in _link(numbers[port.name], port, network.both(port, omitted), nodes, omitted)]
    lines += ["", "    // Routes: node, destination, link, and the node's end of the link."]
    homes = _homes(network, numbers)
    for (node, end), port in host_routes(network, omitted).items():
        name = port.name.removesuffix(".reverse")
        own_end = 0 if name == port.name else 1
        lines.append(f"    Route(nodes.Get({nodes[node]}), {homes[end]}, {numbers[name]}, {own_end});")
    lines.append("")
    lines += [f"    {line}" for line in _flows(network, nodes, homes, omitted)]
    lines += [f"    {line}" for line in _changes(network, numbers, omitted)]
    return _PROGRAM.replace("MTU", str(network.largest_packet())) + "\n" + "\n".join(lines) + "\n" + _END


def _homes(network: Network, numbers: dict[str, int]) -> dict[str, str]:
    """An address of each end of a flow: that on the flow's own first or last link."""
    homes: dict[str, str] = {}
    for flow in network.flows:
        for end, name, leaves in ((flow.source, flow.forward[0], True), (flow.sink, flow.forward[-1], False)):
            is_forward = not name.endswith(".reverse")
            homes.setdefault(end, f"AddressOf({numbers[name.removesuffix('.reverse')]}, {0 if leaves == is_forward else 1})")
    return homes


def _defaults(network: Network, omitted: Omissions) -> Iterator[str]:
    """TCP settings, which ns-3 has once for all flows."""
    groups = {name: group["tcp"] for name, group in network.groups.items() if group.get("tcp")}
    if not groups:
        return
    first, tcp = next(iter(groups.items()))
    settings = [_tcp(each) for each in groups.values()]
    for name, own in zip(groups, settings, strict=True):
        omitted.add(f"flows.{name}.tcp", "ns-3's TCP has its own settings; MSS, windows, delayed ACKs, SACK and ECN are exported")
        if own != settings[0]:
            omitted.add(f"flows.{name}.tcp", f"ns-3 has one TCP for all flows; settings of `{first}` are used")
    yield from _tcp(tcp)


def _tcp(tcp: dict[str, object]) -> list[str]:
    mss = number(str(tcp["mss"]))
    delayed = tcp["delayed_ack"]
    every = delayed.get("every", 2) if isinstance(delayed, dict) else 1
    window = tcp["receiver_window"]
    room = min(2**30, round(float(window) * mss)) if isinstance(window, (int, float)) else 2**30
    has_sack = "true" if tcp["recovery"] in ("sack", "rack_tlp") else "false"
    values = [
        ("TcpSocket::SegmentSize", f"UintegerValue({mss})"),
        ("TcpSocket::InitialCwnd", f"UintegerValue({round(float(str(tcp['initial_window'])))})"),
        ("TcpSocket::DelAckCount", f"UintegerValue({every})"),
        ("TcpSocket::RcvBufSize", f"UintegerValue({room})"),
        ("TcpSocket::SndBufSize", f"UintegerValue({room})"),
        ("TcpSocketBase::Sack", f"BooleanValue({has_sack})"),
        ("TcpSocketBase::Timestamp", f"BooleanValue({'true' if tcp['timestamps'] else 'false'})"),
        ("TcpSocketBase::UseEcn", f'StringValue("{"On" if tcp.get("ecn") else "Off"}")'),
    ]
    return [f'Config::SetDefault("ns3::{key}", {value});' for key, value in values]


def _link(index: int, port: Port, back: Port, nodes: dict[str, int], omitted: Omissions) -> Iterator[str]:
    delay = _delay(port, back.delay_s, omitted)
    discs = [_disc(direction, omitted) for direction in (port, back)]
    words = []
    for direction, disc, side in zip((port, back), discs, ("there", "back"), strict=True):
        size, pointer = _size(direction), "nullptr"
        if any(discs):
            pointer = f"&{side}{index}"
            yield f"TrafficControlHelper {side}{index};"
            yield f"{side}{index}.SetRootQueueDisc({disc or _fifo(size)});"
        words.append(f'{{"{_rate(direction)}", "{"1p" if any(discs) else size}", {_loss(direction)!r}, {pointer}}}')
    yield f"Connect(nodes.Get({nodes[port.source]}), nodes.Get({nodes[port.sink]}), {delay!r}, {words[0]}, {words[1]});"


def _delay(port: Port, back_s: float, omitted: Omissions) -> float:
    """The delay of a channel, whose directions have one."""
    if port.delay_s != back_s:
        omitted.add(port.at.removesuffix(".reverse"), "a channel of ns-3 has one delay for both directions; the mean is used")
    return (port.delay_s + back_s) / 2


def _rate(port: Port) -> str:
    return _FAST if port.rate_bps is None else f"{round(port.rate_bps)}bps"


def _loss(port: Port) -> float:
    return 1.0 if port.is_down or port.is_out else (port.settings.get("loss") or {}).get("probability", 0)


def _changes(network: Network, numbers: dict[str, int], omitted: Omissions) -> Iterator[str]:
    """Calls of `Change` at the times of the changes."""
    ports = dict(network.ports)
    for change in network.changes:
        port = ports[change.after.name] = change.after
        other = network.reverse(port)
        back_s = port.delay_s if other is None else ports[other.name].delay_s
        delay = _delay(port, back_s, omitted)
        if port.is_out:
            omit_outage(port, omitted)
        name = port.name.removesuffix(".reverse")
        size = _in_packets(_size(port)) if kind_of(port.queue.get("scheduler")) == "flow_queue" else _size(port)
        words = f'{numbers[name]}, {int(name != port.name)}, {delay!r}, "{_rate(port)}", "{size}", {_loss(port)!r}'
        yield f"Simulator::Schedule(Seconds({change.at_s!r}), Change, {words});"


def _disc(port: Port, omitted: Omissions) -> str | None:
    """The arguments of the queue disc of a policy; None for drop-tail. Lists what the link cannot express."""
    omit_of_link(port, omitted)
    queue, at = port.queue, f"{port.at}.queue"
    for key in ("jitter", "duplication"):
        if port.settings.get(key):
            omitted.add(f"{port.at}.{key}", "has no counterpart")
    loss = port.settings.get("loss") or {}
    if loss.get("gilbert_elliott"):
        omitted.add(f"{port.at}.loss.gilbert_elliott", "ns-3 has no such error model")
    if loss.get("at") == "before_queue":
        omitted.add(f"{port.at}.loss.at", "packets are lost behind the queue")
    if queue.get("counts_in_service"):
        omitted.add(f"{at}.counts_in_service", "the packet in transmission has left the queue")
    if port.is_out:
        omit_outage(port, omitted)
    if port.opportunities:
        omitted.add(f"{port.at}.rate", "the mean of the trace is used")
    for key in ("shaper", "classes"):
        if queue.get(key):
            omitted.add(f"{at}.{key}", "is not exported")
    scheduler, policy = queue.get("scheduler"), queue.get("policy", "drop_tail")
    kind = kind_of(scheduler)
    size = _size(port)
    if kind == "flow_queue" and policy == "codel":
        flows = (scheduler if isinstance(scheduler, dict) else {}).get("queues", 65536)
        times = f'"Target", StringValue("{_time(queue["target"])}"), "Interval", StringValue("{_time(queue["interval"])}")'
        room = f'"MaxSize", StringValue("{_in_packets(size)}"), "Flows", UintegerValue({flows})'
        return f'"ns3::FqCoDelQueueDisc", {room}, {times}, "UseEcn", BooleanValue(true)'
    if kind not in ("", "fifo"):
        omitted.add(f"{at}.scheduler", f"`{kind}` with `{policy}` is not exported; one queue is used")
    if policy == "codel":
        times = f'"Target", StringValue("{_time(queue["target"])}"), "Interval", StringValue("{_time(queue["interval"])}")'
        return f'"ns3::CoDelQueueDisc", "MaxSize", StringValue("{size}"), {times}, "UseEcn", BooleanValue(true)'
    if policy == "pie":
        times = f'"QueueDelayReference", TimeValue(Seconds({seconds(queue["target"])!r}))'
        times += f', "Tupdate", TimeValue(Seconds({seconds(queue["period"])!r}))'
        times += f', "MaxBurstAllowance", TimeValue(Seconds({seconds(queue["max_burst"])!r}))'
        mark = f'"UseEcn", BooleanValue(true), "MarkEcnThreshold", DoubleValue({queue["max_mark_probability"]!r})'
        return f'"ns3::PieQueueDisc", "MaxSize", StringValue("{size}"), {times}, {mark}'
    if policy == "red":
        return _red(port, size, omitted)
    if policy != "drop_tail":
        omitted.add(f"{at}.policy", f"`{policy}` is not a queue disc; drop-tail is used")
    return None


def _red(port: Port, size: str, omitted: Omissions) -> str:
    queue, values = port.queue, []
    room = float(size[:-1])
    for key, name in (("min_threshold", "MinTh"), ("max_threshold", "MaxTh")):
        amount, unit = queue[key].split()
        values.append(f'"{name}", DoubleValue({float(amount) * (room / 100 if unit == "%" else 1)!r})')
        if unit not in ("%", "packets"):
            omitted.add(f"{port.at}.queue.{key}", "must be in packets or percent to be exported")
    values.append(f'"QW", DoubleValue({queue["weight"]!r}), "LInterm", DoubleValue({1 / queue["max_probability"]!r})')
    values.append(f'"Gentle", BooleanValue({"true" if queue["gentle"] else "false"})')
    values.append(
        f'"UseEcn", BooleanValue({"true" if queue["signals"] == "marks" else "false"}), "UseHardDrop", BooleanValue(false)'
    )
    values.append(f'"MeanPktSize", UintegerValue({number(queue["mean_packet_size"])})')
    values.append(f'"LinkBandwidth", StringValue("{round(port.rate_bps or 0)}bps")')
    return f'"ns3::RedQueueDisc", "MaxSize", StringValue("{size}"), {", ".join(values)}'


def _fifo(size: str) -> str:
    return f'"ns3::FifoQueueDisc", "MaxSize", StringValue("{size}")'


def _size(port: Port) -> str:
    """The buffer as ns-3 writes it."""
    size = buffer_of(port)
    if size is None:
        return _LONG
    return f"{round(size[0])}B" if size[1] == "bytes" else f"{max(1, round(size[0] / (32 if size[1] == 'cells' else 1)))}p"


def _in_packets(size: str) -> str:
    return size if size.endswith("p") else f"{max(1, round(int(size[:-1]) / 1500))}p"


def _time(text: str) -> str:
    return f"{seconds(text) * 1e6:g}us"


def _flows(network: Network, nodes: dict[str, int], homes: dict[str, str], omitted: Omissions) -> Iterator[str]:
    kinds: dict[str, str] = {}
    for index, flow in enumerate(network.flows):
        window = flow.window_s(network.duration_s)
        if window <= 0:
            continue
        ends = f"nodes.Get({nodes[flow.source]}), nodes.Get({nodes[flow.sink]})"
        about = f'{{"{flow.name}", {flow.start_s!r}, {flow.start_s + window!r}, nullptr}}'
        port = 1024 + index % 60000
        if flow.settings.get("source"):
            helper = _source(flow, omitted)
            if helper:
                yield f"Datagrams({ends}, {homes[flow.sink]}, {port}, {helper}, {about});"
            continue
        kind = _controller(flow, omitted)
        if kinds.setdefault(flow.source, kind) != kind:
            omitted.add(f"flows.{flow.group}.tcp.controller", f"all flows of `{flow.source}` use `{kinds[flow.source]}`")
        path = f"/NodeList/{nodes[flow.source]}/$ns3::TcpL4Protocol/SocketType"
        if kinds[flow.source] == kind:
            yield f'Config::Set("{path}", TypeIdValue(TypeId::LookupByName("ns3::{kind}")));'
        size = flow.size_bytes or 0
        yield f"Transfer({ends}, {homes[flow.source]}, {homes[flow.sink]}, {port}, {size}, {about});"


def _controller(flow: Flow, omitted: Omissions) -> str:
    kind = kind_of(flow.settings["tcp"]["controller"])
    if kind not in _CONTROLLERS:
        omitted.add(f"flows.{flow.group}.tcp.controller", f"`{kind}` is not part of ns-3; NewReno is used")
    return _CONTROLLERS.get(kind, "TcpNewReno")


def _source(flow: Flow, omitted: Omissions) -> str | None:
    """An OnOffHelper for a datagram source; None if it has no counterpart."""
    source = flow.settings["source"]
    payload = datagrams(flow, ("constant", "poisson", "on_off"), _HEADERS, 1, omitted)
    if payload is None:
        return None
    times = ["ns3::ConstantRandomVariable[Constant=1000000]", "ns3::ConstantRandomVariable[Constant=0]"]
    if source["kind"] == "on_off":
        times = [_period(source[f"{side}_periods"], seconds(source[f"mean_{side}"]), source["shape"]) for side in ("on", "off")]
    return f'Source({payload[0]}, {payload[1]}, {flow.size_bytes or 0}, "{times[0]}", "{times[1]}")'


def _period(distribution: str, mean: float, shape: float) -> str:
    if distribution == "constant":
        return f"ns3::ConstantRandomVariable[Constant={mean!r}]"
    if distribution == "pareto":
        return f"ns3::ParetoRandomVariable[Scale={mean * (shape - 1) / shape!r}|Shape={shape!r}]"
    return f"ns3::ExponentialRandomVariable[Mean={mean!r}]"


TARGET = Target("ns3", "a C++ program for ns-3", "cc", "//", _USAGE, "", written, ("rate", "delay", "loss", "buffer", "down"))
