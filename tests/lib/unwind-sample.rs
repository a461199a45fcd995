// unwind-sample: cleanups, catch_unwind and functions that may not unwind.
use std::panic;

struct Guard(u32);

impl Drop for Guard {
    fn drop(&mut self) {
        println!("drop {}", self.0);
    }
}

#[inline(never)]
fn deep(n: u32) -> u32 {
    let g = Guard(n);
    let v: Vec<u32> = (0..n).collect();
    if n > 6 {
        panic!("{}", v.len());
    }
    deep(n + 1) + v[g.0 as usize % v.len()]
}

extern "C" fn never(n: u32) -> u32 {
    let _g = Guard(n);
    n + v(n)
}

#[inline(never)]
fn v(n: u32) -> u32 {
    vec![n; 3][n as usize % 3]
}

fn main() {
    let n = std::env::args().count() as u32;
    let caught = panic::catch_unwind(|| deep(n)).is_err();
    println!("{} {}", caught, never(n));
}
