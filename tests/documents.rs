//! `gridbench render --into` and `diff --page` as their users meet them: documents in every format,
//! what is written and what is left alone, exit codes.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder with documents.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(documents: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in documents {
            fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn inode(&self, name: &str) -> u64 {
        fs::metadata(self.path(name)).unwrap().ino()
    }

    fn gridbench(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gridbench"));
        command.args(arguments).current_dir(self.0.path()).output().unwrap()
    }

    /// Exit code and standard error of `gridbench render`.
    fn render(&self, arguments: &[&str]) -> (i32, String) {
        let output = self.gridbench(&[&["render"], arguments].concat());
        assert!(output.stdout.is_empty(), "nothing was asked for on standard output");
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    }
}

const FULL: &str = "tdsql-c-2025-12/full-cache";

fn pair(open: &str, close: &str, words: &str) -> String {
    let line = |words: &str| format!("{open} gridbench:{words} {close}").trim_end().to_owned();
    format!("{}\n{}\n", line(&format!("table {words}")), line("end"))
}

#[test]
fn documents_of_every_format_are_filled_once_and_then_left_alone() {
    let words = format!("{FULL} scenario=write-only caption=yes");
    let documents = [
        ("a.md", pair("<!--", "-->", &words), "| 88-core 710 GB |       1500 |"),
        ("b.mdx", pair("{/*", "*/}", &words), "| 88-core 710 GB |       1500 |"),
        ("c.rst", pair("..", "", &words), "   * - 88-core 710 GB\n     - 1500\n"),
        (
            "d.html",
            pair("<!--", "-->", &words),
            "<th scope=\"row\">88-core 710 GB</th><td>1500</td>",
        ),
    ];
    let texts: Vec<_> = documents.iter().map(|(name, text, _)| (*name, text.as_str())).collect();
    let folder = Folder::new(&texts);
    let into: Vec<&str> = ["--into"].into_iter().chain(documents.iter().map(|d| d.0)).collect();
    let check: Vec<&str> = into.iter().copied().chain(["--check"]).collect();

    let (code, words) = folder.render(&check);
    assert_eq!(code, 5, "{words}");
    assert!(words.contains("c.rst: stale") && words.contains("+   * - 2-core 4 GB\n"), "{words}");
    assert_eq!(folder.read("a.md"), documents[0].1, "a check writes nothing");

    let (code, words) = folder.render(&into);
    assert_eq!((code, words.matches("wrote ").count()), (0, 4), "{words}");
    for (name, _, row) in &documents {
        let text = folder.read(name);
        assert!(text.contains(row) && text.contains("As published by Tencent"), "{text}");
    }
    let (inode, text) = (folder.inode("a.md"), folder.read("a.md"));
    let (code, words) = folder.render(&into);
    assert_eq!((code, words.matches("as it was").count()), (0, 4), "{words}");
    assert_eq!((folder.inode("a.md"), folder.read("a.md")), (inode, text), "nothing is written");
    assert_eq!(folder.render(&check).0, 0);
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 4, "no temporary file is left");
}

#[test]
fn a_fault_in_one_document_leaves_every_document_as_it_is() {
    let good = pair("<!--", "-->", FULL);
    let bad = format!(
        "# Results\n\n{}{}{}",
        pair("<!--", "-->", "tdsql-c-2025-12/full-cach"),
        pair("<!--", "-->", &format!("{FULL} scenario=write-onl")),
        pair("<!--", "-->", &format!("{FULL} template=tdsqlc")),
    );
    let unbalanced = format!("<!-- gridbench:table {FULL} senario=x -->\n<!-- gridbench:end -->\n");
    let folder = Folder::new(&[("good.md", &good), ("bad.md", &bad), ("keys.html", &unbalanced)]);
    let (code, words) = folder.render(&["--into", "good.md", "bad.md", "keys.html"]);
    assert_eq!(code, 2, "{words}");
    for told in [
        "bad.md:3: there is no run or baseline named `tdsql-c-2025-12/full-cach`; did you mean \
         `tdsql-c-2025-12/full-cache`?",
        "bad.md:5: tdsql-c-2025-12/full-cache has no scenario `write-onl`; it has ",
        "did you mean `write-only`?",
        "bad.md:7: there is no built-in table `tdsqlc`; there are tdsql-c",
        "keys.html:1: there is no key `senario`; there are scenario, template, lang, caption; \
         did you mean `scenario`?",
        "keys.html:2: `gridbench:end` without a `gridbench:table` or `gridbench:chart` before it",
    ] {
        assert!(words.contains(told), "no {told:?} in:\n{words}");
    }
    assert_eq!(folder.read("good.md"), good);
}

#[test]
fn what_is_no_document_is_refused_and_what_has_no_marker_is_said() {
    let folder = Folder::new(&[("page.txt", "x"), ("plain.md", "# Plain\r\n")]);
    fs::write(folder.path("bytes.md"), b"\xff\xfe").unwrap();
    for (name, told) in [
        ("page.txt", "page.txt: a document's name ends in .md"),
        ("bytes.md", "bytes.md: it is not UTF-8 text"),
        ("missing.md", "missing.md: No such file"),
    ] {
        let (code, words) = folder.render(&["--into", name]);
        assert!(code == 2 && words.to_lowercase().contains(&told.to_lowercase()), "{words}");
    }
    let (code, words) = folder.render(&["--into", "plain.md", "--check"]);
    assert_eq!((code, words.as_str()), (0, "plain.md: it has no marker\n"));
    for wrong in [&["--check"][..], &[FULL, "--into", "plain.md"], &["--into", "x.md", "--model"]] {
        assert_eq!(folder.render(wrong).0, 2);
    }
}

#[test]
fn a_document_keeps_its_bytes_its_rights_and_its_link() {
    let text = format!(
        "\u{feff}# A\r\n\r\n- b\r\n  <!-- gridbench:table {FULL} scenario=write-only -->\r\nold\r\n\
         \t<!-- gridbench:end -->\r\n```\n<!-- gridbench:tabel -->\n```\nno end of line"
    );
    let folder = Folder::new(&[("real.md", &text)]);
    fs::set_permissions(folder.path("real.md"), fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink("real.md", folder.path("link.md")).unwrap();
    assert_eq!(folder.render(&["--into", "link.md"]).0, 0);
    assert!(folder.path("link.md").is_symlink());
    let mode = fs::metadata(folder.path("real.md")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
    let filled = folder.read("real.md");
    let (before, after) = text.split_once("old\r\n").unwrap();
    let inner = filled.strip_prefix(before).unwrap().strip_suffix(after).unwrap();
    let lines: Vec<&str> = inner.split_inclusive('\n').collect();
    assert_eq!(lines.len(), 18);
    assert!(lines.iter().all(|line| line.ends_with("\r\n")));
    assert!(lines[1..17].iter().all(|line| line.starts_with("  | ")), "{inner}");
}

#[test]
fn a_template_is_looked_for_beside_its_document() {
    let words = format!("{FULL} scenario=write-only template=parts/own.md");
    let folder = Folder::new(&[]);
    fs::create_dir_all(folder.path("docs/parts")).unwrap();
    fs::write(folder.path("docs/parts/own.md"), "{{ scenarios[0].rows[13].qps_milli | rate }}\n")
        .unwrap();
    fs::write(folder.path("docs/a.md"), pair("<!--", "-->", &words)).unwrap();
    assert_eq!(folder.render(&["--into", "docs/a.md"]).0, 0);
    assert!(folder.read("docs/a.md").contains("-->\n\n507327.18\n\n<!--"));
    fs::write(folder.path("docs/parts/own.md"), "<!-- gridbench:end -->\n").unwrap();
    let (code, words) = folder.render(&["--into", "docs/a.md"]);
    assert!(code == 2 && words.contains("docs/a.md:1: the template prints a marker"), "{words}");
}

#[test]
fn a_comparison_is_written_as_a_page_beside_what_it_prints() {
    let folder = Folder::new(&[("own.md", "{{ new.name }} / {{ old.name }}")]);
    let large = "tdsql-c-2025-12/large-dataset";
    let diff = |more: &[&str]| {
        let output = folder.gridbench(&[&["diff", large, FULL, "--format", "csv"], more].concat());
        (output.status.code().unwrap(), output.stdout, String::from_utf8(output.stderr).unwrap())
    };
    let (_, alone, _) = diff(&[]);
    for name in ["page.md", "page.html"] {
        let (code, stdout, stderr) = diff(&["--page", name]);
        assert_eq!((code, &stdout), (0, &alone), "{stderr}");
        assert!(stderr.contains(&format!("wrote {name}")), "{stderr}");
        assert_eq!(folder.read(name).matches("-core ").count(), 70);
    }
    assert_eq!(diff(&["--page", "own-page.md", "--template", "./own.md"]).0, 0);
    assert_eq!(folder.read("own-page.md"), format!("{large} / {FULL}\n"));
    for wrong in [
        &["--page", "page.txt"][..],
        &["--page", "page.html", "--template", "own.md"],
        &["--page", "page.md", "--template", "latency"],
        &["--template", "own.md"],
    ] {
        let (code, stdout, stderr) = diff(wrong);
        assert!(code == 2 && stdout.is_empty(), "{stderr}");
    }
}

#[test]
fn charts_stand_in_documents_of_every_format_and_go_stale_like_tables() {
    let words = format!("chart {FULL} kind=specs scenario=write-only");
    let documents = [
        ("a.md", format!("<!-- gridbench:{words} -->\n<!-- gridbench:end -->\n"), "<div style"),
        ("b.mdx", format!("{{/* gridbench:{words} */}}\n{{/* gridbench:end */}}\n"), "<img width"),
        ("c.rst", format!(".. gridbench:{words}\n.. gridbench:end\n"), ".. raw:: html"),
        ("d.html", format!("<!-- gridbench:{words} -->\n<!-- gridbench:end -->\n"), "<svg"),
    ];
    let folder = Folder::new(&documents.each_ref().map(|(name, text, _)| (*name, text.as_str())));
    let names = documents.each_ref().map(|(name, _, _)| *name);
    let (code, said) = folder.render(&[&["--into"], &names[..]].concat());
    assert_eq!(code, 0, "{said}");
    for (name, _, begin) in &documents {
        let text = folder.read(name);
        assert!(text.contains(begin), "{name}: {text}");
        assert!(*name == "b.mdx" || text.contains("88c710g"), "{name}: {text}");
    }
    let check = [&["--check", "--into"], &names[..]].concat();
    assert_eq!(folder.render(&check).0, 0);
    fs::write(folder.path("a.md"), folder.read("a.md").replace("88c710g", "99c710g")).unwrap();
    assert_eq!(folder.render(&check).0, 5);
}

#[test]
fn a_chart_that_cannot_be_drawn_is_told_with_its_line() {
    for (words, told) in [
        (format!("{FULL} kind=specs scenario=write"), "a.md:1: tdsql-c-2025-12/full-cache has no"),
        (format!("{FULL} kind=curv"), "a.md:1: `kind` of a chart is one of specs, curve, latency"),
        (FULL.to_owned(), "not `nothing`"),
        (format!("{FULL} kind=curve scenario=write-only"), "kind=curve trials at two"),
        (format!("{FULL} kind=specs template=x"), "there is no key `template`"),
    ] {
        let text = format!("<!-- gridbench:chart {words} -->\n<!-- gridbench:end -->\n");
        let folder = Folder::new(&[("a.md", &text)]);
        let (code, said) = folder.render(&["--into", "a.md"]);
        assert!(code == 2 && said.contains(told), "{words}: {said}");
        assert_eq!(folder.read("a.md"), text, "left as it was");
    }
}
