"""What both ends of a keeper's control socket know."""

__all__ = ["LARGEST_MESSAGE", "MOST_FILES", "TUN"]

TUN = "/dev/net/tun"
LARGEST_MESSAGE = 1 << 17
# Of one message (`SCM_MAX_FD`, unix(7)).
MOST_FILES = 253
