// panics: Rust: unwinding through many frames, catch_unwind, drops, panics in
// threads, matches, overflow and bounds checks.
use std::panic;

struct Guard<'a>(&'a std::cell::Cell<u32>);

impl<'a> Drop for Guard<'a> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[inline(never)]
fn deep(n: u32, count: &std::cell::Cell<u32>) -> u32 {
    let _guard = Guard(count);
    if n == 0 {
        panic!("deep enough");
    }
    deep(n - 1, count) + 1
}

enum Shape {
    Circle(f64),
    Square(f64),
    Line,
    Word(String),
    Many(Vec<u32>),
}

fn measure(s: &Shape) -> f64 {
    match s {
        Shape::Circle(r) => 3.0 * r * r,
        Shape::Square(a) => a * a,
        Shape::Line => 0.0,
        Shape::Word(w) => w.len() as f64,
        Shape::Many(v) => v.iter().sum::<u32>() as f64,
    }
}

#[inline(never)]
fn index(v: &[u32], i: usize) -> u32 {
    v[i]
}

fn main() {
    panic::set_hook(Box::new(|info| println!("panic: {}", info)));
    for n in [0, 1, 20] {
        let r = panic::catch_unwind(|| {
            let count = std::cell::Cell::new(0);
            let r = panic::catch_unwind(panic::AssertUnwindSafe(|| deep(n, &count)));
            println!("{} {}", r.is_err(), count.get());
            if n == 1 {
                panic::resume_unwind(r.unwrap_err());
            }
        });
        println!("outer {}", r.is_err());
    }
    let v = vec![1, 2, 3];
    println!("{}", panic::catch_unwind(|| index(&v, 7)).is_err());
    let shapes = [
        Shape::Circle(2.0),
        Shape::Square(3.0),
        Shape::Line,
        Shape::Word("four".to_string()),
        Shape::Many(vec![5, 6]),
    ];
    println!("{}", shapes.iter().map(measure).sum::<f64>());
    let t = std::thread::spawn(|| {
        let count = std::cell::Cell::new(0);
        deep(5, &count)
    });
    println!("thread {}", t.join().is_err());
    let mut words: Vec<String> = (0..200).map(|i| format!("{}", i * 7919 % 200)).collect();
    words.sort();
    println!("{} {}", words[0], words[199]);
    if std::env::args().count() > 1 {
        panic!("the end");
    }
}
