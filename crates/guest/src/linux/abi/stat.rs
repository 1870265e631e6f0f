//! What is known of a file, in the layouts of `stat`, `stat64` and `statx`.

use super::Layout;
use xenoglot_mips::Endian;

/// Seconds and nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Time {
    pub seconds: i64,
    pub nanos: u32,
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stat {
    pub dev: u64,
    pub ino: u64,
    pub mode: u32,
    pub links: u32,
    pub uid: u32,
    pub gid: u32,
    pub rdev: u64,
    pub size: u64,
    pub block_size: u32,
    pub blocks: u64,
    pub accessed: Time,
    pub modified: Time,
    pub changed: Time,
}

impl From<rustix::fs::Stat> for Stat {
    fn from(host: rustix::fs::Stat) -> Stat {
        let time = |seconds, nanos: u64| Time { seconds, nanos: nanos as u32 };
        Stat {
            dev: host.st_dev,
            ino: host.st_ino,
            mode: host.st_mode,
            links: host.st_nlink as u32,
            uid: host.st_uid,
            gid: host.st_gid,
            rdev: host.st_rdev,
            size: host.st_size as u64,
            block_size: host.st_blksize as u32,
            blocks: host.st_blocks as u64,
            accessed: time(host.st_atime, host.st_atime_nsec),
            modified: time(host.st_mtime, host.st_mtime_nsec),
            changed: time(host.st_ctime, host.st_ctime_nsec),
        }
    }
}

/// A device number in the 32 bits that `stat` and `stat64` have for it.
fn device(number: u64) -> u32 {
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    minor & 0xff | (major & 0xfff) << 8 | (minor & !0xff) << 12
}

impl Stat {
    /// `struct stat64` of o32: 104 bytes.
    pub fn stat64(&self, endian: Endian) -> Vec<u8> {
        Layout::new(endian)
            .u32(device(self.dev))
            .words([0; 3])
            .u64(self.ino)
            .words([self.mode, self.links, self.uid, self.gid, device(self.rdev), 0, 0, 0])
            .u64(self.size)
            .words(self.times())
            .words([self.block_size, 0])
            .u64(self.blocks)
            .bytes
    }

    /// `struct stat` of o32, 144 bytes; `None` when the file is too big for it.
    pub fn stat(&self, endian: Endian) -> Option<Vec<u8>> {
        let size = u32::try_from(self.size).ok().filter(|&size| size as i32 >= 0)?;
        let layout = Layout::new(endian)
            .words([device(self.dev), 0, 0, 0, self.ino as u32, self.mode, self.links, self.uid, self.gid])
            .words([device(self.rdev), 0, 0, size, 0])
            .words(self.times())
            .words([self.block_size, self.blocks as u32]);
        Some(layout.pad_to(144).bytes)
    }

    fn times(&self) -> [u32; 6] {
        let [a, m, c] = [self.accessed, self.modified, self.changed];
        [a.seconds as u32, a.nanos, m.seconds as u32, m.nanos, c.seconds as u32, c.nanos]
    }

    /// `struct statx`, 256 bytes, with the basic fields (`STATX_BASIC_STATS`).
    pub fn statx(&self, endian: Endian) -> Vec<u8> {
        let time = |layout: Layout, t: Time| layout.u64(t.seconds as u64).words([t.nanos, 0]);
        let mut layout = Layout::new(endian)
            .words([0x7ff, self.block_size])
            .u64(0)
            .words([self.links, self.uid, self.gid])
            .u16(self.mode as u16)
            .u16(0)
            .u64(self.ino)
            .u64(self.size)
            .u64(self.blocks)
            .u64(0);
        // The time of birth is not among them.
        for of in [self.accessed, Time::default(), self.changed, self.modified] {
            layout = time(layout, of);
        }
        let split = |number| [rustix::fs::major(number), rustix::fs::minor(number)];
        layout.words(split(self.rdev)).words(split(self.dev)).pad_to(256).bytes
    }
}
