//! Fat binaries: what was stored is found, and damage is refused.

use proptest::prelude::*;
use xenoglot_maxwell::container::fatbin::{Compression, Kind, MAGIC};
use xenoglot_maxwell::container::{ContainerError, FatBinary};
use xenoglot_testgen::maxwell::fatbin::{Member, fat_binary, in_library};

const PTX: Member = Member { kind: Kind::Ptx, sm: 90, contents: b".version 8.8", compression: None };

/// A fat binary with PTX, and other contents stored in each way.
fn fat(contents: &[u8]) -> Vec<u8> {
    let ways = [None, Some(Compression::Lz4), Some(Compression::Zstd)];
    let members = ways.map(|compression| Member { kind: Kind::Cubin, sm: 53, contents, compression });
    fat_binary(&[&[PTX][..], &members].concat())
}

#[test]
fn members_are_what_was_stored() {
    let contents: Vec<u8> = (0..5000u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    let file = fat(&contents);
    let library = in_library(&[&file[..], &[0; 8], &file].concat());
    assert!(!FatBinary::is_inside(&file) && FatBinary::is_inside(&library));
    for (bytes, times) in [(&file, 1), (&library, 2)] {
        let all = FatBinary::parse(bytes).unwrap().members;
        assert_eq!(all.len(), 4 * times);
        for four in all.chunks(4) {
            assert_eq!((four[0].kind, four[0].sm), (Kind::Ptx, 90));
            // Padded to eight bytes.
            assert_eq!(*four[0].contents(16).unwrap(), *b".version 8.8\0\0\0\0");
            for member in &four[1..] {
                assert_eq!((member.kind, member.sm, member.bytes), (Kind::Cubin, 53, 20_000));
                assert_eq!(*member.contents(20_000).unwrap(), contents);
                let error = member.contents(19_999).unwrap_err();
                assert!(matches!(error, ContainerError::TooLarge { bytes: 20_000, .. }), "{error}");
            }
            assert!(four[2].stored.len() < 20_000 && four[3].stored.len() < 20_000);
        }
    }
    assert_eq!(FatBinary::parse(b"something else"), Err(ContainerError::Magic("fat binary")));
}

#[test]
fn blocks_cannot_say_more_than_they_hold() {
    let mut file = fat(&[7; 10_000]);
    let offset = FatBinary::parse(&file).unwrap().members[2].offset;
    let size_at = offset as usize - 8;
    file[size_at..size_at + 8].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let error = FatBinary::parse(&file).unwrap().members[2].contents(u64::MAX).unwrap_err();
    assert_eq!(error, ContainerError::Malformed { offset, what: "size of an LZ4 block" });
}

fn read(bytes: &[u8]) {
    for member in FatBinary::parse(bytes).map(|fat| fat.members).unwrap_or_default() {
        if let Ok(contents) = member.contents(1 << 16) {
            assert_eq!(contents.len() as u64, member.bytes);
        }
    }
}

proptest! {
    #![proptest_config(xenoglot_testgen::property::config(256))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        read(&bytes);
        let size = (bytes.len() as u64).to_le_bytes();
        read(&[&MAGIC[..], &[1, 0, 16, 0], &size, &bytes].concat());
        read(&in_library(&bytes));
    }

    #[test]
    fn damaged_ones_are_read_or_refused(at: prop::sample::Index, byte: u8, contents: Vec<u8>) {
        for mut file in [fat(&contents), in_library(&fat(&contents))] {
            let at = at.index(file.len());
            read(&file[..at]);
            file[at] = byte;
            read(&file);
        }
    }
}
