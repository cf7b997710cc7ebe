//! See `offshoot_session::testing::fuzz::open`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| offshoot_session::testing::fuzz::open(bytes));
