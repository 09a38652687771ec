mod initialize;
mod register;
mod settle;
mod withdraw;

use crate::error::{Error, Result};
use crate::input::Input;

/// The first 8 bytes of sha256("global:<instruction>").
const INITIALIZE: u64 = u64::from_le_bytes([175, 175, 109, 31, 13, 152, 155, 237]);
const SET_AUTHORITIES: u64 = u64::from_le_bytes([124, 254, 44, 240, 197, 70, 190, 107]);
const REGISTER: u64 = u64::from_le_bytes([211, 124, 67, 15, 211, 194, 178, 240]);
const SETTLE: u64 = u64::from_le_bytes([175, 42, 185, 87, 144, 131, 102, 212]);
const REFUND: u64 = u64::from_le_bytes([2, 96, 183, 251, 63, 208, 46, 46]);
const WITHDRAW: u64 = u64::from_le_bytes([183, 18, 70, 156, 148, 109, 161, 34]);

pub fn dispatch(input: &Input) -> Result<()> {
    match input.discriminator() {
        INITIALIZE => initialize::initialize(input),
        SET_AUTHORITIES => initialize::set_authorities(input),
        REGISTER => register::register(input),
        SETTLE => settle::settle(input),
        REFUND => settle::refund(input),
        WITHDRAW => withdraw::withdraw(input),
        _ => Err(Error::InvalidInstruction),
    }
}
