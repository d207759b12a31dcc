//! Bytes that no server sends: nothing panics, and a stream that goes on ends somewhere.

use nuthatch_source::{Event, EventReader};
use nuthatch_sql::ServerFlavor;
use proptest::prelude::*;

use crate::captured::{Stream, all};

const HEADER_BYTES: usize = 19;

/// Looks at all that can be looked at, and counts the rows.
fn read_all(reader: &mut EventReader, event: &[u8]) -> usize {
    let mut rows_seen = 0;
    let _outcome = reader.read(event, &mut |_, event| {
        if let Event::Rows { table, rows: Some(rows), .. } = event {
            for row in rows.flatten() {
                rows_seen += 1;
                for image in [row.before, row.after].into_iter().flatten() {
                    let values = image.values().count();
                    assert!(values <= table.columns().len());
                }
            }
        }
    });
    rows_seen
}

/// The event with a length and a checksum that are true, so that what is inside is looked at.
fn sealed(mut event: Vec<u8>) -> Vec<u8> {
    event.resize(event.len().max(HEADER_BYTES + 4), 0);
    let len = u32::try_from(event.len()).unwrap();
    event[9..13].copy_from_slice(&len.to_le_bytes());
    let sum = crc32fast::hash(&event[..event.len() - 4]);
    let at = event.len() - 4;
    event[at..].copy_from_slice(&sum.to_le_bytes());
    event
}

fn flavors() -> impl Strategy<Value = ServerFlavor> {
    prop_oneof![Just(ServerFlavor::MariaDb(110_806)), Just(ServerFlavor::MySql(90_704))]
}

fn with_checksums() -> Vec<Stream> {
    all().into_iter().filter(|stream| !stream.path.ends_with("without_checksums.events")).collect()
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(flavor in flavors(), events in prop::collection::vec(any::<Vec<u8>>(), 1..5)) {
        let mut reader = EventReader::new(flavor);
        for event in events {
            read_all(&mut reader, &event);
        }
    }

    #[test]
    fn any_body_is_read_or_refused(flavor in flavors(), kind in any::<u8>(), body in any::<Vec<u8>>()) {
        let mut event = vec![0; HEADER_BYTES];
        event[4] = kind;
        event.extend(body);
        read_all(&mut EventReader::new(flavor), &sealed(event));
    }
}

#[test]
fn events_with_other_bytes_or_other_lengths_are_read_or_refused() {
    let streams = with_checksums();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(300));
    let stream = 0..streams.len();
    let changes = prop::collection::vec(
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()),
        1..40,
    );
    let cuts = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..3);
    runner
        .run(&(stream, changes, cuts), |(stream, changes, cuts)| {
            let stream = &streams[stream];
            let mut events = stream.events.clone();
            for (which, place, byte) in changes {
                let event = which.index(events.len() - 2) + 2;
                let at = HEADER_BYTES + place.index(events[event].len() - HEADER_BYTES);
                events[event][at] = byte;
            }
            for (which, place) in cuts {
                let event = which.index(events.len() - 2) + 2;
                let len = place.index(events[event].len());
                events[event].truncate(len);
            }
            let mut reader = EventReader::new(stream.flavor);
            for (place, event) in events.into_iter().enumerate() {
                let event = if place < 2 { event } else { sealed(event) };
                let len = event.len();
                let rows = read_all(&mut reader, &event);
                // Compressed ones may have more rows than bytes.
                prop_assert!(rows <= len.max(1) * 2000);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn every_prefix_of_every_event_is_read_or_refused() {
    for stream in with_checksums() {
        let mut reader = EventReader::new(stream.flavor);
        for event in &stream.events {
            let step = (event.len() / 60).max(1);
            for len in (0..event.len()).step_by(step) {
                let cut = event.get(..len).unwrap();
                read_all(&mut reader.clone(), cut);
                read_all(&mut reader.clone(), &sealed(cut.to_vec()));
            }
            reader.read(event, &mut |_, _| {}).unwrap();
        }
    }
}
