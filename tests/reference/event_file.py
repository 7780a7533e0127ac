"""Reads TensorBoard's event files from the definitions of the format alone: TFRecord framing, a bitwise CRC-32C, the wire
format of protocol buffers (https://protobuf.dev/programming-guides/encoding), TensorFlow's field numbers."""

import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(crc):
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """The records of a TFRecord file: little-endian length (8 bytes), its checksum (4), data, their checksum (4)."""
    at = 0
    while at < len(data):
        length, length_crc = struct.unpack_from("<QI", data, at)
        assert masked(crc32c(data[at : at + 8])) == length_crc, f"checksum of the length at byte {at}"
        payload = data[at + 12 : at + 12 + length]
        assert len(payload) == length, f"record at byte {at} is cut off"
        (payload_crc,) = struct.unpack_from("<I", data, at + 12 + length)
        assert masked(crc32c(payload)) == payload_crc, f"checksum of the record at byte {at}"
        yield payload
        at += 16 + length


def varint(data, at):
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def fields(message):
    """(field number, value) in order: an int for a varint, bytes for everything else."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        number, wire_type = key >> 3, key & 7
        if wire_type == 0:
            value, at = varint(message, at)
        else:
            if wire_type == 2:
                length, at = varint(message, at)
            else:
                length = {1: 8, 5: 4}[wire_type]
            value, at = message[at : at + length], at + length
            assert len(value) == length
        yield number, value


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def tensor_text(message):
    """TensorProto of one string: dtype = 1 (DT_STRING 7), tensor_shape = 2 (a scalar has no dimensions), string_val = 8."""
    parts = dict(fields(message))
    assert parts[1] == 7 and parts[2] == b"", parts
    return parts[8].decode()


def summary_values(message):
    """(tag, value) of a Summary: value = 1 of tag = 1, metadata = 9, and one of simple_value = 2 and tensor = 8."""
    for number, entry in fields(message):
        assert number == 1
        parts = dict(fields(entry))
        tag = parts[1].decode()
        if 2 in parts:
            assert set(parts) == {1, 2}
            yield tag, struct.unpack("<f", parts[2])[0]
        else:
            plugin = dict(fields(dict(fields(parts[9]))[1]))  # SummaryMetadata.plugin_data.plugin_name
            assert plugin[1] == b"text"
            yield tag, tensor_text(parts[8])


def events(path):
    """Of each Event: wall_time (1), step (2), and file_version (3), summary (5) or session_log (7), as a dict."""
    with open(path, "rb") as file:
        for record in records(file.read()):
            event = {"step": 0}
            for number, value in fields(record):
                if number == 1:
                    event["wall_time"] = struct.unpack("<d", value)[0]
                elif number == 2:
                    event["step"] = signed(value)
                elif number == 3:
                    event["file_version"] = value.decode()
                elif number == 5:
                    event["summary"] = dict(summary_values(value))
                elif number == 7:
                    event["session_status"] = dict(fields(value))[1]
                else:
                    raise AssertionError(f"field {number} of an Event")
            yield event


START = 1


def merged(paths):
    """What TensorBoard shows of a run's files, read in the order of their names: {step: summary}. A START after the first
    drops what was read at its step and after."""
    shown, started = {}, False
    for path in sorted(paths):
        for event in events(path):
            if event.get("session_status") == START:
                if started:
                    shown = {step: s for step, s in shown.items() if step < event["step"]}
                started = True
            if "summary" in event:
                assert event["step"] not in shown, f"step {event['step']} twice"
                shown[event["step"]] = event["summary"]
    return shown
