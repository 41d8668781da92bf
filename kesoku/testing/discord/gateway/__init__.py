"""The gateway: connections, and the sessions that outlive them."""
