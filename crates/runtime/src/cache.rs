//! One copy of machine code for all programs that contain the same kernel.
//!
//! Invariant: the cache holds weak references, so code lives exactly as long as an executable that uses it. The
//! lock is held for a look or an entry, never while something compiles: nobody waits for anybody's compile,
//! and two threads that compile the same kernel at the same time agree on one of the two results.

use std::hash::{Hash as _, Hasher as _};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHasher};
use tracewell_codegen::{Entry, Target, compile};
use tracewell_kernel::{Kernel, Library, LibraryCall, Region, Stmt};

use crate::code::CodeMemory;
use crate::error::BuildError;
use tracewell_library::pool;

/// Fewer kernels than this are compiled on the calling thread.
const PARALLEL: usize = 5;

/// A kernel and its machine code.
#[derive(Debug)]
pub struct CompiledKernel {
    kernel: Arc<Kernel>,
    code: CodeMemory,
    calls: Vec<LibraryCall>,
    divides_work: bool,
}

impl CompiledKernel {
    fn new(kernel: &Arc<Kernel>, target: &Target) -> Result<CompiledKernel, BuildError> {
        let code = compile(kernel, target)?;
        let code = CodeMemory::new(&code).map_err(BuildError::Memory)?;
        let mut calls = Vec::new();
        collect_calls(&kernel.body, &mut calls);
        // A user's function runs on the thread that called.
        let is_users = |call: &LibraryCall| matches!(call.library, Library::Custom(_));
        let divides_work = calls.iter().any(tracewell_library::divides) && !calls.iter().any(is_users);
        Ok(CompiledKernel { kernel: Arc::clone(kernel), code, calls, divides_work })
    }

    /// The kernel as it was first compiled: one with another name may share it.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The machine code.
    pub fn code(&self) -> &CodeMemory {
        &self.code
    }

    pub(crate) fn entry(&self) -> Entry {
        self.code.entry()
    }

    /// Whether a call inside divides its work between threads as it goes.
    pub(crate) fn divides_work(&self) -> bool {
        self.divides_work
    }

    /// The library calls inside the kernel, by their number.
    pub(crate) fn calls(&self) -> &[LibraryCall] {
        &self.calls
    }
}

/// The machine code of each kernel, compiled where nobody holds it yet.
pub fn compiled(kernels: &[Arc<Kernel>]) -> Result<Vec<Arc<CompiledKernel>>, BuildError> {
    if kernels.len() < PARALLEL || pool::threads() == 1 {
        return kernels.iter().map(find_or_compile).collect();
    }
    pool::run(|| kernels.par_iter().map(find_or_compile).collect())
}

/// The same for another target than the machine as it is: nobody shares that.
pub(crate) fn compiled_for(
    kernels: &[Arc<Kernel>],
    target: &Target,
) -> Result<Vec<Arc<CompiledKernel>>, BuildError> {
    kernels.iter().map(|kernel| CompiledKernel::new(kernel, target).map(Arc::new)).collect()
}

fn find_or_compile(kernel: &Arc<Kernel>) -> Result<Arc<CompiledKernel>, BuildError> {
    let key = Cache::key(kernel);
    if let Some(found) = Cache::lock().find(key, kernel) {
        return Ok(found);
    }
    let made = Arc::new(CompiledKernel::new(kernel, Target::host())?);
    Ok(Cache::lock().insert(key, made))
}

/// What is known by the hash of a kernel.
#[derive(Default)]
struct Cache {
    entries: FxHashMap<u64, Vec<Weak<CompiledKernel>>>,
    /// Entries beyond which those that nobody holds any more are thrown out.
    limit: usize,
}

impl Cache {
    fn lock() -> MutexGuard<'static, Cache> {
        static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);
        // Nothing panics while the lock is held, and an entry is put in as a whole.
        CACHE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(kernel: &Kernel) -> u64 {
        let mut hasher = FxHasher::default();
        identity(kernel).hash(&mut hasher);
        hasher.finish()
    }

    fn find(&self, key: u64, kernel: &Kernel) -> Option<Arc<CompiledKernel>> {
        let mut held = self.entries.get(&key)?.iter().filter_map(Weak::upgrade);
        held.find(|compiled| identity(&compiled.kernel) == identity(kernel))
    }

    /// Puts an entry in, unless another thread was faster: then that one is returned.
    fn insert(&mut self, key: u64, made: Arc<CompiledKernel>) -> Arc<CompiledKernel> {
        if let Some(found) = self.find(key, &made.kernel) {
            return found;
        }
        if self.entries.len() >= self.limit {
            self.entries.retain(|_, held| {
                held.retain(|weak| weak.strong_count() > 0);
                !held.is_empty()
            });
            self.limit = 2 * self.entries.len() + 64;
        }
        self.entries.entry(key).or_default().push(Arc::downgrade(&made));
        made
    }
}

/// What makes two kernels the same: everything but the name.
fn identity(kernel: &Kernel) -> impl Eq + std::hash::Hash + '_ {
    (&kernel.params, &kernel.locals, kernel.sizes, &kernel.values, &kernel.body)
}

/// The calls of a region, in the order in which code generation numbers them.
fn collect_calls(region: &Region, calls: &mut Vec<LibraryCall>) {
    for stmt in &region.stmts {
        match stmt {
            Stmt::Op { .. } | Stmt::Load { .. } | Stmt::Store { .. } | Stmt::Poll => {}
            Stmt::Call { call, .. } => calls.push(call.clone()),
            Stmt::Each { body, .. } | Stmt::For { body, .. } | Stmt::Reduce { body, .. } => {
                collect_calls(body, calls);
            }
            Stmt::While { cond, body, .. } => {
                collect_calls(cond, calls);
                collect_calls(body, calls);
            }
            Stmt::If { then, otherwise, .. } => {
                collect_calls(then, calls);
                collect_calls(otherwise, calls);
            }
        }
    }
}
