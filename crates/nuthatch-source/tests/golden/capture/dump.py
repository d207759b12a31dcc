"""A replica that keeps the events it is sent, without understanding them."""

import struct

from server import Session

NON_BLOCKING = 1
OK, END = 0x00, 0xFE


def dump(port, file, settings, flags=NON_BLOCKING, position=4, server_id=4711, events_max=None):
    """The events from the position on, up to the end of the binlog or so many; `settings` come before the dump."""
    session = Session(port)
    for setting in settings:
        session(setting)
    client = session.client
    client.send(0, b"\x12" + struct.pack("<IHI", position, flags, server_id) + file.encode())
    events = []
    while events_max is None or len(events) < events_max:
        packet = whole(client)
        if packet[0] != OK:
            assert packet[0] == END and len(packet) < 9, packet
            break
        events.append(packet[1:])
    session.close()
    return events


def whole(client):
    payload = piece = client.take()
    while len(piece) == 0xFFFFFF:
        piece = client.take()
        payload += piece
    return payload
