//! Batches in slabs: where convolutions of many images end in something small, such as the mean of each channel, a few
//! images at a time go all the way. What lies between is as large as a slab of it, and still near when it is read.
//!
//! Every image is computed as before: where a sum would have another order in a slab, the slab has another size. The order
//! inside of convolutions is the library's, as that of products is.

use std::collections::BTreeSet;
use std::sync::Arc;

use tracewell_array::Shape;
use tracewell_graph::prim::{Broadcast, Reshape, Scan};
use tracewell_graph::{ArrayType, Atom, Equation, Graph, GraphBuilder, Lowering, Prim, Splat, Var};
use tracewell_kernel::{Conv, ReduceOrder, steps};

/// When slabs are made.
#[derive(Clone, Copy)]
struct Limits {
    /// Bytes that a convolution and its image take together, from which on it is worth it.
    large: usize,
    /// Bytes that they may take of a slab: of several slabs, one for each thread, what one may take that all share.
    slab: usize,
    /// Multiplications of a slab that are many beside a turn of a loop, where threads take some slabs each.
    work: usize,
    /// Those that are enough for threads to share, where they take one slab together.
    shared: usize,
    /// How many times smaller the result is.
    shrinks: usize,
}

/// Takes batches of images a slab at a time where that saves memory.
pub fn slabs(graph: &Graph) -> Graph {
    cut(graph, Limits { large: 4 << 20, slab: 3 << 17, work: 1 << 22, shared: 1 << 24, shrinks: 16 })
}

/// The same for batches of any size, one image at a time: makes small tests.
pub fn slabs_of_one(graph: &Graph) -> Graph {
    cut(graph, Limits { large: 0, slab: 0, work: 0, shared: 0, shrinks: 0 })
}

fn cut(graph: &Graph, limits: Limits) -> Graph {
    if !graph.equations.iter().any(is_conv) {
        return graph.clone();
    }
    let web = Web::of(graph);
    // Each with what is done to a slab.
    let mut regions: Vec<(Region<'_>, Arc<Graph>)> = Vec::new();
    // From the last on, so that a region is as large as it can be.
    for last in (0..graph.equations.len()).rev() {
        if !regions.iter().any(|(region, _)| region.numbers.contains(&last)) {
            let region = Region::new(graph, &web, last, limits);
            regions.extend(region.and_then(|region| region.body().map(|body| (region, Arc::new(body)))));
        }
    }
    if regions.is_empty() || !steps::take(|| format!("the slabs of @{}", graph.name)) {
        return graph.clone();
    }
    let mut builder = GraphBuilder::new();
    let mut values: Vec<Option<Atom>> = vec![None; graph.types.len()];
    for &var in &graph.inputs {
        values[var.0 as usize] = Some(builder.input(graph.ty(var).clone()).into());
    }
    for (number, equation) in graph.equations.iter().enumerate() {
        builder.at(equation.location.clone());
        let results = match regions.iter().find(|(region, _)| region.numbers.contains(&number)) {
            Some((region, body)) if region.last() == number => {
                vec![region.scan(body.clone(), &mut builder, &values)]
            }
            Some(_) => continue,
            None => {
                let operands: Vec<Atom> = equation.inputs.iter().map(|atom| look(&values, atom)).collect();
                let types = equation.outputs.iter().map(|&var| graph.ty(var).clone());
                builder.push(equation.prim.clone(), &operands, types).into_vec()
            }
        };
        for (&var, result) in equation.outputs.iter().zip(results) {
            values[var.0 as usize] = Some(result);
        }
    }
    let outputs = graph.outputs.iter().map(|atom| look(&values, atom)).collect();
    builder.finish(graph.name.clone(), outputs)
}

fn look(values: &[Option<Atom>], atom: &Atom) -> Atom {
    match atom {
        Atom::Var(var) => values[var.0 as usize].clone().expect("operands are defined before they are used"),
        Atom::Splat(_) => atom.clone(),
    }
}

fn is_conv(equation: &Equation) -> bool {
    matches!(equation.prim, Prim::Conv(_))
}

/// Who makes and who uses each array.
struct Web {
    maker: Vec<Option<usize>>,
    /// With the number of the operand. A result of the graph is used by one after all others.
    users: Vec<Vec<(usize, usize)>>,
}

impl Web {
    fn of(graph: &Graph) -> Web {
        let mut web =
            Web { maker: vec![None; graph.types.len()], users: vec![Vec::new(); graph.types.len()] };
        let operands = graph.equations.iter().map(|equation| equation.inputs.as_slice());
        for (number, atoms) in operands.chain([graph.outputs.as_slice()]).enumerate() {
            for (operand, atom) in atoms.iter().enumerate() {
                atom.var().into_iter().for_each(|var| web.users[var.0 as usize].push((number, operand)));
            }
        }
        for (number, equation) in graph.equations.iter().enumerate() {
            equation.outputs.iter().for_each(|var| web.maker[var.0 as usize] = Some(number));
        }
        web
    }
}

/// Equations that go through a batch image by image, and end in one result.
struct Region<'g> {
    graph: &'g Graph,
    /// Of its equations.
    numbers: BTreeSet<usize>,
    batch: usize,
    /// Images of a slab.
    slab: usize,
}

impl<'g> Region<'g> {
    /// The region that ends with a reduction, if it is worth it.
    fn new(graph: &'g Graph, web: &Web, last: usize, limits: Limits) -> Option<Region<'g>> {
        let equation = &graph.equations[last];
        let [out] = equation.outputs.as_slice() else { return None };
        let batch = graph.ty(*out).shape.iter().next().filter(|&batch| batch > 1)?;
        if !matches!(lowering(graph, equation), Some(Lowering::Reduce { .. }))
            || !goes_by_image(graph, equation, batch)
        {
            return None;
        }
        let mut numbers = BTreeSet::from([last]);
        // The latest first: who uses its result is known by then.
        let mut asked: BTreeSet<usize> = makers(web, equation).collect();
        while let Some(number) = asked.pop_last() {
            let equation = &graph.equations[number];
            let [out] = equation.outputs.as_slice() else { continue };
            let is_inside = |&(user, operand): &(usize, usize)| {
                numbers.contains(&user) && is_by_image(graph, &graph.equations[user], operand, batch)
            };
            if web.users[out.0 as usize].iter().all(is_inside) && goes_by_image(graph, equation, batch) {
                numbers.insert(number);
                asked.extend(makers(web, equation));
            }
        }
        let mut region = Region { graph, numbers, batch, slab: 0 };
        region.slab = region.slab_size(limits)?;
        let largest = region.convs().map(|conv| bytes(graph, conv.outputs[0])).max()?;
        let (whole, sliced) = region.operands();
        let is_clear = !whole.iter().any(|var| sliced.contains(var));
        (is_clear && largest >= limits.shrinks * bytes(graph, *out)).then_some(region)
    }

    fn last(&self) -> usize {
        self.numbers.last().copied().expect("a region has its last equation")
    }

    fn equations(&self) -> impl Iterator<Item = &'g Equation> + use<'g, '_> {
        self.numbers.iter().map(|&number| &self.graph.equations[number])
    }

    fn convs(&self) -> impl Iterator<Item = &'g Equation> + use<'g, '_> {
        self.equations().filter(|equation| is_conv(equation))
    }

    fn makes(&self, var: Var) -> bool {
        self.equations().any(|equation| equation.outputs.contains(&var))
    }

    /// How many images a slab has: a part of the batch that comes out even.
    fn slab_size(&self, limits: Limits) -> Option<usize> {
        let taken = |conv: &Equation| {
            let image = conv.inputs[0].var().filter(|&var| self.makes(var));
            bytes(self.graph, conv.outputs[0]) + image.map_or(0, |var| bytes(self.graph, var))
        };
        let most = self.convs().map(taken).max().filter(|&most| most >= limits.large)?;
        let work: usize = self.convs().map(|conv| multiplications(self.graph, conv)).sum();
        let even = (1..self.batch).filter(|slab| self.batch.is_multiple_of(*slab));
        let part = |all: usize, slab: usize| (all as u128 * slab as u128 / self.batch as u128) as usize;
        let fits = |slab: usize| slab == 1 || part(most, slab) <= limits.slab;
        let slab = even.filter(|&slab| fits(slab) && self.keeps_order(slab)).max()?;
        // Large ones, and as many as do not come out even, are taken one after the other.
        let has_own = part(most, slab) <= limits.slab && (self.batch / slab).is_multiple_of(2);
        let least = if has_own { limits.work } else { limits.shared };
        (part(work, slab) >= least).then_some(slab)
    }

    /// Whether what is summed has the same order in slabs of a size.
    fn keeps_order(&self, slab: usize) -> bool {
        let keeps = |equation: &Equation| match &equation.prim {
            Prim::Conv(_) => {
                let work = multiplications(self.graph, equation);
                (work <= Conv::SMALL) == (work / self.batch * slab <= Conv::SMALL)
            }
            _ => match lowering(self.graph, equation) {
                Some(Lowering::Reduce { axes, .. }) => {
                    let from = self.graph.atom_type(&equation.inputs[0]).shape;
                    let order = ReduceOrder::of(&from, &axes);
                    // Blocks of a slab are others than those of the batch.
                    order != ReduceOrder::Blocks && order == ReduceOrder::of(&from.with(0, slab), &axes)
                }
                _ => true,
            },
        };
        self.equations().all(keeps)
    }

    /// The result, from a scan over the slabs.
    fn scan(&self, body: Arc<Graph>, builder: &mut GraphBuilder, values: &[Option<Atom>]) -> Atom {
        let (whole, sliced) = self.operands();
        let mut operands: Vec<Atom> = whole.iter().map(|&var| look(values, &var.into())).collect();
        for &var in &sliced {
            let cut = self.slab_of(&self.graph.ty(var).shape).insert(0, self.batch / self.slab);
            operands.push(bind(builder, Reshape { shape: cut }, &[look(values, &var.into())]));
        }
        let scan = Scan {
            body,
            consts: whole.len(),
            carries: 0,
            length: self.batch / self.slab,
            reverse: false,
            unroll: 1,
        };
        let all = bind(builder, scan, &operands);
        let out = self.graph.equations[self.last()].outputs[0];
        bind(builder, Reshape { shape: self.graph.ty(out).shape.clone() }, &[all])
    }

    /// What is done to a slab, unless a primitive has something against fewer images.
    fn body(&self) -> Option<Graph> {
        let (whole, sliced) = self.operands();
        let mut body = GraphBuilder::new();
        let mut inside: Vec<Option<Atom>> = vec![None; self.graph.types.len()];
        for &var in &whole {
            inside[var.0 as usize] = Some(body.input(self.graph.ty(var).clone()).into());
        }
        for &var in &sliced {
            let ty = self.graph.ty(var);
            inside[var.0 as usize] = Some(body.input(ty.with_shape(self.slab_of(&ty.shape))).into());
        }
        for equation in self.equations() {
            body.at(equation.location.clone());
            let operands: Vec<Atom> =
                (0..equation.inputs.len()).map(|operand| self.inside(&inside, equation, operand)).collect();
            let prim = match &equation.prim {
                Prim::Broadcast(repeat) => {
                    Broadcast { shape: self.slab_of(&repeat.shape), ..repeat.clone() }.into()
                }
                other => other.clone(),
            };
            let (made, out) = (body.bind1(prim, &operands).ok()?, equation.outputs[0]);
            let wanted = self.graph.ty(out);
            if body.ty(&made) != wanted.with_shape(self.slab_of(&wanted.shape)) {
                return None;
            }
            inside[out.0 as usize] = Some(made);
        }
        let made = look(&inside, &self.graph.equations[self.last()].outputs[0].into());
        Some(body.finish("slab", vec![made]))
    }

    /// An operand of an equation inside of the scan.
    fn inside(&self, values: &[Option<Atom>], equation: &Equation, operand: usize) -> Atom {
        match &equation.inputs[operand] {
            Atom::Splat(splat) if is_by_image(self.graph, equation, operand, self.batch) => {
                Atom::Splat(Splat { shape: self.slab_of(&splat.shape), ..splat.clone() })
            }
            atom => look(values, atom),
        }
    }

    /// What the region reads: the same for every image, and by image.
    fn operands(&self) -> (Vec<Var>, Vec<Var>) {
        let (mut whole, mut sliced) = (Vec::new(), Vec::new());
        for equation in self.equations() {
            for (operand, atom) in equation.inputs.iter().enumerate() {
                let Some(var) = atom.var().filter(|&var| !self.makes(var)) else { continue };
                let of = if is_by_image(self.graph, equation, operand, self.batch) {
                    &mut sliced
                } else {
                    &mut whole
                };
                if !of.contains(&var) {
                    of.push(var);
                }
            }
        }
        (whole, sliced)
    }

    /// The shape of a slab of an array.
    fn slab_of(&self, shape: &Shape) -> Shape {
        shape.with(0, self.slab)
    }
}

fn bytes(graph: &Graph, var: Var) -> usize {
    let ty = graph.ty(var);
    ty.shape.len() * ty.dtype.size()
}

fn multiplications(graph: &Graph, conv: &Equation) -> usize {
    let (window, out) = (graph.atom_type(&conv.inputs[1]).shape, &graph.ty(conv.outputs[0]).shape);
    let channels = window.iter().next_back().unwrap_or(1).max(1);
    out.len().saturating_mul(window.len() / channels)
}

fn bind(builder: &mut GraphBuilder, prim: impl Into<Prim>, operands: &[Atom]) -> Atom {
    builder.bind1(prim, operands).expect("slabs are cut out of a batch and put together again")
}

/// The equations that make the operands of one.
fn makers<'a>(web: &'a Web, equation: &'a Equation) -> impl Iterator<Item = usize> + 'a {
    equation.inputs.iter().filter_map(|atom| web.maker[atom.var()?.0 as usize])
}

/// What an equation with one result is made into.
fn lowering(graph: &Graph, equation: &Equation) -> Option<Lowering> {
    let types: Vec<ArrayType> = equation.inputs.iter().map(|atom| graph.atom_type(atom)).collect();
    let [out] = equation.outputs.as_slice() else { return None };
    equation.prim.rules().lower(&types, std::slice::from_ref(graph.ty(*out))).ok()
}

/// Whether each image of the result is made of the same image of the operands that have a batch of them.
fn goes_by_image(graph: &Graph, equation: &Equation, batch: usize) -> bool {
    let ([out], false) = (equation.outputs.as_slice(), equation.prim.has_effect()) else { return false };
    let to = &graph.ty(*out).shape;
    if to.iter().next() != Some(batch) || equation.inputs.is_empty() {
        return false;
    }
    match &equation.prim {
        Prim::Conv(_) => true,
        // Along the other axes only: what is repeated is the same for every image.
        Prim::Broadcast(repeat) => !repeat.axes.contains(&0),
        _ => match lowering(graph, equation) {
            Some(Lowering::Map(_)) => equation.inputs.iter().all(|atom| graph.atom_type(atom).shape == *to),
            Some(Lowering::Reduce { axes, .. }) => !axes.contains(&0),
            _ => false,
        },
    }
}

/// Whether an operand of such an equation, by its number, has a batch of images.
fn is_by_image(graph: &Graph, equation: &Equation, operand: usize, batch: usize) -> bool {
    match &equation.prim {
        Prim::Conv(_) => operand == 0,
        Prim::Broadcast(_) => false,
        _ => graph.atom_type(&equation.inputs[operand]).shape.iter().next() == Some(batch),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use tracewell_array::Tensor;
    use tracewell_graph::text::{NoCustom, read};
    use tracewell_graph::{eval, verify};

    use super::*;
    use crate::testing::check;

    const HEAD: &str = "(%0: f32[4,6,2], %1: f32[3,2,5], %2: f32[5]) -> (f32[4,5])";
    const LINES: &str = "%3: f32[4,6,5] = conv[strides=[1], low=[1], high=[1], dilation=[1], window_dilation=[1], groups=1] %0, %1
        %4: f32[4,6,5] = broadcast[shape=[4,6,5], axes=[2]] %2
        %5: f32[4,6,5] = add %3, %4
        %6: f32[4,6,5] = max %5, 0.0:f32[4,6,5]
        %7: f32[4,5] = reduce_sum[axes=[1]] %6
        %8: f32[4,5] = mul %7, 0.5:f32[4,5]
        return %8";

    fn graph(head: &str, lines: &str) -> Graph {
        let text = format!("func @f{head} {{\n{lines}\n}}\n");
        read(&text, &NoCustom).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn images_go_all_the_way() {
        check(
            slabs_of_one,
            HEAD,
            LINES,
            expect![[r#"
            %3: f32[4,1,6,2] = reshape[shape=[4,1,6,2]] %0
            %4: f32[4,1,5] = scan[body=func @slab(%0: f32[3,2,5], %1: f32[5], %2: f32[1,6,2]) -> (f32[1,5]) {
            %3: f32[1,6,5] = conv[strides=[1], low=[1], high=[1], dilation=[1], window_dilation=[1], groups=1] %2, %0
            %4: f32[1,6,5] = broadcast[shape=[1,6,5], axes=[2]] %1
            %5: f32[1,6,5] = add %3, %4
            %6: f32[1,6,5] = max %5, 0.0:f32[1,6,5]
            %7: f32[1,5] = reduce_sum[axes=[1]] %6
            return %7
            }, consts=2, carries=0, length=4, reverse=false, unroll=1] %1, %2, %3
            %5: f32[4,5] = reshape[shape=[4,5]] %4
            %6: f32[4,5] = mul %5, 0.5:f32[4,5]
            return %6
        "#]],
        );
    }

    #[test]
    fn what_is_small_stays_whole() {
        let graph = graph(HEAD, LINES);
        assert_eq!(slabs(&graph), graph);
    }

    /// What is read elsewhere too is made for all images at once; so is a kernel, even one that looks like a batch, and
    /// a sum over images.
    #[test]
    fn others_see_whole_batches() {
        let shared = LINES.replace("return %8", "return %8, %5");
        let two = HEAD.replace("(f32[4,5])", "(f32[4,5], f32[4,6,5])");
        let kernel = LINES.replace("%0, %1", "%0, %9");
        let kernel = format!("%9: f32[4,2,5] = exp %1\n{}", kernel.replace("high=[1]", "high=[2]"));
        let wide = HEAD.replace("%1: f32[3,2,5]", "%1: f32[4,2,5]");
        let across = LINES.replace("[4,6,5]", "[4,4,5]").replace("axes=[1]", "axes=[0]");
        let square = HEAD.replace("[4,6,2]", "[4,4,2]");
        // Images that are sums over others: they are there before the first slab is.
        let summed =
            format!("%9: f32[4,6,2] = reduce_sum[axes=[0]] %0\n{}", LINES.replace("%0, %1", "%9, %1"));
        let many = HEAD.replace("%0: f32[4,6,2]", "%0: f32[4,4,6,2]");
        let cases =
            [(&two, &shared, 0, 0), (&wide, &kernel, 1, 1), (&square, &across, 0, 0), (&many, &summed, 1, 0)];
        for (head, lines, scans, outside) in cases {
            let cut = slabs_of_one(&graph(head, lines));
            verify(&cut).unwrap_or_else(|errors| panic!("{errors}"));
            let count =
                |name: &str| cut.equations.iter().filter(|equation| equation.prim.name() == name).count();
            assert_eq!((count("scan"), count("exp")), (scans, outside), "{lines}");
        }
    }

    /// In slabs of four images of this size sums over places would be made in blocks.
    #[test]
    fn sums_keep_their_order() {
        let head = "(%0: f32[32,32,32,8], %1: f32[1,1,8,64]) -> (f32[32,64])";
        let lines = "%2: f32[32,32,32,64] = conv[strides=[1,1], low=[0,0], high=[0,0], dilation=[1,1], window_dilation=[1,1], groups=1] %0, %1
        %3: f32[32,64] = reduce_sum[axes=[1,2]] %2
        return %3";
        let cut = |images: usize| {
            let limits = Limits { large: 0, slab: images * 32 * 32 * 64 * 4, work: 0, shared: 0, shrinks: 0 };
            let cut = super::cut(&graph(head, lines), limits);
            cut.equations.iter().find_map(|equation| match &equation.prim {
                Prim::Scan(scan) => Some(32 / scan.length),
                _ => None,
            })
        };
        assert_eq!([1, 2, 4, 8, 16].map(cut), [Some(1), Some(2), Some(2), Some(8), Some(16)]);
        // A convolution that is small in a slab only.
        let head = "(%0: f32[16,32,2], %1: f32[3,2,8]) -> (f32[16,8])";
        let lines = "%2: f32[16,32,8] = conv[strides=[1], low=[1], high=[1], dilation=[1], window_dilation=[1], groups=1] %0, %1
        %3: f32[16,8] = reduce_sum[axes=[1]] %2
        return %3";
        let whole = graph(head, lines);
        assert_eq!(slabs_of_one(&whole), whole);
    }

    /// What lies between is 3.2 and 6.4 MB for all images, 0.3 MB for one of them.
    #[test]
    fn a_slab_fits_a_cache() {
        let head = "(%0: f32[32,28,28,32], %1: f32[3,3,32,64]) -> (f32[32,64])";
        let lines = "%2: f32[32,28,28,32] = max %0, 0.0:f32[32,28,28,32]
        %3: f32[32,28,28,64] = conv[strides=[1,1], low=[1,1], high=[1,1], dilation=[1,1], window_dilation=[1,1], groups=1] %2, %1
        %4: f32[32,64] = reduce_sum[axes=[1,2]] %3
        return %4";
        let cut = slabs(&graph(head, lines));
        let lengths: Vec<usize> = cut
            .equations
            .iter()
            .filter_map(|equation| match &equation.prim {
                Prim::Scan(scan) => Some(scan.length),
                _ => None,
            })
            .collect();
        assert_eq!(lengths, [32]);
    }

    /// Of 31 images, each of which is less work than threads share.
    #[test]
    fn small_slabs_come_out_even() {
        let cut = |images: usize, work: usize| {
            let head = format!("(%0: f32[{images},8,8,16], %1: f32[1,1,16,16]) -> (f32[{images},16])");
            let lines = format!(
                "%2: f32[{images},8,8,16] = conv[strides=[1,1], low=[0,0], high=[0,0], dilation=[1,1], window_dilation=[1,1], groups=1] %0, %1
                %3: f32[{images},16] = reduce_sum[axes=[1,2]] %2
                return %3"
            );
            let graph = graph(&head, &lines);
            // An image is 4 KiB, and 16,384 multiplications.
            let limits = Limits { large: 0, slab: 1 << 12, work, shared: 1 << 15, shrinks: 0 };
            super::cut(&graph, limits) != graph
        };
        assert_eq!([cut(31, 0), cut(32, 1 << 14), cut(32, (1 << 14) + 1)], [false, true, false]);
    }

    #[test]
    fn every_image_is_computed_as_before() {
        let graph = graph(HEAD, LINES);
        let cut = slabs_of_one(&graph);
        verify(&cut).unwrap_or_else(|errors| panic!("{errors}"));
        assert_ne!(cut, graph);
        let input = |shape: &[usize]| Tensor::from_fn(shape.to_vec(), |i| (i * 37 % 101) as f32 / 7.0 - 5.0);
        let inputs = [input(&[4, 6, 2]), input(&[3, 2, 5]), input(&[5])];
        let results = [&graph, &cut].map(|graph| eval(graph, &inputs).expect("a graph that verifies"));
        assert_eq!(results[0], results[1]);
    }
}
