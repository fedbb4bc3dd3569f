// Dumbbell for ns-3 (3.37): N greedy TCP flows, one bottleneck.
// A drop-tail buffer is the point-to-point device queue, without a queue disc. A queue disc has the buffer instead, and its
// device a queue of one packet.
// Options: --n --c (Mb/s) --acc (Mb/s) --rmin --rmax (ms) --buf (packets) --t (s)
//          --ss (packets) --routing=nix|global --start (s) --sndbuf (bytes) --weak=1|0
//          --sack=0|1 --recovery=Classic|Prr --hosts=H (flows share H host pairs)
//          --sched=Map|Heap|Calendar|List|PriorityQueue
//          --tcp=NewReno|Cubic|Bbr|... --disc=CoDel|FqCoDel|... --mss (bytes)
//          --delack (segments per ACK) --timestamps=0|1 --warmup (s, not measured)
// Prints lines of "name value" pairs.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdio>
#include <fstream>
#include <numeric>
#include <string>
#include <unistd.h>

using namespace ns3;

/// User and system CPU seconds of this process as counted by the scheduler; 0 if the kernel does not count them. The kernel
/// updates them when the process stops running: hence the sleep.
static double
CpuSeconds()
{
    usleep(1);
    std::ifstream f("/proc/self/schedstat");
    double nanoseconds = 0;
    f >> nanoseconds;
    return nanoseconds * 1e-9;
}

/// A memory figure of this process in kB, by its name in /proc/self/status.
static long
MemoryKb(const std::string& name)
{
    std::ifstream f("/proc/self/status");
    std::string k;
    while (f >> k)
    {
        if (k == name)
        {
            long v;
            f >> v;
            return v;
        }
    }
    return -1;
}

int
main(int argc, char** argv)
{
    uint32_t n = 100;
    uint32_t hosts = 0;
    double c = 1000;
    double acc = 100;
    double rmin = 60;
    double rmax = 180;
    uint32_t buf = 10;
    double t = 20;
    double warmup = 0;
    uint32_t ss = 100;
    uint32_t sndbuf = 524288;
    double start = 1;
    bool weak = true;
    bool sack = false;
    bool timestamps = false;
    uint32_t mss = 1000;
    uint32_t delack = 1;
    std::string tcp = "NewReno";
    std::string disc;
    std::string recovery = "Classic";
    std::string routing = "nix";
    std::string sched = "Map";

    CommandLine cmd;
    cmd.AddValue("n", "flows", n);
    cmd.AddValue("hosts", "host pairs that share the flows (0: one pair per flow)", hosts);
    cmd.AddValue("c", "bottleneck Mb/s", c);
    cmd.AddValue("acc", "access Mb/s", acc);
    cmd.AddValue("rmin", "min RTT ms", rmin);
    cmd.AddValue("rmax", "max RTT ms", rmax);
    cmd.AddValue("buf", "bottleneck buffer, packets", buf);
    cmd.AddValue("t", "simulated seconds", t);
    cmd.AddValue("warmup", "seconds that are not measured", warmup);
    cmd.AddValue("ss", "initial ssthresh, packets", ss);
    cmd.AddValue("sndbuf", "socket buffers, bytes", sndbuf);
    cmd.AddValue("start", "flows start evenly over this many seconds", start);
    cmd.AddValue("sack", "TCP SACK", sack);
    cmd.AddValue("recovery", "Classic|Prr", recovery);
    cmd.AddValue("weak", "ns3::Ipv4::WeakEsModel (ns-3's own default: true)", weak);
    cmd.AddValue("routing", "nix|global", routing);
    cmd.AddValue("sched", "scheduler", sched);
    cmd.AddValue("tcp", "congestion control: the name of a class without Tcp", tcp);
    cmd.AddValue("disc", "queue disc of the bottleneck: the name of a class without QueueDisc", disc);
    cmd.AddValue("mss", "payload of a segment, bytes", mss);
    cmd.AddValue("delack", "segments per ACK", delack);
    cmd.AddValue("timestamps", "TCP timestamps", timestamps);
    cmd.Parse(argc, argv);
    if (hosts == 0 || hosts > n)
    {
        hosts = n;
    }
    acc *= double(n) / hosts;

    GlobalValue::Bind("SchedulerType", StringValue("ns3::" + sched + "Scheduler"));
    // With the default (true), a router compares each packet with the addresses of all its
    // interfaces, so that the cost of a packet grows with the number of flows.
    Config::SetDefault("ns3::Ipv4::WeakEsModel", BooleanValue(weak));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::Tcp" + tcp)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(recovery == "Prr" ? TcpPrrRecovery::GetTypeId()
                                                     : TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delack));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(ss * mss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(sndbuf));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(2 * sndbuf));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(timestamps));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer routers;
    routers.Create(2);
    NodeContainer snd;
    NodeContainer rcv;
    snd.Create(hosts);
    rcv.Create(hosts);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    Ipv4NixVectorHelper nix;
    if (routing == "nix")
    {
        stack.SetRoutingHelper(nix);
    }
    stack.InstallAll();

    PointToPointHelper bottle;
    if (disc.empty())
    {
        bottle.DisableFlowControl();
    }
    bottle.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(c * 1e6))));
    bottle.SetChannelAttribute("Delay", TimeValue(MilliSeconds(10)));
    bottle.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
    NetDeviceContainer bd = bottle.Install(routers);
    Ptr<PointToPointNetDevice> bdev = DynamicCast<PointToPointNetDevice>(bd.Get(0));
    bdev->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, disc.empty() ? buf : 1));
    Ptr<QueueDisc> root;
    TrafficControlHelper control;
    if (!disc.empty())
    {
        control.SetRootQueueDisc("ns3::" + disc + "QueueDisc", "MaxSize", StringValue(std::to_string(buf) + "p"));
        root = control.Install(bd.Get(0)).Get(0);
    }

    Ipv4AddressHelper addr;
    addr.SetBase("10.0.0.0", "255.255.255.252");
    addr.Assign(bd);
    if (root)
    {
        // Assigning an address installs ns-3's usual queue disc on a device without one.
        control.Uninstall(bd.Get(1));
    }

    std::vector<Ptr<PacketSink>> sinks;
    std::vector<Ipv4Address> rcvAddr;
    for (uint32_t i = 0; i < hosts; i++)
    {
        uint32_t k = (uint64_t(i) * 7919) % hosts;
        double rtt = rmin + (rmax - rmin) * (k + 0.5) / hosts;
        PointToPointHelper a;
        a.DisableFlowControl();
        a.SetDeviceAttribute("DataRate", DataRateValue(DataRate(uint64_t(acc * 1e6))));
        a.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000000p"));
        a.SetChannelAttribute("Delay", TimeValue(Seconds((rtt / 2 - 11.0) * 1e-3)));
        addr.NewNetwork();
        addr.Assign(a.Install(snd.Get(i), routers.Get(0)));
        a.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1)));
        addr.NewNetwork();
        rcvAddr.push_back(addr.Assign(a.Install(rcv.Get(i), routers.Get(1))).GetAddress(0));
    }
    for (uint32_t i = 0; i < n; i++)
    {
        uint32_t h = i % hosts;
        uint16_t port = 5000 + i / hosts;
        PacketSinkHelper sh("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer sa = sh.Install(rcv.Get(h));
        sinks.push_back(DynamicCast<PacketSink>(sa.Get(0)));
        BulkSendHelper bh("ns3::TcpSocketFactory", InetSocketAddress(rcvAddr[h], port));
        bh.SetAttribute("SendSize", UintegerValue(mss));
        bh.Install(snd.Get(h)).Start(Seconds(start * i / n));
    }
    if (routing == "global")
    {
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    }

    Ptr<Queue<Packet>> q = bdev->GetQueue();
    // Total received = accepted by the queue; packets still queued have not left yet.
    auto departed = [&] { return double(q->GetTotalReceivedPackets() - q->GetNPackets()); };
    auto dropped = [&] { return double(root ? root->GetStats().nTotalDroppedPackets : q->GetTotalDroppedPackets()); };
    auto received = [&] {
        return std::accumulate(sinks.begin(), sinks.end(), 0.0, [](double sum, auto& sink) { return sum + sink->GetTotalRx(); });
    };

    double setup = CpuSeconds();
    Simulator::Stop(Seconds(warmup));
    Simulator::Run();
    double dep = -departed();
    double drops = -dropped();
    double good = -received();
    uint64_t events = Simulator::GetEventCount();
    double run = -CpuSeconds();
    Simulator::Stop(Seconds(t - warmup));
    Simulator::Run();
    run += CpuSeconds();
    events = Simulator::GetEventCount() - events;
    dep += departed();
    drops += dropped();
    good += received();
    uint32_t size = mss + (timestamps ? 52 : 40);
    printf("setup_cpu_s %.6f run_cpu_s %.6f peak_rss_kb %ld events %lu\n",
           setup,
           run,
           MemoryKb("VmHWM:"),
           (unsigned long)events);
    printf("delivered %.0f drops %.0f loss %.8g utilisation %.6f goodput_packets %.0f\n",
           dep,
           drops,
           drops / (drops + dep),
           dep * size * 8 / (c * 1e6 * (t - warmup)),
           good / mss);
    return 0;
}
