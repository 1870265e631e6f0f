//! Uniforms and vertices, from JSON and from flags.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};
use xenoglot_pica_shader::container::{ConstantValue, Dvle, RegisterFile};
use xenoglot_pica_shader::float::F24;
use xenoglot_pica_shader::lift::layout::uniform_buffer;

/// What a program is run with.
pub struct Inputs {
    /// Uniforms of all vertices.
    pub uniforms: Registers,
    /// Vertices in order.
    pub vertices: Vec<Vertex>,
}

/// The uniform registers, floats as bits.
pub struct Registers {
    floats: [[u32; 4]; 96],
    ints: [[u8; 4]; 4],
    bools: u16,
}

/// v0 to v15 as bits of floats.
#[derive(Clone, Copy, Default)]
pub struct Vertex([[u32; 4]; 16]);

/// The file of `--inputs`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    uniforms: Map<String, Value>,
    #[serde(default)]
    vertices: Vec<Map<String, Value>>,
}

impl Vertex {
    /// As the input buffer has it.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.iter().flatten().flat_map(|w| w.to_le_bytes()).collect()
    }
}

impl Registers {
    /// Zeros, and the constants of the executable.
    pub fn with_constants(dvle: &Dvle) -> Registers {
        let mut registers = Registers { floats: [[0; 4]; 96], ints: [[0; 4]; 4], bools: 0 };
        for constant in &dvle.constants {
            let n = usize::from(constant.register);
            match constant.value {
                ConstantValue::Bool(b) => registers.set_bool(n, b),
                ConstantValue::Int(v) => registers.ints.get_mut(n).into_iter().for_each(|r| *r = v),
                ConstantValue::Float(v) => {
                    let bits = v.map(|raw| F24.to_single_bits(raw));
                    registers.floats.get_mut(n).into_iter().for_each(|r| *r = bits);
                }
            }
        }
        registers
    }

    fn set_bool(&mut self, n: usize, value: bool) {
        let bit = 1u16.checked_shl(n as u32).unwrap_or(0);
        self.bools = if value { self.bools | bit } else { self.bools & !bit };
    }

    /// As the uniform buffer has it.
    pub fn bytes(&self) -> Vec<u8> {
        let floats = self.floats.iter().flatten().copied();
        uniform_buffer(floats, self.ints.iter().flatten().copied(), self.bools).to_vec()
    }
}

impl Inputs {
    /// A triangle, identity matrices, light from above: something to see a shader run with.
    pub fn sample(dvle: &Dvle) -> Inputs {
        let one = 1f32.to_bits();
        let mut uniforms = Registers::with_constants(dvle);
        for u in &dvle.uniforms {
            for k in 0..u.count {
                let n = usize::from(u.first) + usize::from(k);
                let mut unit = [0; 4];
                match u.file {
                    RegisterFile::Input => {}
                    RegisterFile::Bool => uniforms.set_bool(n, true),
                    RegisterFile::Int => uniforms.ints.get_mut(n).into_iter().for_each(|r| *r = [1, 0, 1, 0]),
                    RegisterFile::Float => {
                        unit[usize::from(k % 4)] = one;
                        uniforms.floats.get_mut(n).into_iter().for_each(|r| *r = unit);
                    }
                }
            }
        }
        let corner = |x: f32, y: f32| {
            let attribute = |n: u8| [x + f32::from(n) / 8.0, y, f32::from(n) / 4.0, 1.0].map(f32::to_bits);
            Vertex(std::array::from_fn(|n| attribute(n as u8)))
        };
        Inputs { uniforms, vertices: vec![corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0)] }
    }

    /// Adds what a JSON file says.
    pub fn add_json(&mut self, bytes: &[u8], dvle: &Dvle) -> Result<()> {
        let document: Document = serde_json::from_slice(bytes)?;
        for (name, value) in &document.uniforms {
            self.set_uniform(name, value, dvle).with_context(|| format!("uniform {name:?}"))?;
        }
        for (n, map) in document.vertices.iter().enumerate() {
            let mut vertex = Vertex::default();
            for (name, value) in map {
                set_input(&mut vertex, name, value, dvle)
                    .with_context(|| format!("vertex {n}, input {name:?}"))?;
            }
            self.vertices.push(vertex);
        }
        Ok(())
    }

    /// Adds a uniform from `name=values`.
    pub fn add_uniform_flag(&mut self, text: &str, dvle: &Dvle) -> Result<()> {
        let (name, value) = flag(text)?;
        self.set_uniform(name, &value, dvle)
    }

    /// Adds an input of the first vertex from `name=values`.
    pub fn add_input_flag(&mut self, text: &str, dvle: &Dvle) -> Result<()> {
        let (name, value) = flag(text)?;
        if self.vertices.is_empty() {
            self.vertices.push(Vertex::default());
        }
        match self.vertices.first_mut() {
            Some(vertex) => set_input(vertex, name, &value, dvle),
            None => Ok(()),
        }
    }

    fn set_uniform(&mut self, name: &str, value: &Value, dvle: &Dvle) -> Result<()> {
        let (file, first, count) = locate(name, dvle)?;
        let targets = first..first + count;
        match file {
            RegisterFile::Input => bail!("an input is no uniform: it belongs to a vertex"),
            RegisterFile::Float => {
                for (n, v) in targets.zip(rows(value, count)?) {
                    let bits = components(&v, [0; 4])?;
                    self.uniforms.floats.get_mut(n).into_iter().for_each(|r| *r = bits);
                }
            }
            RegisterFile::Int => {
                for (n, v) in targets.zip(rows(value, count)?) {
                    let ints = bytes(&v)?;
                    self.uniforms.ints.get_mut(n).into_iter().for_each(|r| *r = ints);
                }
            }
            RegisterFile::Bool => {
                let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
                if list.len() > count {
                    bail!("{} values for {count} registers", list.len());
                }
                for (n, v) in targets.zip(list) {
                    self.uniforms.set_bool(n, boolean(v)?);
                }
            }
        }
        Ok(())
    }
}

fn set_input(vertex: &mut Vertex, name: &str, value: &Value, dvle: &Dvle) -> Result<()> {
    let (file, first, count) = locate(name, dvle)?;
    if file != RegisterFile::Input {
        bail!("a uniform is no input: it belongs to all vertices");
    }
    for (n, v) in (first..first + count).zip(rows(value, count)?) {
        let bits = components(&v, [0, 0, 0, 1f32.to_bits()])?;
        vertex.0.get_mut(n).into_iter().for_each(|r| *r = bits);
    }
    Ok(())
}

/// `name=a,b,c` as a name and an array.
fn flag(text: &str) -> Result<(&str, Value)> {
    let (name, values) = text.split_once('=').context("expected NAME=VALUES")?;
    let value = |word: &str| match serde_json::from_str(word.trim()) {
        Ok(value) => value,
        Err(_) => Value::String(word.trim().to_owned()),
    };
    Ok((name.trim(), values.split(',').map(value).collect()))
}

/// The file, first register and number of registers that a name stands for.
fn locate(name: &str, dvle: &Dvle) -> Result<(RegisterFile, usize, usize)> {
    let (base, index) = match name.strip_suffix(']').and_then(|n| n.split_once('[')) {
        Some((base, index)) => (base, Some(index.parse::<usize>().context("bad index")?)),
        None => (name, None),
    };
    let named = dvle.uniforms.iter().find(|u| u.name == base);
    let (file, first, count) = match named {
        Some(u) => (u.file, usize::from(u.first), usize::from(u.count)),
        None => register(base).with_context(|| format!("there is no register or uniform {base:?}"))?,
    };
    match index {
        None => Ok((file, first, count)),
        Some(i) if named.is_none() || i < count => Ok((file, first + i, 1)),
        Some(i) => bail!("index {i}, but {base} has {count} registers"),
    }
}

/// `c7` as a file, a number and how many registers follow in the file, itself included: values may go on there.
fn register(name: &str) -> Option<(RegisterFile, usize, usize)> {
    let (letter, digits) = name.split_at_checked(1)?;
    let n: usize = digits.parse().ok()?;
    let (file, size) = match letter {
        "v" => (RegisterFile::Input, 16),
        "c" => (RegisterFile::Float, 96),
        "i" => (RegisterFile::Int, 4),
        "b" => (RegisterFile::Bool, 16),
        _ => return None,
    };
    (n < size).then(|| (file, n, size - n))
}

/// The values of each register: one to four of each.
fn rows(value: &Value, count: usize) -> Result<Vec<Vec<Value>>> {
    let list = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let rows: Vec<Vec<Value>> = if list.iter().all(Value::is_array) {
        list.iter().filter_map(|row| row.as_array().cloned()).collect()
    } else {
        list.chunks(4).map(<[Value]>::to_vec).collect()
    };
    if rows.len() > count {
        bail!("values for {} registers, but there are {count}", rows.len());
    }
    if rows.iter().any(|row| row.is_empty() || row.len() > 4) {
        bail!("one to four values make a register");
    }
    Ok(rows)
}

/// Bits of floats; `missing` where there are no more.
fn components(row: &[Value], missing: [u32; 4]) -> Result<[u32; 4]> {
    let mut out = missing;
    for (slot, value) in out.iter_mut().zip(row) {
        *slot = match value {
            Value::Number(n) => (n.as_f64().context("not a number")? as f32).to_bits(),
            Value::String(text) => match text.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).with_context(|| format!("{text:?}"))?,
                None => text.parse::<f32>().with_context(|| format!("{text:?}"))?.to_bits(),
            },
            other => bail!("{other} is not a number"),
        };
    }
    Ok(out)
}

/// Four integers of 8 bits, 0 where there are no more.
fn bytes(row: &[Value]) -> Result<[u8; 4]> {
    let mut out = [0; 4];
    for (slot, value) in out.iter_mut().zip(row) {
        let n = value.as_u64().and_then(|n| u8::try_from(n).ok());
        *slot = n.with_context(|| format!("{value} is not an integer from 0 to 255"))?;
    }
    Ok(out)
}

fn boolean(value: &Value) -> Result<bool> {
    match value {
        Value::Bool(b) => Ok(*b),
        Value::Number(n) if n.as_u64() == Some(0) => Ok(false),
        Value::Number(n) if n.as_u64() == Some(1) => Ok(true),
        other => bail!("{other} is neither true nor false"),
    }
}
