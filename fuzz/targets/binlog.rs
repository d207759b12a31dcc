//! Events of a binlog: no bytes panic, and a value that is asked for is the one that is listed.
//!
//! Input: the family, then events: the kind, the low byte of the flags, the body's length (two bytes), the body.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nuthatch_source::{Event, EventReader, Image, TableMap};
use nuthatch_sql::{ColumnValue, ServerFlavor};

const HEADER_BYTES: u32 = 19;

fuzz_target!(|input: &[u8]| {
    let Some((family, mut rest)) = input.split_first() else { return };
    let flavor = match family & 1 {
        0 => ServerFlavor::MariaDb(110_806),
        _ => ServerFlavor::MySql(90_704),
    };
    let mut reader = EventReader::new(flavor);
    while let [kind, flags, low, high, after @ ..] = rest {
        let len = usize::from(u16::from_le_bytes([*low, *high])).min(after.len());
        let (body, later) = after.split_at(len);
        rest = later;
        // What comes of an error is read on here, where the proxy would end the stream.
        let _outcome = reader.read(&event(*kind, *flags, body), &mut |_, event| look(&event));
    }
});

/// With a header that fits; without a checksum, which is not asked for before a format is read.
fn event(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let len = HEADER_BYTES + u32::try_from(body.len()).expect("a body of two bytes' length");
    let mut event = vec![0, 0, 0, 0, kind, 1, 0, 0, 0];
    event.extend(len.to_le_bytes());
    event.extend([0, 1, 0, 0, flags, 0]);
    event.extend(body);
    event
}

fn look(event: &Event<'_>) {
    let Event::Rows { table, rows, .. } = event else { return };
    assert_eq!(rows.is_some(), table.is_readable());
    for row in rows.iter().flat_map(Clone::clone) {
        let Ok(row) = row else { continue };
        for image in [row.before, row.after].into_iter().flatten() {
            values(table, &image);
        }
    }
}

fn values(table: &TableMap, image: &Image<'_>) {
    let listed: Vec<_> = image.values().collect();
    for (_, value) in &listed {
        let digits = value.decimal_text();
        assert!(digits.is_none_or(|digits| ColumnValue::of_decimal(digits.as_bytes(), u8::MAX).is_some()));
        let (_date, _moment) = (value.as_date(), value.as_moment());
    }
    // Not a number is no number's equal.
    assert!(
        listed
            .iter()
            .all(|(column, value)| format!("{:?}", image.value(*column)) == format!("{:?}", Some(value)))
    );
    let present = (0..table.columns().len()).filter(|column| image.value(*column).is_some()).count();
    assert_eq!(listed.len(), present);
}
