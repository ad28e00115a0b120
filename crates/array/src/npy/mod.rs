//! Reading and writing NumPy's `.npy` files.
//!
//! Invariant: a file is hostile until proven otherwise. Nothing is allocated for the elements before the shape and
//! the dtype have been checked against the bytes that are really there; no input panics, recurses or overflows.

mod header;

use crate::dtype::Element;
use crate::{DType, Shape, Tensor};
use header::{Header, descr_of, header_text, malformed, parse_header};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

const MAGIC: &[u8] = b"\x93NUMPY";
/// The elements begin at a multiple of this.
const ALIGN: usize = 64;
/// The longest header that is read: a header describes one dtype and one shape.
const MAX_HEADER: usize = 1 << 16;
/// The highest rank that is read, NumPy's own limit.
const MAX_RANK: usize = 64;

/// Why a `.npy` file cannot be read or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum NpyError {
    /// The file system refused.
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        error: io::Error,
    },
    /// The data does not begin like a `.npy` file, or ends inside the header.
    NotNpy,
    /// A version of the format that is not known.
    Version(u8, u8),
    /// The header is not the dictionary it should be.
    Header(String),
    /// The elements are of a type that tensors do not have.
    DType(String),
    /// The shape is too large, or has too many axes.
    Shape(Shape),
    /// There are more or fewer bytes than the shape wants.
    Length {
        /// The bytes that dtype and shape want.
        expected: usize,
        /// The bytes after the header.
        found: usize,
    },
    /// A truth value is neither 0 nor 1.
    Bool(u8),
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NpyError::Io { path, error } => write!(f, "`{}`: {error}", path.display()),
            NpyError::NotNpy => write!(f, "not a `.npy` file"),
            NpyError::Version(major, minor) => write!(f, "unknown `.npy` version {major}.{minor}"),
            NpyError::Header(reason) => write!(f, "malformed `.npy` header: {reason}"),
            NpyError::DType(descr) => {
                write!(f, "unsupported `.npy` dtype `{descr}`, expected one of")?;
                let mut comma = "";
                for &dtype in DType::ALL {
                    write!(f, "{comma} `{}`", descr_of(dtype))?;
                    comma = ",";
                }
                Ok(())
            }
            NpyError::Shape(shape) if shape.rank() > MAX_RANK => {
                write!(f, "rank {} is above {MAX_RANK}", shape.rank())
            }
            NpyError::Shape(shape) => write!(f, "shape {shape} is too large"),
            NpyError::Length { expected, found } => {
                write!(f, "expected {expected} bytes of data, found {found}")
            }
            NpyError::Bool(byte) => write!(f, "expected 0 or 1 as a truth value, found {byte}"),
        }
    }
}

impl Error for NpyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            NpyError::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// Reads a file.
pub fn load(path: impl AsRef<Path>) -> Result<Tensor, NpyError> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|error| NpyError::Io { path: path.to_owned(), error })?;
    read(&bytes)
}

/// Writes a file, over an old one if there is one.
pub fn save(path: impl AsRef<Path>, tensor: &Tensor) -> Result<(), NpyError> {
    let path = path.as_ref();
    fs::write(path, write(tensor)).map_err(|error| NpyError::Io { path: path.to_owned(), error })
}

/// Reads the contents of a file. Fortran order is converted.
pub fn read(bytes: &[u8]) -> Result<Tensor, NpyError> {
    let (header, data) = split(bytes)?;
    let Header { dtype, fortran_order, shape } = parse_header(header)?;
    if shape.rank() > MAX_RANK {
        return Err(NpyError::Shape(shape));
    }
    let Some(len) = shape.checked_len() else { return Err(NpyError::Shape(shape)) };
    // A `checked_len` leaves room for the widest dtype.
    let expected = len * dtype.size();
    if data.len() != expected {
        return Err(NpyError::Length { expected, found: data.len() });
    }
    if dtype.is_bool()
        && let Some(&byte) = data.iter().find(|byte| **byte > 1)
    {
        return Err(NpyError::Bool(byte));
    }
    Ok(with_element!(dtype, T => {
        if fortran_order {
            let mut sources = FortranOrder::new(&shape);
            Tensor::from_fn(shape, |_| element::<T>(data, sources.next()))
        } else {
            Tensor::from_fn(shape, |index| element::<T>(data, index))
        }
    }))
}

/// The contents of a file with this tensor: little endian, C order, version 1.0 unless the shape needs a later one.
pub fn write(tensor: &Tensor) -> Vec<u8> {
    let dictionary = header_text(tensor.dtype(), tensor.shape());
    // The length of the padded header, for a preamble with so many bytes of length.
    let padded = |width: usize| {
        let preamble = MAGIC.len() + 2 + width;
        (preamble + dictionary.len() + 1).next_multiple_of(ALIGN) - preamble
    };
    let mut bytes = MAGIC.to_vec();
    let header = match u16::try_from(padded(2)) {
        Ok(short) => {
            bytes.extend([1, 0]);
            bytes.extend(short.to_le_bytes());
            usize::from(short)
        }
        Err(_) => {
            bytes.extend([2, 0]);
            let long = padded(4);
            bytes.extend((long as u32).to_le_bytes());
            long
        }
    };
    bytes.extend(dictionary.bytes());
    bytes.extend(std::iter::repeat_n(b' ', header - dictionary.len() - 1));
    bytes.push(b'\n');
    bytes.reserve_exact(tensor.size_bytes());
    if cfg!(target_endian = "little") {
        bytes.extend(tensor.as_bytes());
    } else {
        let size = tensor.dtype().size();
        bytes.extend(
            tensor.literals().flat_map(|literal| literal.bits().to_le_bytes().into_iter().take(size)),
        );
    }
    bytes
}

/// One element of data whose length has been checked.
fn element<T: Element>(data: &[u8], index: usize) -> T {
    let size = size_of::<T>();
    let mut bits = [0; 16];
    bits[..size].copy_from_slice(&data[index * size..][..size]);
    T::from_bits(u128::from_le_bytes(bits))
}

/// Splits a file into header and data.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), NpyError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(NpyError::NotNpy)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(NpyError::NotNpy)?;
    let (len, rest) = match version {
        [1, 0] => rest.split_first_chunk().map(|(len, rest)| (usize::from(u16::from_le_bytes(*len)), rest)),
        [2 | 3, 0] => rest.split_first_chunk().map(|(len, rest)| (u32::from_le_bytes(*len) as usize, rest)),
        [major, minor] => return Err(NpyError::Version(*major, *minor)),
    }
    .ok_or(NpyError::NotNpy)?;
    if len > MAX_HEADER {
        return Err(malformed(format!("{len} bytes are more than {MAX_HEADER}")));
    }
    let (header, data) = rest.split_at_checked(len).ok_or(NpyError::NotNpy)?;
    // Versions differ in their encoding, but everything that we can read is ASCII.
    let header = str::from_utf8(header).map_err(|_| malformed("it is not text"))?;
    Ok((header, data))
}

/// For elements visited in C order, where they lie in Fortran order.
struct FortranOrder {
    sizes: Vec<usize>,
    strides: Vec<usize>,
    index: Vec<usize>,
    source: usize,
}

impl FortranOrder {
    fn new(shape: &Shape) -> FortranOrder {
        let sizes: Vec<usize> = shape.iter().collect();
        // Products of the sizes before each axis; a shape with a `checked_len` keeps them small.
        let strides = sizes
            .iter()
            .scan(1usize, |stride, &size| Some(std::mem::replace(stride, stride.saturating_mul(size))));
        FortranOrder { strides: strides.collect(), index: vec![0; sizes.len()], sizes, source: 0 }
    }

    /// Where the current element lies; moves on to the next one.
    fn next(&mut self) -> usize {
        let source = self.source;
        for axis in (0..self.sizes.len()).rev() {
            self.index[axis] += 1;
            self.source += self.strides[axis];
            if self.index[axis] < self.sizes[axis] {
                break;
            }
            self.source -= self.index[axis] * self.strides[axis];
            self.index[axis] = 0;
        }
        source
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Literal;
    use expect_test::expect;
    use proptest::prelude::*;

    fn file(version: u8, header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        if version == 1 {
            bytes.extend((header.len() as u16).to_le_bytes());
        } else {
            bytes.extend((header.len() as u32).to_le_bytes());
        }
        bytes.extend(header.bytes());
        bytes.extend(data);
        bytes
    }

    fn dictionary(descr: &str, fortran_order: &str, shape: &str) -> String {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n")
    }

    /// What `np.save` of NumPy 2.4 writes for `np.arange(6, dtype='<f4').reshape(2, 3)`.
    fn from_numpy() -> Vec<u8> {
        let mut bytes =
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
        bytes.resize(127, b' ');
        bytes.push(b'\n');
        bytes.extend((0..6).flat_map(|value| (value as f32).to_le_bytes()));
        bytes
    }

    #[test]
    fn agrees_with_numpy() {
        let tensor = read(&from_numpy()).expect("a file of NumPy's");
        assert_eq!(tensor, Tensor::from_vec(vec![0f32, 1., 2., 3., 4., 5.], [2, 3]).expect("six elements"));
        assert_eq!(write(&tensor), from_numpy());
    }

    #[test]
    fn reads_every_version_order_and_spelling() {
        let data: Vec<u8> = (0..6u32).flat_map(u32::to_le_bytes).collect();
        let c_order = Tensor::from_vec(vec![0u32, 1, 2, 3, 4, 5], [2, 3]).expect("six elements");
        let fortran = Tensor::from_vec(vec![0u32, 2, 4, 1, 3, 5], [2, 3]).expect("six elements");
        let cases = [
            (1, dictionary("<u4", "False", "(2, 3)"), &c_order),
            (2, dictionary("<u4", "False", "(2, 3)"), &c_order),
            (3, dictionary("<u4", "False", "(2, 3)"), &c_order),
            (1, dictionary("<u4", "True", "(2, 3)"), &fortran),
            (1, dictionary("<u4", "False", "(2L, 3L,)"), &c_order),
            (1, "{\"shape\":(2,3),\"fortran_order\":False,\"descr\":\"<u4\"}".to_owned(), &c_order),
        ];
        for (version, header, expected) in cases {
            assert_eq!(read(&file(version, &header, &data)).expect("a good file"), *expected, "{header}");
        }
        let cube = read(&file(1, &dictionary("|u1", "True", "(2, 2, 2)"), &[0, 1, 2, 3, 4, 5, 6, 7]));
        assert_eq!(cube.expect("a good file").to_vec::<u8>(), Ok(vec![0, 4, 2, 6, 1, 5, 3, 7]));
        let empty = read(&file(1, &dictionary("<f8", "True", "(2, 0, 3)"), &[]));
        assert_eq!(empty.expect("a good file"), Tensor::zeros(DType::F64, [2, 0, 3]));
        let scalar = read(&file(1, &dictionary("<i4", "True", "()"), &[1, 0, 0, 0]));
        assert_eq!(scalar.expect("a good file"), Tensor::scalar(1i32));
    }

    #[test]
    fn hostile_files() {
        let huge = usize::MAX;
        let deep = format!("({})", "1,".repeat(65));
        let with = |descr: &str, shape: &str| file(1, &dictionary(descr, "False", shape), &[0; 4]);
        let cases: Vec<(&str, Vec<u8>)> = vec![
            ("empty", vec![]),
            ("another file", b"PK\x03\x04".to_vec()),
            ("only magic", MAGIC.to_vec()),
            ("no length", [MAGIC, &[1, 0, 5]].concat()),
            ("cut header", from_numpy()[..50].to_vec()),
            ("version", file(4, "{}", &[])),
            ("long header", [MAGIC, &[2, 0, 255, 255, 255, 255]].concat()),
            ("not text", [MAGIC, &[1, 0, 1, 0, 255]].concat()),
            ("big endian", with(">f4", "(1,)")),
            ("half", with("<f2", "(1,)")),
            ("long dtype", with(&"x".repeat(1000), "(1,)")),
            ("control characters", with("\x1b[2J", "(1,)")),
            ("structured", file(1, "{'descr': [('a', [[[[", &[])),
            ("overflow", with("<f4", &format!("({huge}, {huge})"))),
            ("overflow behind an empty axis", with("<f4", &format!("(0, {huge}, {huge})"))),
            ("large", with("<f4", "(1000000000000, )")),
            ("beyond usize", with("<f4", "(99999999999999999999999, )")),
            ("deep", with("<f4", &deep)),
            ("short data", with("<f4", "(2,)")),
            ("long data", with("|u1", "(3,)")),
            ("negative", with("<f4", "(-1,)")),
            ("not a tuple", with("<f4", "(1)")),
            ("a list", with("<f4", "[1]")),
            ("nested", with("<f4", &"(".repeat(1000))),
            ("bool", file(1, &dictionary("|b1", "False", "(3,)"), &[0, 1, 2])),
            ("number for truth", file(1, &dictionary("|b1", "0", "(3,)"), &[0, 1, 1])),
            ("missing", file(1, "{'descr': '<f4', 'shape': (), }", &[0; 4])),
            ("twice", file(1, "{'shape': (), 'shape': (), }", &[0; 4])),
            ("unknown key", file(1, "{'shapes': (), }", &[0; 4])),
            ("open string", file(1, "{'shape", &[0; 4])),
            ("open dictionary", file(1, "{'shape': (),", &[0; 4])),
            ("more", file(1, &(dictionary("<f4", "False", "()") + "x"), &[0; 4])),
        ];
        let lines = cases.iter().map(|(name, bytes)| match read(bytes) {
            Ok(tensor) => format!("{name}: read {tensor:?}\n"),
            Err(error) => format!("{name}: {error}\n"),
        });
        expect![[r#"
            empty: not a `.npy` file
            another file: not a `.npy` file
            only magic: not a `.npy` file
            no length: not a `.npy` file
            cut header: not a `.npy` file
            version: unknown `.npy` version 4.0
            long header: malformed `.npy` header: 4294967295 bytes are more than 65536
            not text: malformed `.npy` header: it is not text
            big endian: unsupported `.npy` dtype `>f4`, expected one of `|b1`, `|u1`, `<u4`, `<i4`, `<i8`, `<f4`, `<f8`, `<c8`, `<c16`
            half: unsupported `.npy` dtype `<f2`, expected one of `|b1`, `|u1`, `<u4`, `<i4`, `<i8`, `<f4`, `<f8`, `<c8`, `<c16`
            long dtype: unsupported `.npy` dtype `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...`, expected one of `|b1`, `|u1`, `<u4`, `<i4`, `<i8`, `<f4`, `<f8`, `<c8`, `<c16`
            control characters: unsupported `.npy` dtype `\u{1b}[2J`, expected one of `|b1`, `|u1`, `<u4`, `<i4`, `<i8`, `<f4`, `<f8`, `<c8`, `<c16`
            structured: unsupported `.npy` dtype `[('a', [[[[`, expected one of `|b1`, `|u1`, `<u4`, `<i4`, `<i8`, `<f4`, `<f8`, `<c8`, `<c16`
            overflow: shape [18446744073709551615,18446744073709551615] is too large
            overflow behind an empty axis: shape [0,18446744073709551615,18446744073709551615] is too large
            large: expected 4000000000000 bytes of data, found 4
            beyond usize: malformed `.npy` header: expected a size, found `99999999999999999999999, ), }`
            deep: rank 65 is above 64
            short data: expected 8 bytes of data, found 4
            long data: expected 3 bytes of data, found 4
            negative: malformed `.npy` header: expected a size, found `-1,), }`
            not a tuple: malformed `.npy` header: the shape is not a tuple
            a list: malformed `.npy` header: expected `(`, found `[1], }`
            nested: malformed `.npy` header: expected a size, found `((((((((((((((((((((((((((((((((((((((((...`
            bool: expected 0 or 1 as a truth value, found 2
            number for truth: malformed `.npy` header: expected `True` or `False`, found `0, 'shape': (3,), }`
            missing: malformed `.npy` header: `fortran_order` is missing
            twice: malformed `.npy` header: `shape` is given twice
            unknown key: malformed `.npy` header: unknown key `shapes`
            open string: malformed `.npy` header: a string does not end
            open dictionary: malformed `.npy` header: expected a string, found the end
            more: malformed `.npy` header: expected the end, found `x`
        "#]].assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn files() {
        let path = std::env::temp_dir().join(format!("tracewell-npy-{}.npy", std::process::id()));
        let tensor = Tensor::from_vec(vec![true, false, true], [3, 1]).expect("three elements");
        save(&path, &tensor).expect("a writable place");
        let again = load(&path);
        fs::remove_file(&path).expect("our own file");
        assert_eq!(again.expect("our own file"), tensor);
        let error = load("no/such/file.npy").expect_err("there is no such file");
        assert!(error.to_string().starts_with("`no/such/file.npy`: "), "{error}");
    }

    #[test]
    fn headers_of_high_rank() {
        // Beyond what is read, and beyond what version 1.0 can say; writing must not panic all the same.
        let tensor = Tensor::zeros(DType::U8, vec![1; 30_000]);
        let bytes = write(&tensor);
        assert_eq!(bytes[6], 2);
        assert_eq!((bytes.len() - 1) % ALIGN, 0);
        assert!(matches!(read(&bytes), Err(NpyError::Header(_))));
        let tensor = Tensor::zeros(DType::U8, vec![1; MAX_RANK]);
        assert_eq!(read(&write(&tensor)).expect("our own file"), tensor);
    }

    fn tensors() -> impl Strategy<Value = Tensor> {
        let shapes = proptest::collection::vec(0usize..5, 0..4);
        (proptest::sample::select(DType::ALL), shapes).prop_flat_map(|(dtype, sizes)| {
            let shape = Shape::from(sizes);
            proptest::collection::vec(any::<u128>(), shape.len()).prop_map(move |bits| {
                let literals: Vec<_> = bits.into_iter().map(|bits| Literal::from_bits(dtype, bits)).collect();
                Tensor::from_literals(dtype, &shape, &literals).expect("as many elements as the shape says")
            })
        })
    }

    proptest! {
        #[test]
        fn reads_what_it_writes(tensor in tensors()) {
            let bytes = write(&tensor);
            prop_assert_eq!((bytes.len() - tensor.size_bytes()) % ALIGN, 0);
            prop_assert_eq!(read(&bytes).expect("our own file"), tensor);
        }

        #[test]
        fn damage_never_panics(
            tensor in tensors(),
            damage in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<Option<proptest::sample::Index>>(),
        ) {
            let mut bytes = write(&tensor);
            for (at, byte) in damage {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
            if let Some(cut) = cut {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Ok(tensor) = read(&bytes) {
                prop_assert_eq!(read(&write(&tensor)).expect("our own file"), tensor);
            }
        }

        #[test]
        fn any_header_never_panics(header in "[{}()',:a-f0-9TrueFals L<f4\"]{0,60}", data: Vec<u8>) {
            let _ = read(&file(1, &header, &data));
        }
    }
}
