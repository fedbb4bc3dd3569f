#!/bin/sh
# aioquic 1.7.2 takes the time as an argument (`connect(..., now)`, `receive_datagram(..., now)`), so that it can run in a simulator, but its
# QuicLogger dates events by the computer's clock. One log then has two times: in a transfer of 12 s with round trips of 1 s, `latest_rtt`
# is at least 1000 ms, and all events are within a few milliseconds. Whoever takes round trips, durations or rates from the times of events gets
# values that depend on the speed of the computer.
#
# Seen: 54 events within 6 to 10 ms, and values of latest_rtt from 1000 ms.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv tools
tools/bin/pip --quiet install aioquic==1.7.2
cat > transfer.py <<'PYTHON'
import datetime

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.logger import QuicLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

CLIENT, SERVER, ONE_WAY_S = ("192.0.2.1", 1), ("192.0.2.2", 2), 0.5

key = ec.generate_private_key(ec.SECP256R1())
name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server.example")])
certificate = (
    x509.CertificateBuilder()
    .subject_name(name)
    .issuer_name(name)
    .public_key(key.public_key())
    .serial_number(1)
    .not_valid_before(datetime.datetime(2020, 1, 1))
    .not_valid_after(datetime.datetime(2099, 1, 1))
    .add_extension(x509.SubjectAlternativeName([x509.DNSName("server.example")]), critical=False)
    .sign(key, hashes.SHA256())
)
log = QuicLogger()
of_client = QuicConfiguration(is_client=True, alpn_protocols=["test"], quic_logger=log, server_name="server.example")
of_client.load_verify_locations(cadata=certificate.public_bytes(Encoding.PEM))
of_server = QuicConfiguration(is_client=False, alpn_protocols=["test"], certificate=certificate, private_key=key)

client = QuicConnection(configuration=of_client)
client.connect(SERVER, now=0.0)
server = QuicConnection(configuration=of_server, original_destination_connection_id=client.original_destination_connection_id)
now = 0.0
for turn in range(12):
    for datagram, _ in client.datagrams_to_send(now):
        server.receive_datagram(datagram, CLIENT, now + ONE_WAY_S)
    now += ONE_WAY_S
    for datagram, _ in server.datagrams_to_send(now):
        client.receive_datagram(datagram, SERVER, now + ONE_WAY_S)
    now += ONE_WAY_S
    if turn == 4:
        client.send_stream_data(0, bytes(5000), end_stream=True)

events = log.to_dict()["traces"][0]["events"]
times = [event["time"] for event in events]
rtts = [event["data"]["latest_rtt"] for event in events if "latest_rtt" in event["data"]]
print(f"{len(events)} events within {max(times) - min(times):.1f} ms; latest_rtt from {min(rtts):.0f} ms, after {1000 * now:.0f} ms")
assert min(rtts) >= 1000, "round trips are no longer in the caller's time"
assert max(times) - min(times) < 1000, "events are no longer dated by the computer's clock"
PYTHON
tools/bin/python transfer.py
