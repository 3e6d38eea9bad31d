//! What the fuzz targets share.

use std::io::Write as _;

use graven_ir::ExportedProgram;

/// An archive of these entries, stored.
pub fn pack(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = rawzip::ZipArchiveWriter::new(Vec::new());
    for (path, content) in entries {
        let (mut entry, config) = writer.new_file(*path).start().expect("memory takes all");
        let mut data = config.wrap(&mut entry);
        data.write_all(content).expect("memory takes all");
        let (_, descriptor) = data.finish().expect("memory takes all");
        entry.finish(descriptor).expect("memory takes all");
    }
    writer.finish().expect("memory takes all")
}

/// What holds for every program that was read: it prints, it is written unless something in it
/// has no form, and what is written is read as the same program.
///
/// That is compared from the second reading on: an archive of an older layout has no names for
/// some nodes, and a written one has.
pub fn check(program: &ExportedProgram) {
    let _ = graven_ir::text::fx(program);
    let _ = graven_ir::text::readable(program);
    let Ok(first) = graven_pt2::write_bytes(program) else {
        return;
    };
    let first = graven_pt2::read_bytes(first).expect("what graven writes, it reads");
    let second = graven_pt2::write_bytes(&first).expect("what was written once is written");
    let second = graven_pt2::read_bytes(second).expect("what graven writes, it reads");
    assert_eq!(graven_ir::text::fx(&first), graven_ir::text::fx(&second));
}
