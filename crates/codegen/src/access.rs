//! From an index of a kernel to addresses.
//!
//! An index is a sum. Terms that are the same in every lane make one address, outer loop variables first, so
//! that what does not change in the inner loop is one value that Cranelift keeps outside of it; what differs
//! between lanes decides the kind of access.

use cranelift_codegen::ir::{InstBuilder as _, Value, types};
use smallvec::SmallVec;
use tracewell_array::DType;
use tracewell_kernel::{BufferId, Index, Size};

use crate::emit::{memory, scalar_type};
use crate::lanes::LANES;
use crate::lower::Lower;
use crate::vector::Bound;

/// Where the lanes of one access are. The offset, in bytes, is part of every address.
enum Place {
    /// All lanes at one address.
    Same(Value, i32),
    /// Neighbours, from this address on.
    Next(Value, i32),
    /// This many bytes apart.
    Apart(Value, i32, i64),
    /// Anywhere.
    Anywhere([Value; LANES], i32),
}

impl Lower<'_, '_> {
    /// `buffer[index]`
    pub(crate) fn load(&mut self, buffer: BufferId, index: &Index) -> Bound {
        let dtype = self.kernel.buffer_dtype(buffer);
        let place = self.place(buffer, index, dtype);
        let emit = &mut self.emit;
        let ty = scalar_type(dtype);
        match place {
            Place::Same(address, offset) => Bound::One(emit.ins().load(ty, memory(), address, offset)),
            Place::Next(address, offset) => Bound::Lanes(emit.load_lanes(dtype, address, offset)),
            Place::Apart(..) | Place::Anywhere(..) => {
                let lanes = std::array::from_fn(|lane| {
                    let (address, offset) = self.address_of_lane(&place, lane);
                    self.emit.ins().load(ty, memory(), address, offset)
                });
                Bound::Lanes(self.emit.gather(dtype, lanes))
            }
        }
    }

    /// `buffer[index] = value`
    pub(crate) fn store(&mut self, buffer: BufferId, index: &Index, value: Bound) {
        let dtype = self.kernel.buffer_dtype(buffer);
        let place = self.place(buffer, index, dtype);
        match (&place, value) {
            (&Place::Same(address, offset), Bound::One(value)) => {
                self.emit.ins().store(memory(), value, address, offset);
            }
            // The last lane's is what would be left there.
            (&Place::Same(address, offset), _) => {
                let value = self.emit.lane(dtype, value, LANES - 1);
                self.emit.ins().store(memory(), value, address, offset);
            }
            (&Place::Next(address, offset), _) => {
                let lanes = self.emit.lanes(dtype, value);
                self.emit.store_lanes(dtype, lanes, address, offset);
            }
            (Place::Apart(..) | Place::Anywhere(..), _) => {
                for lane in 0..LANES {
                    let (address, offset) = self.address_of_lane(&place, lane);
                    let value = self.emit.lane(dtype, value, lane);
                    self.emit.ins().store(memory(), value, address, offset);
                }
            }
        }
    }

    /// The address of an element, outside of vector loops.
    pub(crate) fn element_address(&mut self, buffer: BufferId, index: &Index) -> Value {
        let dtype = self.kernel.buffer_dtype(buffer);
        match self.place(buffer, index, dtype) {
            Place::Same(address, offset) => self.emit.add_const(address, i64::from(offset)),
            _ => unreachable!("outside of vector loops there is one lane"),
        }
    }

    fn address_of_lane(&mut self, place: &Place, lane: usize) -> (Value, i32) {
        match *place {
            Place::Same(address, offset) | Place::Next(address, offset) => (address, offset),
            Place::Apart(address, offset, step) => {
                let step = step * lane as i64;
                match i32::try_from(i64::from(offset) + step) {
                    Ok(offset) => (address, offset),
                    Err(_) => (self.emit.add_const(address, step), offset),
                }
            }
            Place::Anywhere(addresses, offset) => (addresses[lane], offset),
        }
    }

    fn place(&mut self, buffer: BufferId, index: &Index, dtype: DType) -> Place {
        let bytes = dtype.size() as i64;
        let mut address = self.buffer_address(buffer);
        let mut offset = 0;
        match index.offset {
            Size::Const(n) => offset = n * bytes,
            Size::Param(_) => address = self.add_term(address, None, index.offset, bytes),
        }
        // Outer loop variables first; what differs between lanes is looked at afterwards.
        let mut terms: SmallVec<[_; 3]> = index.terms.clone();
        terms.sort_by_key(|&(value, _)| self.depth_of(value));
        let mut varying: SmallVec<[_; 2]> = SmallVec::new();
        let mut step = Some(0);
        let mut strides: SmallVec<[Size; 1]> = SmallVec::new();
        for (value, scale) in terms {
            match self.bound(value) {
                Bound::One(value) => address = self.add_term(address, Some(value), scale, bytes),
                Bound::Ramp(base, plus) => {
                    match scale {
                        Size::Const(n) => {
                            address = self.add_term(address, Some(base), scale, bytes);
                            offset += plus * n * bytes;
                            step = step.map(|step| step + n);
                        }
                        Size::Param(_) => {
                            let base = self.emit.add_const(base, plus);
                            address = self.add_term(address, Some(base), scale, bytes);
                            step = None;
                        }
                    }
                    strides.push(scale);
                }
                Bound::Lanes(lanes) => varying.push((lanes, scale)),
            }
        }
        let (address, offset) = match i32::try_from(offset) {
            // Room for the steps between lanes.
            Ok(offset) if offset.abs() < i32::MAX / 2 => (address, offset),
            _ => (self.emit.add_const(address, offset), 0),
        };
        match step {
            Some(0) if varying.is_empty() => return Place::Same(address, offset),
            Some(1) if varying.is_empty() => return Place::Next(address, offset),
            Some(n) if varying.is_empty() => return Place::Apart(address, offset, n * bytes),
            _ => {}
        }
        let addresses = std::array::from_fn(|lane| {
            let mut address = address;
            for &(lanes, scale) in &varying {
                let value = self.emit.extract(DType::I64, lanes, lane);
                address = self.add_term(address, Some(value), scale, bytes);
            }
            for &scale in strides.iter().filter(|_| lane > 0) {
                let number = self.emit.int(types::I64, lane as i64);
                address = self.add_term(address, Some(number), scale, bytes);
            }
            address
        });
        Place::Anywhere(addresses, offset)
    }

    /// `address + value × scale × bytes`; no value is 1.
    fn add_term(&mut self, address: Value, value: Option<Value>, scale: Size, bytes: i64) -> Value {
        let emit = &mut self.emit;
        let term = match (value, scale) {
            (_, Size::Const(0)) => return address,
            (Some(value), Size::Const(n)) => emit.mul_const(value, n * bytes),
            (None, Size::Const(n)) => emit.int(types::I64, n * bytes),
            (value, Size::Param(_)) => {
                let scale = emit.size(scale);
                let scale = emit.mul_const(scale, bytes);
                match value {
                    Some(value) => emit.ins().imul(value, scale),
                    None => scale,
                }
            }
        };
        emit.ins().iadd(address, term)
    }
}
