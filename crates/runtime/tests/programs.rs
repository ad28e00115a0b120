//! Whole programs: memory, donation, library calls, threads, errors.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracewell_array::{DType, Shape, Tensor};
use tracewell_kernel::{
    BufferFn, BufferMut, BufferRef, CallError, Custom, Program, eval_program, read_program,
};
use tracewell_library::walk::turns_back;
use tracewell_runtime::{Executable, Input, RunError};

/// A user's function: doubles, fails or panics, as its name says.
struct User(&'static str);

impl BufferFn for User {
    fn name(&self) -> &str {
        self.0
    }

    fn call(&self, inputs: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        match self.0 {
            "fail" => return Err("out of luck".into()),
            "panic" => std::panic::panic_any("a payload"),
            _ => {}
        }
        let from = inputs[0].as_slice::<f32>()?;
        let to = outputs[0].as_mut_slice::<f32>()?;
        to.iter_mut().zip(from).for_each(|(to, from)| *to = 2.0 * from);
        Ok(())
    }
}

fn program(text: &str) -> Program {
    let resolve = |name: &str| {
        let name = ["double", "fail", "panic"].into_iter().find(|known| *known == name)?;
        Some(Custom::new(User(name)))
    };
    read_program(text, &resolve).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn executable(text: &str) -> Executable {
    let program = program(text);
    let slots = program.results.iter().map(|&slot| program.slot(slot));
    let types = slots.map(|slot| (slot.dtype, Shape::from([slot.len]))).collect();
    Executable::new(program, types).unwrap_or_else(|error| panic!("{error}"))
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::from_slice(values, [values.len()]).expect("as many as there are")
}

/// `(x + 1)²` through a temporary, with a constant.
const SQUARE: &str = "program @square {
    $0: f32[100] = input 0
    $1: f32[100] = output reuse input 0
    $2: f32[100] = temp at 64
    $3: f32[1] = constant [1.0]
    arena 512
    kernel @add(b0: f32, b1: f32, b2: mut f32) sizes 1 {
      each %i < s0 { %x: f32 = load b0[%i] %y: f32 = load b1[0] %z: f32 = add %x, %y store b2[%i], %z }
    }
    kernel @mul(b0: f32, b1: mut f32) sizes 1 {
      each %i < s0 { %x: f32 = load b0[%i] %y: f32 = mul %x, %x store b1[%i], %y }
    }
    launch @add($0, $3, $2) sizes 100 cost 1
    launch @mul($2, $1) sizes 100 cost 1
    return $1
}";

fn hundred() -> Tensor {
    Tensor::from_fn([100], |i| i as f32 / 4.0)
}

#[test]
fn steps_in_order() {
    let executable = executable(SQUARE);
    let expected = eval_program(executable.program(), &[hundred()]).expect("a program that evaluates");
    for _ in 0..3 {
        assert_eq!(executable.run(&mut [Input::Lent(&hundred())]).expect("a run")[..], expected);
    }
    let often = executable.repeat(&[hundred()], 5).expect("five runs");
    assert_eq!(often[..], expected, "a run leaves nothing behind that the next would read");
}

#[test]
fn donation_needs_the_only_reference() {
    let executable = executable(SQUARE);
    let expected = eval_program(executable.program(), &[hundred()]).expect("a program that evaluates");

    let input = hundred();
    let memory = input.buffer_id();
    let mut inputs = [Input::given(input)];
    let results = executable.run(&mut inputs).expect("a run");
    assert_eq!(results[..], expected);
    assert_eq!(results[0].buffer_id(), memory);
    assert!(results[0].is_unique());
    assert!(matches!(inputs[0], Input::Taken));
    let error = executable.run(&mut inputs).expect_err("the input is gone");
    assert_eq!(
        error.to_string(),
        "input 0: expected 100 elements of f32, found a tensor that was given away before"
    );

    let input = hundred();
    let other = input.clone();
    let results = executable.run(&mut [Input::given(input)]).expect("a run");
    assert_eq!(results[..], expected);
    assert!(!results[0].same_buffer(&other));
    assert_eq!(other, hundred());

    let input = hundred();
    let results = executable.run(&mut [Input::Lent(&input)]).expect("a run");
    assert_eq!(results[..], expected);
    assert_eq!(input, hundred());
}

#[test]
fn results_take_their_shapes() {
    let program = program(SQUARE);
    let executable = Executable::new(program.clone(), vec![(DType::F32, [4, 25].into())])
        .expect("a program that compiles");
    let input = hundred();
    let memory = input.buffer_id();
    let results = executable.run(&mut [Input::given(input)]).expect("a run");
    assert_eq!(*results[0].shape(), [4, 25]);
    assert_eq!(results[0].buffer_id(), memory);
    let wrong = [(DType::F32, [99]), (DType::F64, [100]), (DType::C64, [100])];
    for types in wrong.map(|(dtype, shape)| vec![(dtype, Shape::from(shape))]).into_iter().chain([vec![]]) {
        assert!(Executable::new(program.clone(), types).is_err());
    }
}

#[test]
fn complex_numbers_are_their_parts() {
    let complex = vec![(DType::C64, Shape::from([2, 25]))];
    let executable = Executable::new(program(SQUARE), complex).expect("a program that compiles");
    let input = Tensor::from_parts(hundred().reshape([50, 2]).expect("a hundred"));
    let memory = input.buffer_id();
    let results = executable.run(&mut [Input::given(input)]).expect("a run");
    assert_eq!((results[0].dtype(), results[0].shape()), (DType::C64, &Shape::from([2, 25])));
    assert_eq!(results[0].as_parts().literal(3), floats(&[1.75 * 1.75]).literal(0));
    assert_eq!(results[0].buffer_id(), memory);
}

#[test]
fn inputs_and_constants_are_handed_through() {
    let executable = executable(
        "program @through {
            $0: f32[2] = input 1
            $1: f32[2] = output
            $2: f32[2] = constant [5.0, 6.0]
            kernel @neg(b0: f32, b1: mut f32) {
              each %i < 2 { %x: f32 = load b0[%i] %y: f32 = neg %x store b1[%i], %y }
            }
            launch @neg($0, $1)
            return $0, $1, $2, $1
        }",
    );
    let unused = floats(&[]);
    let results =
        executable.run(&mut [Input::Lent(&unused), Input::given(floats(&[1.0, 2.0]))]).expect("a run");
    let expected = [[1.0, 2.0], [-1.0, -2.0], [5.0, 6.0], [-1.0, -2.0]].map(|values| floats(&values));
    assert_eq!(results[..], expected);
}

#[test]
fn wrong_inputs_are_refused() {
    let executable = executable(SQUARE);
    let message = |inputs: &mut [Input<'_>]| executable.run(inputs).expect_err("wrong inputs").to_string();
    assert_eq!(message(&mut []), "expected 1 inputs, found 0");
    let short = floats(&[1.0]);
    assert_eq!(message(&mut [Input::Lent(&short)]), "input 0: expected 100 elements of f32, found 1 of f32");
    let ints = Tensor::zeros(DType::I32, [100]);
    assert_eq!(message(&mut [Input::Lent(&ints)]), "input 0: expected 100 elements of f32, found 100 of i32");
}

/// Calls a function as a step, and from inside a kernel.
fn calling(function: &str) -> [Executable; 2] {
    let step = format!(
        "program @step {{
            $0: f32[3] = input 0
            $1: f32[3] = output
            call custom \"{function}\" ($0: f32[3]) -> ($1: f32[3])
            return $1
        }}"
    );
    let inside = format!(
        "program @inside {{
            $0: f32[3] = input 0
            $1: f32[3] = output
            $2: f32[3] = output
            kernel @calls(b0: f32, b1: mut f32, b2: mut f32) {{
              each %i < 3 {{ %x: f32 = load b0[%i] store b2[%i], %x }}
              call custom \"double\" (b0: f32[3]) -> (b1: f32[3])
              call custom \"{function}\" (b0: f32[3]) -> (b1: f32[3])
            }}
            launch @calls($0, $1, $2)
            return $1
        }}"
    );
    [executable(&step), executable(&inside)]
}

#[test]
fn functions_of_users() {
    for executable in calling("double") {
        let results = executable.run(&mut [Input::given(floats(&[1.0, 2.0, 3.0]))]).expect("a run");
        assert_eq!(results[..], [floats(&[2.0, 4.0, 6.0])]);
    }
    for executable in calling("fail") {
        let error =
            executable.run(&mut [Input::given(floats(&[1.0, 2.0, 3.0]))]).expect_err("a function that fails");
        assert_eq!(error.to_string(), "`fail` failed: out of luck");
    }
    for executable in calling("panic") {
        match executable.run(&mut [Input::given(floats(&[1.0, 2.0, 3.0]))]) {
            Err(RunError::Panicked { name, payload }) => {
                assert_eq!(name, "panic");
                assert_eq!(payload.downcast_ref::<&str>(), Some(&"a payload"));
            }
            other => panic!("{other:?}"),
        }
    }
}

/// Long enough to be split, with an odd number of iterations.
const LONG: &str = "program @long {
    $0: f32[100003] = input 0
    $1: f32[100003] = output
    $2: f32[100003] = temp at 0
    arena 400064
    kernel @work(b0: f32, b1: mut f32) sizes 1 {
      each %i < s0 {
        %x: f32 = load b0[%i] %y: f32 = mul %x, %x %z: f32 = sqrt %y %w: f32 = div %z, %y store b1[%i], %w
      }
    }
    launch @work($0, $2) sizes 100003 cost 100
    launch @work($2, $1) sizes 100003 cost 100
    return $1
}";

#[test]
fn parts_make_the_whole() {
    let split = executable(LONG);
    let whole = executable(&LONG.replace("cost 100", "cost 0"));
    let input = Tensor::from_fn([100_003], |i| (i % 977) as f32 - 400.0);
    let expected = whole.run(&mut [Input::Lent(&input)]).expect("a run");
    assert_eq!(split.run(&mut [Input::Lent(&input)]).expect("a run"), expected);
    // Runs that overlap, from threads of all kinds.
    let run = || assert_eq!(split.run(&mut [Input::Lent(&input)]).expect("a run"), expected);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..5).for_each(|_| run()));
        }
    });
    rayon::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|_| run());
        }
    });
}

/// Counts up in place, so that an iteration that is done twice or not at all shows; every other launch goes back.
const COUNTED: &str = "program @counted {
    $0: f32[200003] = input 0
    $1: f32[200003] = output
    kernel @one_more(b0: f32, b1: mut f32) sizes 1 {
      each %i < s0 { %x: f32 = load b0[%i] %one: f32 = const 1.0 %y: f32 = add %x, %one store b1[%i], %y }
    }
    launch @one_more($0, $1) sizes 200003 cost 100
    launch @one_more($1, $1) sizes 200003 cost 100
    launch @one_more($1, $1) sizes 200003 cost 100
    return $1
}";

#[test]
fn every_iteration_is_done_once_on_either_way() {
    let input = Tensor::from_fn([200_003], |i| i as f32);
    let expected = Tensor::from_fn([200_003], |i| i as f32 + 3.0);
    for text in [COUNTED, &COUNTED.replace("cost 100", "cost 0")] {
        let executable = executable(text);
        for _ in 0..3 {
            assert_eq!(executable.run(&mut [Input::Lent(&input)]).expect("a run")[0], expected);
        }
        assert_eq!(executable.repeat(std::slice::from_ref(&input), 4).expect("four runs")[0], expected);
    }
}

/// A launch that is all there is is repeated without what is between steps: as often as was asked for, which its turns
/// show, for its result does not.
#[test]
fn a_launch_is_repeated_as_often_as_was_asked_for() {
    let text = COUNTED.replace("launch @one_more($1, $1) sizes 200003 cost 100", "");
    let bytes = 2 * 4 * 200_003;
    let input = Tensor::from_fn([200_003], |i| i as f32);
    for text in [&text, &text.replace("cost 100", "cost 0")] {
        let executable = executable(text);
        for times in [1, 4, 5] {
            let before = turns_back(bytes);
            executable.repeat(std::slice::from_ref(&input), times).expect("some runs");
            assert_eq!(turns_back(bytes) == before, times % 2 == 1, "{times} times");
        }
    }
}

/// A function that runs a program itself, on whatever thread it is called.
struct Nested(Executable, AtomicUsize);

impl BufferFn for Nested {
    fn name(&self) -> &str {
        "nested"
    }

    fn call(&self, _: &[BufferRef<'_>], outputs: &mut [BufferMut<'_>]) -> Result<(), CallError> {
        let input = Tensor::from_fn([100_003], |i| i as f32);
        let results = self.0.run(&mut [Input::given(input)]).map_err(|error| error.to_string())?;
        let to = outputs[0].as_mut_slice::<f32>()?;
        to[0] = results[0].as_slice::<f32>()?[100_002];
        self.1.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn programs_inside_programs() {
    let nested = Custom::new(Nested(executable(LONG), AtomicUsize::new(0)));
    let text = "program @outer {
        $0: f32[1] = output
        call custom \"nested\" () -> ($0: f32[1])
        return $0
    }";
    let program = read_program(text, &|_| Some(nested.clone())).expect("a program");
    let outer = Arc::new(
        Executable::new(program, vec![(DType::F32, Shape::scalar())]).expect("a program that compiles"),
    );
    let runs: Vec<Tensor> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| outer.run(&mut []).expect("a run").remove(0))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(runs.iter().all(|run| *run == runs[0]));
}

#[test]
fn equal_kernels_are_compiled_once() {
    let other = executable(&SQUARE.replace("@mul", "@other"));
    let first = executable(SQUARE);
    for (a, b) in first.kernels().iter().zip(other.kernels()) {
        assert!(Arc::ptr_eq(a, b));
    }
    assert!(!Arc::ptr_eq(&first.kernels()[0], &first.kernels()[1]));
}

#[test]
fn a_program_that_breaks_a_rule_is_refused() {
    let program = program(&SQUARE.replace("sizes 100 cost", "sizes 101 cost"));
    let error = Executable::new(program, vec![(DType::F32, [100].into())]).expect_err("out of bounds");
    assert!(error.to_string().starts_with("the program does not verify:\n"), "{error}");
}

/// What all iterations of a launch read again, each thread reads in a copy of its own: of this run.
#[test]
fn copies_of_threads_are_of_the_run() {
    let text = "program @again {
        $0: f32[8001] = input 0
        $1: f32[8001] = temp at 0
        $2: f32[4200] = temp at 32064
        $3: f32[64] = output
        arena 48896
        kernel @more(b0: f32, b1: mut f32) sizes 1 {
          each %0 < s0 {
            %1: f32 = load b0[%0]
            %2: f32 = add %1, %1
            store b1[%0], %2
          }
        }
        kernel @rows(b0: f32, b1: f32, b2: f32, b3: mut f32) sizes 2 {
          each %0 < s0 {
            %1: f32 = load b2[%0]
            %2: f32 = reduce max over %3 < s1 {
              %4: f32 = load b0[%3 + 3801]
              %5: f32 = load b1[%3]
              %6: f32 = sub %4, %5
              %7: f32 = mul %6, %1
              yield %7
            }
            store b3[%0], %2
          }
        }
        launch @more($0, $1) sizes 8001 cost 1
        launch @more($1, $2) sizes 4200 cost 1
        launch @rows($1, $2, $0, $3) sizes 64, 4200 cost 10000
        return $3
    }";
    let (program, executable) = (program(text), executable(text));
    for seed in 1..6 {
        let x = Tensor::from_fn([8001], |i| ((i * 7919 * seed) % 1013) as f32 - 500.0);
        let expected = eval_program(&program, std::slice::from_ref(&x)).expect("it verified");
        let found = executable.run(&mut [Input::Lent(&x)]).expect("it runs");
        assert_eq!(found.as_slice(), expected);
    }
}
