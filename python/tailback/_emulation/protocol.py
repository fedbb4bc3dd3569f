"""Constants of the protocol between host manager and emulating process."""

__all__ = ["LARGEST_MESSAGE", "MAX_FILES", "TUN"]

TUN = "/dev/net/tun"
LARGEST_MESSAGE = 1 << 17
# Maximum number of descriptors per message (`SCM_MAX_FD`, unix(7)).
MAX_FILES = 253
