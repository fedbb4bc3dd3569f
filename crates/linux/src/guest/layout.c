/* The layout of a connection's state in this kernel: offsets and sizes of fields, as a table in the section `.tailback`.
 *
 * `tailback kernel build` compiles this file in a copy of the kernel's source tree and reads the table from the object file. The kernel
 * does not contain it. With it, the host reads cwnd, RTT and counters from the guest's memory while the kernel waits, which costs no
 * virtual time and wakes no process. `crates/linux/src/layout.rs` reads the table. */
#include <linux/stddef.h>
#include <linux/tcp.h>
#include <linux/types.h>
#include <net/inet_connection_sock.h>
#include <net/inet_sock.h>
#include <net/tcp.h>

struct field {
	char name[24];
	u32 offset;
	u32 size;
};

#define FIELD(of, member) { #member, offsetof(struct of, member), sizeof(((struct of *)0)->member) }

const struct field tailback_fields[] __attribute__((used, section(".tailback"))) = {
	FIELD(sock, __sk_common.skc_state),
	FIELD(sock, __sk_common.skc_dport),
	FIELD(sock, __sk_common.skc_num),
	FIELD(inet_connection_sock, icsk_rto),
	FIELD(tcp_sock, copied_seq),
	FIELD(tcp_sock, bytes_received),
	FIELD(tcp_sock, rcv_nxt),
	FIELD(tcp_sock, snd_cwnd),
	FIELD(tcp_sock, snd_ssthresh),
	FIELD(tcp_sock, mss_cache),
	FIELD(tcp_sock, srtt_us),
	FIELD(tcp_sock, rtt_min.s[0].v),
	FIELD(tcp_sock, packets_out),
	FIELD(tcp_sock, sacked_out),
	FIELD(tcp_sock, lost_out),
	FIELD(tcp_sock, retrans_out),
	FIELD(tcp_sock, total_retrans),
	FIELD(tcp_sock, lost),
	FIELD(tcp_sock, total_rto),
};

/* A bit field has no offset. In this object only its bits are set. */
const struct inet_connection_sock tailback_ca_state __attribute__((used, section(".tailback_ca_state"))) = {
	.icsk_ca_state = 0x1f,
};
