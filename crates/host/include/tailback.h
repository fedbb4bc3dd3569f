/* Transports and congestion controllers for Tailback's simulations: the interface of a shared library.
 *
 * The library exports `tailback_stacks`, `tailback_controllers`, or both. `load_stacks` and `load_controllers` of `tailback.user_code` load
 * it. `tcp = {stack = "NAME"}` in a scenario runs a stack at both ends of a flow, and `tcp = {controller = "user:NAME"}` a controller with
 * simulated TCP. Neither has sockets, threads or clocks: all behaviour must follow from these calls, so that a run can be repeated. Calls
 * for one host or controller never overlap, but may come from different threads.
 *
 * crates/host/src/library.rs and controllers.rs have the other side. Licence: MIT or Apache-2.0. */

#ifndef TAILBACK_H
#define TAILBACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface. */
#define TAILBACK_ABI 2

/* No time, or no limit. */
#define TAILBACK_NONE UINT64_MAX

/* ECN fields (RFC 3168). */
#define TAILBACK_NOT_ECT 0
#define TAILBACK_ECT1 1
#define TAILBACK_ECT0 2
#define TAILBACK_CE 3

/* One end of a flow. Times are picoseconds from the start of the simulation, addresses are IPv4 in host byte order. */
typedef struct tailback_end {
    uint64_t seed;          /* of all random numbers of this end */
    uint64_t size;          /* bytes to send, or TAILBACK_NONE */
    uint64_t start;         /* start of the flow */
    uint64_t stop;          /* the application stops sending, or TAILBACK_NONE */
    uint32_t local_address;
    uint32_t remote_address;
    uint16_t local_port;
    uint16_t remote_port;
    uint32_t mtu;           /* bytes of the largest IP packet */
    uint8_t is_sender;      /* 1: sends the flow's data */
    const char *parameters; /* of the scenario: a JSON object, with "congestion" if that is given */
} tailback_end;

/* The payload of a UDP datagram, or a whole IPv4 packet, whose addresses, ports and ECN field are in its headers. */
typedef struct tailback_payload {
    uint32_t source_address;
    uint32_t destination_address;
    uint16_t source_port;
    uint16_t destination_port;
    uint8_t ecn;
    const uint8_t *data;
    size_t length;
} tailback_payload;

/* States of congestion control, as in RFC 5681 and Linux. */
#define TAILBACK_STATE_OPEN 0
#define TAILBACK_STATE_DISORDER 1 /* duplicate acknowledgements, and no loss yet */
#define TAILBACK_STATE_CWR 2      /* the window is being reduced without a loss, for example after an ECN mark */
#define TAILBACK_STATE_RECOVERY 3 /* loss recovery */
#define TAILBACK_STATE_LOSS 4     /* loss recovery after a retransmission timeout */

/* The state of a host for the results of a run: `delivered` from the receiver of a flow, everything else from its sender. Counts are totals
 * since the start of the run. Everything is TAILBACK_NONE, and missing in the results, unless it is written. The end of a connection whose
 * transfer is not complete is a warning. */
typedef struct tailback_report {
    uint64_t delivered;    /* bytes that the application has read, in order */
    uint64_t cwnd;         /* congestion window in bytes */
    uint64_t ssthresh;     /* slow-start threshold in bytes; TAILBACK_NONE also while there is no limit */
    uint64_t in_flight;    /* bytes sent, and neither acknowledged nor declared lost */
    uint64_t state;        /* of congestion control: TAILBACK_STATE_OPEN, ... */
    uint64_t smoothed_rtt;
    uint64_t min_rtt;
    uint64_t rtt_samples;  /* number of RTT samples, and their sum */
    uint64_t rtt_sum;
    uint64_t rto;          /* retransmission timeout, with its backoff */
    uint64_t timeouts;     /* expirations of the retransmission timer */
    uint64_t retransmitted_packets;
    uint64_t lost_packets; /* packets declared lost */
    uint64_t ended_at;     /* the stack ended the connection by itself, for example after a timeout, and why: NULL, or a text that is */
    const char *end_reason; /* valid until the next call for this host */
} tailback_report;

/* Results of `send`. */
#define TAILBACK_SENT 0
#define TAILBACK_FULL 1 /* one poll has sent more than any window holds, and this payload is not sent: return, the run ends */

/* Sends a payload from inside `poll`. The payload is copied. Returns TAILBACK_SENT or TAILBACK_FULL. A poll that ignores TAILBACK_FULL
 * without end is left by unwinding its stack. */
typedef uint32_t (*tailback_send)(void *outbox, const tailback_payload *payload);

typedef struct tailback_stack {
    uint32_t abi;        /* TAILBACK_ABI */
    uint8_t sends_ip;    /* 1: payloads are whole IPv4 packets, 0: of UDP */
    const char *name;    /* in scenarios: at most 64 letters, digits, `_` and `-` */
    const char *version; /* name and version of everything on which results depend */

    /* A new host; NULL after an error, whose text is written to `message`. */
    void *(*create)(const tailback_end *end, char *message, size_t capacity);
    /* Processes a datagram. Returns NULL, or the text of a fault that ends the run. `poll` is called next. */
    const char *(*receive)(void *host, uint64_t now, const tailback_payload *payload);
    /* Sends everything that may be sent now. Called at the start of the flow (a receiver: of the run), after `receive`, and at the
     * deadline. Returns NULL, or the text of a fault that ends the run. */
    const char *(*poll)(void *host, uint64_t now, tailback_send send, void *outbox);
    /* The time of the next poll if nothing arrives, not before the last one; TAILBACK_NONE if only an arrival can cause an action. */
    uint64_t (*deadline)(const void *host);
    void (*destroy)(void *host);
    /* Writes what is known. Returns NULL, or the text of a fault that ends the run. May be NULL. Called at the end of the warm-up and of the
     * run, unless the host has not been polled yet; after each poll of a sender with a trace of these quantities, and of a receiver of a
     * flow with a size, until `delivered` is the size: the transfer is then complete. */
    const char *(*report)(void *host, tailback_report *report);
    /* The application of a sender has written `written` bytes since the start, and no more may be sent; `size` is the total of all writes
     * or TAILBACK_NONE. Called before `poll`, at first with 0 before the first poll, and never for flows without an application. Returns
     * NULL, or the text of a fault that ends the run. May be NULL: the scenario's `application` is then refused. */
    const char *(*offer)(void *host, uint64_t written);
} tailback_stack;

/* The stacks of a library, and NULL. */
const tailback_stack *const *tailback_stacks(void);

/* Events of a sender. */
#define TAILBACK_ACKED 0        /* new data was acknowledged outside loss recovery */
#define TAILBACK_LOST 1         /* the first loss of an episode */
#define TAILBACK_MARKED 2       /* an ECN mark, once per window */
#define TAILBACK_TIMEOUT 3      /* a retransmission timeout */
#define TAILBACK_OTHER_ACK 4    /* a duplicate acknowledgement, or any during loss recovery; only with TAILBACK_ALL_ACKS */
#define TAILBACK_LOST_SEGMENT 5 /* each lost segment, before the acknowledgement or timeout that shows it; only with TAILBACK_ALL_LOSSES */

/* Further events that a controller requests. */
#define TAILBACK_ALL_ACKS 1
#define TAILBACK_ALL_LOSSES 2

/* The sender of a flow. Sizes are bytes, with the headers of all packets. */
typedef struct tailback_sender {
    uint64_t seed;          /* of all random numbers of the controller */
    double window;          /* initial window of the scenario */
    double ssthresh;        /* initial slow-start threshold, or INFINITY */
    uint32_t segment;       /* a full packet: the unit of the sender */
    const char *parameters; /* of the scenario: a JSON object */
} tailback_sender;

typedef struct tailback_event {
    uint64_t now;
    uint64_t rtt;        /* the last RTT sample since the last event, or TAILBACK_NONE */
    double acked;        /* bytes acknowledged for which the window opens (`tcp.abc_limit`); 0 for other events */
    double delivered;    /* bytes that left the network with this acknowledgement; 0 for other events */
    double lost;         /* bytes found lost since the start, with TAILBACK_ALL_LOSSES; otherwise 0 */
    double in_flight;    /* bytes outstanding before the event; of a lost segment, bytes in the network when it was sent */
    uint32_t kind;
    uint8_t app_limited; /* 1: the window was not in use, and should not grow */
} tailback_event;

/* A limit that loss recovery sets to the window holds until the next event. */
typedef struct tailback_decision {
    double window;   /* bytes, at least a segment */
    double ssthresh; /* bytes, or INFINITY */
    uint64_t pacing; /* bit/s, or 0: the setting `tcp.pacing` applies */
} tailback_decision;

typedef struct tailback_controller {
    uint32_t abi;        /* TAILBACK_ABI */
    uint32_t requests;   /* sum of TAILBACK_ALL_ACKS and TAILBACK_ALL_LOSSES, or 0 */
    const char *name;    /* as that of a stack; `user:NAME` in scenarios */
    const char *version; /* likewise */

    /* A new controller and its first decision; NULL after an error, whose text is written to `message`. */
    void *(*create)(const tailback_sender *sender, tailback_decision *decision, char *message, size_t capacity);
    /* Writes the decision after an event. Returns NULL, or the text of a fault that ends the run. */
    const char *(*on_event)(void *controller, const tailback_event *event, tailback_decision *decision);
    void (*destroy)(void *controller);
} tailback_controller;

/* The controllers of a library, and NULL. */
const tailback_controller *const *tailback_controllers(void);

#ifdef __cplusplus
}
#endif

#endif
