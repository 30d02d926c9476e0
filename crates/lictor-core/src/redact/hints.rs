//! Whether a text may hold a secret at all: one look at each byte, for records that nearly never do.

/// What every secret has near it. Three characters in a row, letters of either case, stand for each shape; a text without
/// any of them holds none.
const HINTS: &[&[u8; 3]] = &[
    // Names: password and passwd, passphrase, _pass, _pwd, secret, token, …key, credentials, authorization.
    b"ssw", b"ssp", b"_pa", b"pwd", b"ecr", b"oke", b"key", b"ede", b"riz",
    // What logs in is given one.
    b"ogi", // Headers: cookie; Bearer, Basic.
    b"oki", b"rer", b"sic", // `pass:…` of openssl, and what is piped into `chpasswd`.
    b"ss:", // What a prompt is given to read: `kinit <<< x`. How SQL gives a password: `IDENTIFIED BY 'x'`.
    b"<<<", b"tif",
    // -storepass, -keypass; vault, `add_user`, snmpget, ssh-keygen, wpa_passphrase and their like.
    b"epa", b"ypa", b"vau", b"dd_", b"snm", b"_au",
    // Tokens: ghp_, gho_, ghu_, ghs_, ghr_, github_pat_, glpat-, sk-, sk_live_ and rk_live_, xox?-. Not `sk_`, which stands in
    // every record of something that was stopped (`risk_after`).
    b"hp_", b"ho_", b"hu_", b"hs_", b"hr_", b"ub_", b"lpa", b"sk-", b"k_l", b"xox",
    // AKIA, ASIA, AIza, npm_, pypi-, hf_, eyJ.
    b"aki", b"sia", b"aiz", b"pm_", b"pi-", b"hf_", b"eyj", // The first line of a private key.
    b"---",
];

/// What was seen in a text.
#[derive(Clone, Copy, Default)]
pub(super) struct Hints {
    /// Something that a secret has near it.
    pub(super) words: bool,
    /// A word that begins as an option behind which a program may take a secret.
    pub(super) options: bool,
}

/// The letters of short options that may take a secret or say that one comes (`-p`, `-u`, `-S`), in either case.
const SHORT: &[u8] = b"abkpsuw";
/// How long options begin that may: `--user`, `--proxy-user`, `--auth`, `--pass`. Others have the name of a secret in them.
const LONG: &[u8] = b"apu";

/// What a byte is to [`HINTS`]: a letter of either case, one of their marks, an `@`, or nothing, in five bits.
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

/// What each three classes in a row are a sign of: every byte of every record is looked up here.
static SIGNS: [u8; THREE] = {
    let mut signs = [0; THREE];
    let mut place = 0;
    #[expect(clippy::indexing_slicing, reason = "five bits for each of three characters")]
    while place < THREE {
        // A password in a URL stands before an `@`.
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
    // What is before a dash is no letter and no mark. A digit is neither, and only costs a closer look.
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

    /// What is in that text.
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
