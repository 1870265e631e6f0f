//! Video memory: nine banks, and which addresses each of them is mapped to.
//!
//! Source: GBATEK, "DS Memory Control - VRAM". Everything that reads video memory reads it by pages of 16 KiB, the size of the
//! smallest bank. A page to which one bank is mapped is that bank's memory. Where banks overlap, reads give all of them ORed:
//! such a page is a copy that is made anew when one of its banks was written. A write goes to all of them.

use crate::memory::TextureMemory;
use crate::state::{Io, StateError, Stated};

/// Bytes of a page.
const PAGE: u32 = 0x4000;
/// Bytes of all banks, which lie one after the other: also their addresses with the LCD controller, from 0x06800000 on.
pub const BANK_BYTES: usize = 0xa4000;
/// A page of zeros: what is not mapped.
const UNMAPPED: u32 = BANK_BYTES as u32;
/// First of the pages for overlapping banks.
const MERGED: u32 = UNMAPPED + PAGE;
/// Bytes of banks, the page of zeros, and pages for overlapping banks: banks have at most 52 places, in two of each page.
const BYTES: usize = 0x20_0000;
/// Pages of a view: 512 KiB.
const VIEW_PAGES: usize = 32;

/// The banks A to I: where they start and end.
const BANKS: [[u32; 2]; 9] = [
    [0, 0x20000],
    [0x20000, 0x40000],
    [0x40000, 0x60000],
    [0x60000, 0x80000],
    [0x80000, 0x90000],
    [0x90000, 0x94000],
    [0x94000, 0x98000],
    [0x98000, 0xa0000],
    [0xa0000, 0xa4000],
];

/// Who sees a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Backgrounds of engine A.
    BackgroundA,
    /// OBJs of engine A.
    ObjA,
    /// Backgrounds of engine B.
    BackgroundB,
    /// OBJs of engine B.
    ObjB,
    /// Extended palettes of engine A's backgrounds.
    BackgroundPalettesA,
    /// Extended palettes of engine A's OBJs.
    ObjPalettesA,
    /// Extended palettes of engine B's backgrounds.
    BackgroundPalettesB,
    /// Extended palettes of engine B's OBJs.
    ObjPalettesB,
    /// Texture memory.
    Textures,
    /// Texture palettes.
    TexturePalettes,
    /// The ARM7's memory, from 0x06000000 on.
    Arm7,
}

impl Space {
    /// All spaces, by number.
    const ALL: [Space; 11] = [
        Space::BackgroundA,
        Space::ObjA,
        Space::BackgroundB,
        Space::ObjB,
        Space::BackgroundPalettesA,
        Space::ObjPalettesA,
        Space::BackgroundPalettesB,
        Space::ObjPalettesB,
        Space::Textures,
        Space::TexturePalettes,
        Space::Arm7,
    ];

    /// Pages after which its addresses repeat.
    fn pages(self) -> usize {
        match self {
            Space::BackgroundA | Space::Textures => 32,
            Space::ObjA | Space::Arm7 => 16,
            Space::BackgroundB | Space::ObjB | Space::TexturePalettes => 8,
            Space::BackgroundPalettesA | Space::BackgroundPalettesB => 2,
            Space::ObjPalettesA | Space::ObjPalettesB => 1,
        }
    }
}

/// A bank's place: the space, its first page, and how many pages of the bank are seen there.
type Place = (Space, u32, u32);

/// Places of bank `bank`, 0 to 8, by its control register; none if it is off or with the LCD controller.
fn places(bank: usize, control: u8) -> ([Option<Place>; 2], bool) {
    use Space::*;
    if control & 0x80 == 0 {
        return ([None; 2], false);
    }
    let ofs = u32::from(control >> 3 & 3);
    // Banks A, B, H and I have no third bit of MST.
    let mst = if matches!(bank, 0 | 1 | 7 | 8) { control & 3 } else { control & 7 };
    // Banks F and G: 16 KiB at 0, 16, 64 or 80 KiB.
    let small = (ofs & 1) + 4 * (ofs >> 1);
    let one = |place: Place| [Some(place), None];
    let places = match (bank, mst) {
        (_, 0) => return ([None; 2], true),
        (0..4, 1) => one((BackgroundA, 8 * ofs, 8)),
        (0 | 1, 2) => one((ObjA, 8 * (ofs & 1), 8)),
        (2 | 3, 2) => one((Arm7, 8 * (ofs & 1), 8)),
        (0..4, 3) => one((Textures, 8 * ofs, 8)),
        (2, 4) => one((BackgroundB, 0, 8)),
        (3, 4) => one((ObjB, 0, 8)),
        (4, 1) => one((BackgroundA, 0, 4)),
        (4, 2) => one((ObjA, 0, 4)),
        (4, 3) => one((TexturePalettes, 0, 4)),
        (4, 4) => one((BackgroundPalettesA, 0, 2)),
        (5 | 6, 1) => [Some((BackgroundA, small, 1)), Some((BackgroundA, small + 2, 1))],
        (5 | 6, 2) => [Some((ObjA, small, 1)), Some((ObjA, small + 2, 1))],
        (5 | 6, 3) => one((TexturePalettes, small, 1)),
        (5 | 6, 4) => one((BackgroundPalettesA, ofs & 1, 1)),
        (5 | 6, 5) => one((ObjPalettesA, 0, 1)),
        (7, 1) => [Some((BackgroundB, 0, 2)), Some((BackgroundB, 4, 2))],
        (7, 2) => one((BackgroundPalettesB, 0, 2)),
        // Seen at 32, 48, 96 and 112 KiB: the two pages of each are added by `Vram::map`.
        (8, 1) => [Some((BackgroundB, 2, 1)), Some((BackgroundB, 6, 1))],
        (8, 2) => one((ObjB, 0, 1)),
        (8, 3) => one((ObjPalettesB, 0, 1)),
        _ => [None; 2],
    };
    (places, false)
}

/// Banks that overlap in one page.
#[derive(Clone, Debug)]
struct Merged {
    space: Space,
    page: u32,
    /// Where the pages of the banks start.
    sources: Vec<u32>,
}

/// Video memory.
#[derive(Clone)]
pub struct Vram {
    bytes: Box<[u8; BYTES]>,
    control: [u8; 9],
    /// Banks with the LCD controller, a bit each.
    lcdc: u16,
    views: [[u32; VIEW_PAGES]; Space::ALL.len()],
    merged: Vec<Merged>,
    /// Banks written since pages of overlapping banks were made, and since textures were taken over.
    stale: u16,
    textures_stale: u16,
    /// Views of textures and palettes as last taken over.
    textures_taken: [[u32; VIEW_PAGES]; 2],
}

impl std::fmt::Debug for Vram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vram").field("control", &self.control).finish_non_exhaustive()
    }
}

impl Default for Vram {
    fn default() -> Vram {
        let Ok(bytes) = vec![0; BYTES].into_boxed_slice().try_into() else { unreachable!("BYTES bytes") };
        Vram {
            bytes,
            control: [0; 9],
            lcdc: 0,
            views: [[UNMAPPED; VIEW_PAGES]; Space::ALL.len()],
            merged: Vec::new(),
            stale: 0,
            textures_stale: !0,
            textures_taken: [[UNMAPPED; VIEW_PAGES]; 2],
        }
    }
}

/// Memory as one of its readers sees it: 512 KiB, in which smaller spaces repeat.
#[derive(Clone, Copy)]
pub struct View<'a> {
    bytes: &'a [u8; BYTES],
    pages: &'a [u32; VIEW_PAGES],
}

impl<'a> View<'a> {
    #[inline(always)]
    fn place(&self, address: u32) -> usize {
        let page = self.pages[(address / PAGE) as usize % VIEW_PAGES];
        (page + address % PAGE) as usize % BYTES
    }

    /// A byte.
    #[inline(always)]
    pub fn byte(&self, address: u32) -> u8 {
        self.bytes[self.place(address)]
    }

    /// Two bytes; bit 0 of the address does not count.
    #[inline(always)]
    pub fn half(&self, address: u32) -> u16 {
        u16::from_le_bytes(self.bytes.as_chunks().0[self.place(address) / 2])
    }

    /// Four bytes; bits 0 and 1 of the address do not count.
    #[inline(always)]
    pub fn word(&self, address: u32) -> u32 {
        u32::from_le_bytes(self.bytes.as_chunks().0[self.place(address) / 4])
    }

    /// Eight bytes; bits 0 to 2 of the address do not count.
    #[inline(always)]
    pub fn double(&self, address: u32) -> u64 {
        u64::from_le_bytes(self.bytes.as_chunks().0[self.place(address) / 8])
    }

    /// The block of `N` bytes that `address` is in; `N` is a power of two up to a page.
    #[inline(always)]
    pub fn block<const N: usize>(&self, address: u32) -> &'a [u8; N] {
        &self.bytes.as_chunks().0[self.place(address) / N]
    }
}

/// An area of at most three pages: a map of 32 KiB that does not start with a page.
#[derive(Clone, Copy)]
pub struct Area {
    /// Where it starts, and what is added from its second and from its third page on.
    start: u32,
    jumps: [u32; 2],
    /// Bytes in its first page.
    first: u32,
}

impl Area {
    /// The place of a byte in memory, for [`View::byte_at`].
    #[inline(always)]
    pub fn place(&self, offset: u32) -> u32 {
        let [second, third] = self.jumps;
        let jump = if offset >= self.first { second } else { 0 };
        let jump = if offset >= self.first + PAGE { third } else { jump };
        self.start.wrapping_add(offset).wrapping_add(jump)
    }
}

impl View<'_> {
    /// The area from `address` on, up to the end of the second page after its first.
    #[inline(always)]
    pub fn area(&self, address: u32) -> Area {
        let page = |number: u32| self.pages[(address / PAGE + number) as usize % VIEW_PAGES];
        let jump = |number: u32| page(number).wrapping_sub(page(0)).wrapping_sub(number * PAGE);
        Area { start: page(0) + address % PAGE, jumps: [jump(1), jump(2)], first: PAGE - address % PAGE }
    }

    /// The place where `address` is: those that follow up to the end of its page are next to it.
    #[inline(always)]
    pub fn row(&self, address: u32) -> u32 {
        self.place(address) as u32
    }

    /// The byte at a place.
    #[inline(always)]
    pub fn byte_at(&self, place: u32) -> u8 {
        self.bytes[place as usize % BYTES]
    }

    /// The two bytes at a place; its bit 0 does not count.
    #[inline(always)]
    pub fn half_at(&self, place: u32) -> u16 {
        u16::from_le_bytes(self.bytes.as_chunks().0[place as usize % BYTES / 2])
    }
}

/// The bank that a place in `bytes` belongs to.
fn bank_of(place: u32) -> usize {
    BANKS.iter().position(|&[_, end]| place < end).unwrap_or(BANKS.len() - 1)
}

impl Vram {
    /// A bank's control register as last written; 0 to 8 are A to I.
    pub fn control(&self, bank: usize) -> u8 {
        self.control.get(bank).copied().unwrap_or(0)
    }

    /// All control registers.
    pub fn controls(&self) -> [u8; 9] {
        self.control
    }

    /// Writes a bank's control register: 0 to 8 are A to I, others are none.
    pub fn set_control(&mut self, bank: usize, value: u8) {
        let Some(control) = self.control.get_mut(bank) else { return };
        if *control != value {
            *control = value;
            self.map();
        }
    }

    fn map(&mut self) {
        self.lcdc = 0;
        self.merged.clear();
        self.views = [[UNMAPPED; VIEW_PAGES]; Space::ALL.len()];
        for (bank, [start, _]) in BANKS.into_iter().enumerate() {
            let (places, is_lcdc) = places(bank, self.control[bank]);
            self.lcdc |= u16::from(is_lcdc) << bank;
            for (space, first, count) in places.into_iter().flatten() {
                (0..count).for_each(|page| self.map_page(space, first + page, start + page * PAGE));
                match (bank, space) {
                    (8, Space::BackgroundB) => self.map_page(space, first + 1, start),
                    (8, Space::ObjB) => (1..8).for_each(|page| self.map_page(space, page, start)),
                    _ => {}
                }
            }
        }
        for space in Space::ALL {
            let pages = space.pages();
            let view = &mut self.views[space as usize];
            for page in pages..VIEW_PAGES {
                view[page] = view[page % pages];
            }
        }
        // Copies for overlapping banks and textures are made anew.
        self.stale = !0;
    }

    fn map_page(&mut self, space: Space, page: u32, source: u32) {
        let Some(entry) = self.views[space as usize].get_mut(page as usize % space.pages()) else { return };
        let before = *entry;
        if before == UNMAPPED {
            *entry = source;
        } else if before < UNMAPPED {
            *entry = MERGED + self.merged.len() as u32 * PAGE;
            self.merged.push(Merged { space, page, sources: vec![before, source] });
        } else if let Some(merged) = self.merged.get_mut(((before - MERGED) / PAGE) as usize) {
            merged.sources.push(source);
        }
    }

    /// Makes the pages of overlapping banks anew, where a bank was written. To be called before [`Vram::view`].
    pub fn refresh(&mut self) {
        if self.stale == 0 {
            return;
        }
        for (number, merged) in self.merged.iter().enumerate() {
            if merged.sources.iter().all(|&source| self.stale & 1 << bank_of(source) == 0) {
                continue;
            }
            let mut page = [0u8; PAGE as usize];
            for &source in &merged.sources {
                let from = source as usize;
                let bytes = self.bytes.get(from..from + PAGE as usize).unwrap_or_default();
                page.iter_mut().zip(bytes).for_each(|(to, from)| *to |= from);
            }
            let to = (MERGED + number as u32 * PAGE) as usize;
            if let Some(place) = self.bytes.get_mut(to..to + PAGE as usize) {
                place.copy_from_slice(&page);
            }
        }
        self.stale = 0;
    }

    /// What a reader sees.
    pub fn view(&self, space: Space) -> View<'_> {
        View { bytes: &self.bytes, pages: &self.views[space as usize] }
    }

    /// Whether a bank, 0 to 8, is with the LCD controller.
    pub fn is_lcdc(&self, bank: usize) -> bool {
        bank < BANKS.len() && self.lcdc & 1 << bank != 0
    }

    /// The bytes of a bank, 0 to 8.
    pub fn bank(&self, bank: usize) -> &[u8] {
        let [start, end] = BANKS.get(bank).copied().unwrap_or_default();
        self.bytes.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The bytes of a bank, 0 to 8, to be written.
    pub fn bank_mut(&mut self, bank: usize) -> &mut [u8] {
        let [start, end] = BANKS.get(bank).copied().unwrap_or_default();
        self.touch(start);
        self.bytes.get_mut(start as usize..end as usize).unwrap_or_default()
    }

    /// Notes that a bank was written.
    fn touch(&mut self, place: u32) {
        let bank = 1 << bank_of(place);
        self.stale |= bank;
        self.textures_stale |= bank;
    }

    /// The places that an address of the processor's means, by its page: those of all banks mapped there.
    fn page_sources(&self, space: Space, address: u32) -> ([u32; 9], usize) {
        let page = self.views[space as usize][(address / PAGE) as usize % VIEW_PAGES];
        let mut out = ([0; 9], 0);
        let mut add = |source: u32| {
            if let Some(place) = out.0.get_mut(out.1) {
                *place = source;
                out.1 += 1;
            }
        };
        if page < UNMAPPED {
            add(page);
        } else if let Some(merged) =
            page.checked_sub(MERGED).and_then(|at| self.merged.get((at / PAGE) as usize))
        {
            debug_assert!(merged.space == space && merged.page < VIEW_PAGES as u32);
            merged.sources.iter().for_each(|&source| add(source));
        }
        out
    }

    /// Where the ARM9's address lies in one or several banks.
    fn sources(&self, address: u32) -> ([u32; 9], usize) {
        let space = match address >> 21 & 7 {
            0 => Space::BackgroundA,
            1 => Space::BackgroundB,
            2 => Space::ObjA,
            3 => Space::ObjB,
            _ => {
                let place = address & 0xf_ffff;
                let is_mapped = place < UNMAPPED && self.is_lcdc(bank_of(place));
                return ([place & !(PAGE - 1), 0, 0, 0, 0, 0, 0, 0, 0], usize::from(is_mapped));
            }
        };
        self.page_sources(space, address)
    }

    fn read_sources<const N: usize>(&self, (sources, count): ([u32; 9], usize), address: u32) -> [u8; N] {
        let mut out = [0; N];
        for source in sources.iter().take(count) {
            let at = (source + address % PAGE) as usize & !(N - 1);
            let bytes = self.bytes.get(at..at + N).unwrap_or_default();
            out.iter_mut().zip(bytes).for_each(|(out, byte)| *out |= byte);
        }
        out
    }

    fn write_sources(&mut self, (sources, count): ([u32; 9], usize), address: u32, bytes: &[u8]) {
        for source in sources.into_iter().take(count) {
            let at = (source + address % PAGE) as usize & !(bytes.len() - 1);
            if let Some(place) = self.bytes.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
            self.touch(source);
        }
    }

    /// What the ARM9 reads at an address from 0x06000000 on: 0 where nothing is mapped. `N` is 1, 2 or 4.
    pub fn read<const N: usize>(&self, address: u32) -> [u8; N] {
        self.read_sources(self.sources(address), address)
    }

    /// What the ARM9 writes at an address from 0x06000000 on: 2 or 4 bytes. The bus drops writes of one byte.
    pub fn write<const N: usize>(&mut self, address: u32, bytes: [u8; N]) {
        if N > 1 {
            self.write_sources(self.sources(address), address, &bytes);
        }
    }

    /// What the ARM7 reads at an address from 0x06000000 on.
    pub fn read_arm7<const N: usize>(&self, address: u32) -> [u8; N] {
        self.read_sources(self.page_sources(Space::Arm7, address), address)
    }

    /// What the ARM7 writes at an address from 0x06000000 on: 1, 2 or 4 bytes.
    pub fn write_arm7<const N: usize>(&mut self, address: u32, bytes: [u8; N]) {
        self.write_sources(self.page_sources(Space::Arm7, address), address, &bytes);
    }

    /// VRAMSTAT, 0x04000240 of the ARM7: whether banks C and D are its own.
    pub fn arm7_status(&self) -> u8 {
        let is_arm7 = |bank: usize| self.control[bank] & 0x87 == 0x82;
        u8::from(is_arm7(2)) | u8::from(is_arm7(3)) << 1
    }

    /// Takes texture memory over as it is mapped now. Pages that are as before are left alone.
    pub fn take_textures(&mut self, memory: &mut TextureMemory) {
        self.refresh();
        for (number, space) in [Space::Textures, Space::TexturePalettes].into_iter().enumerate() {
            for page in 0..space.pages() as u32 {
                let (sources, count) = self.page_sources(space, page * PAGE);
                let is_stale =
                    sources.iter().take(count).any(|&source| self.textures_stale & 1 << bank_of(source) != 0);
                let at = self.views[space as usize][page as usize];
                let taken = &mut self.textures_taken[number][page as usize];
                // A page of overlapping banks may be of others than before.
                if !is_stale && *taken == at && at <= UNMAPPED {
                    continue;
                }
                *taken = at;
                let bytes = self.bytes.get(at as usize..(at + PAGE) as usize).unwrap_or_default();
                match space {
                    Space::Textures => memory.write_textures(page * PAGE, bytes),
                    _ => memory.write_palettes(page * PAGE, bytes),
                }
            }
        }
        self.textures_stale = 0;
    }
}

impl Stated for Vram {
    fn state(&mut self, io: &mut Io) -> Result<(), StateError> {
        io.bytes(self.bytes.get_mut(..BANK_BYTES).unwrap_or_default())?;
        self.control.state(io)?;
        if io.is_loading() {
            self.map();
            // Nothing of what is mapped is known to have been taken over.
            (self.textures_stale, self.textures_taken) = (!0, [[!0; VIEW_PAGES]; 2]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_banks_are_ored_and_written_together() {
        let mut vram = Vram::default();
        vram.set_control(0, 0x81);
        vram.set_control(1, 0x81);
        vram.bank_mut(0)[4] = 1;
        vram.bank_mut(1)[4] = 2;
        assert_eq!(vram.read(0x0600_0004), [3]);
        vram.refresh();
        assert_eq!(vram.view(Space::BackgroundA).byte(4), 3);
        vram.write(0x0608_0004, [7, 8]);
        assert_eq!((&vram.bank(0)[4..6], &vram.bank(1)[4..6]), (&[7, 8][..], &[7, 8][..]));
        vram.refresh();
        assert_eq!(vram.view(Space::BackgroundA).half(4), 0x807);
    }

    #[test]
    fn small_banks_repeat() {
        let mut vram = Vram::default();
        vram.set_control(5, 0x81 | 3 << 3);
        vram.set_control(8, 0x82);
        vram.bank_mut(5)[0] = 9;
        vram.bank_mut(8)[1] = 5;
        let background = vram.view(Space::BackgroundA);
        assert_eq!([0x14000, 0x1c000, 0x10000].map(|at| background.byte(at)), [9, 9, 0]);
        assert!((0..8).all(|page| vram.view(Space::ObjB).byte(page * PAGE + 1) == 5));
        // With the LCD controller, and at its address only.
        vram.set_control(5, 0x80);
        assert_eq!((vram.read(0x0689_0000), vram.read(0x0601_4000)), ([9], [0]));
    }

    #[test]
    fn every_mapping_has_its_pages() {
        for seed in 0..2000u32 {
            let mut vram = Vram::default();
            let mut bits = seed.wrapping_mul(0x9e37_79b9);
            for bank in 0..9 {
                bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                vram.set_control(bank, (bits >> 24) as u8 | 0x80);
            }
            assert!(MERGED as usize + vram.merged.len() * PAGE as usize <= BYTES);
        }
    }

    #[test]
    fn textures_are_taken_over_where_they_changed() {
        let (mut vram, mut memory) = (Vram::default(), TextureMemory::default());
        vram.set_control(0, 0x83);
        vram.bank_mut(0)[0] = 1;
        vram.take_textures(&mut memory);
        assert_eq!(memory.byte(0), 1);
        vram.set_control(0, 0x8b);
        vram.take_textures(&mut memory);
        assert_eq!((memory.byte(0), memory.byte(0x20000)), (0, 1));
    }
}
