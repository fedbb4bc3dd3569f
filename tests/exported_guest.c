/* What an exported network is measured with, in a Linux guest: three programs, chosen by the name.
 *
 * `iperf3` takes the place of the program of that name, with the options that exported scripts use for TCP. It has no control connection,
 * so that the network carries the flow alone, and writes and reads as the guest program of the stack `linux` does. A server appends
 * "port time received" to $MEASURED/flows at the times of $MEASURED/until (after the start of its connection), a client the times
 * of its start and end.
 *
 * `queues INTERFACE FILE STEP`: length and drops of each qdisc of an interface, every STEP microseconds until it is ended. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, VECTORS = 1000, STEP_US = 100000 };

static char data[BUFFER];

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static void sleep_until(double at)
{
	struct timespec time = { (time_t)at, (long)((at - (time_t)at) * 1e9) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

struct flow {
	int connection, port;
	const char *role;
};

/* Appends the state of a connection to a file, every 100 ms. */
static void *watch(void *argument)
{
	struct flow *flow = argument;
	char name[300];
	FILE *file;
	double at = now();

	snprintf(name, sizeof name, "%s/%s.%d", getenv("MEASURED"), flow->role, flow->port);
	file = fopen(name, "w");
	if (!file)
		fail(name);
	for (;; at += STEP_US * 1e-6) {
		struct tcp_info info;
		socklen_t size = sizeof info;

		memset(&info, 0, sizeof info);
		sleep_until(at);
		if (getsockopt(flow->connection, IPPROTO_TCP, TCP_INFO, &info, &size))
			fail("TCP_INFO");
		fprintf(file, "%.6f %llu %llu %u %u %u\n", now(), (unsigned long long)info.tcpi_bytes_received,
			(unsigned long long)info.tcpi_bytes_acked, info.tcpi_rtt, info.tcpi_snd_cwnd, info.tcpi_total_retrans);
		fflush(file);
	}
	return NULL;
}

static int socket_at(const char *address, int port)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port) };
	int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (address && !inet_aton(address, &at.sin_addr))
		fail(address);
	if (setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) || bind(made, (void *)&at, sizeof at))
		fail("bind");
	return made;
}

static int serve(int port)
{
	int listener = socket_at(NULL, port);
	struct flow flow = { .port = port, .role = "receiver" };
	pthread_t watcher;

	if (listen(listener, 1))
		fail("listen");
	if (daemon(1, 1))
		fail("daemon");
	flow.connection = accept(listener, NULL, NULL);
	if (flow.connection < 0)
		fail("accept");
	pthread_create(&watcher, NULL, watch, &flow);
	while (recv(flow.connection, data, 1u << 30, MSG_TRUNC | MSG_WAITALL) > 0)
		;
	/* Samples after the end. */
	sleep(1);
	return 0;
}

static void end(int signal)
{
	(void)signal;
	_exit(0);
}

static int transfer(const char *from, const char *to, int port, const char *congestion, int segment, unsigned seconds, uint64_t left)
{
	static struct iovec parts[VECTORS];
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct flow flow = { .connection = socket_at(from, 0), .port = port, .role = "sender" };
	int one = 1;
	pthread_t watcher;

	if (!inet_aton(to, &peer.sin_addr))
		fail(to);
	if (congestion && setsockopt(flow.connection, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)))
		fail(congestion);
	if (setsockopt(flow.connection, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment))
		fail("TCP_MAXSEG");
	setsockopt(flow.connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	pthread_create(&watcher, NULL, watch, &flow);
	if (connect(flow.connection, (void *)&peer, sizeof peer))
		fail("connect");
	if (seconds) {
		signal(SIGALRM, end);
		alarm(seconds);
	}
	while (left) {
		int count = 0;
		uint64_t rest = left;
		ssize_t written;

		for (; count < VECTORS && rest; count++) {
			parts[count] = (struct iovec){ data, rest < BUFFER ? rest : BUFFER };
			rest -= parts[count].iov_len;
		}
		written = writev(flow.connection, parts, count);
		if (written < 0)
			fail("writev");
		left -= written;
	}
	shutdown(flow.connection, SHUT_WR);
	while (recv(flow.connection, data, sizeof data, 0) > 0)
		;
	return 0;
}

static int iperf3(int count, char **words)
{
	const char *from = NULL, *to = NULL, *congestion = NULL;
	int option, port = 5201, segment = 1460, is_server = 0;
	unsigned seconds = 0;
	uint64_t size = UINT64_MAX;

	while ((option = getopt(count, words, "s1DJp:c:B:C:M:t:n:")) != -1) {
		switch (option) {
		case 's': is_server = 1; break;
		case '1': case 'D': case 'J': break;
		case 'p': port = atoi(optarg); break;
		case 'c': to = optarg; break;
		case 'B': from = optarg; break;
		case 'C': congestion = optarg; break;
		case 'M': segment = atoi(optarg); break;
		case 't': seconds = atoi(optarg); break;
		case 'n': size = strtoull(optarg, NULL, 10); break;
		default: return 2;
		}
	}
	return is_server ? serve(port) : transfer(from, to, port, congestion, segment, seconds, size);
}

/* Prints the qdiscs of one message: time, handle, packets queued, packets dropped, packets sent. */
static void print_qdisc(FILE *file, double time, struct nlmsghdr *message, int interface)
{
	struct tcmsg *found = NLMSG_DATA(message);
	int left = message->nlmsg_len - NLMSG_LENGTH(sizeof *found);
	struct gnet_stats_queue queue = { 0 };

	if (found->tcm_ifindex != interface)
		return;
	for (struct rtattr *one = TCA_RTA(found); RTA_OK(one, left); one = RTA_NEXT(one, left)) {
		int inside = RTA_PAYLOAD(one);

		if (one->rta_type != TCA_STATS2)
			continue;
		for (struct rtattr *part = RTA_DATA(one); RTA_OK(part, inside); part = RTA_NEXT(part, inside)) {
			if (part->rta_type == TCA_STATS_QUEUE)
				memcpy(&queue, RTA_DATA(part), sizeof queue);
		}
	}
	fprintf(file, "%.6f %x %u %u\n", time, found->tcm_handle >> 16, queue.qlen, queue.drops);
}

static int queues(const char *name, const char *to, double step)
{
	static char answer[1 << 16];
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), interface = if_nametoindex(name);
	FILE *file = fopen(to, "w");

	if (!file || !interface || bind(netlink, (void *)&kernel, sizeof kernel))
		fail(name);
	for (double at = now();; at += step) {
		struct {
			struct nlmsghdr header;
			struct tcmsg message;
		} request = {
			.header = { .nlmsg_len = sizeof request, .nlmsg_type = RTM_GETQDISC, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
			.message = { .tcm_family = AF_UNSPEC, .tcm_ifindex = interface },
		};
		int is_done = 0;

		sleep_until(at);
		if (send(netlink, &request, sizeof request, 0) < 0)
			fail("netlink");
		while (!is_done) {
			int length = recv(netlink, answer, sizeof answer, 0);

			if (length <= 0)
				fail("netlink");
			for (struct nlmsghdr *one = (void *)answer; NLMSG_OK(one, (unsigned)length); one = NLMSG_NEXT(one, length)) {
				is_done |= one->nlmsg_type == NLMSG_DONE || one->nlmsg_type == NLMSG_ERROR;
				if (!is_done)
					print_qdisc(file, at, one, interface);
			}
		}
		fflush(file);
	}
}

int main(int count, char **words)
{
	const char *name = strrchr(words[0], '/') ? strrchr(words[0], '/') + 1 : words[0];

	prctl(PR_SET_TIMERSLACK, 1);
	if (!strcmp(name, "iperf3"))
		return iperf3(count, words);
	if (!strcmp(name, "queues") && count == 4)
		return queues(words[1], words[2], atof(words[3]) * 1e-6);
	fprintf(stderr, "usage: iperf3 OPTIONS | queues INTERFACE FILE MICROSECONDS\n");
	return 2;
}
