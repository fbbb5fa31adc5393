#![allow(clippy::print_stdout, clippy::print_stderr, missing_docs)]
fn main() {
    let mut options = p4cc_syntax::Options::default();
    let mut args = std::env::args().skip(1);
    let (mut out, mut info, mut path, mut fixed) = (None, None, None, None);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-I" => options.include_dirs.push(args.next().unwrap().into()),
            "-D" => {
                let d = args.next().unwrap();
                let (n, v) = d.split_once('=').unwrap_or((&d, "1"));
                options.defines.push((n.to_owned(), v.to_owned()));
            }
            "-o" => out = args.next(),
            "--p4info" => info = args.next(),
            "--fixed" => fixed = args.next(),
            other => path = Some(other.to_owned()),
        }
    }
    if let Some(prefix) = fixed {
        for chip in [p4cc_bfrt::schema::Chip::Tofino1, p4cc_bfrt::schema::Chip::Tofino2] {
            let text = p4cc_bfrt::schema::json::text(&p4cc_bfrt::schema::fixed(chip));
            std::fs::write(format!("{prefix}{}.json", chip.prefix()), text).unwrap();
        }
        return;
    }
    let path = path.unwrap();
    let (source, mut found) = p4cc_syntax::Source::load(std::path::Path::new(&path), &options);
    let (tree, more) = p4cc_syntax::parse(&source);
    found.extend(more);
    let (program, more) = p4cc_compile::compile(&tree);
    found.extend(more);
    let Some(program) = program else {
        eprintln!("{}", source.render(&found, false));
        std::process::exit(1);
    };
    let schema = p4cc_bfrt::schema::of_program(&program, p4cc_bfrt::schema::chip_of(&program)).unwrap();
    std::fs::write(out.unwrap(), p4cc_bfrt::schema::json::text(&schema)).unwrap();
    if let Some(info) = info {
        let made = p4cc_p4runtime::p4info(&program).unwrap();
        std::fs::write(info, p4cc_p4runtime::p4info_text(&made).unwrap()).unwrap();
    }
}
