"""aioquic (https://github.com/aiortc/aioquic, `pip install aioquic`) at both ends of flows.

    tailback run FILE --code examples/aioquic_host.py

with ``tcp = {stack = "user:aioquic", parameters = {congestion = "cubic"}}`` and a `size`. aioquic takes connection ids and keys
from the system's random numbers, so that the bytes of packets differ between runs.
"""

from __future__ import annotations

import datetime
import ssl
from collections.abc import Iterator

from aioquic.buffer import Buffer
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StreamDataReceived
from aioquic.quic.packet import pull_quic_header
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import tailback as tb

# aioquic uses addresses only to distinguish paths.
PEER = ("peer", 443)


def certificate() -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    """A certificate of its own issue, which the client does not verify."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tailback")])
    begin, end = (datetime.datetime(year, 1, 1, tzinfo=datetime.UTC) for year in (2020, 2100))
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(begin).not_valid_after(end)
    return builder.sign(key, hashes.SHA256()), key


CERTIFICATE, KEY = certificate()


@tb.host("aioquic")
class Aioquic(tb.user_code.Host):
    """A client that sends the flow's data on one stream, or a server that reads everything."""

    def __init__(self, end: tb.user_code.HostEnd, *, congestion: str = "reno") -> None:
        super().__init__(end)
        self.configuration = QuicConfiguration(
            is_client=end.is_sender,
            alpn_protocols=["tailback"],
            congestion_control_algorithm=congestion,
            certificate=None if end.is_sender else CERTIFICATE,
            private_key=None if end.is_sender else KEY,
            verify_mode=ssl.CERT_NONE,
        )
        self.connection: QuicConnection | None = None
        self.received_bytes = 0
        self.ended_at_s: float | None = None
        self.end_reason: str | None = None

    def receive(self, now_s: float, data: bytes, ecn: int) -> None:
        if self.connection is None:
            header = pull_quic_header(Buffer(data=data), host_cid_length=self.configuration.connection_id_length)
            self.connection = QuicConnection(
                configuration=self.configuration, original_destination_connection_id=header.destination_cid
            )
        self.connection.receive_datagram(data, PEER, now=now_s)

    def poll(self, now_s: float) -> Iterator[bytes]:
        if self.connection is None:
            if not self.end.is_sender:
                return
            self.connection = QuicConnection(configuration=self.configuration)
            self.connection.connect(PEER, now=now_s)
        timer = self.connection.get_timer()
        if timer is not None and timer <= now_s:
            self.connection.handle_timer(now=now_s)
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, HandshakeCompleted) and self.end.is_sender:
                data = bytes(self.end.size_bytes or 0)
                self.connection.send_stream_data(self.connection.get_next_available_stream_id(), data, end_stream=True)
            elif isinstance(event, StreamDataReceived):
                self.received_bytes += len(event.data)
            elif isinstance(event, ConnectionTerminated):
                self.ended_at_s, self.end_reason = now_s, event.reason_phrase or f"error {event.error_code}"
        yield from (data for data, _ in self.connection.datagrams_to_send(now=now_s))

    def deadline_s(self) -> float | None:
        return None if self.connection is None else self.connection.get_timer()

    def report(self) -> tb.user_code.HostReport:
        if self.connection is None:
            return tb.user_code.HostReport(delivered_bytes=0)
        # aioquic has no public statistics.
        recovery = self.connection._loss
        has_rtt = recovery._rtt_initialized
        return tb.user_code.HostReport(
            delivered_bytes=self.received_bytes,
            cwnd_bytes=recovery.congestion_window,
            smoothed_rtt_s=recovery._rtt_smoothed if has_rtt else None,
            min_rtt_s=recovery._rtt_min if has_rtt else None,
            ended_at_s=self.ended_at_s,
            end_reason=self.end_reason,
        )
