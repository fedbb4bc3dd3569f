/* A fixed window. ssthresh is the window and one segment for each acknowledgement, or with the parameter `losses` each lost segment. */
#include "tailback.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    double segment, window, acks;
    int is_of_losses;
} counting;

static void *create(const tailback_sender *sender, tailback_decision *decision, char *message, size_t capacity) {
    counting *self = calloc(1, sizeof *self);
    (void)message;
    (void)capacity;
    *self = (counting){sender->segment, sender->window, 0, strstr(sender->parameters, "losses") != NULL};
    *decision = (tailback_decision){self->window, self->window, 0};
    return self;
}

static const char *on_event(void *controller, const tailback_event *event, tailback_decision *decision) {
    counting *self = controller;
    if (event->kind == TAILBACK_ACKED || event->kind == TAILBACK_OTHER_ACK) self->acks++;
    decision->window = self->window;
    decision->ssthresh = self->window + (self->is_of_losses ? event->lost : self->acks * self->segment);
    return NULL;
}

static const tailback_controller COUNTING = {
    TAILBACK_ABI, TAILBACK_ALL_ACKS + TAILBACK_ALL_LOSSES, "counting", "counting 1", create, on_event, free,
};

const tailback_controller *const *tailback_controllers(void) {
    static const tailback_controller *const controllers[] = {&COUNTING, NULL};
    return controllers;
}
