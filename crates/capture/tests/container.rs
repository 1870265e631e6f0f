//! Captures there and back, and damaged ones.

use proptest::prelude::*;
use xenoglot_capture::{Block, Capture, Damage, Error, FRAME_END, Frame, Info, Limits};

fn sample() -> Capture {
    let mut capture = Capture::new(
        *b"TEST",
        Info { title: "a title".into(), creator: "a test".into(), comment: String::new() },
    );
    capture.registers = vec![(3, 4), (0x2ff, u32::MAX)];
    capture.memory = vec![Block { address: 0x1800_0000, bytes: vec![7; 5000] }];
    for n in 0..300u32 {
        capture.write_memory(n, &n.to_le_bytes().repeat(2000));
        capture.ops.push_words(FRAME_END, &[n]);
    }
    capture.frames = vec![Frame { index: 0, width: 2, height: 1, rgba: vec![1, 2, 3, 4, 5, 6, 7, 8] }];
    capture
}

#[test]
fn there_and_back() {
    let capture = sample();
    let bytes = capture.to_bytes();
    assert!(bytes.len() < capture.ops.len(), "compressed");
    assert_eq!(Capture::from_bytes(&bytes, &Limits::default()).unwrap(), capture);
}

#[test]
fn a_file_is_written_whole_over_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.xgc");
    std::fs::write(&path, b"something old").unwrap();
    sample().save(&path).unwrap();
    assert_eq!(Capture::load(&path, &Limits::default()).unwrap(), sample());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no other file is left");
    assert!(matches!(sample().save(&folder.path().join("no/such.xgc")), Err(Error::Io { .. })));
}

#[test]
fn a_truncated_file_says_where_and_gives_what_it_has() {
    let (capture, bytes) = (sample(), sample().to_bytes());
    let mut recovered = 0;
    for length in (16..bytes.len()).step_by(1 + bytes.len() / 200) {
        let error = Capture::from_bytes(&bytes[..length], &Limits::default()).unwrap_err();
        let Error::Chunk { offset, damage, .. } = &error else { panic!("{error}") };
        assert!(*offset as usize <= length);
        assert!(matches!(damage, Damage::Truncated { .. } | Damage::NoEnd), "{damage}");
        let part = error.recovered().unwrap();
        assert!(part.ops.len() >= recovered, "a longer file never gives less");
        recovered = part.ops.len();
        assert!(capture.ops.iter().zip(part.ops.iter()).all(|(a, b)| a == b));
    }
    assert!(recovered > 0);
}

#[test]
fn each_flipped_bit_is_noticed() {
    let bytes = sample().to_bytes();
    for at in (0..bytes.len()).step_by(1 + bytes.len() / 200) {
        let mut bad = bytes.clone();
        bad[at] ^= 0x10;
        let read = Capture::from_bytes(&bad, &Limits::default());
        assert!(read.is_err() || (12..16).contains(&at), "byte {at}");
    }
}

#[test]
fn sizes_are_limited_before_anything_is_allocated() {
    let bytes = sample().to_bytes();
    let error = Capture::from_bytes(&bytes, &Limits { bytes: 1000 }).unwrap_err();
    assert!(error.to_string().contains("more than the limit"), "{error}");
    assert!(error.to_string().contains("chunk 2 (MEMB)"), "{error}");
}

#[test]
fn other_files_are_told_apart() {
    let read = |bytes: &[u8]| Capture::from_bytes(bytes, &Limits::default()).unwrap_err();
    assert!(matches!(read(b""), Error::Magic));
    assert!(matches!(read(b"P6 640 480 255 and so on"), Error::Magic));
    assert!(matches!(read(b"\x89XGC\n\x1a\n\x01\0\0\0PICA....."), Error::LineEnds));
    let mut later = sample().to_bytes();
    later[8] = 9;
    assert!(matches!(read(&later), Error::Version(9)));
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let head = [xenoglot_capture::MAGIC.as_slice(), &[1, 0, 0, 0], b"PICA"].concat();
        let _ = Capture::from_bytes(&[head.as_slice(), &bytes].concat(), &Limits { bytes: 1 << 20 });
        let _ = Capture::from_bytes(&bytes, &Limits::default());
    }

    #[test]
    fn any_stream_comes_back(ops in prop::collection::vec((any::<u32>(), any::<Vec<u8>>()), 0..40)) {
        let mut capture = Capture::new(*b"PICA", Info::default());
        ops.iter().for_each(|(kind, payload)| capture.ops.push(*kind, &[payload]));
        prop_assert_eq!(&Capture::from_bytes(&capture.to_bytes(), &Limits::default()).unwrap(), &capture);
        let back: Vec<_> = capture.ops.iter().map(|op| (op.kind, op.payload.to_vec())).collect();
        prop_assert_eq!(back, ops);
    }
}
