//! A fast pre-check whether a text may contain a secret: one table lookup per byte. Most records contain none.

/// Three-character substrings, case-insensitive, one or more for each kind of secret. A text without any of them
/// contains no secret.
const HINTS: &[&[u8; 3]] = &[
    // Names: password and passwd, passphrase, _pass, _pwd, secret, token, …key, credentials, authorization.
    b"ssw", b"ssp", b"_pa", b"pwd", b"ecr", b"oke", b"key", b"ede", b"riz",
    // Login commands.
    b"ogi", // Headers: cookie; Bearer, Basic.
    b"oki", b"rer", b"sic", // `pass:…` of openssl, and what is piped into `chpasswd`.
    b"ss:", // What a prompt is given to read: `kinit <<< x`. How SQL gives a password: `IDENTIFIED BY 'x'`.
    b"<<<", b"tif",
    // -storepass, -keypass; vault, `add_user`, snmpget, ssh-keygen, wpa_passphrase and their like.
    b"epa", b"ypa", b"vau", b"dd_", b"snm", b"_au",
    // Tokens: ghp_, gho_, ghu_, ghs_, ghr_, github_pat_, glpat-, sk-, sk_live_ and rk_live_, xox?-. Not `sk_`,
    // which occurs in every record of a stopped action (`risk_after`).
    b"hp_", b"ho_", b"hu_", b"hs_", b"hr_", b"ub_", b"lpa", b"sk-", b"k_l", b"xox",
    // AKIA, ASIA, AIza, npm_, pypi-, hf_, eyJ.
    b"aki", b"sia", b"aiz", b"pm_", b"pi-", b"hf_", b"eyj", // The first line of a private key.
    b"---",
    // Login calls, and `--auth`; signatures in URLs; secret URLs (telegram: not `ram`, which every record with a
    // program has); `.pgpass`; short names.
    b"uth", b"sig", b"hoo", b"egr", b"gpa", b"jwt", b"otp", b"shp",
    // sqlplus, sqlldr, expdp, impdp, rman; xfreerdp; `unlock`, `obscure`, SecureString; what rar takes; `pw`.
    b"lpl", b"lld", b"pdp", b"rma", b"rdp", b"unl", b"bsc", b"ecu", b"-hp",
];

/// The hints that occur in a text.
#[derive(Clone, Copy, Default)]
pub(super) struct Hints {
    /// Something that a secret has near it.
    pub(super) words: bool,
    /// The text has a word that looks like an option whose value may be a secret.
    pub(super) options: bool,
}

/// The letters of short options that may take or announce a secret (`-p`, `-u`, `-S`), in either case.
const SHORT: &[u8] = b"abkpstuw";
/// The first letters of long options that may take one: `--user`, `--proxy-user`, `--auth`, `--pass`. Other long
/// options contain the name of a secret.
const LONG: &[u8] = b"apu";

/// The class of each byte for [`HINTS`], in five bits: a letter (case-insensitive), one of their other
/// characters, an `@`, or none.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        #[expect(clippy::indexing_slicing, reason = "as many entries as a byte has values")]
        {
            classes[byte as usize] = match byte.to_ascii_lowercase() {
                letter @ b'a'..=b'z' => letter - b'a' + 1,
                b'_' => 27,
                b'-' => DASH,
                b':' => 29,
                b'@' => AT,
                b'<' => 31,
                _ => 0,
            };
        }
        if byte == u8::MAX {
            break classes;
        }
        byte += 1;
    }
};

const DASH: u8 = 28;
const AT: u8 = 30;
/// Three classes in a row.
const THREE: usize = 1 << 15;

const WORDS: u8 = 1;
const OPTIONS: u8 = 2;

#[expect(clippy::indexing_slicing, reason = "as many entries as a byte has values")]
const fn class(byte: u8) -> u8 {
    CLASSES[byte as usize]
}

/// Where [`SIGNS`] has three classes in a row.
const fn place_of(one: u8, two: u8, three: u8) -> usize {
    (one as usize) << 10 | (two as usize) << 5 | three as usize
}

/// The meaning of each sequence of three classes. Every byte of every record is looked up here.
static SIGNS: [u8; THREE] = {
    let mut signs = [0; THREE];
    let mut place = 0;
    #[expect(clippy::indexing_slicing, reason = "five bits for each of three characters")]
    while place < THREE {
        // A password in a URL is followed by an `@`.
        if place & 0x1f == AT as usize {
            signs[place] |= WORDS;
        }
        place += 1;
    }
    let mut hint = 0;
    #[expect(clippy::indexing_slicing, reason = "five bits for each of three characters")]
    while hint < HINTS.len() {
        let [one, two, three] = HINTS[hint];
        signs[place_of(class(*one), class(*two), class(*three))] |= WORDS;
        hint += 1;
    }
    // The byte before the dash is neither a letter nor one of the hint characters. A digit is neither, and only
    // causes a full scan.
    let mut letter = 0;
    #[expect(clippy::indexing_slicing, reason = "five bits for each of three characters")]
    while letter < SHORT.len() {
        signs[place_of(0, DASH, class(SHORT[letter]))] |= OPTIONS;
        letter += 1;
    }
    let mut letter = 0;
    #[expect(clippy::indexing_slicing, reason = "five bits for each of three characters")]
    while letter < LONG.len() {
        signs[place_of(DASH, DASH, class(LONG[letter]))] |= OPTIONS;
        letter += 1;
    }
    signs
};

impl Hints {
    /// Everything has to be searched for.
    #[cfg(test)]
    const ALL: Self = Self { words: true, options: true };

    /// The hints in this text.
    pub(super) fn of(text: &str) -> Self {
        let (mut signs, mut last_three) = (0, 0);
        for byte in text.bytes() {
            let class = usize::from(CLASSES.get(usize::from(byte)).copied().unwrap_or_default());
            last_three = (last_three << 5 | class) % THREE;
            signs |= SIGNS.get(last_three).copied().unwrap_or_default();
        }
        Self { words: signs & WORDS != 0, options: signs & OPTIONS != 0 }
    }
}

#[cfg(test)]
mod tests;
