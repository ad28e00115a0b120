//! Reading programs: slots, kernels and steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use tracewell_array::{DType, Shape, Tensor};

use super::{Read, Reader, plain_number};
use crate::ir::Kernel;
use crate::program::{Program, Role, Slot, SlotId, Step};
use crate::text::lex::Token;

impl Reader<'_> {
    pub(super) fn program(&mut self) -> Read<Program> {
        self.expect("program")?;
        let name = self.name()?;
        self.expect("{")?;
        let mut slots = Vec::new();
        while let Token::Slot(_) = self.lexer.peek()? {
            let slot = self.slot(slots.len())?;
            slots.push(slot);
        }
        let arena = if self.accept("arena")? { self.number()? } else { 0 };
        let mut kernels = Vec::new();
        while self.lexer.peek()? == Token::Word("kernel") {
            kernels.push(Arc::new(self.kernel()?));
        }
        // The number of each kernel by its name; none where several have it.
        let mut by_name: BTreeMap<&str, Option<usize>> = BTreeMap::new();
        for (i, kernel) in kernels.iter().enumerate() {
            by_name.entry(&kernel.name).and_modify(|number| *number = None).or_insert(Some(i));
        }
        let mut steps = Vec::new();
        loop {
            if self.accept("launch")? {
                steps.push(self.launch(&kernels, &by_name)?);
            } else if self.accept("copy")? {
                let from = self.slot_id()?;
                self.expect("to")?;
                steps.push(Step::Copy { from, to: self.slot_id()? });
            } else if self.accept("call")? {
                let (call, slots) = self.call(Self::slot_id)?;
                steps.push(Step::Call { call, slots });
            } else if self.accept("return")? {
                let results = self.list_until("}", Self::slot_id)?;
                return Ok(Program { name, slots, kernels, steps, results, arena });
            } else {
                return self.expected("`launch`, `copy`, `call` or `return`");
            }
        }
    }

    fn slot_id(&mut self) -> Read<SlotId> {
        let at = self.lexer.start();
        let Token::Slot(name) = self.lexer.peek()? else { return self.expected("a slot such as `$0`") };
        self.lexer.next()?;
        match plain_number(Some(name)) {
            Some(number) => Ok(SlotId(number)),
            None => self.error(at, format!("`${name}` is not a slot such as `$0`")),
        }
    }

    /// `$0: f32[1000] = input 0`
    fn slot(&mut self, number: usize) -> Read<Slot> {
        let at = self.lexer.start();
        if self.slot_id()?.0 as usize != number {
            return self.error(at, format!("the next slot is `${number}`"));
        }
        self.expect(":")?;
        let dtype = self.dtype()?;
        self.expect("[")?;
        let len = self.number()?;
        self.expect("]")?;
        self.expect("=")?;
        let at = self.lexer.start();
        let role = match self.word("what the slot is for")? {
            "input" => Role::Input(self.number()?),
            "output" if self.accept("reuse")? => {
                self.expect("input")?;
                Role::Output { reuse: Some(self.number()?) }
            }
            "output" => Role::Output { reuse: None },
            "temp" => {
                self.expect("at")?;
                let offset = self.number()?;
                let of = if self.accept("of")? { Some(self.slot_id()?) } else { None };
                Role::Temp { of, offset }
            }
            "constant" => Role::Constant(self.tensor(dtype, len)?),
            other => {
                return self
                    .error(at, format!("a slot is `input`, `output`, `temp` or `constant`, not `{other}`"));
            }
        };
        Ok(Slot { dtype, len, role })
    }

    /// `[1.0, 2.0]`, or with a type and shape that are not those of the slot: `f32[1,2] [1.0, 2.0]`.
    fn tensor(&mut self, dtype: DType, len: usize) -> Read<Tensor> {
        let at = self.lexer.start();
        let (dtype, shape) = match self.optional_dtype()? {
            Some(dtype) => (dtype, self.shape()?),
            None => (dtype, Shape::from([len])),
        };
        self.expect("[")?;
        let literals = self.list_until("]", |r| r.literal(dtype))?;
        match Tensor::from_literals(dtype, shape, &literals) {
            Ok(tensor) => Ok(tensor),
            Err(error) => self.error(at, error.to_string()),
        }
    }

    /// `@name($0, $1) sizes 10 cost 1`
    fn launch(&mut self, kernels: &[Arc<Kernel>], by_name: &BTreeMap<&str, Option<usize>>) -> Read<Step> {
        let at = self.lexer.start();
        let name = self.name()?;
        let kernel = if self.accept("#")? {
            let number: usize = self.number()?;
            kernels.get(number).is_some_and(|kernel| kernel.name == name).then_some(number)
        } else if let Some(None) = by_name.get(name.as_str()) {
            return self.error(at, "several kernels have this name: write the number after `#`");
        } else {
            by_name.get(name.as_str()).copied().flatten()
        };
        let Some(kernel) = kernel else { return self.error(at, "there is no such kernel") };
        self.expect("(")?;
        let slots = self.list_until(")", Self::slot_id)?;
        let sizes = if self.accept("sizes")? { self.list(Self::signed)? } else { Vec::new() };
        let cost = if self.accept("cost")? { self.number()? } else { 0 };
        Ok(Step::Launch { kernel, slots, sizes, cost })
    }
}
