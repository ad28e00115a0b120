//! The arithmetic around loops: addresses, sizes and where loops end, in general registers.

use tracewell_array::DType;
use tracewell_kernel::Size;

use super::ahead::{FAR, walk};
use super::body::{Body, Number, Stream};
use super::encode::{General, Jump, Place, RAX, RDX, When};
use super::leaf::POINTERS;
use super::moving::Origin;
use super::nest::{Handed, Iterated, Nest};
use super::registers::BLOCK;

impl Nest<'_> {
    /// Brings pointers to registers and numbers to the frame; returns where. A body is that of an innermost loop.
    pub(crate) fn hand_over(
        &mut self,
        numbers: &[Number],
        streams: &[Stream],
        body: Option<&Body<'_>>,
    ) -> Option<Handed> {
        let slots = numbers.iter().map(|number| self.number(*number, body));
        let slots = slots.collect::<Option<Vec<i32>>>()?;
        let mut pointers = Vec::with_capacity(streams.len());
        for (stream, &place) in streams.iter().zip(&POINTERS) {
            let origin = Origin::new(stream, body);
            let (register, is_there) = match &mut self.moving {
                Some(moving) => moving.register(&origin, &self.constants)?,
                None => (place, false),
            };
            if !is_there {
                self.address(register, &origin)?;
            }
            pointers.push(register);
        }
        Some(Handed { slots, pointers })
    }

    /// Where in the frame a number is.
    pub(crate) fn number(&mut self, number: Number, body: Option<&Body<'_>>) -> Option<i32> {
        match (number, body) {
            (Number::Value(value), _) => self.home_at(value),
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

    /// Adds up an address.
    pub(crate) fn address(&mut self, to: General, origin: &Origin) -> Option<()> {
        let buffer = origin.buffer;
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
        match origin.offset {
            Size::Const(n) => debug_assert_eq!(n, 0, "a number is part of each access"),
            offset @ Size::Param(_) => {
                self.size(RAX, offset)?;
                self.asm.multiply_const(RAX, RAX, size as i32);
                self.asm.add(to, RAX);
            }
        }
        for &(value, scale, is_negative) in &origin.parts {
            match (self.constants.get(&value), scale) {
                (Some(&bits), Size::Const(scale)) => {
                    let part = (bits as i64).checked_mul(scale)?.checked_mul(size)?;
                    bytes = bytes.checked_add(if is_negative { -part } else { part })?;
                    continue;
                }
                (Some(&bits), _) => self.asm.load_const(RAX, i32::try_from(bits as i64).ok()?),
                (None, _) => {
                    let home = self.home_of(value)?;
                    self.asm.load(RAX, home);
                }
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
        self.compare_with_end(RAX, iterated)?;
        Some(Some(self.asm.jump(Some(When::NotLess))))
    }

    /// Compares a counter with where its loop ends.
    pub(crate) fn compare_with_end(&mut self, counter: General, iterated: Iterated) -> Option<()> {
        match iterated {
            Iterated::Given(_) => self.asm.compare(counter, self.frame.end()),
            Iterated::All(Size::Const(n)) => self.asm.compare_const(counter, i32::try_from(n).ok()?),
            Iterated::All(size) => {
                self.size(RDX, size)?;
                self.asm.compare(counter, Place::Register(RDX));
            }
        }
        Some(())
    }
}
