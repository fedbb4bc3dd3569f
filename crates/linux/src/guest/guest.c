/* The only program of a Linux guest that is one end of one flow (PID 1).
 *
 * Settings are in the environment: the kernel passes NAME=VALUE of its command line. The program sets up the interface, opens or accepts one
 * TCP connection, and sends or reads everything. During the transfer it stays inside one system call, because each return to user space
 * costs several context switches of the host: a sender writes the same buffer over and over with writev(2), and a receiver discards in the
 * kernel (MSG_TRUNC) until the end (MSG_WAITALL), which acknowledges as an application that reads at once.
 *
 * An application is in the host: it sends the number of bytes that are written so far in UDP packets to port 9 of a sender.
 *
 * The address of the connection's state in kernel memory is sent once, in a UDP packet to the device (192.0.2.1), where the host takes it
 * out. A problem is printed as a line that begins with "tailback: ", and stops the kernel. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, VECTORS = 1000 };

static char data[BUFFER];
static volatile sig_atomic_t has_stopped;

/* Prints a problem and stops the kernel. */
static void fail(const char *format, ...)
{
	char text[400];
	va_list values;
	int length, console;

	va_start(values, format);
	length = vsnprintf(text, sizeof text, format, values);
	va_end(values);
	if (length > (int)sizeof text - 1)
		length = sizeof text - 1;
	console = open("/dev/console", O_WRONLY);
	dprintf(console < 0 ? 1 : console, "\ntailback: %.*s\n", length, text);
	sync();
	reboot(RB_POWER_OFF);
	_exit(1);
}

static const char *text(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		fail("the setting %s is missing", name);
	return value;
}

static uint64_t number(const char *name)
{
	return strtoull(text(name), NULL, 10);
}

static void write_file(const char *file, const char *value)
{
	int to = open(file, O_WRONLY);

	if (to < 0)
		fail("%s: %s", file, strerror(errno));
	if (write(to, value, strlen(value)) < 0)
		fail("%s does not accept \"%s\": %s", file, value, strerror(errno));
	close(to);
}

/* Replaces %XX by characters. */
static void decode(char *value)
{
	char *to = value;

	for (; *value; to++) {
		unsigned code;

		if (*value == '%' && sscanf(value + 1, "%2x", &code) == 1) {
			*to = (char)code;
			value += 3;
		} else {
			*to = *value++;
		}
	}
	*to = 0;
}

/* Sets the sysctls of a list: net/ipv4/tcp_ecn=1;net/core/... with encoded values. */
static void set_sysctls(const char *list)
{
	char *copy = strdup(list), *rest = copy, *item;

	while ((item = strsep(&rest, ";"))) {
		char file[256], *value = strchr(item, '=');

		if (!value)
			continue;
		*value++ = 0;
		decode(value);
		snprintf(file, sizeof file, "/proc/sys/%s", item);
		write_file(file, value);
	}
	free(copy);
}

static void set_interface(int control, const char *name, struct ifreq *request, unsigned long operation)
{
	strcpy(request->ifr_name, name);
	if (ioctl(control, operation, request))
		fail("the interface %s: %s (request %#lx)", name, strerror(errno), operation);
}

/* Appends an attribute of 32 bits to a message. */
static void append(struct nlmsghdr *message, unsigned short type, uint32_t value)
{
	struct rtattr *attribute = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = RTA_LENGTH(sizeof value);
	memcpy(RTA_DATA(attribute), &value, sizeof value);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + RTA_LENGTH(sizeof value);
}

/* Sends a message to rtnetlink(7). */
static void configure(struct nlmsghdr *message, const char *what)
{
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), problem;
	char answer[512];

	if (netlink < 0 || send(netlink, message, message->nlmsg_len, 0) < 0 || recv(netlink, answer, sizeof answer, 0) < 0)
		fail("netlink: %s", strerror(errno));
	problem = ((struct nlmsgerr *)NLMSG_DATA((struct nlmsghdr *)answer))->error;
	if (problem)
		fail("%s: %s", what, strerror(-problem));
	close(netlink);
}

static void set_gso_segments(uint32_t segments)
{
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
		char attributes[32];
	} request = {
		.header = { .nlmsg_len = NLMSG_LENGTH(sizeof request.link), .nlmsg_type = RTM_NEWLINK,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.link = { .ifi_index = if_nametoindex("eth0") },
	};

	append(&request.header, IFLA_GSO_MAX_SEGS, segments);
	configure(&request.header, "gso_max_segs");
}

/* The route to everything. With `quickack`, its connections acknowledge every segment (ip-route(8)). */
static void add_route(int quickack)
{
	struct {
		struct nlmsghdr header;
		struct rtmsg route;
		char attributes[64];
	} request = {
		.header = { .nlmsg_len = NLMSG_LENGTH(sizeof request.route), .nlmsg_type = RTM_NEWROUTE,
			    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
		.route = { .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_STATIC,
			   .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST },
	};
	struct rtattr *metrics;

	append(&request.header, RTA_OIF, if_nametoindex("eth0"));
	if (quickack) {
		metrics = (void *)((char *)&request + NLMSG_ALIGN(request.header.nlmsg_len));
		metrics->rta_type = RTA_METRICS;
		metrics->rta_len = RTA_LENGTH(0);
		request.header.nlmsg_len = NLMSG_ALIGN(request.header.nlmsg_len) + RTA_LENGTH(0);
		append(&request.header, RTAX_QUICKACK, 1);
		metrics->rta_len += RTA_LENGTH(sizeof(uint32_t));
	}
	configure(&request.header, "the default route");
}

/* The interface eth0 with the route to everything, and lo. */
static void set_up_network(const char *local)
{
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = { .ifr_flags = IFF_UP };
	struct sockaddr_in *address = (void *)&request.ifr_addr;

	set_interface(control, "lo", &request, SIOCSIFFLAGS);
	memset(&request, 0, sizeof request);
	*address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = inet_addr(local) };
	set_interface(control, "eth0", &request, SIOCSIFADDR);
	address->sin_addr.s_addr = INADDR_NONE;
	set_interface(control, "eth0", &request, SIOCSIFNETMASK);
	memset(&request, 0, sizeof request);
	request.ifr_mtu = number("TB_MTU");
	set_interface(control, "eth0", &request, SIOCSIFMTU);
	memset(&request, 0, sizeof request);
	request.ifr_flags = IFF_UP | IFF_NOARP;
	set_interface(control, "eth0", &request, SIOCSIFFLAGS);
	set_gso_segments(number("TB_GSO"));
	add_route(getenv("TB_QUICKACK") != NULL);
	close(control);
}

/* The kernel address of the connection with these ports, from /proc/net/tcp; the option `no_hash_pointers` makes it visible. */
static uint64_t connection_state(unsigned local, unsigned remote)
{
	FILE *table = fopen("/proc/net/tcp", "r");
	char line[400];
	uint64_t found = 0;

	while (table && fgets(line, sizeof line, table)) {
		unsigned from, to;
		unsigned long long address;

		if (sscanf(line, "%*d: %*8x:%4x %*8x:%4x %*x %*x:%*x %*x:%*x %*x %*u %*d %*u %*d %llx", &from, &to, &address) == 3 &&
		    from == local && to == remote)
			found = address;
	}
	if (table)
		fclose(table);
	if (!found)
		fail("/proc/net/tcp has no connection from port %u to %u", local, remote);
	return found;
}

static void report_connection(unsigned local, unsigned remote)
{
	struct {
		char magic[8];
		uint64_t address;
	} report = { .magic = "TAILBACK", .address = connection_state(local, remote) };
	struct sockaddr_in device = { .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = inet_addr("192.0.2.1") };
	int to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (to < 0 || sendto(to, &report, sizeof report, 0, (void *)&device, sizeof device) < 0)
		fail("the report of the connection: %s", strerror(errno));
	close(to);
}

static void wait_forever(void)
{
	for (;;)
		pause();
}

/* Reads everything that has arrived, every so many ns, until the end. */
static void read_in_intervals(int connection, uint64_t interval)
{
	struct timespec pause = { interval / 1000000000, interval % 1000000000 };
	ssize_t read;

	do {
		nanosleep(&pause, NULL);
		do
			read = recv(connection, data, 1u << 30, MSG_TRUNC | MSG_DONTWAIT);
		while (read > 0);
	} while (read < 0 && errno == EAGAIN);
}

static void read_at_once(int connection)
{
	ssize_t read;

	do
		read = recv(connection, data, 1u << 30, MSG_TRUNC | MSG_WAITALL);
	while (read > 0);
}

static void receive(int listener, unsigned local, unsigned remote)
{
	int connection;

	if (listen(listener, 1))
		fail("listen: %s", strerror(errno));
	connection = accept(listener, NULL, NULL);
	if (connection < 0)
		fail("accept: %s", strerror(errno));
	report_connection(local, remote);
	if (getenv("TB_READ_INTERVAL"))
		read_in_intervals(connection, number("TB_READ_INTERVAL"));
	else
		read_at_once(connection);
	shutdown(connection, SHUT_WR);
}

static void stop(int signal)
{
	(void)signal;
	has_stopped = 1;
}

/* Calls `stop` at this time of CLOCK_MONOTONIC, in ns. */
static void stop_at(uint64_t end)
{
	struct sigaction action = { .sa_handler = stop };
	struct timespec now;
	struct itimerval timer = { { 0, 0 }, { 0, 0 } };
	int64_t left;

	clock_gettime(CLOCK_MONOTONIC, &now);
	left = (int64_t)end - (now.tv_sec * 1000000000LL + now.tv_nsec);
	if (left < 1000)
		left = 1000;
	timer.it_value.tv_sec = left / 1000000000;
	timer.it_value.tv_usec = left % 1000000000 / 1000;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Waits for the stop of the flow, without end if there is none. */
static void wait_for_stop(void)
{
	sigset_t alarm, none;

	sigemptyset(&none);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm, NULL);
	while (!has_stopped)
		sigsuspend(&none);
}

/* Sends up to this number of bytes. Returns how many: fewer after an error, at the stop of the flow, or if sending would block. */
static uint64_t send_bytes(int connection, uint64_t size)
{
	static struct iovec parts[VECTORS];
	uint64_t left = size;

	while (left && !has_stopped) {
		int count = 0;
		uint64_t rest = left;
		ssize_t written;

		for (; count < VECTORS && rest; count++) {
			parts[count] = (struct iovec){ data, rest < BUFFER ? rest : BUFFER };
			rest -= parts[count].iov_len;
		}
		written = writev(connection, parts, count);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			break;
		left -= written;
	}
	return size - left;
}

/* Sends what the application in the host has written, up to `size`. `channel` receives the bytes written so far. */
static uint64_t send_written(int connection, int channel, uint64_t size)
{
	uint64_t sent = 0, written = 0, report;
	struct pollfd ready[2] = { { .fd = channel, .events = POLLIN }, { .fd = connection } };

	fcntl(connection, F_SETFL, fcntl(connection, F_GETFL) | O_NONBLOCK);
	while (sent < size && !has_stopped) {
		ready[1].events = sent < written ? POLLOUT : 0;
		if (poll(ready, 2, -1) < 0)
			continue;
		if (ready[1].revents & (POLLERR | POLLHUP))
			break;
		while (recv(channel, &report, sizeof report, MSG_DONTWAIT) == sizeof report)
			written = report < size ? report : size;
		sent += send_bytes(connection, written - sent);
	}
	return sent;
}

/* The socket on which the host reports what its application has written. */
static int application_channel(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(9) };
	int channel = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (channel < 0 || bind(channel, (void *)&any, sizeof any))
		fail("the channel of the application: %s", strerror(errno));
	return channel;
}

static void send_all(int connection, int channel, uint64_t size)
{
	struct sockaddr nobody = { .sa_family = AF_UNSPEC };
	uint64_t sent = channel < 0 ? send_bytes(connection, size) : send_written(connection, channel, size);

	if (!has_stopped && sent == size) {
		shutdown(connection, SHUT_WR);
		wait_for_stop();
	}
	if (has_stopped)
		/* The application gives up, also the data in the send buffer. */
		connect(connection, &nobody, sizeof nobody);
}

static void transfer(int connection, const struct sockaddr_in *peer, unsigned local, unsigned remote)
{
	uint64_t base = number("TB_BASE"), start = base + number("TB_START");
	struct timespec at = { start / 1000000000, start % 1000000000 };
	int one = 1, flags, channel = getenv("TB_APPLICATION") ? application_channel() : -1;

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	if (getenv("TB_STOP"))
		stop_at(base + number("TB_STOP"));
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	/* The first connect only sends the SYN, so that the state is known from then on. */
	flags = fcntl(connection, F_GETFL);
	fcntl(connection, F_SETFL, flags | O_NONBLOCK);
	if (connect(connection, (const void *)peer, sizeof *peer) && errno != EINPROGRESS)
		fail("connect: %s", strerror(errno));
	report_connection(local, remote);
	fcntl(connection, F_SETFL, flags);
	while (connect(connection, (const void *)peer, sizeof *peer) && errno != EISCONN) {
		if (errno != EINTR || has_stopped)
			return;
	}
	send_all(connection, channel, getenv("TB_SIZE") ? number("TB_SIZE") : UINT64_MAX);
}

int main(void)
{
	unsigned local = number("TB_LPORT"), remote = number("TB_RPORT");
	struct sockaddr_in me = { .sin_family = AF_INET, .sin_port = htons(local), .sin_addr.s_addr = inet_addr(text("TB_LOCAL")) };
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(remote), .sin_addr.s_addr = inet_addr(text("TB_REMOTE")) };
	int connection, one = 1, is_sender = number("TB_SENDER") != 0;
	const char *congestion = text("TB_CC");

	/* By default a sleep may end 50 us late. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (mount("proc", "/proc", "proc", 0, NULL))
		fail("/proc: %s", strerror(errno));
	set_sysctls(text("TB_SYSCTL"));
	set_up_network(text("TB_LOCAL"));
	connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(connection, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (setsockopt(connection, IPPROTO_TCP, TCP_CONGESTION, congestion, strlen(congestion)))
		fail("the congestion control \"%s\": %s", congestion, strerror(errno));
	if (bind(connection, (void *)&me, sizeof me))
		fail("bind: %s", strerror(errno));
	if (is_sender)
		transfer(connection, &peer, local, remote);
	else
		receive(connection, local, remote);
	wait_forever();
}
