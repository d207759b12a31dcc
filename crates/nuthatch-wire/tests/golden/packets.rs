//! Packets that we write as well: our bytes are those of the servers.

use nuthatch_wire::{
    CapabilityFlags, Cell, Column, ColumnType, ErrPacket, ErrorCode, OkPacket, Reader, ResultSetWriter,
    StatusFlags, TrackedOk, append_eof, append_err, append_packet,
};

use crate::recorded::{MYSQL, Packet, Recorded, SERVERS, Side, Step, all};

/// Packets of servers in plain frames, of sessions without tracking.
fn packets() -> Vec<Packet> {
    let plain = all().into_iter().filter(|recorded| !recorded.file().starts_with("tracking"));
    let steps = plain.flat_map(|recorded| recorded.steps);
    let packets = steps.flat_map(|step| step.packets);
    packets.filter(|packet| packet.side == Side::Server && packet.header.len() == 4).collect()
}

#[test]
fn frame_is_written_as_the_server_wrote_it() {
    for packet in packets() {
        let mut written = Vec::new();
        append_packet(&mut written, &mut packet.sequence(), &packet.payload);
        assert_eq!(written, packet.bytes());
    }
}

#[test]
fn ok_packet_with_its_message_is_written_as_the_server_wrote_it() {
    let (mut count, mut with_info) = (0, 0);
    for server in SERVERS {
        for file in ["ok-and-err-eof", "ok-and-err-ok", "no-tracking-eof", "no-tracking-ok"] {
            for step in Recorded::read(server, file).steps {
                for packet in step.of(Side::Server).filter(|packet| is_ok(&step, packet)) {
                    let read = TrackedOk::parse(&packet.payload).unwrap();
                    let mut written = Vec::new();
                    read.ok.encode_with_info(&mut written, read.marker, read.info);
                    assert_eq!(written, packet.payload, "{server}/{file}: {}", step.label);
                    if read.info.is_empty() {
                        let mut short = Vec::new();
                        read.ok.encode(&mut short, read.marker);
                        assert_eq!(short, packet.payload);
                    }
                    count += 1;
                    with_info += usize::from(!read.info.is_empty());
                }
            }
        }
    }
    assert!(count > 300 && with_info > 50, "{count} {with_info}");
}

/// Whether a packet is an OK, in an answer to a statement as text.
fn is_ok(step: &Step, packet: &Packet) -> bool {
    let is_query = step.question().payload.first() == Some(&3);
    is_query && packet.payload.len() >= 7 && matches!(packet.payload.first(), Some(0 | 0xFE))
}

#[test]
fn messages_are_those_of_the_statements() {
    for (label, expected) in [
        ("INSERT INTO t (a) VALUES (2), (3), (4)", "Records: 3  Duplicates: 0  Warnings: 0"),
        ("DELETE FROM t WHERE id = 9999", ""),
        ("ALTER TABLE t DROP c", "Records: 0  Duplicates: 0  Warnings: 0"),
    ] {
        for server in SERVERS {
            let recorded = Recorded::read(server, "ok-and-err-ok");
            let payload = &recorded.step(label).of(Side::Server).next().unwrap().payload;
            assert_eq!(TrackedOk::parse(payload).unwrap().info, expected.as_bytes(), "{server}: {label}");
        }
    }
}

#[test]
fn err_packet_is_written_as_the_server_wrote_it() {
    let mut count = 0;
    for packet in packets() {
        let Ok(error) = ErrPacket::parse(&packet.payload) else { continue };
        // Before the greeting there is no SQLSTATE; MariaDB's reports of progress are no errors.
        if packet.payload.get(3) == Some(&b'#') {
            let mut written = Vec::new();
            let code = ErrorCode { code: error.code, sql_state: error.sql_state };
            append_err(&mut written, &mut packet.sequence(), code, &error.message);
            assert_eq!(written, packet.bytes());
            count += 1;
        }
    }
    assert!(count > 150, "{count}");
}

#[test]
fn errors_have_the_text_and_state_that_the_statement_gave_them() {
    for server in SERVERS {
        let recorded = Recorded::read(server, "ok-and-err-ok");
        let error_of =
            |label| ErrPacket::parse(&recorded.step(label).of(Side::Server).next().unwrap().payload);
        let raised =
            error_of("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'grüße', MYSQL_ERRNO = 5000").unwrap();
        assert_eq!((raised.code, &raised.sql_state), (5000, b"45000"), "{server}");
        assert_eq!(String::from_utf8_lossy(&raised.message), "grüße");
        let silent = error_of("SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = ''").unwrap();
        assert_eq!((silent.code, silent.message.as_slice()), (1644, &b""[..]), "{server}");
    }
}

#[test]
fn eof_packet_is_written_as_the_server_wrote_it() {
    let mut count = 0;
    for packet in
        packets().into_iter().filter(|packet| packet.payload.len() == 5 && packet.payload[0] == 0xFE)
    {
        let mut reader = Reader::new(&packet.payload[1..]);
        let warnings = reader.u16().unwrap();
        let status = StatusFlags::from_bits_retain(reader.u16().unwrap());
        let mut written = Vec::new();
        append_eof(&mut written, &mut packet.sequence(), status, warnings);
        assert_eq!(written, packet.bytes());
        count += 1;
    }
    assert!(count > 200, "{count}");
}

/// The column of an answer that the proxy gives alone, as `nuthatch-proxy` makes it.
fn column(server: &str, label: &str) -> Column {
    let name = label.strip_prefix("SELECT ").unwrap();
    match name {
        "LAST_INSERT_ID()" => Column::unsigned(name),
        "CONNECTION_ID()" if server == MYSQL => Column::unsigned(name),
        "CONNECTION_ID()" => Column { column_type: ColumnType::MYSQL_TYPE_LONG, ..Column::unsigned(name) },
        _ => Column::never_null(name),
    }
}

#[test]
fn result_set_that_the_proxy_writes_has_the_bytes_of_the_servers() {
    for recorded in SERVERS
        .iter()
        .flat_map(|server| ["own-answers-eof", "own-answers-ok"].map(|file| Recorded::read(server, file)))
    {
        for label in
            ["SELECT LAST_INSERT_ID()", "SELECT CONNECTION_ID()", "SELECT ROW_COUNT()", "SELECT FOUND_ROWS()"]
        {
            // MySQL warns that this one is deprecated.
            if recorded.server() == MYSQL && label.contains("FOUND_ROWS") {
                continue;
            }
            let step = recorded.step(label);
            let column = column(recorded.server(), label);
            let row = &row_of(&recorded, step).payload;
            let text = Reader::new(row).lenenc_bytes().unwrap();
            let written = written(&recorded, step, &column, |writer| writer.row([Some(text) as Cell<'_>]));
            assert_eq!(written, step.answer(), "{}: {label}", recorded.name);
        }
        for label in ["SELECT LAST_INSERT_ID()", "SELECT CONNECTION_ID()"] {
            let step = recorded.step(&format!("execute: {label}"));
            let column = column(recorded.server(), label);
            let mut bytes = row_of(&recorded, step).payload[2..].to_vec();
            bytes.resize(8, 0);
            let value = i64::from_le_bytes(bytes.try_into().unwrap());
            let written = written(&recorded, step, &column, |writer| {
                writer.binary_numbers(std::slice::from_ref(&column), &[value]);
            });
            assert_eq!(written, step.answer(), "{}: {label}", recorded.name);
        }
    }
}

/// The one row, behind the count, the definition and, without `CLIENT_DEPRECATE_EOF`, an EOF.
fn row_of<'s>(recorded: &Recorded, step: &'s Step) -> &'s Packet {
    step.of(Side::Server).nth(if recorded.deprecates_eof() { 2 } else { 3 }).unwrap()
}

/// Our result set with the status and warnings of the server's last packet.
fn written(
    recorded: &Recorded,
    step: &Step,
    column: &Column,
    row: impl FnOnce(&mut ResultSetWriter<'_>),
) -> Vec<u8> {
    let last = &step.of(Side::Server).last().unwrap().payload;
    let (status, warnings) = match recorded.deprecates_eof() {
        true => {
            let ok = OkPacket::parse_body(&last[1..]).unwrap();
            (ok.status, ok.warnings)
        }
        false => {
            let mut reader = Reader::new(&last[1..]);
            let warnings = reader.u16().unwrap();
            (StatusFlags::from_bits_retain(reader.u16().unwrap()), warnings)
        }
    };
    let (mut out, mut sequence) = (Vec::new(), 1);
    let capabilities: CapabilityFlags = recorded.capabilities();
    let columns = std::slice::from_ref(column);
    let mut writer = ResultSetWriter::begin(&mut out, &mut sequence, capabilities, status, columns);
    row(&mut writer);
    writer.end(status, warnings);
    out
}
