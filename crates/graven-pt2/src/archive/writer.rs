//! Writing: entries stored and placed as torch places them.
//!
//! rawzip writes sound archives, but chooses the flags itself; torch sets the same two bits on
//! each entry that has data (a data descriptor follows, the name is UTF-8) and writes the 64-bit end records
//! always. The records are few, so they are written here.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use graven_ir::state::ByteSource;
use tempfile::NamedTempFile;

use super::check_path;
use crate::error::Pt2Error;

/// The name is UTF-8.
const UTF8: u16 = 0x0800;

/// Sizes and CRC stand behind the data.
const DESCRIPTOR: u16 = 0x0008;

/// Where the data of each entry begins: at a multiple of this.
const ALIGNMENT: u64 = 64;

/// The largest value of a 32-bit field; it says that the value stands in the 64-bit record.
const MAX_32: u64 = u32::MAX as u64;

/// The extra field that torch pads with, and what it fills it with.
const PADDING_FIELD: &[u8; 2] = b"FB";
const PADDING_BYTE: u8 = b'Z';

/// The extra field of 64-bit sizes.
const ZIP64_FIELD: u16 = 1;

/// What an archive is written to.
pub(crate) trait Sink: Write {
    /// Writes the bytes of `source`.
    fn put(&mut self, source: &dyn ByteSource) -> io::Result<()> {
        self.write_all(source.bytes())
    }
}

impl Sink for Vec<u8> {}

impl Sink for BufWriter<&mut fs::File> {
    fn put(&mut self, source: &dyn ByteSource) -> io::Result<()> {
        // From this length on it pays to let the operating system copy from file to file.
        const LONG: usize = 1 << 20;
        if source.bytes().len() < LONG {
            return self.write_all(source.bytes());
        }
        self.flush()?;
        source.copy_to(self.get_mut())
    }
}

/// Writes one archive.
pub(crate) struct Writer<W> {
    out: W,
    /// Bytes written so far.
    offset: u64,
    folder: String,
    directory: Vec<u8>,
    entries: u64,
}

impl<W: Sink> Writer<W> {
    /// An archive whose entries stand in the folder `folder`.
    pub(crate) fn new(out: W, folder: &str) -> Self {
        Self {
            out,
            offset: 0,
            folder: folder.to_owned(),
            directory: Vec::new(),
            entries: 0,
        }
    }

    /// Adds an entry. Its bytes are handed to the operating system as they are; they are read
    /// here only when nobody knows their checksum.
    pub(crate) fn add(&mut self, path: &str, content: &dyn ByteSource) -> Result<(), Pt2Error> {
        let bytes = content.bytes();
        let entry = Entry {
            flags: flags(bytes.len() as u64),
            size: bytes.len() as u64,
            crc32: content
                .known_crc32()
                .unwrap_or_else(|| crc32fast::hash(bytes)),
            ..self.begin(path)?
        };
        self.local_header(&entry)
            .and_then(|()| self.out.put(content))
            .and_then(|()| {
                self.offset += entry.size;
                self.end(&entry)
            })
            .map_err(|source| failed(path, source))
    }

    /// Adds an entry whose bytes `fill` writes.
    pub(crate) fn add_stream(
        &mut self,
        path: &str,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), Pt2Error>,
    ) -> Result<(), Pt2Error> {
        let entry = self.begin(path)?;
        self.local_header(&entry)
            .map_err(|source| failed(path, source))?;
        let mut summing = Summing {
            out: &mut self.out,
            hasher: crc32fast::Hasher::new(),
            size: 0,
        };
        fill(&mut summing)?;
        let entry = Entry {
            size: summing.size,
            crc32: summing.hasher.finalize(),
            ..entry
        };
        self.offset += entry.size;
        self.end(&entry).map_err(|source| failed(path, source))
    }

    /// What is known of an entry before its bytes are.
    fn begin(&self, path: &str) -> Result<Entry, Pt2Error> {
        check_path(path)?;
        let name = format!("{}/{path}", self.folder);
        let name_length = u16::try_from(name.len()).map_err(|_| Pt2Error::PathTooLong {
            path: path.to_owned(),
        })?;
        Ok(Entry {
            name,
            name_length,
            header_offset: self.offset,
            flags: UTF8 | DESCRIPTOR,
            size: 0,
            crc32: 0,
        })
    }

    /// What follows after the bytes of an entry.
    fn end(&mut self, entry: &Entry) -> io::Result<()> {
        if entry.flags & DESCRIPTOR != 0 {
            self.descriptor(entry)?;
        }
        self.directory_record(entry);
        self.entries += 1;
        Ok(())
    }

    /// Writes the directory and hands back the output.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let directory_offset = self.offset;
        let directory = std::mem::take(&mut self.directory);
        let directory_size = directory.len() as u64;
        self.put(&directory)?;
        let end64_offset = self.offset;
        let mut end = Vec::new();
        // The end record with 64-bit fields, and its locator.
        end.extend_from_slice(b"PK\x06\x06");
        end.extend_from_slice(&44_u64.to_le_bytes());
        end.extend_from_slice(&[0x1e, 0x03, 0x2d, 0]);
        end.extend_from_slice(&[0; 8]);
        for field in [self.entries, self.entries, directory_size, directory_offset] {
            end.extend_from_slice(&field.to_le_bytes());
        }
        end.extend_from_slice(b"PK\x06\x07");
        end.extend_from_slice(&[0; 4]);
        end.extend_from_slice(&end64_offset.to_le_bytes());
        end.extend_from_slice(&1_u32.to_le_bytes());
        // The end record that every reader knows.
        end.extend_from_slice(b"PK\x05\x06");
        end.extend_from_slice(&[0; 4]);
        let entries = u16::try_from(self.entries).unwrap_or(u16::MAX);
        end.extend_from_slice(&entries.to_le_bytes());
        end.extend_from_slice(&entries.to_le_bytes());
        end.extend_from_slice(&low_32(directory_size));
        end.extend_from_slice(&low_32(directory_offset));
        end.extend_from_slice(&[0; 2]);
        self.put(&end)?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// The header before the data, padded so that the data begins at a multiple of 64.
    fn local_header(&mut self, entry: &Entry) -> io::Result<()> {
        let (name, size) = (&entry.name, entry.size);
        let mut extra = Vec::with_capacity(2 * ALIGNMENT as usize);
        if size >= MAX_32 {
            extra.extend_from_slice(&ZIP64_FIELD.to_le_bytes());
            extra.extend_from_slice(&16_u16.to_le_bytes());
            extra.extend_from_slice(&size.to_le_bytes());
            extra.extend_from_slice(&size.to_le_bytes());
        }
        const FIXED: u64 = 30;
        const FIELD_HEADER: u64 = 4;
        let unpadded = self.offset + FIXED + name.len() as u64 + extra.len() as u64 + FIELD_HEADER;
        let padding = unpadded.next_multiple_of(ALIGNMENT) - unpadded;
        extra.extend_from_slice(PADDING_FIELD);
        extra.extend_from_slice(&(padding as u16).to_le_bytes());
        extra.extend(std::iter::repeat_n(PADDING_BYTE, padding as usize));

        let mut header = Vec::with_capacity(FIXED as usize + name.len() + extra.len());
        header.extend_from_slice(b"PK\x03\x04");
        header.extend_from_slice(&[0; 2]);
        header.extend_from_slice(&entry.flags.to_le_bytes());
        // Method, time, date, CRC and sizes are all zero.
        header.extend_from_slice(&[0; 18]);
        header.extend_from_slice(&entry.name_length.to_le_bytes());
        header.extend_from_slice(&(extra.len() as u16).to_le_bytes());
        header.extend_from_slice(name.as_bytes());
        header.extend_from_slice(&extra);
        self.put(&header)
    }

    /// What stands behind the data.
    fn descriptor(&mut self, entry: &Entry) -> io::Result<()> {
        let size = entry.size;
        let mut record = Vec::with_capacity(24);
        record.extend_from_slice(b"PK\x07\x08");
        record.extend_from_slice(&entry.crc32.to_le_bytes());
        if size >= MAX_32 {
            record.extend_from_slice(&size.to_le_bytes());
            record.extend_from_slice(&size.to_le_bytes());
        } else {
            record.extend_from_slice(&low_32(size));
            record.extend_from_slice(&low_32(size));
        }
        self.put(&record)
    }

    fn directory_record(&mut self, entry: &Entry) {
        let (size, header_offset) = (entry.size, entry.header_offset);
        let mut wide = Vec::new();
        if size >= MAX_32 {
            wide.extend_from_slice(&size.to_le_bytes());
            wide.extend_from_slice(&size.to_le_bytes());
        }
        if header_offset >= MAX_32 {
            wide.extend_from_slice(&header_offset.to_le_bytes());
        }
        let out = &mut self.directory;
        out.extend_from_slice(b"PK\x01\x02");
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&entry.flags.to_le_bytes());
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(&entry.crc32.to_le_bytes());
        out.extend_from_slice(&low_32(size));
        out.extend_from_slice(&low_32(size));
        out.extend_from_slice(&entry.name_length.to_le_bytes());
        let extra_length = if wide.is_empty() { 0 } else { wide.len() + 4 };
        out.extend_from_slice(&(extra_length as u16).to_le_bytes());
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(&low_32(header_offset));
        out.extend_from_slice(entry.name.as_bytes());
        if !wide.is_empty() {
            out.extend_from_slice(&ZIP64_FIELD.to_le_bytes());
            out.extend_from_slice(&(wide.len() as u16).to_le_bytes());
            out.extend_from_slice(&wide);
        }
    }
}

/// What torch says of an entry. One without data has no descriptor behind it.
fn flags(size: u64) -> u16 {
    if size == 0 { UTF8 } else { UTF8 | DESCRIPTOR }
}

fn failed(path: &str, source: io::Error) -> Pt2Error {
    Pt2Error::WriteEntry {
        path: path.to_owned(),
        source,
    }
}

/// What an archive says of an entry.
struct Entry {
    name: String,
    name_length: u16,
    header_offset: u64,
    flags: u16,
    size: u64,
    crc32: u32,
}

/// Counts and sums what is written through it.
struct Summing<'a, W> {
    out: &'a mut W,
    hasher: crc32fast::Hasher,
    size: u64,
}

impl<W: Write> Write for Summing<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hasher.update(bytes.get(..count).unwrap_or(bytes));
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A value of a 32-bit field, or the mark that it stands in the 64-bit record.
fn low_32(value: u64) -> [u8; 4] {
    u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes()
}

/// The top folder of an archive at `path`, as torch names it: the file's name without its
/// extension.
pub(crate) fn archive_name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = stem.replace(['\\', ':'], "_");
    if check_path(&name).is_ok() {
        name
    } else {
        "archive".to_owned()
    }
}

/// Writes a file beside `target` and puts it in the place of `target` when all of it is
/// written. Nothing remains of it otherwise.
pub(crate) fn write_file(
    target: &Path,
    fill: impl FnOnce(BufWriter<&mut fs::File>) -> Result<(), Pt2Error>,
) -> Result<(), Pt2Error> {
    let io = |source| Pt2Error::Write {
        path: target.to_owned(),
        source,
    };
    let target = &final_target(target)?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".graven-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What a file has that is created in the usual way; the umask applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file: NamedTempFile = builder.tempfile_in(folder).map_err(io)?;
    fill(BufWriter::with_capacity(1 << 20, file.as_file_mut()))?;
    file.persist(target).map_err(|error| io(error.error))?;
    Ok(())
}

/// The file that `target` leads to. Only files are replaced: not folders, not devices.
fn final_target(target: &Path) -> Result<PathBuf, Pt2Error> {
    match fs::canonicalize(target) {
        Ok(path) if path.is_file() => Ok(path),
        Ok(path) => Err(Pt2Error::NotAFile { path }),
        Err(_) => Ok(target.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Seek as _;

    use super::*;
    use crate::archive::{Archive, Bytes};

    fn written(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), "top");
        for (path, content) in entries {
            writer.add(path, &content.to_vec()).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_is_written_is_read_and_aligned() {
        let zip = written(&[("a", b"one"), ("folder/b", b""), ("c", &[7; 1000])]);
        let bytes = Bytes::new(zip.clone());
        let archive = Archive::open(&bytes).unwrap();
        let names: Vec<_> = archive.entries().map(|(path, _)| path).collect();
        assert_eq!(names, ["top/a", "top/folder/b", "top/c"]);
        for (path, entry) in archive.entries() {
            let content = entry.verified(path).unwrap();
            let place = content.as_ptr() as usize - bytes.as_slice().as_ptr() as usize;
            assert_eq!(place % 64, 0, "{path}");
        }
        assert_eq!(&zip[6..8], &[8, 8], "flags");
        assert_eq!(
            archive.get("top/c").unwrap().content().as_slice(),
            [7; 1000]
        );
    }

    /// A file in which long content is a hole.
    struct Sparse(fs::File);

    impl Write for Sparse {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    impl Sink for Sparse {
        fn put(&mut self, source: &dyn ByteSource) -> io::Result<()> {
            match i64::try_from(source.bytes().len()) {
                Ok(length) if length > 1 << 20 => self.0.seek_relative(length),
                _ => self.write_all(source.bytes()),
            }
        }
    }

    /// Bytes whose checksum nobody has to compute.
    #[derive(Debug)]
    struct Known(Bytes);

    impl ByteSource for Known {
        fn bytes(&self) -> &[u8] {
            self.0.bytes()
        }

        fn known_crc32(&self) -> Option<u32> {
            Some(7)
        }
    }

    #[test]
    fn entries_beyond_four_gigabytes() {
        let folder = tempfile::tempdir().unwrap();
        let hole = folder.path().join("hole");
        let size = (4_u64 << 30) + 5;
        fs::File::create(&hole).unwrap().set_len(size).unwrap();
        let content = Known(Bytes::map(&hole).unwrap());
        let path = folder.path().join("out.pt2");
        let mut writer = Writer::new(Sparse(fs::File::create(&path).unwrap()), "top");
        writer.add("large", &content).unwrap();
        writer.add("small", &b"after it".to_vec()).unwrap();
        writer.finish().unwrap();

        let archive = Archive::open(&Bytes::map(&path).unwrap()).unwrap();
        let large = archive.get("top/large").unwrap().content();
        assert_eq!(large.as_slice().len() as u64, size);
        assert_eq!(large.known_crc32(), Some(7));
        let small = archive.get("top/small").unwrap();
        assert_eq!(small.verified("small").unwrap(), b"after it");
    }

    #[test]
    fn the_folder_is_the_name_of_the_file() {
        assert_eq!(archive_name(Path::new("/a/b/model.v2.pt2")), "model.v2");
        assert_eq!(archive_name(Path::new("/")), "archive");
        assert_eq!(archive_name(Path::new("c:d.pt2")), "c_d");
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.pt2");
        fs::write(&target, "before").unwrap();
        let failed = write_file(&target, |_| {
            Err(Pt2Error::PathTooLong {
                path: String::new(),
            })
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert_eq!(fs::read(&target).unwrap(), b"before");
    }

    #[test]
    fn a_device_is_not_replaced() {
        assert!(matches!(
            write_file(Path::new("/dev/null"), |_| Ok(())),
            Err(Pt2Error::NotAFile { .. })
        ));
    }
}
