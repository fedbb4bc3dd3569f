#!/bin/sh
# ns-2 2.35 (Debian ns2 2.35+dfsg-5): a flow of `Agent/TCP/Linux` whose congestion control does not exist in the simulator runs with the
# default, and ns exits with 0. The only sign is a line among the output of the script, which most studies write to a file of results.
# Of `select_ca bbr`, `bbr2`, `dctcp` and a misspelt name, each gives the acknowledged packets and retransmissions of no `select_ca` at all,
# which is not the module `reno` either. Seen, at 10 Mbit/s, 20 ms and 30 packets for 20 s:
#
#   (none)  23180 52
#   bbr     23180 52
#   dctcp   23180 52
#   cubik   23180 52
#   reno    23160 52
#   cubic   23670 114
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download --quiet=2 ns2=2.35+dfsg-5 libotcl1 libtclcl1 libtcl8.6 libtk8.6 libpcap0.8 libx11-6 libxft2 libxss1 libxext6 libxrender1 \
    libfontconfig1 libfreetype6 libxcb1 libxau6 libxdmcp6 libpng16-16 libbsd0 libmd0 libbrotli1 libexpat1 libdbus-1-3 libsystemd0 2>/dev/null
for package in *.deb; do dpkg -x "$package" files; done
export LD_LIBRARY_PATH="$work/files/usr/lib:$work/files/usr/lib/$(uname -m)-linux-gnu"
export TCL_LIBRARY="$work/files/usr/share/tcltk/tcl8.6"
cat > flow.tcl <<'TCL'
set law [lindex $argv 0]
set ns [new Simulator]
set left [$ns node]
set right [$ns node]
$ns duplex-link $left $right 10Mb 20ms DropTail
$ns queue-limit $left $right 30
set tcp [new Agent/TCP/Linux]
$tcp set window_ 1000
set sink [new Agent/TCPSink/Sack1]
$ns attach-agent $left $tcp
$ns attach-agent $right $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
if {$law ne "none"} { $ns at 0 "$tcp select_ca $law" }
$ns at 0.1 "$ftp start"
$ns at 20 { puts "result [$tcp set ack_] [$tcp set nrexmitpack_]"; exit 0 }
$ns run
TCL
for law in none bbr bbr2 dctcp cubik reno cubic; do
    files/usr/bin/ns flow.tcl "$law" > "$law.txt" 2>&1 || { echo "ns ended with $? for $law"; exit 1; }
    echo "$law $(sed -n 's/^result //p' "$law.txt")"
done
for law in bbr bbr2 dctcp cubik; do
    [ "$(grep ^result "$law.txt")" = "$(grep ^result none.txt)" ] || { echo "$law is no longer the default"; exit 1; }
    grep -q "do not find $law" "$law.txt" || { echo "the message for $law has changed"; exit 1; }
done
for law in reno cubic; do
    [ "$(grep ^result "$law.txt")" != "$(grep ^result none.txt)" ] || { echo "$law equals the default"; exit 1; }
done
