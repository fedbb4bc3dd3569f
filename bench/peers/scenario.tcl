# A dumbbell for ns-2 (2.35), with the settings of bench/ns2.py.
# usage: ns scenario.tcl key=value ...
#   agent    class of the senders, such as Agent/TCP/Newreno
#   sink     class of the receivers
#   rate     bottleneck rate, Mb/s
#   buffer   buffer of the bottleneck with the packet in service, packets
#   red      minimum and maximum threshold of RED, packets, and maximum probability: low,high,p; empty: drop-tail
#   rtts     round-trip propagation time of each flow, ms, separated by commas
#   starts   start of each flow, s
#   overhead maximum of the random delay of a packet at the sender, s
#   warmup, end  measurement interval, s
#   seed
# Prints lines of "name value" pairs.
foreach a $argv { set kv [split $a =]; set o([lindex $kv 0]) [lindex $kv 1] }
ns-random $o(seed)

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 10000
Agent/TCP set windowInit_ 2
Agent/TCP set maxcwnd_ 0
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
Agent/TCP set overhead_ $o(overhead)
# Limited transmit also resends old segments after a timeout.
Agent/TCP set singledup_ 0

set ns [new Simulator]
set r1 [$ns node]
set r2 [$ns node]
set kind DropTail
if {$o(red) != ""} {
    set kind RED
    foreach {low high p} [split $o(red) ,] {}
    Queue/RED set thresh_ $low
    Queue/RED set maxthresh_ $high
    Queue/RED set linterm_ [expr 1.0/$p]
    Queue/RED set q_weight_ 0.002
    Queue/RED set gentle_ true
    Queue/RED set wait_ false
    Queue/RED set setbit_ false
    Queue/RED set bytes_ false
    Queue/RED set queue_in_bytes_ false
    Queue/RED set mean_pktsize_ 1040
}
$ns simplex-link $r1 $r2 $o(rate)Mb 5ms $kind
$ns simplex-link $r2 $r1 $o(rate)Mb 5ms DropTail
$ns queue-limit $r1 $r2 $o(buffer)
$ns queue-limit $r2 $r1 1000000
set monitor [$ns monitor-queue $r1 $r2 ""]
set integral [$monitor get-pkts-integrator]

set n 0
foreach rtt [split $o(rtts) ,] start [split $o(starts) ,] {
    set s [$ns node]
    set d [$ns node]
    $ns duplex-link $s $r1 10000Mb [expr $rtt/2.0-5.0]ms DropTail
    $ns duplex-link $r2 $d 10000Mb 0ms DropTail
    foreach {a b} [list $s $r1 $r1 $s $r2 $d $d $r2] { $ns queue-limit $a $b 1000000 }
    set tcp($n) [new $o(agent)]
    set sink($n) [new $o(sink)]
    $ns attach-agent $s $tcp($n)
    $ns attach-agent $d $sink($n)
    $ns connect $tcp($n) $sink($n)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($n)
    $ns at $start "$ftp start"
    incr n
}

proc counts {} {
    global ns monitor integral tcp n
    set all [list [$monitor set bdepartures_] [$monitor set parrivals_] [$monitor set pdrops_]]
    $integral newpoint [$ns now] [$monitor set pkts_]
    lappend all [$integral set sum_]
    for {set i 0} {$i < $n} {incr i} {
        lappend all [$tcp($i) set ack_] [$tcp($i) set nrexmitpack_] [$tcp($i) set nrexmit_]
    }
    return $all
}
proc begin {} { global before; set before [counts] }
proc finish {} {
    global before
    foreach b $before a [counts] { lappend change [expr $a-$b] }
    puts "bytes [lindex $change 0] arrivals [lindex $change 1] drops [lindex $change 2] queue_s [lindex $change 3]"
    foreach {acked resent timeouts} [lrange $change 4 end] { puts "acked $acked resent $resent timeouts $timeouts" }
    exit 0
}
$ns at $o(warmup) begin
$ns at $o(end) finish
$ns run
