/* lwIP's TCP as a stack, by its raw API, with Debian's package `liblwip-dev`:
 *
 *     cc -std=gnu11 -O2 -shared -fPIC -I crates/host/include $(pkg-config --cflags lwip) -o lwip.so examples/c/lwip.c \
 *         $(pkg-config --libs lwip)
 *     python -c "import tailback as tb; print(tb.user_code.load_stacks('./lwip.so'))"
 *
 * The library has threads (NO_SYS=0), but none is started here: `lwip_init` instead of `tcpip_init`. lwIP's TCP has no clock except calls of
 * `tcp_tmr`, every 250 ms. It has one state for the process: a second run at the same time is refused, and initial sequence numbers
 * continue in the next run. Its window of 64 KiB limits the rate. */

#include "tailback.h"

#include <lwip/init.h>
#include <lwip/ip.h>
#include <lwip/netif.h>
#include <lwip/tcp.h>
#include <lwip/priv/tcp_priv.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* 250 ms (TCP_TMR_INTERVAL). */
static const uint64_t TICK = 250ULL * 1000 * 1000 * 1000;

typedef struct packet {
    struct packet *next;
    size_t length;
    uint8_t data[];
} packet;

typedef struct host {
    tailback_end end;
    struct netif netif;
    struct tcp_pcb *connection;
    struct tcp_pcb *listener;
    packet *first, **last;
    uint64_t written, received;
    /* Its next call of `poll` for lwIP's timers. */
    uint64_t tick;
    uint8_t is_open, is_finished;
    const char *fault;
} host;

/* The run that uses lwIP: its hosts, all created by one thread before the first is polled. */
static pthread_mutex_t entrance = PTHREAD_MUTEX_INITIALIZER;
static unsigned hosts;
static pthread_t creator;
static atomic_bool is_polled;

/* Calls of `tcp_tmr`, and the time of the next. */
static unsigned calls;
static uint64_t next_call;

static ip_addr_t address(uint32_t host_order) {
    ip_addr_t made = IPADDR4_INIT(lwip_htonl(host_order));
    return made;
}

/* lwIP sends a packet. */
static err_t queue(struct netif *netif, struct pbuf *packet_of_lwip, const ip4_addr_t *next_hop) {
    host *self = netif->state;
    packet *made = malloc(sizeof *made + packet_of_lwip->tot_len);
    (void)next_hop;
    if (made == NULL) {
        return ERR_MEM;
    }
    made->next = NULL;
    made->length = pbuf_copy_partial(packet_of_lwip, made->data, packet_of_lwip->tot_len, 0);
    *self->last = made;
    self->last = &made->next;
    return ERR_OK;
}

static err_t set_up(struct netif *netif) {
    const host *self = netif->state;
    netif->name[0] = 't', netif->name[1] = 'b';
    netif->output = queue;
    netif->mtu = (u16_t)self->end.mtu;
    return ERR_OK;
}

static void write_all(host *self) {
    static const uint8_t zeros[0xffff];
    while (!self->is_finished) {
        uint64_t left = self->end.size - self->written;
        u16_t room = tcp_sndbuf(self->connection), length = left < room ? (u16_t)left : room;
        if (left == 0) {
            self->is_finished = 1;
            tcp_close(self->connection);
            self->connection = NULL;
        } else if (length == 0 || tcp_write(self->connection, zeros, length, 0) != ERR_OK) {
            break;
        } else {
            self->written += length;
        }
    }
    if (self->connection != NULL) {
        tcp_output(self->connection);
    }
}

static err_t on_sent(void *self, struct tcp_pcb *connection, u16_t length) {
    (void)connection, (void)length;
    write_all(self);
    return ERR_OK;
}

static err_t on_connected(void *self, struct tcp_pcb *connection, err_t error) {
    (void)connection, (void)error;
    write_all(self);
    return ERR_OK;
}

static err_t on_received(void *argument, struct tcp_pcb *connection, struct pbuf *data, err_t error) {
    host *self = argument;
    (void)error;
    if (data == NULL) {
        self->connection = NULL;
        return tcp_close(connection);
    }
    self->received += data->tot_len;
    tcp_recved(connection, data->tot_len);
    pbuf_free(data);
    return ERR_OK;
}

static void on_error(void *argument, err_t error) {
    host *self = argument;
    (void)error;
    self->connection = NULL;
    self->fault = self->is_finished ? NULL : "lwIP has given up the connection";
}

static err_t on_accepted(void *argument, struct tcp_pcb *connection, err_t error) {
    host *self = argument;
    (void)error;
    self->connection = connection;
    tcp_recv(connection, on_received);
    tcp_err(connection, on_error);
    return ERR_OK;
}

static struct tcp_pcb *bound(host *self) {
    const ip_addr_t local = address(self->end.local_address);
    struct tcp_pcb *made = tcp_new_ip_type(IPADDR_TYPE_V4);
    tcp_arg(made, self);
    tcp_bind(made, &local, self->end.local_port);
    tcp_bind_netif(made, &self->netif);
    return made;
}

/* The first host of a run: without connections in TIME-WAIT, and with an even number of calls, because lwIP acts in each second one. */
static void begin_run(void) {
    if (calls == 0) {
        lwip_init();
    }
    do {
        tcp_tmr();
        calls++;
    } while (tcp_tw_pcbs != NULL || calls % 2 != 0);
    next_call = TICK;
}

/* Adds a host to the run. Returns 0 if it belongs to another run. */
static int enter(void) {
    pthread_mutex_lock(&entrance);
    int is_first = hosts == 0, is_admitted = is_first || (!is_polled && pthread_equal(creator, pthread_self()));
    if (is_admitted) {
        hosts++;
    }
    if (is_first) {
        creator = pthread_self();
        is_polled = 0;
        begin_run();
    }
    pthread_mutex_unlock(&entrance);
    return is_admitted;
}

static void leave(void) {
    pthread_mutex_lock(&entrance);
    hosts--;
    pthread_mutex_unlock(&entrance);
}

static void *create(const tailback_end *end, char *message, size_t capacity) {
    host *self = NULL;
    if (end->mtu < 576) {
        strncpy(message, "the MTU is below 576 bytes", capacity - 1);
    } else if (!enter()) {
        strncpy(message, "another run of this process uses lwIP, which supports one run at a time", capacity - 1);
    } else if ((self = calloc(1, sizeof *self)) == NULL) {
        strncpy(message, "there is no memory", capacity - 1);
        leave();
    }
    if (self == NULL) {
        return NULL;
    }
    self->end = *end;
    self->last = &self->first;
    self->tick = TICK;
    const ip_addr_t local = address(end->local_address);
    netif_add(&self->netif, ip_2_ip4(&local), NULL, NULL, self, set_up, ip_input);
    netif_set_up(&self->netif);
    netif_set_link_up(&self->netif);
    if (!end->is_sender) {
        self->listener = tcp_listen(bound(self));
        tcp_accept(self->listener, on_accepted);
    }
    return self;
}

static const char *receive(void *argument, uint64_t now, const tailback_payload *payload) {
    host *self = argument;
    (void)now;
    struct pbuf *data = pbuf_alloc(PBUF_RAW, (u16_t)payload->length, PBUF_RAM);
    pbuf_take(data, payload->data, (u16_t)payload->length);
    if (self->netif.input(data, &self->netif) != ERR_OK) {
        pbuf_free(data);
    }
    return self->fault;
}

static const char *poll(void *argument, uint64_t now, tailback_send send, void *outbox) {
    host *self = argument;
    is_polled = 1;
    for (; next_call <= now; next_call += TICK) {
        tcp_tmr();
        calls++;
    }
    self->tick = next_call;
    if (self->end.is_sender && !self->is_open && now >= self->end.start) {
        const ip_addr_t remote = address(self->end.remote_address);
        self->is_open = 1;
        self->connection = bound(self);
        tcp_sent(self->connection, on_sent);
        tcp_err(self->connection, on_error);
        tcp_connect(self->connection, &remote, self->end.remote_port, on_connected);
    }
    if (now >= self->end.stop && self->connection != NULL && !self->is_finished) {
        self->is_finished = 1;
        tcp_close(self->connection);
        self->connection = NULL;
    }
    while (self->first != NULL) {
        packet *sent = self->first;
        const tailback_payload payload = {.data = sent->data, .length = sent->length};
        send(outbox, &payload);
        self->first = sent->next;
        free(sent);
    }
    self->last = &self->first;
    return self->fault;
}

static uint64_t deadline(const void *argument) {
    const host *self = argument;
    return self->end.is_sender && !self->is_open && self->end.start < self->tick ? self->end.start : self->tick;
}

static void destroy(void *argument) {
    host *self = argument;
    if (self->connection != NULL) {
        self->is_finished = 1;
        tcp_abort(self->connection);
    }
    if (self->listener != NULL) {
        tcp_close(self->listener);
    }
    netif_remove(&self->netif);
    while (self->first != NULL) {
        packet *left = self->first;
        self->first = left->next;
        free(left);
    }
    free(self);
    leave();
}

/* lwIP measures RTTs in ticks of 0.5 s, which says nothing here. */
static const char *report(void *argument, tailback_report *report) {
    const host *self = argument;
    report->delivered = self->received;
    if (self->connection != NULL) {
        report->cwnd = self->connection->cwnd;
        report->ssthresh = self->connection->ssthresh;
        report->state = self->connection->flags & TF_INFR ? TAILBACK_STATE_RECOVERY : TAILBACK_STATE_OPEN;
    }
    return NULL;
}

static const tailback_stack LWIP = {
    TAILBACK_ABI, 1, "lwip", "lwIP " LWIP_VERSION_STRING, create, receive, poll, deadline, destroy, report, NULL,
};

const tailback_stack *const *tailback_stacks(void) {
    static const tailback_stack *const stacks[] = {&LWIP, NULL};
    return stacks;
}
