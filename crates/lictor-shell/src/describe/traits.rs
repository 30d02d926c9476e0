//! Properties of a program that hold for every call, for analyses of whole lines: `is: takes-trees filters`.

/// Something that is true of every call of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trait {
    /// It takes whole trees into a file, a directory or its output.
    TakesTrees,
    /// It prints its files, or its input, unchanged or re-encoded.
    PrintsFiles,
    /// It prints a part of them.
    PrintsPart,
    /// It prints the lines in which it finds something.
    Searches,
    /// It searches a tree and prints no whole file of it.
    LooksThrough,
    /// It skips hidden files by default.
    SkipsHidden,
    /// It prints something about a file from which the file cannot be reconstructed.
    Measures,
    /// It only changes the form of what it reads, or picks from it.
    Filters,
    /// It keeps all of its input in memory before it prints.
    FillsMemory,
    /// It reads its input to the end and keeps little of it.
    ReadsToTheEnd,
    /// It keeps the lines of its files in memory one by one, however long they are.
    KeepsLines,
    /// It copies its files.
    CopiesFiles,
    /// It prints about as much as it reads.
    PassesOn,
    /// It is done at once: a loop around it does not wait.
    IsDoneAtOnce,
    /// It destroys its files.
    LosesFiles,
    /// It sends its files.
    SendsFiles,
    /// It changes its files.
    EditsInPlace,
    /// It is harmless with any arguments: it prints them, lists names or asks.
    IsHarmless,
}

impl Trait {
    /// All of them, by the names that descriptions use.
    pub const NAMED: [(&str, Self); 18] = [
        ("takes-trees", Self::TakesTrees),
        ("prints-files", Self::PrintsFiles),
        ("prints-part", Self::PrintsPart),
        ("searches", Self::Searches),
        ("looks-through", Self::LooksThrough),
        ("skips-hidden", Self::SkipsHidden),
        ("measures", Self::Measures),
        ("filters", Self::Filters),
        ("fills-memory", Self::FillsMemory),
        ("reads-to-the-end", Self::ReadsToTheEnd),
        ("keeps-lines", Self::KeepsLines),
        ("copies-files", Self::CopiesFiles),
        ("passes-on", Self::PassesOn),
        ("done-at-once", Self::IsDoneAtOnce),
        ("loses-files", Self::LosesFiles),
        ("sends-files", Self::SendsFiles),
        ("edits-in-place", Self::EditsInPlace),
        ("harmless", Self::IsHarmless),
    ];
}

/// A set of traits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Traits(pub u32);

impl Traits {
    /// The same with one more.
    #[must_use]
    pub fn with(self, more: Trait) -> Self {
        Self(self.0 | 1 << more as u32)
    }
}
