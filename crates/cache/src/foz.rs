//! SPIR-V and the state around it as a Fossilize database, which `fossilize-replay` has a driver compile ahead of time.
//!
//! Written after the description of the archive in Fossilize's `fossilize_db.cpp` (stream archive, version 6) and the names
//! of fields in its `fossilize.cpp`:
//!
//! | bytes | what |
//! |---|---|
//! | 0–15 | `81 "FOSSILIZEDB" 00 00 00 06` |
//! | then, for each entry | tag (24 hexadecimal digits), hash (16), bytes as stored, 1 (not compressed), CRC-32, bytes; the bytes |
//!
//! An entry is JSON, after which comes, for a shader module, a zero byte and its words with seven bits to a byte, the lowest
//! first, as long as the highest bit is set. Compute programs are pipelines of their own, whose layout is that of their
//! variables. Of other stages there are the modules: which ones make a pipeline, and its state, is the emulator's to know.

mod reflect;

use crate::key::Key;
use reflect::{Module, Stage};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

const MAGIC: [u8; 16] = *b"\x81FOSSILIZEDB\0\0\0\x06";

/// Kinds of entries, by Fossilize's numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Tag {
    SetLayout = 2,
    PipelineLayout = 3,
    ShaderModule = 4,
    ComputePipeline = 7,
}

/// What went into a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Shader modules.
    pub modules: u64,
    /// Compute pipelines.
    pub pipelines: u64,
    /// Bytes that are no module.
    pub passed_over: u64,
}

/// Writes a database.
#[derive(Debug)]
pub struct Writer<W> {
    to: W,
    known: FxHashSet<(u8, u64)>,
    written: Written,
}

impl<W: Write> Writer<W> {
    /// Begins a database.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn new(mut to: W) -> io::Result<Writer<W>> {
        to.write_all(&MAGIC)?;
        Ok(Writer { to, known: FxHashSet::default(), written: Written::default() })
    }

    /// Adds a module, and its pipeline if it is a compute program. What is there already is not added again; what is no
    /// module is passed over.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let Some(module) = Module::read(&words).filter(|_| bytes.len().is_multiple_of(4)) else {
            self.written.passed_over += 1;
            return Ok(());
        };
        let hash = name_of(bytes);
        let packed = varint(&words);
        let mut blob = format!(
            r#"{{"version":6,"shaderModules":{{"{hash:016x}":{{"varintOffset":0,"varintSize":{},"codeSize":{},"flags":0}}}}}}"#,
            packed.len(),
            bytes.len(),
        )
        .into_bytes();
        blob.push(0);
        blob.extend(packed);
        self.written.modules += u64::from(self.entry(Tag::ShaderModule, hash, &blob)?);
        match module.entry {
            Some((Stage::Compute, ref name)) => self.pipeline(hash, name, &module),
            _ => Ok(()),
        }
    }

    fn pipeline(&mut self, shader: u64, name: &str, module: &Module) -> io::Result<()> {
        let layout = self.layout(module)?;
        let body = format!(
            r#"{{"flags":0,"layout":"{layout:016x}","basePipelineHandle":"0000000000000000","basePipelineIndex":-1,"stage":{{"flags":0,"stage":{},"module":"{shader:016x}","name":"{}"}}}}"#,
            Stage::Compute as u32,
            escaped(name),
        );
        self.written.pipelines +=
            u64::from(self.object(Tag::ComputePipeline, "computePipelines", &body)?.is_new);
        Ok(())
    }

    /// The pipeline layout of a module's variables.
    fn layout(&mut self, module: &Module) -> io::Result<u64> {
        let stages = Stage::Compute as u32;
        let mut sets: BTreeMap<u32, String> = BTreeMap::new();
        for (&(set, binding), descriptor) in &module.descriptors {
            let bindings = sets.entry(set).or_default();
            let comma = if bindings.is_empty() { "" } else { "," };
            // Writing to a string cannot fail.
            let _ = write!(
                bindings,
                r#"{comma}{{"descriptorType":{},"descriptorCount":{},"stageFlags":{stages},"binding":{binding}}}"#,
                descriptor.kind, descriptor.count
            );
        }
        let last = sets.keys().next_back().map_or(0, |last| last + 1);
        let mut handles = Vec::new();
        for set in 0..last {
            let bindings = sets.get(&set).map_or("", String::as_str);
            let body = format!(r#"{{"flags":0,"bindings":[{bindings}]}}"#);
            handles.push(format!("\"{:016x}\"", self.object(Tag::SetLayout, "setLayouts", &body)?.hash));
        }
        let push = match module.push_bytes {
            0 => String::new(),
            size => format!(r#","pushConstantRanges":[{{"stageFlags":{stages},"size":{size},"offset":0}}]"#),
        };
        let body = format!(r#"{{"flags":0,"setLayouts":[{}]{push}}}"#, handles.join(","));
        Ok(self.object(Tag::PipelineLayout, "pipelineLayouts", &body)?.hash)
    }

    /// Adds an object of a kind by the hash of what describes it.
    fn object(&mut self, tag: Tag, list: &str, body: &str) -> io::Result<Named> {
        let hash = name_of(format!("{list} {body}").as_bytes());
        let text = format!(r#"{{"version":6,"{list}":{{"{hash:016x}":{body}}}}}"#);
        let is_new = self.entry(tag, hash, text.as_bytes())?;
        Ok(Named { hash, is_new })
    }

    /// Writes an entry, unless there is one of that name. Gives whether it did.
    fn entry(&mut self, tag: Tag, hash: u64, bytes: &[u8]) -> io::Result<bool> {
        if !self.known.insert((tag as u8, hash)) {
            return Ok(false);
        }
        let size = u32::try_from(bytes.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        write!(self.to, "{:024x}{hash:016x}", tag as u8)?;
        for number in [size, 1, crc32fast::hash(bytes), size] {
            self.to.write_all(&number.to_le_bytes())?;
        }
        self.to.write_all(bytes)?;
        Ok(true)
    }

    /// Ends the database.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<Written> {
        self.to.flush()?;
        Ok(self.written)
    }
}

struct Named {
    hash: u64,
    is_new: bool,
}

/// The hash by which an object is named; 0 would stand for none.
fn name_of(bytes: &[u8]) -> u64 {
    Key::of("foz").bytes(bytes).finish().short().max(1)
}

/// A name in JSON.
fn escaped(name: &str) -> String {
    name.chars().fold(String::new(), |mut text, c| {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => drop(write!(text, "\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
        text
    })
}

fn varint(words: &[u32]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(words.len() * 3);
    for &word in words {
        let mut rest = word;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A compute program that stores to a buffer at set 1, binding 3, with eight bytes of push constants.
    fn words() -> Vec<u32> {
        let op = |code: u32, operands: &[u32]| {
            let mut words = vec![(operands.len() as u32 + 1) << 16 | code];
            words.extend(operands);
            words
        };
        let main = u32::from_le_bytes(*b"main");
        [
            vec![0x0723_0203, 0x1_0300, 0, 20, 0],
            op(17, &[1]),
            op(14, &[0, 1]),
            op(15, &[5, 1, main, 0]),
            op(71, &[2, 34, 1]),
            op(71, &[2, 33, 3]),
            op(71, &[6, 2]),
            op(72, &[9, 0, 35, 0]),
            op(72, &[9, 1, 35, 4]),
            op(21, &[3, 32, 0]),
            op(29, &[4, 3]),
            op(30, &[6, 4]),
            op(32, &[7, 12, 6]),
            op(59, &[7, 2, 12]),
            op(30, &[9, 3, 3]),
            op(32, &[10, 9, 9]),
            op(59, &[10, 11, 9]),
        ]
        .concat()
    }

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// The entries of a database: tag, hash, bytes.
    fn entries(mut file: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
        assert_eq!(file[..16], MAGIC);
        file = &file[16..];
        let mut entries = Vec::new();
        while !file.is_empty() {
            let text = |range: std::ops::Range<usize>| std::str::from_utf8(&file[range]).unwrap();
            let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
            let [tag, hash] = [0..24, 24..40].map(|range| u64::from_str_radix(text(range), 16).unwrap());
            let size = number(40) as usize;
            let payload = file[56..56 + size].to_vec();
            assert_eq!((number(44), number(48), number(52)), (1, crc32fast::hash(&payload), size as u32));
            entries.push((tag, hash, payload));
            file = &file[56 + size..];
        }
        entries
    }

    #[test]
    fn a_compute_program_is_a_pipeline_with_its_layout() {
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file).unwrap();
        writer.add(&bytes(&words())).unwrap();
        writer.add(&bytes(&words())).unwrap();
        writer.add(b"no module").unwrap();
        assert_eq!(writer.finish().unwrap(), Written { modules: 1, pipelines: 1, passed_over: 1 });
        let entries = entries(&file);
        assert_eq!(entries.iter().map(|(tag, ..)| *tag).collect::<Vec<_>>(), [4, 2, 2, 3, 7]);
        let text = |n: usize| String::from_utf8_lossy(&entries[n].2).into_owned();
        let name = |n: usize| format!("{:016x}", entries[n].1);
        assert!(text(1).ends_with(r#":{"flags":0,"bindings":[]}}}"#), "{}", text(1));
        let binding = r#"{"descriptorType":7,"descriptorCount":1,"stageFlags":32,"binding":3}"#;
        assert!(text(2).ends_with(&format!(r#":{{"flags":0,"bindings":[{binding}]}}}}}}"#)), "{}", text(2));
        assert!(text(3).contains(&format!(r#""setLayouts":["{}","{}"]"#, name(1), name(2))));
        assert!(text(3).contains(r#""pushConstantRanges":[{"stageFlags":32,"size":8,"offset":0}]"#));
        assert!(text(4).contains(&format!(r#""layout":"{}""#, name(3))));
        assert!(text(4).contains(&format!(r#""module":"{}","name":"main""#, name(0))));
        // The words come back.
        let blob = &entries[0].2;
        let end = blob.iter().position(|&b| b == 0).unwrap();
        let (mut again, mut word, mut shift) = (Vec::new(), 0u32, 0);
        for &byte in &blob[end + 1..] {
            word |= u32::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                again.push(std::mem::take(&mut word));
                shift = 0;
            }
        }
        assert_eq!(again, words());
    }

    proptest::proptest! {
        #![proptest_config(xenoglot_testgen::property::config(300))]

        #[test]
        fn any_words_are_a_module_or_passed_over(mut words: Vec<u32>, at: usize, value: u32) {
            let mut module = self::tests::words();
            let place = at % module.len();
            module[place] = value;
            words.splice(0..0, [0x0723_0203, 0x1_0300, 0, 20, 0]);
            let mut writer = Writer::new(Vec::new()).unwrap();
            writer.add(&bytes(&module)).unwrap();
            writer.add(&bytes(&words)).unwrap();
            proptest::prop_assert!(writer.finish().unwrap().modules <= 2);
        }
    }
}
