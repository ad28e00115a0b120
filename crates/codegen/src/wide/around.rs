//! The arithmetic around loops: addresses, sizes and where loops end, in general registers.

use tracewell_array::DType;
use tracewell_kernel::Size;

use super::ahead::{FAR, walk};
use super::body::{Body, Number, Stream};
use super::encode::{General, Jump, Place, RAX, RDX, When};
use super::leaf::POINTERS;
use super::nest::{Iterated, Nest};
use super::registers::BLOCK;

impl Nest<'_> {
    /// Brings the pointers of a loop to their registers, and its numbers to the frame; returns where.
    pub(crate) fn hand_over(&mut self, body: &Body<'_>) -> Option<Vec<i32>> {
        let slots = body.numbers.iter().map(|number| self.number(*number, Some(body)));
        let slots = slots.collect::<Option<Vec<i32>>>()?;
        for (stream, &register) in body.streams.iter().zip(&POINTERS) {
            self.address(register, stream, Some(body))?;
        }
        Some(slots)
    }

    /// Where in the frame a number is.
    pub(crate) fn number(&mut self, number: Number, body: Option<&Body<'_>>) -> Option<i32> {
        match (number, body) {
            (Number::Value(value), _) => self.frame.known(value),
            (Number::IsFar, Some(body)) => Some(self.frame.number(number, walk(self.kernel, body))),
            (Number::Size(size) | Number::Last(_, size), _) => Some(self.frame.number(number, vec![size])),
            (Number::IsFar, None) => None,
        }
    }

    /// Brings the numbers that depend on nothing but sizes to the frame.
    pub(crate) fn prepare(&mut self) -> Option<()> {
        for (number, sizes, at) in self.frame.numbers() {
            self.asm.load_const(RAX, 1);
            for size in sizes {
                self.size(RDX, size)?;
                self.asm.multiply(RAX, Place::Register(RDX));
            }
            match number {
                // Above 0 where it holds.
                Number::IsFar => self.asm.subtract_const(RAX, (FAR - 1) as i32),
                Number::Last(dtype, _) => {
                    self.asm.subtract_const(RAX, 1);
                    let is_index = self.asm.jump(Some(When::NotLess));
                    self.asm.load_const(RAX, 0);
                    self.asm.land(is_index);
                    if dtype != DType::I64 {
                        self.asm.compare_const(RAX, i32::MAX);
                        let fits = self.asm.jump(Some(When::NotGreater));
                        self.asm.load_const(RAX, i32::MAX);
                        self.asm.land(fits);
                    }
                }
                Number::Size(_) | Number::Value(_) => {}
            }
            self.asm.store(RAX, Place::Memory(BLOCK, None, at));
        }
        Some(())
    }

    /// Where a pointer points to, the variable of an innermost loop being 0.
    pub(crate) fn address(&mut self, to: General, stream: &Stream, body: Option<&Body<'_>>) -> Option<()> {
        let buffer = stream.buffer;
        let size = self.kernel.buffer_dtype(buffer).size() as i64;
        match self.frame.local(buffer) {
            Some(local) => {
                self.asm.load(to, Place::Register(BLOCK));
                self.asm.add_const(to, local);
            }
            None => {
                self.asm.load(to, self.frame.buffers());
                self.asm.load(to, Place::Memory(to, None, 8 * buffer.0 as i32));
            }
        }
        let mut bytes = 0i64;
        match stream.index.offset {
            Size::Const(n) => debug_assert_eq!(n, 0, "a number is part of each access"),
            offset @ Size::Param(_) => {
                self.size(RAX, offset)?;
                self.asm.multiply_const(RAX, RAX, size as i32);
                self.asm.add(to, RAX);
            }
        }
        for &(value, scale) in &stream.index.terms {
            let mut parts = Vec::new();
            match body {
                Some(body) => body.parts_at_0(value, false, &mut parts),
                None => parts.push((value, false)),
            }
            for (value, is_negative) in parts {
                match (self.constants.get(&value), scale) {
                    (Some(&bits), Size::Const(scale)) => {
                        let part = (bits as i64).checked_mul(scale)?.checked_mul(size)?;
                        bytes = bytes.checked_add(if is_negative { -part } else { part })?;
                        continue;
                    }
                    (Some(&bits), _) => self.asm.load_const(RAX, i32::try_from(bits as i64).ok()?),
                    (None, _) => self.asm.load(RAX, Place::Memory(BLOCK, None, self.frame.known(value)?)),
                }
                match scale {
                    Size::Const(scale) => {
                        let scale = i32::try_from(scale.checked_mul(size)?).ok()?;
                        self.asm.multiply_const(RAX, RAX, scale);
                    }
                    Size::Param(_) => {
                        self.size(RDX, scale)?;
                        self.asm.multiply(RAX, Place::Register(RDX));
                        self.asm.multiply_const(RAX, RAX, size as i32);
                    }
                }
                if is_negative { self.asm.subtract(to, RAX) } else { self.asm.add(to, RAX) }
            }
        }
        if bytes != 0 {
            self.asm.add_const(to, i32::try_from(bytes).ok()?);
        }
        Some(())
    }

    /// Loads a size.
    pub(crate) fn size(&mut self, to: General, size: Size) -> Option<()> {
        match size {
            Size::Const(n) => self.asm.load_const(to, i32::try_from(n).ok()?),
            Size::Param(id) => {
                self.asm.load(to, self.frame.sizes());
                self.asm.load(to, Place::Memory(to, None, 8 * id.0 as i32));
            }
        }
        Some(())
    }

    /// Jumps where there are no iterations, if that may be.
    pub(crate) fn unless_any(&mut self, iterated: Iterated) -> Option<Option<Jump>> {
        match iterated {
            Iterated::All(Size::Const(n)) if n > 0 => return Some(None),
            Iterated::All(_) => self.asm.load_const(RAX, 0),
            Iterated::Given(_) => self.asm.load(RAX, self.frame.start()),
        }
        self.compare_with_end(iterated)?;
        Some(Some(self.asm.jump(Some(When::NotLess))))
    }

    /// Compares a counter with where its loop ends.
    pub(crate) fn compare_with_end(&mut self, iterated: Iterated) -> Option<()> {
        match iterated {
            Iterated::Given(_) => self.asm.compare(RAX, self.frame.end()),
            Iterated::All(Size::Const(n)) => self.asm.compare_const(RAX, i32::try_from(n).ok()?),
            Iterated::All(size) => {
                self.size(RDX, size)?;
                self.asm.compare(RAX, Place::Register(RDX));
            }
        }
        Some(())
    }
}
