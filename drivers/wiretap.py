"""A forwarder between a driver and where it connects, which tells what went over the wire.

A driver that asks for TLS or compression and gets none often goes on without a word. So those steps connect through
this, and `summary` tells what was seen. It changes no byte.
"""

import socket
import threading

SSL_REQUEST_BYTES = 36


class Wiretap:
    """Forwards to a port of this host; `port` is its own."""

    def __init__(self, target):
        self.target = target
        self.connections = self.encrypted = self.from_server = 0
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        """No further connection is accepted."""
        self._listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            self.connections += 1
            for one, other, look in ((client, server, self._look_at_client), (server, client, self._count)):
                threading.Thread(target=self._forward, args=(one, other, look), daemon=True).start()

    def _forward(self, one, other, look):
        first = True
        try:
            while data := one.recv(1 << 16):
                with self._lock:
                    look(data, first)
                first = False
                other.sendall(data)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (one, other):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _look_at_client(self, data, first):
        """A client that wants TLS begins with a request of 36 bytes, TLS's own hello comes after it or with it."""
        if first and data[:4] == bytes([SSL_REQUEST_BYTES - 4, 0, 0, 1]):
            self.encrypted += 1

    def _count(self, data, _):
        self.from_server += len(data)
