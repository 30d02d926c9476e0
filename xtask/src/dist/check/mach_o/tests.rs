use super::*;

/// What a made-up program has.
struct Made {
    library: &'static str,
    /// Which of its libraries the one symbol is in.
    library_of_symbol: u8,
    symbol: &'static str,
    is_signed: bool,
}

const GOOD: Made =
    Made { library: "/usr/lib/libSystem.B.dylib", library_of_symbol: 1, symbol: "_write", is_signed: true };

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

impl Made {
    /// A program of one page, with the load commands that matter.
    fn bytes(&self) -> Vec<u8> {
        let mut name = self.library.as_bytes().to_vec();
        name.resize(40, 0);
        let signature_at = 512;
        let mut commands = [
            words(&[0xc, 24 + 40, 24, 0, 0, 0]),
            name,
            words(&[0x32, 24, 1, 11 << 16, 0, 0]),
            words(&[0x2, 24, 400, 1, 440, 32]),
            words(&[0xb, 32, 0, 0, 0, 0, 0, 1]),
        ]
        .concat();
        if self.is_signed {
            commands.extend(words(&[0x1d, 16, signature_at, 100]));
        }
        let count = if self.is_signed { 5 } else { 4 };
        let mut made = words(&[0xfeed_facf, 0x0100_000c, 0, 2, count, commands.len() as u32, 0, 0]);
        made.extend(commands);
        made.resize(400, 0);
        made.extend(words(&[1]));
        made.extend([1, 0, 0, self.library_of_symbol]);
        made.resize(441, 0);
        made.extend(self.symbol.as_bytes());
        made.resize(signature_at as usize, 0);
        if self.is_signed {
            let digest = Sha256::digest(&made);
            let big =
                |values: &[u32]| values.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<u8>>();
            let end = u32::try_from(made.len()).expect("a small program");
            made.extend(big(&[0xfade_0cc0, 100, 1, 0, 20]));
            made.extend(big(&[0xfade_0c02, 80, 0x2_0400, 2, 44, 44, 0, 1, end]));
            made.extend([32, 2, 0, 12]);
            made.extend(big(&[0]));
            made.extend(digest);
        }
        made
    }
}

#[test]
fn a_program_that_macos_would_start() {
    let said = checked(&GOOD.bytes(), "arm64", &[]).expect("it is good");
    assert_eq!(said, "macOS 11.0 or later, 1 libraries of the system, 1 symbols bound, 1 pages signed");
}

#[test]
fn what_macos_would_refuse_is_refused() {
    let refused = |made: &Made| checked(&made.bytes(), "arm64", &[]).expect_err("it is not good").to_string();
    assert!(refused(&Made { library: "/opt/lib/libz.dylib", ..GOOD }).contains("/opt/lib/libz.dylib"));
    assert!(refused(&Made { library_of_symbol: 0xfe, ..GOOD }).contains("no library defines `_write`"));
    assert!(refused(&Made { library_of_symbol: 2, ..GOOD }).contains("no library defines `_write`"));
    assert!(refused(&Made { is_signed: false, ..GOOD }).contains("not signed"));
    let mut changed = GOOD.bytes();
    changed[300] ^= 1;
    assert!(checked(&changed, "arm64", &[]).expect_err("it was changed").to_string().contains("page 0"));
    assert!(checked(&GOOD.bytes(), "x64", &[]).is_err(), "another processor");
}

#[test]
fn a_module_may_leave_to_python_what_is_pythons() {
    let module = |symbol| {
        let made = Made { library_of_symbol: 0xfe, symbol, ..GOOD };
        checked(&made.bytes(), "arm64", &["_Py"])
    };
    assert!(module("_PyErr_Print").is_ok());
    assert!(module("_write").is_err());
}
