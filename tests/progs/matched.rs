// matched: Rust's match: on an enum the compiler needs no bound. There are
// enough cases for LLVM 17, which on AArch64 makes tables of 13 and more only.
#![no_std]
#![crate_type = "lib"]

extern "C" {
    fn use_(n: i32) -> i32;
}

#[repr(u8)]
#[derive(Clone, Copy)]
pub enum Op {
    Add, Sub, Mul, Neg, Swap, Call, Jump, Stop,
    Or, And, Shift, Rotate, Count, Twice, Less, Best,
}

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
        Op::Or => use_(n) | 8,
        Op::And => use_(n) & 9,
        Op::Shift => use_(n) >> 10,
        Op::Rotate => use_(n).rotate_left(11),
        Op::Count => use_(n).count_ones() as i32,
        Op::Twice => use_(n) + use_(12),
        Op::Less => use_(n - 13),
        Op::Best => use_(n).max(14),
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
        8 => use_(9) & 6,
        9 => use_(10) >> 7,
        10 => use_(11) << 8,
        11 => use_(12).swap_bytes(),
        12 => use_(13).rotate_left(9),
        13 => use_(14) - 10,
        14 => use_(15) * 11,
        15 => use_(16) + use_(17),
        _ => 0,
    }
}
