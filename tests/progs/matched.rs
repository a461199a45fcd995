// matched: Rust's match: on an enum the compiler needs no bound.
#![no_std]
#![crate_type = "lib"]

extern "C" {
    fn use_(n: i32) -> i32;
}

#[repr(u8)]
#[derive(Clone, Copy)]
pub enum Op { Add, Sub, Mul, Neg, Swap, Call, Jump, Stop }

#[no_mangle]
pub unsafe extern "C" fn rust_step(op: Op, n: i32) -> i32 {
    match op {
        Op::Add => use_(n) + 1,
        Op::Sub => use_(n) - 2,
        Op::Mul => use_(n) * 3,
        Op::Neg => -use_(n),
        Op::Swap => use_(n).swap_bytes(),
        Op::Call => use_(use_(n)),
        Op::Jump => use_(n) ^ 7,
        Op::Stop => n,
    }
}

#[no_mangle]
pub unsafe extern "C" fn rust_number(n: u32) -> i32 {
    match n {
        0 => use_(3),
        1 => use_(4) + 1,
        2 => use_(5) - 2,
        3..=5 => use_(6) * 3,
        6 => use_(7) ^ 4,
        7 => use_(8) | 5,
        _ => 0,
    }
}
