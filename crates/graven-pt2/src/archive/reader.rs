//! Reading: entries by their place in the central directory.
//!
//! Everything that an entry claims is checked when the archive is opened: its name, that its
//! bytes lie inside the file, that no two entries share bytes or a name. Stored entries are
//! then slices of the map; deflated ones are inflated at once, under a limit.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use graven_ir::state::ByteSource;
use indexmap::IndexMap;
use memmap2::Mmap;
use rawzip::{CompressionMethod, ZipArchive, ZipFileHeaderRecord, ZipSliceArchive};

use super::check_path;
use super::inflate::{ALL_ENTRIES_BYTES, inflate};
use super::map::{map_file, release};
use crate::error::Pt2Error;

/// Where bytes are kept.
enum Store {
    /// A file, and all of it in memory. The lock is for its cursor.
    Mapped(Mmap, Mutex<File>),
    Memory(Vec<u8>),
}

impl Store {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map, _) => map,
            Self::Memory(bytes) => bytes,
        }
    }
}

/// Part of a file or of memory, shared by all who hold it.
#[derive(Clone)]
pub(crate) struct Bytes {
    store: Arc<Store>,
    range: Range<usize>,
    crc32: Option<u32>,
}

impl Bytes {
    /// Bytes in memory.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self {
            range: 0..bytes.len(),
            store: Arc::new(Store::Memory(bytes)),
            crc32: None,
        }
    }

    /// Maps the file at `path`.
    pub(crate) fn map(path: &Path) -> Result<Self, Pt2Error> {
        let io = |source| Pt2Error::Read {
            path: path.to_owned(),
            source,
        };
        let file = File::open(path).map_err(io)?;
        let store = match map_file(&file).map_err(io)? {
            Some(map) => Store::Mapped(map, Mutex::new(file)),
            None => Store::Memory(Vec::new()),
        };
        Ok(Self {
            range: 0..store.bytes().len(),
            store: Arc::new(store),
            crc32: None,
        })
    }

    /// A part; `None` where it would reach outside.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<Self> {
        self.as_slice().get(range.clone())?;
        Some(Self {
            store: Arc::clone(&self.store),
            range: self.range.start + range.start..self.range.start + range.end,
            crc32: None,
        })
    }

    /// Says that a part is not needed soon: if it is mapped, it stops to count as memory.
    pub(crate) fn release(&self, part: Range<usize>) {
        if let Store::Mapped(map, _) = &*self.store
            && part.end <= self.range.len()
        {
            release(
                map,
                self.range.start + part.start..self.range.start + part.end,
            );
        }
    }

    /// The bytes.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.store.bytes().get(self.range.clone()).unwrap_or(&[])
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.range.len())
    }
}

impl ByteSource for Bytes {
    fn bytes(&self) -> &[u8] {
        self.as_slice()
    }

    fn known_crc32(&self) -> Option<u32> {
        self.crc32
    }

    fn copy_to(&self, file: &mut File) -> io::Result<()> {
        let Store::Mapped(_, source) = &*self.store else {
            return file.write_all(self.as_slice());
        };
        // A lock that was held in a panic guards nothing but a cursor, which is set anew.
        let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
        source.seek(SeekFrom::Start(self.range.start as u64))?;
        let length = self.range.len() as u64;
        let copied = io::copy(&mut (&*source).take(length), file)?;
        if copied < length {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file that it is copied from became shorter",
            ));
        }
        Ok(())
    }
}

/// One file of an archive.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    content: Bytes,
    crc32: u32,
}

impl Entry {
    /// An entry of no archive.
    pub(crate) fn new(content: Bytes) -> Self {
        Self {
            crc32: crc32fast::hash(content.as_slice()),
            content,
        }
    }

    /// The content, unread: what the directory says of its checksum is not checked.
    pub(crate) fn content(&self) -> &Bytes {
        &self.content
    }

    /// The content, read and compared with its checksum.
    pub(crate) fn verified(&self, path: &str) -> Result<&[u8], Pt2Error> {
        let bytes = self.content.as_slice();
        let actual = crc32fast::hash(bytes);
        if actual != self.crc32 {
            return Err(Pt2Error::Checksum {
                path: path.to_owned(),
                expected: self.crc32,
                actual,
            });
        }
        Ok(bytes)
    }
}

impl Entry {
    /// The content as text, read and compared with its checksum.
    pub(crate) fn text(&self, path: &str) -> Result<&str, Pt2Error> {
        std::str::from_utf8(self.verified(path)?).map_err(|source| Pt2Error::NotText {
            path: path.to_owned(),
            source,
        })
    }
}

/// An opened archive.
#[derive(Debug)]
pub(crate) struct Archive {
    entries: IndexMap<String, Entry>,
}

impl Archive {
    /// Opens the archive that `bytes` hold.
    pub(crate) fn open(bytes: &Bytes) -> Result<Self, Pt2Error> {
        let zip = ZipArchive::from_slice(bytes.as_slice())
            .map_err(|source| Pt2Error::NotAnArchive { source })?;
        let mut opening = Opening {
            bytes,
            entries: IndexMap::new(),
            ranges: Vec::new(),
            inflated: 0,
        };
        let mut seen = 0_u64;
        for record in zip.entries() {
            let record = record.map_err(|source| Pt2Error::Directory { source })?;
            seen += 1;
            opening.add(&zip, &record)?;
        }
        // The count has 16 bits in archives without the 64-bit records.
        if seen & 0xffff != zip.entries_hint() & 0xffff {
            return Err(Pt2Error::EntryCount {
                claimed: zip.entries_hint(),
                found: seen,
            });
        }
        opening.refuse_overlaps(zip.directory_offset())?;
        Ok(Self {
            entries: opening.entries,
        })
    }

    /// The entry called `path`.
    pub(crate) fn get(&self, path: &str) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// All entries in the archive's order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries
            .iter()
            .map(|(path, entry)| (path.as_str(), entry))
    }
}

/// What is gathered while an archive is opened.
struct Opening<'a> {
    bytes: &'a Bytes,
    entries: IndexMap<String, Entry>,
    /// From local header to end of data, and the entry's position.
    ranges: Vec<(Range<u64>, usize)>,
    inflated: u64,
}

impl Opening<'_> {
    fn add(
        &mut self,
        zip: &ZipSliceArchive<&[u8]>,
        record: &ZipFileHeaderRecord<'_>,
    ) -> Result<(), Pt2Error> {
        let raw_path = record.file_path();
        let path = std::str::from_utf8(raw_path.as_bytes())
            .map_err(|_| Pt2Error::PathLeavesArchive {
                path: String::from_utf8_lossy(raw_path.as_bytes()).into_owned(),
            })?
            .to_owned();
        if let Some(folder) = path.strip_suffix('/') {
            // Other tools list folders; torch does not.
            return check_path(folder);
        }
        check_path(&path)?;
        if record.flags().is_encrypted() {
            return Err(Pt2Error::EncryptedEntry { path });
        }
        let outside = |_| Pt2Error::EntryOutsideFile { path: path.clone() };
        let located = zip.get_entry(record.wayfinder()).map_err(outside)?;
        let (start, end) = located.compressed_data_range();
        let size = record.uncompressed_size_hint();
        let crc32 = record.crc32();
        let mut content = match record.compression_method() {
            CompressionMethod::STORE if size != end - start => {
                return Err(Pt2Error::CorruptEntry {
                    path,
                    expected: size,
                    actual: end - start,
                });
            }
            CompressionMethod::STORE => usize::try_from(start)
                .ok()
                .zip(usize::try_from(end).ok())
                .and_then(|(start, end)| self.bytes.slice(start..end))
                .ok_or_else(|| Pt2Error::EntryOutsideFile { path: path.clone() })?,
            CompressionMethod::DEFLATE => self.inflate(&path, located.data(), size)?,
            method => {
                return Err(Pt2Error::CompressionMethod {
                    path,
                    method: method.as_u16(),
                });
            }
        };
        content.crc32 = Some(crc32);
        self.ranges
            .push((record.local_header_offset()..end, self.entries.len()));
        let entry = Entry { content, crc32 };
        if self.entries.insert(path.clone(), entry).is_some() {
            return Err(Pt2Error::DuplicateEntry { path });
        }
        Ok(())
    }

    fn inflate(&mut self, path: &str, compressed: &[u8], size: u64) -> Result<Bytes, Pt2Error> {
        self.inflated = self.inflated.saturating_add(size);
        if self.inflated > ALL_ENTRIES_BYTES {
            return Err(Pt2Error::ZipBomb {
                path: path.to_owned(),
                compressed: self.bytes.as_slice().len() as u64,
                size: self.inflated,
            });
        }
        Ok(Bytes::new(inflate(path, compressed, size)?))
    }

    /// Refuses entries that share bytes, with one another or with the directory.
    fn refuse_overlaps(&mut self, directory: u64) -> Result<(), Pt2Error> {
        self.ranges.sort_by_key(|(range, _)| range.start);
        let mut end = 0;
        for (range, position) in &self.ranges {
            if range.start < end || range.end > directory {
                let path = self
                    .entries
                    .get_index(*position)
                    .map(|(path, _)| path.clone())
                    .unwrap_or_default();
                return Err(Pt2Error::OverlappingEntries { path });
            }
            end = range.end;
        }
        Ok(())
    }
}
