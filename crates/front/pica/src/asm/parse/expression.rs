//! Constant expressions of floats: sums, differences, products and quotients, with parentheses.
//!
//! Open parentheses and pending operators are on a stack on the heap, so that deep nesting cannot overflow the call stack.

use super::{Parser, Result};
use crate::asm::Reason;
use crate::asm::ast::FloatValue;
use crate::asm::lex::Kind;

/// An operator that waits for its last operand, or an open parenthesis.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pending {
    Open,
    Add,
    Subtract,
    Multiply,
    Divide,
    Negate,
}

impl Pending {
    /// Precedence: operators that bind tighter are applied first, equally tight ones from left to right.
    fn tightness(self) -> u8 {
        match self {
            Pending::Open => 0,
            Pending::Add | Pending::Subtract => 1,
            Pending::Multiply | Pending::Divide => 2,
            Pending::Negate => 3,
        }
    }

    /// Applies the operator to the operands on top of the stack.
    fn apply(self, values: &mut Vec<f64>) {
        let Some(b) = values.pop() else { return };
        let value = if self == Pending::Negate {
            -b
        } else {
            let Some(a) = values.pop() else { return };
            match self {
                Pending::Add => a + b,
                Pending::Subtract => a - b,
                Pending::Multiply => a * b,
                _ => a / b,
            }
        };
        values.push(value);
    }
}

/// Applies the pending operators, newest first, down to the first that binds less tightly.
fn settle(pending: &mut Vec<Pending>, values: &mut Vec<f64>, tightness: u8) {
    while let Some(&top) = pending.last()
        && top.tightness() >= tightness
    {
        pending.pop();
        top.apply(values);
    }
}

impl Parser<'_> {
    /// A float: an expression of numbers, `inf` and `nan`, computed in double precision, or `raw(bits)`.
    pub(super) fn float(&mut self) -> Result<FloatValue> {
        if *self.peek() == Kind::Ident("raw") {
            self.next += 1;
            self.want('(', "'('")?;
            let bits = self.integer_in("raw float", 0, 0x00ff_ffff)?;
            self.want(')', "')'")?;
            return Ok(FloatValue::Raw(bits as u32));
        }
        // A single number is parsed in single precision: by way of a double it could be rounded twice.
        if let (Some(value), true) = (self.number_at(0)?, self.ends_at(1)) {
            self.next += 1;
            return Ok(FloatValue::Value(value.1));
        }
        if let (true, Some(value), true) = (self.is_punct('-'), self.number_at(1)?, self.ends_at(2)) {
            self.next += 2;
            return Ok(FloatValue::Value(-value.1));
        }
        self.expression().map(|value| FloatValue::Value(value as f32))
    }

    /// Whether the token `ahead` of the next one ends a component.
    fn ends_at(&self, ahead: usize) -> bool {
        matches!(self.peek_at(ahead), Kind::Punct(',' | ')') | Kind::End)
    }

    /// The number at the token `ahead` of the next one, in double and in single precision; nothing for other tokens.
    fn number_at(&self, ahead: usize) -> Result<Option<(f64, f32)>> {
        let malformed = |text: &str| (self.at(), Reason::Number(text.to_owned()));
        Ok(match self.peek_at(ahead) {
            Kind::Ident("inf") => Some((f64::INFINITY, f32::INFINITY)),
            Kind::Ident("nan") => Some((f64::NAN, f32::NAN)),
            Kind::Number(text) => {
                let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
                Some(match hex {
                    Some(hex) => {
                        let value = u32::from_str_radix(hex, 16).map_err(|_| malformed(text))?;
                        (value.into(), value as f32)
                    }
                    None => {
                        let value = text.parse().map_err(|_| malformed(text))?;
                        (value, text.parse().map_err(|_| malformed(text))?)
                    }
                })
            }
            _ => None,
        })
    }

    fn expression(&mut self) -> Result<f64> {
        let (mut pending, mut values) = (Vec::new(), Vec::new());
        // Parentheses among what is pending.
        let mut open = 0u32;
        loop {
            // An operand, behind any signs and opening parentheses.
            if self.take('(') {
                pending.push(Pending::Open);
                open += 1;
                continue;
            }
            if self.take('-') {
                pending.push(Pending::Negate);
                continue;
            }
            let Some((value, _)) = self.number_at(0)? else { return self.expected("a number") };
            self.next += 1;
            values.push(value);
            // Closing parentheses, then the operator before the next operand.
            while open != 0 && self.take(')') {
                settle(&mut pending, &mut values, Pending::Add.tightness());
                pending.pop();
                open -= 1;
            }
            let between = match self.peek() {
                Kind::Punct('+') => Pending::Add,
                Kind::Punct('-') => Pending::Subtract,
                Kind::Punct('*') => Pending::Multiply,
                Kind::Punct('/') => Pending::Divide,
                _ => break,
            };
            self.next += 1;
            settle(&mut pending, &mut values, between.tightness());
            pending.push(between);
        }
        settle(&mut pending, &mut values, Pending::Add.tightness());
        if !pending.is_empty() {
            return self.expected("')'");
        }
        Ok(values.pop().unwrap_or(f64::NAN))
    }
}
