//! Everything that can be wrong with an archive.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

pub use crate::pickle::PickleError;

/// Why an archive could not be read or written. Each message says what is wrong, where, and
/// what can be done about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Pt2Error {
    // ---- the file ----
    /// The file cannot be opened or mapped.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The output cannot be created or put in its place.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The target exists and is a folder or a device.
    #[error("{} is not a file; give the name of a file to write", path.display())]
    NotAFile {
        /// The target.
        path: PathBuf,
    },

    // ---- the zip archive ----
    /// There is no directory at the end.
    #[error(
        "not a zip archive, or one that was cut short: its directory is missing; write the \
         program again with torch.export.save"
    )]
    NotAnArchive {
        /// What the zip reader says.
        source: rawzip::Error,
    },
    /// The directory cannot be read.
    #[error("the archive's directory is damaged; write the program again")]
    Directory {
        /// What the zip reader says.
        source: rawzip::Error,
    },
    /// The directory has fewer or more entries than the archive says.
    #[error("the archive says that it has {claimed} entries, but has {found}; it is damaged")]
    EntryCount {
        /// What the end record says.
        claimed: u64,
        /// What was found.
        found: u64,
    },
    /// An entry's name could lead out of a folder that it is unpacked into.
    #[error(
        "the path `{path}` does not stay inside the archive; only plain relative paths are \
         allowed"
    )]
    PathLeavesArchive {
        /// The name.
        path: String,
    },
    /// A name that the format has no room for.
    #[error("the path of {} bytes is too long for a zip archive", path.len())]
    PathTooLong {
        /// The name.
        path: String,
    },
    /// Two entries have one name.
    #[error("the archive has two entries called `{path}`; it is ambiguous which one counts")]
    DuplicateEntry {
        /// The name.
        path: String,
    },
    /// An entry reaches beyond the end of the file.
    #[error("the entry `{path}` reaches beyond the end of the file; the file was cut short")]
    EntryOutsideFile {
        /// The entry.
        path: String,
    },
    /// An entry shares bytes with another one or with the directory.
    #[error("the entry `{path}` overlaps with another part of the archive; it is not trusted")]
    OverlappingEntries {
        /// The entry.
        path: String,
    },
    /// An entry is encrypted.
    #[error("the entry `{path}` is encrypted; store the archive without a password")]
    EncryptedEntry {
        /// The entry.
        path: String,
    },
    /// An entry is compressed in a way that graven does not know.
    #[error(
        "the entry `{path}` has the compression method {method}; only stored (0) and deflated \
         (8) entries can be read: pack the archive again with `zip -0`"
    )]
    CompressionMethod {
        /// The entry.
        path: String,
        /// The number of the method.
        method: u16,
    },
    /// An entry claims to hold far more than it could in honesty.
    #[error(
        "the entry `{path}` claims {size} bytes from {compressed} compressed ones; if that is \
         meant, pack the archive again with `zip -0`"
    )]
    ZipBomb {
        /// The entry.
        path: String,
        /// Bytes in the archive.
        compressed: u64,
        /// Bytes that it claims to hold.
        size: u64,
    },
    /// Deflated data is damaged.
    #[error("the entry `{path}` cannot be decompressed; the archive is damaged")]
    Inflate {
        /// The entry.
        path: String,
        /// What the decompressor says.
        source: io::Error,
    },
    /// An entry holds more or fewer bytes than the directory says.
    #[error("the entry `{path}` should hold {expected} bytes, but holds {actual}")]
    CorruptEntry {
        /// The entry.
        path: String,
        /// What the directory says.
        expected: u64,
        /// What was found.
        actual: u64,
    },
    /// An entry's bytes are not those that were written.
    #[error(
        "the entry `{path}` is damaged: its checksum is {actual:08x} and should be {expected:08x}"
    )]
    Checksum {
        /// The entry.
        path: String,
        /// What the directory says.
        expected: u32,
        /// What was computed.
        actual: u32,
    },
    /// Writing an entry failed.
    #[error("cannot write the entry `{path}`")]
    WriteEntry {
        /// The entry.
        path: String,
        /// What the operating system says.
        source: io::Error,
    },

    // ---- the layout ----
    /// A zip archive that torch.export.save did not write.
    #[error(
        "a zip archive, but not one of torch.export.save: it has neither `archive_format` nor \
         `serialized_exported_program.json`"
    )]
    NotAProgram,
    /// `archive_format` is not `pt2`.
    #[error("the archive's format is `{format}`; only `pt2` can be read")]
    ArchiveFormat {
        /// What `archive_format` says.
        format: String,
    },
    /// The weights were written on a machine with the other byte order.
    #[error(
        "the archive's bytes are in {order}-endian order; only little-endian archives can be \
         read: save the program on a little-endian machine"
    )]
    ByteOrder {
        /// What `byteorder` says.
        order: String,
    },
    /// An entry lies beside the archive's folder.
    #[error("the entry `{path}` is not in the archive's folder `{folder}`")]
    OutsideFolder {
        /// The entry.
        path: String,
        /// The folder.
        folder: String,
    },
    /// An entry that the program needs is not there.
    #[error("the archive has no entry `{path}`; it is incomplete")]
    MissingEntry {
        /// The entry.
        path: String,
    },
    /// The archive holds compiled code or pickles, but no program.
    #[error(
        "the archive holds no exported program (`models/*.json`); compiled packages have none: \
         export the model and save it with torch.export.save"
    )]
    NoModel,
    /// The archive holds several programs, none of them `model`.
    #[error("the archive holds several programs ({}), none called `model`", names.join(", "))]
    SeveralModels {
        /// What they are called.
        names: Vec<String>,
    },
    /// A file of the archive that has no place beside the others.
    #[error("the attachment `{path}` has the name of a file that the archive has already")]
    AttachmentInTheWay {
        /// Its path.
        path: String,
    },

    // ---- JSON ----
    /// Bytes that are no text.
    #[error("`{path}` is not UTF-8 text; the archive is damaged")]
    NotText {
        /// The entry.
        path: String,
        /// Where the text ends.
        source: std::str::Utf8Error,
    },
    /// JSON that is malformed, or does not follow the schema.
    #[error("`{path}` cannot be understood at line {}, column {}", source.line(), source.column())]
    Json {
        /// The entry.
        path: String,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A program of a later format.
    #[error(
        "the program has schema version {found_major}.{found_minor}{}, and this graven reads up \
         to {}.x: update graven, or save the program with an older torch",
        of_torch(torch_version),
        supported_major
    )]
    NewerSchema {
        /// The file's major version.
        found_major: u32,
        /// The file's minor version.
        found_minor: u32,
        /// The torch that wrote it, where it says so.
        torch_version: Option<String>,
        /// The greatest major version that is understood.
        supported_major: u32,
    },
    /// A program of a format before that of torch 2.5.
    #[error(
        "the program has schema version {found_major}.{found_minor}{}, and this graven reads \
         {}.x: load it with the torch that wrote it and save it with torch 2.5 or later",
        of_torch(torch_version),
        supported_major
    )]
    OlderSchema {
        /// The file's major version.
        found_major: u32,
        /// The file's minor version.
        found_minor: u32,
        /// The torch that wrote it, where it says so.
        torch_version: Option<String>,
        /// The major version that is understood.
        supported_major: u32,
    },

    // ---- the graph ----
    /// A node or output names a value that no earlier node makes.
    #[error(
        "{user} reads `{value}`, which no node before it makes{}",
        if *defined_later { ": it is made later, so the graph has a cycle or is out of order" } else { "" }
    )]
    MissingValue {
        /// What reads it: `node `add`` or `the output`.
        user: String,
        /// The name.
        value: String,
        /// Whether a later node makes it.
        defined_later: bool,
    },
    /// Two nodes have one name.
    #[error("two nodes are called `{name}`; each name can be given once")]
    DuplicateName {
        /// The name.
        name: String,
    },
    /// The tables of values say nothing, or two things, of a value.
    #[error("the graph's tables of values have {count} entries for `{name}`; there has to be one")]
    ValueEntries {
        /// The value.
        name: String,
        /// How many there are.
        count: usize,
    },
    /// A result of a node has a form that no operator gives.
    #[error("the node `{node}` has a result of a form that nodes do not have")]
    ResultForm {
        /// The node.
        node: String,
    },
    /// An input of a graph has a form that graphs do not have.
    #[error("input {position} of a graph has a form that inputs do not have")]
    InputForm {
        /// Its position.
        position: usize,
    },
    /// Signature and graph have different numbers of inputs or outputs.
    #[error(
        "the signature has {signature} {what}, but the graph has {graph}; they have to correspond"
    )]
    SignatureLength {
        /// `inputs` or `outputs`.
        what: &'static str,
        /// How many specs there are.
        signature: usize,
        /// How many the graph has.
        graph: usize,
    },
    /// Signature and graph name different values at one place.
    #[error("{what} {position} is `{graph}` in the graph, but `{signature}` in the signature")]
    SignatureName {
        /// `input` or `output`.
        what: &'static str,
        /// The place.
        position: usize,
        /// The signature's name.
        signature: String,
        /// The graph's name.
        graph: String,
    },
    /// A graph is too large for 32-bit ids.
    #[error("a graph with more than 2^32 nodes cannot be held")]
    TooManyNodes,

    // ---- state ----
    /// An input is to be a parameter, buffer or constant that the archive does not hold.
    #[error("the input `{input}` stands for `{target}`, which the archive does not hold")]
    MissingState {
        /// The placeholder.
        input: String,
        /// The dotted name.
        target: String,
    },
    /// One name is given to two entries of the state.
    #[error("the archive holds two tensors called `{name}`")]
    DuplicateState {
        /// The dotted name.
        name: String,
    },
    /// The bytes of a tensor are fewer than its metadata needs.
    #[error(
        "`{name}` needs {needed} bytes by its metadata, but `{path}` holds {actual}; the archive \
         was cut short or its metadata is wrong"
    )]
    ShortTensor {
        /// The dotted name.
        name: String,
        /// The entry.
        path: String,
        /// What its geometry reaches to.
        needed: u64,
        /// What there is.
        actual: u64,
    },
    /// The geometry of a tensor in the state is no geometry.
    #[error("the metadata of `{name}` is wrong: {reason}")]
    StateMeta {
        /// The dotted name.
        name: String,
        /// What is wrong.
        reason: &'static str,
    },

    /// A pickle that is damaged, or holds more than tensors.
    #[error("the pickle in `{path}` cannot be read")]
    Pickle {
        /// The entry.
        path: String,
        /// What is wrong with it.
        source: PickleError,
    },
    /// A pickle that is something else than a mapping from names to tensors.
    #[error(
        "the pickle in `{path}` is no mapping from names to tensors; load the program with torch \
         and save it with a current release"
    )]
    NotTensors {
        /// The entry.
        path: String,
    },

    // ---- what cannot be written ----
    /// A change of shape that torch's signature cannot express.
    #[error(
        "`{operator}` changes the shape or strides of the input `{input}`{}; torch's signature \
         cannot say so, so no archive can be written: keep that input's shape in the model, or \
         use the program from the library, which carries the change",
        at(source_line)
    )]
    MetadataMutation {
        /// The placeholder.
        input: String,
        /// The operator.
        operator: String,
        /// Where in the model's source.
        source_line: Option<String>,
    },
    /// An argument that the archive has no form for.
    #[error("{user} has an argument that an archive cannot hold: {form}")]
    ArgumentForm {
        /// What has it.
        user: String,
        /// What is wrong with it.
        form: &'static str,
    },
    /// A node whose value the archive has no form for, or that lacks one.
    #[error("the value of the node `{node}` cannot be written: {reason}")]
    ValueForm {
        /// The node.
        node: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Text kept from an archive that is no JSON.
    #[error("the field `{field}` should hold JSON text, but does not")]
    NotJson {
        /// The field.
        field: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// An entry of the state whose storage the program does not have.
    #[error("`{name}` is part of the state, but the program has no bytes for it")]
    StateWithoutBytes {
        /// The dotted name.
        name: String,
    },
    /// A tensor without metadata in the state.
    #[error("`{name}` is to be written as plain bytes, but has no metadata")]
    StateWithoutMeta {
        /// The dotted name.
        name: String,
    },
}

fn of_torch(version: &Option<String>) -> String {
    version
        .as_ref()
        .map(|version| format!(" (torch {version})"))
        .unwrap_or_default()
}

fn at(line: &Option<String>) -> String {
    line.as_ref()
        .map(|line| format!(" at {line}"))
        .unwrap_or_default()
}
