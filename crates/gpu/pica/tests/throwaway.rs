#![allow(missing_docs)]
use xenoglot_pica::memory::{Memory, Regions, VRAM, FCRAM};
use xenoglot_pica::raster::Renderer;
use xenoglot_pica::regs::Registers;
use xenoglot_pica::tables::Tables;
use xenoglot_pica::vertex::{Triangle, Vertex};

fn w(b: &[u8], i: usize) -> u32 { u32::from_le_bytes(b[4*i..4*i+4].try_into().unwrap()) }

struct M { regs: Registers, tables: Tables, mem: Regions, r: Renderer, draws: Vec<(usize, bool)>, tris: Vec<Triangle>, next: usize, multi: bool, bad: bool }
impl M {
    fn write(&mut self, reg: u32, v: u32, mask: u32, jump: &mut Option<(u32,u32)>) {
        if reg >= 0x300 { return; }
        let mut m = 0; for b in 0..4 { if mask>>b&1!=0 { m |= 0xff<<(8*b); } }
        let old = self.regs.get(reg);
        self.regs.set(reg, old & !m | v & m);
        match reg {
            0x1c8..=0x1cf => { let p = self.regs.get(0x1c5); let t=(p>>8&31) as usize; if t<24 { self.tables.lighting[t][(p&255) as usize]=v; } self.regs.set(0x1c5, p & !0xff | (p+1)&0xff); }
            0xe8..=0xef => { let p = self.regs.get(0xe6); self.tables.fog[(p&127) as usize]=v; self.regs.set(0xe6,p.wrapping_add(1)); }
            0xb0..=0xb7 => { let p = self.regs.get(0xaf); let i=(p&255) as usize; let t=&mut self.tables; match p>>8&15 {0=>t.noise[i&127]=v,2=>t.color_map[i&127]=v,3=>t.alpha_map[i&127]=v,4=>t.colors[i]=v,5=>t.color_differences[i]=v,_=>{}} self.regs.set(0xaf, p & !0xff | (p+1)&0xff); }
            0x22e | 0x22f => {
                let n = self.regs.get(0x228) as usize;
                let count = match self.regs.bits(0x25e,8,2) { 0|3 => n/3, _ => n.saturating_sub(2) };
                let gs = self.regs.bits(0x229,0,2)==2;
                let count = if !self.multi { self.tris.len() - self.next } else { if gs { self.bad = true; } count };
                let end = (self.next+count).min(self.tris.len());
                if self.next + count > self.tris.len() { self.bad = true; }
                let t = self.tris[self.next..end].to_vec(); self.next = end;
                self.r.draw(&self.regs, &self.tables, &mut self.mem, &t);
                self.draws.push((count, gs));
            }
            0x23c | 0x23d => { let c = reg-0x23c; *jump = Some((self.regs.get(0x23a+c)<<3, self.regs.get(0x238+c)<<3)); }
            _ => {}
        }
    }
    fn list(&mut self, addr: u32, bytes: u32, dry: bool) -> usize {
        let (mut a, mut end) = (addr, addr+bytes);
        let mut draws=0;
        let mut fuel = 1<<20;
        while a + 8 <= end && fuel > 0 {
            fuel -= 1;
            let g = |m: &M, a| w(m.mem.bytes(a,4).unwrap(),0);
            let p = g(self,a); let h = g(self,a+4);
            let n = h>>20&0xff; let mut jump=None;
            let base = a;
            a += 8 + 4*(n + (n&1));
            for i in 0..=n {
                let v = if i==0 {p} else { g(self, base+4+4*i) };
                let reg = (h&0xffff) + if h>>31!=0 {i} else {0};
                if dry { if reg==0x22e||reg==0x22f { draws+=1; } if (0x238..=0x23d).contains(&reg) { self.regs.set(reg, v); if reg>=0x23c { let c=reg-0x23c; jump=Some((self.regs.get(0x23a+c)<<3, self.regs.get(0x238+c)<<3)); } } }
                else { self.write(reg, v, h>>16&15, &mut jump); }
                if jump.is_some() { break; }
            }
            if let Some((ja,jb)) = jump { a=ja; end=ja+jb; }
        }
        draws
    }
}

#[test]
fn scenes() {
    let dir = std::env::var("PGPU").unwrap();
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).filter(|p| p.to_str().unwrap().ends_with(".zst") && p.to_str().unwrap().contains(&only)).collect();
    names.sort();
    let (mut ok, mut total) = (0,0);
    for p in names {
        let d = std::fs::read(&p).unwrap();
        let mut m = M { regs: Registers::default(), tables: Tables::default(), mem: Regions::console(8<<20), r: Renderer::new(), draws: vec![], tris: vec![], next: 0, multi: false, bad: false };
        let (mut ops, mut expm) = (vec![], vec![]);
        let mut i = 8;
        while i + 8 <= d.len() {
            let tag = &d[i..i+4]; let len = w(&d,0+ (i+4)/4*0).wrapping_mul(0) as usize + u32::from_le_bytes(d[i+4..i+8].try_into().unwrap()) as usize;
            let b = d[i+8..i+8+len].to_vec();
            match tag {
                b"REGS" => for k in 0..b.len()/8 { m.regs.set(w(&b,2*k), w(&b,2*k+1)); },
                b"MEM " | b"MEM\0" => { let a = w(&b,0); m.mem.bytes_mut(a, (len-4) as u32).unwrap().copy_from_slice(&b[4..]); }
                b"CMDL" | b"FILL" | b"DISP" | b"TCPY" => ops.push((tag.to_vec(), b)),
                b"EXPM" => expm.push(b),
                b"EXPT" => { let n = w(&b,0) as usize; for t in 0..n { m.tris.push(std::array::from_fn(|v| Vertex { values: std::array::from_fn(|k| f32::from_bits(w(&b, 1+t*72+v*24+k))) })); } }
                _ => {}
            }
            i += 8 + len;
        }
        let saved = m.regs.clone();
        let mut draws = 0;
        for (t,b) in &ops { if t==b"CMDL" { draws += m.list(w(b,0), w(b,1), true); } }
        m.regs = saved;
        m.multi = draws > 1;
        let mut transfer=false;
        for (t,b) in &ops { match &t[..] {
            b"CMDL" => { m.list(w(b,0), w(b,1), false); }
            b"FILL" => { let (mut a,e,v,c)=(w(b,0),w(b,1),w(b,2),w(b,3)); let n = if c>>8&1!=0 {3} else if c>>9&1!=0 {4} else {2};
                while a < e { let bytes=v.to_le_bytes(); if let Some(x)=m.mem.bytes_mut(a,n) { x.copy_from_slice(&bytes[..n as usize]); } a+=n; } }
            _ => { transfer = true; }
        } }
        let name = p.file_name().unwrap().to_str().unwrap().to_string();
        if m.tris.is_empty() { continue; }
        let immediate = draws == 0;
        total += 1;
        let mut fine = true; let mut msg = String::new();
        for e in &expm {
            let (a,k) = (w(e,0), w(e,1));
            if k & 0xff == 0x10 { continue; }
            let got = m.mem.bytes(a, (e.len()-8) as u32).unwrap();
            let diff = got.iter().zip(&e[8..]).filter(|(x,y)| x!=y).count();
            let first = got.iter().zip(&e[8..]).position(|(x,y)| x!=y);
            let maxd = got.iter().zip(&e[8..]).map(|(x,y)| x.abs_diff(*y)).max();
            if diff>0 { fine=false; msg += &format!(" kind {k:x} len {} diff {diff} first {first:?} max {maxd:?};", got.len()); }
        }
        if fine { ok+=1; } else { println!("{name}: draws {draws} tris {} used {} bad {} imm {immediate} tr {transfer}:{msg}", m.tris.len(), m.next, m.bad); }
    }
    println!("{ok}/{total}");
    let _ = (VRAM, FCRAM);
}
