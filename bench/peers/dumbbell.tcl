# Dumbbell for ns-2 (2.35): N greedy NewReno flows, one drop-tail bottleneck.
# usage: ns dumbbell.tcl key=value ...
#   n       number of flows                        (100)
#   c       bottleneck rate, Mb/s                  (1000)
#   acc     access rate per flow, Mb/s             (100)
#   rmin,rmax  round-trip propagation range, ms    (60,180)
#   buf     bottleneck buffer, packets             (10)
#   t       simulated seconds                      (20)
#   ss      initial slow-start threshold, packets  (100)
#   hdr     all|few   packet headers registered    (few)
#   rt      manual|static|nix  routing             (manual)
#   sched   Calendar|Heap|Splay|List|Map           (Calendar)
#   mon     0|1  queue monitor (counts; off in timed runs)
#   start   flows start evenly over this many seconds (1)
# Prints lines of "name value" pairs. User and system CPU seconds are counted by the scheduler; 0 if the kernel does not count them.
array set o {n 100 c 1000 acc 100 rmin 60 rmax 180 buf 10 t 20 ss 100
             hdr few rt manual sched Calendar mon 0 start 1}
foreach a $argv { set kv [split $a =]; set o([lindex $kv 0]) [lindex $kv 1] }

if {$o(hdr) == "few"} { remove-all-packet-headers; add-packet-header IP TCP Flags }

# The kernel updates them when the process stops running: hence the sleep.
proc cpu {} {
    after 1
    if {[catch {set f [open /proc/[pid]/schedstat]; set line [gets $f]; close $f}]} { return 0 }
    return [expr [lindex $line 0]*1e-9]
}
proc peak_rss_kb {} {
    set f [open /proc/[pid]/status]
    set text [read $f]
    close $f
    regexp {VmHWM:\s+(\d+)} $text all kb
    return $kb
}

set ns [new Simulator]
$ns use-scheduler $o(sched)
if {$o(rt) == "manual"} { $ns rtproto Manual }
if {$o(rt) == "nix"}    { $ns set-nix-routing }
Node instproc man {} { return [$self get-module "Manual"] }

Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 1000000
Agent/TCP set windowInit_ 10
Agent/TCP set maxcwnd_ 0
Agent/TCP set minrto_ 0.2
Agent/TCP set tcpTick_ 0.001
Agent/TCP set max_ssthresh_ 0

set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 $o(c)Mb 10ms DropTail
$ns queue-limit $r1 $r2 $o(buf)
$ns queue-limit $r2 $r1 1000000
if {$o(rt) == "manual"} {
    [$r1 man] add-route-to-adj-node -default $r2
    [$r2 man] add-route-to-adj-node -default $r1
}
if {$o(mon)} { set qm [$ns monitor-queue $r1 $r2 ""] }

for {set i 0} {$i < $o(n)} {incr i} {
    set k [expr ($i*7919) % $o(n)]
    set rtt [expr $o(rmin) + ($o(rmax)-$o(rmin))*($k+0.5)/$o(n)]
    set s [$ns node]
    set d [$ns node]
    $ns duplex-link $s $r1 $o(acc)Mb [expr $rtt/2.0-11.0]ms DropTail
    $ns duplex-link $r2 $d $o(acc)Mb 1ms DropTail
    foreach {a b} [list $s $r1 $r1 $s $r2 $d $d $r2] { $ns queue-limit $a $b 1000000 }
    if {$o(rt) == "manual"} {
        [$s man] add-route-to-adj-node -default $r1
        [$d man] add-route-to-adj-node -default $r2
        [$r1 man] add-route-to-adj-node $s
        [$r2 man] add-route-to-adj-node $d
    }
    set tcp($i) [new Agent/TCP/Newreno]
    set snk($i) [new Agent/TCPSink]
    $ns attach-agent $s $tcp($i)
    $ns attach-agent $d $snk($i)
    $ns connect $tcp($i) $snk($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    set t0 [expr $o(start)*double($i)/$o(n)]
    $ns at $t0 "$tcp($i) set ssthresh_ $o(ss); $ftp start"
}
$ns at $o(t) fin
proc fin {} {
    global o tcp qm setup
    puts "setup_cpu_s $setup run_cpu_s [expr [cpu]-$setup] peak_rss_kb [peak_rss_kb]"
    set sent 0; set rex 0; set acked 0
    for {set i 0} {$i < $o(n)} {incr i} {
        incr sent [$tcp($i) set ndatapack_]
        incr rex [$tcp($i) set nrexmitpack_]
        incr acked [expr int([$tcp($i) set ack_])]
    }
    puts "sent $sent rexmit $rex acked $acked"
    if {$o(mon)} {
        set dep [$qm set pdepartures_]; set dr [$qm set pdrops_]; set ar [$qm set parrivals_]
        puts "delivered $dep drops $dr loss [expr double($dr)/$ar] utilisation [expr $dep*1040*8.0/($o(c)*1e6*$o(t))]"
    }
    exit 0
}
set setup [cpu]
$ns run
