#!/bin/sh
# TCP of Linux 6.1.176 (Debian user-mode-linux 6.1um4+b13): the minimum RTT of TCP_INFO falls below the propagation delay of the path.
#
# When an acknowledgement covers retransmitted data only, the RTT is the difference of two timestamps of the TCP option, in whole
# milliseconds. On a path of 8.05 ms it can be 8 ms. This sample goes into tcpi_min_rtt, and so into the model of BBR and into the
# reordering window of RACK. Seen: 8.1 ms without losses, and exactly 8.000 ms with 2 % of losses. Linux 6.12.117 does the same: BBR's
# minimum on a path of 8.38 ms becomes 8.00 ms.
#
# The kernel runs as a process, needs no rights, and its clock is real: numbers vary from run to run.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download --quiet=2 user-mode-linux=6.1um4+b13 iproute2=6.1.0-3 kmod libkmod2 libmnl0 libbpf1 libelf1 libcap2 libxtables12 \
    libtirpc3 libzstd1 liblzma5 libbsd0 libmd0 2>/dev/null
for package in *.deb; do dpkg -x "$package" files; done
cat > receive.py <<'PYTHON'
import socket

with socket.create_server(("192.0.2.2", 5000)) as server:
    for _ in range(2):
        connection, _ = server.accept()
        while connection.recv(1 << 16):
            pass
        connection.close()
PYTHON
cat > send.py <<'PYTHON'
import socket
import struct

connection = socket.create_connection(("192.0.2.2", 5000))
connection.sendall(bytes(3_000_000))
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 152)
print(struct.unpack_from("I", info, 148)[0], struct.unpack_from("I", info, 100)[0])
PYTHON
cat > init.sh <<'INIT'
#!/bin/sh
export PATH="$WORK/files/usr/sbin:$WORK/files/usr/bin:$WORK/files/sbin:$WORK/files/bin:/usr/sbin:/usr/bin:/sbin:/bin"
export LD_LIBRARY_PATH="$WORK/files/usr/lib/x86_64-linux-gnu:$WORK/files/lib/x86_64-linux-gnu" TC_LIB_DIR="$WORK/files/usr/lib/tc"
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs run /run
mount -t hostfs none /mnt -o "$WORK"
mkdir -p /run/modules/lib
ln -s /mnt/files/usr/lib/uml/modules /run/modules/lib/modules
modprobe -d /run/modules veth
modprobe -d /run/modules sch_netem
cd /mnt
{
    ip netns add a
    ip netns add b
    ip link add va netns a type veth peer name vb netns b
    ip -n a addr add 192.0.2.1/24 dev va
    ip -n b addr add 192.0.2.2/24 dev vb
    ip -n a link set va up gso_max_segs 1
    ip -n b link set vb up
    tc -n a qdisc add dev va root netem limit 10000 delay 4025us
    tc -n b qdisc add dev vb root netem limit 10000 delay 4025us
    ip netns exec b python3 receive.py &
    sleep 1
    ip netns exec a python3 send.py > clean
    tc -n a qdisc change dev va root netem limit 10000 delay 4025us loss 2%
    ip netns exec a python3 send.py > lossy
} > output 2>&1
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init.sh
files/usr/bin/linux.uml root=none rootfstype=hostfs rootflags=/ ro mem=256M con=null con0=null,fd:1 quiet init="$work/init.sh" WORK="$work" \
    < /dev/null > console 2>&1 || true
cat output
python3 - <<'PYTHON'
clean, lossy = ([int(word) for word in open(name).read().split()] for name in ("clean", "lossy"))
print(f"propagation 8050 us; minimum RTT {clean[0]} us, and {lossy[0]} us with {lossy[1]} retransmissions")
assert clean[0] >= 8050 and clean[1] == 0, "the path is shorter than its delays"
assert lossy[1] > 10 and lossy[0] == 8000, "retransmissions have an exact RTT now"
PYTHON
