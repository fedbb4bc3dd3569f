#!/bin/sh
# netem of Linux 6.1.176 (Debian user-mode-linux 6.1um4+b13) with tc of iproute2 6.1.0, three surprises about jitter and correlation:
#
# 1. `delay 30ms 10ms 90%`, where tc-netem(8) says that the delay depends on the previous one by 90 %: successive round trips have no
#    correlation (seen: -0.07, and 0.9 would be right). The kernel takes the correlated 32-bit number modulo the width of the jitter in
#    nanoseconds, which keeps the low bits only; the correlation would appear for jitters of seconds.
# 2. `duplicate 10% 50%`: tc reads the correlation and does not send it. `tc qdisc show` has `duplicate 10%`, but `loss 10% 50%` in the
#    same position. No message.
# 3. `netem delay 10ms 5ms` with a child `pfifo`, which tc-netem(8) advises against reordering: packets are overtaken as without it
#    (seen: 11 of 300 pings that are 3 ms apart). Since Linux 3.3, the child only gets packets whose time has come. A `rate` in the
#    same netem keeps the order.
#
# The kernel runs as a process, needs no rights, and its clock is real: numbers vary from run to run.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work"
apt-get download --quiet=2 user-mode-linux=6.1um4+b13 iproute2=6.1.0-3 kmod libkmod2 iputils-ping libmnl0 libbpf1 libelf1 libcap2 libxtables12 \
    libtirpc3 libzstd1 liblzma5 libbsd0 libmd0 2>/dev/null
for package in *.deb; do dpkg -x "$package" files; done
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
    ip -n a link set va up
    ip -n b link set vb up
    tc -n a qdisc add dev va root netem delay 30ms 10ms 90%
    ip netns exec a ping -c 400 -i 0.05 192.0.2.2 > correlated
    tc -n a qdisc replace dev va root netem duplicate 10% 50%
    tc -n a qdisc show dev va > duplicate
    tc -n a qdisc replace dev va root netem loss 10% 50%
    tc -n a qdisc show dev va > loss
    tc -n a qdisc del dev va root
    tc -n a qdisc add dev va root handle 1: netem delay 10ms 5ms
    tc -n a qdisc add dev va parent 1:1 handle 2: pfifo limit 1000
    ip netns exec a ping -c 300 -i 0.003 192.0.2.2 > ordered
} > output 2>&1
echo o > /proc/sysrq-trigger
sleep 60
INIT
chmod +x init.sh
files/usr/bin/linux.uml root=none rootfstype=hostfs rootflags=/ ro mem=256M con=null con0=null,fd:1 quiet init="$work/init.sh" WORK="$work" \
    < /dev/null > console 2>&1 || true
cat output
cat duplicate loss
python3 - <<'PYTHON'
import re

numbers = [re.search(r"icmp_seq=(\d+).*time=([\d.]+)", line) for line in open("correlated")]
times = [float(found[2]) for found in sorted(filter(None, numbers), key=lambda found: int(found[1]))]
mean = sum(times) / len(times)
spread = sum((time - mean) ** 2 for time in times)
correlation = sum((one - mean) * (other - mean) for one, other in zip(times, times[1:])) / spread
print(f"1. {len(times)} round trips of {min(times)} to {max(times)} ms, correlation of neighbours {correlation:.2f}")
assert len(times) > 300 and correlation < 0.5, "delays are correlated now"

assert "duplicate 10%" in open("duplicate").read() and "50%" not in open("duplicate").read(), "tc sends the correlation now"
assert "loss 10% 50%" in open("loss").read(), "tc shows no correlation of losses"
print("2. the correlation of duplicates is not there, that of losses is")

order = [int(number) for number in re.findall(r"icmp_seq=(\d+)", open("ordered").read())]
overtaken = sum(after < before for before, after in zip(order, order[1:]))
print(f"3. {overtaken} of {len(order)} pings were overtaken")
assert overtaken > 0, "a child pfifo keeps the order now"
PYTHON
