mod decide_community;
mod initialize;
mod pay_community;
mod register;
mod release_community;
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
const SET_HOLD: u64 = u64::from_le_bytes([212, 54, 35, 202, 154, 142, 227, 246]);
const PAY_COMMUNITY: u64 = u64::from_le_bytes([127, 87, 199, 185, 36, 12, 151, 251]);
const PAY_COMMUNITY_TOKEN: u64 = u64::from_le_bytes([206, 62, 106, 62, 34, 11, 67, 158]);
const REFUSE_COMMUNITY: u64 = u64::from_le_bytes([245, 251, 194, 22, 3, 102, 93, 20]);
const RELEASE_COMMUNITY: u64 = u64::from_le_bytes([55, 44, 125, 92, 22, 115, 166, 161]);
const RELEASE_COMMUNITY_TOKEN: u64 = u64::from_le_bytes([210, 155, 170, 185, 239, 180, 76, 185]);
const REOPEN_COMMUNITY: u64 = u64::from_le_bytes([104, 31, 185, 171, 127, 254, 171, 87]);

pub fn dispatch(input: &Input) -> Result<()> {
    match input.discriminator() {
        INITIALIZE => initialize::initialize(input),
        SET_AUTHORITIES => initialize::set_authorities(input),
        REGISTER => register::register(input),
        SETTLE => settle::settle(input),
        REFUND => settle::refund(input),
        WITHDRAW => withdraw::withdraw(input),
        SET_HOLD => initialize::set_hold(input),
        PAY_COMMUNITY => pay_community::pay_community(input),
        PAY_COMMUNITY_TOKEN => pay_community::pay_community_token(input),
        REFUSE_COMMUNITY => decide_community::refuse_community(input),
        RELEASE_COMMUNITY => release_community::release_community(input),
        RELEASE_COMMUNITY_TOKEN => release_community::release_community_token(input),
        REOPEN_COMMUNITY => decide_community::reopen_community(input),
        _ => Err(Error::InvalidInstruction),
    }
}
