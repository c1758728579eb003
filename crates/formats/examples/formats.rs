//! Prints the name of every format, one on a line.

fn main() {
    for format in firstlight_formats::registry::formats() {
        println!("{}", format.name());
    }
}
