mod authorities;
mod claim_community;
mod decide_community;
mod decide_payment;
mod initialize;
mod pay_community;
mod register;
mod withdraw;

use crate::error::{Error, Result};
use crate::event::{self, EVENT};
use crate::input::Input;

/// The first 8 bytes of sha256("global:<instruction>").
const INITIALIZE: u64 = u64::from_le_bytes([175, 175, 109, 31, 13, 152, 155, 237]);
const SET_AUTHORITIES: u64 = u64::from_le_bytes([124, 254, 44, 240, 197, 70, 190, 107]);
const PROPOSE_ADMIN: u64 = u64::from_le_bytes([121, 214, 199, 212, 87, 39, 117, 234]);
const ACCEPT_ADMIN: u64 = u64::from_le_bytes([112, 42, 45, 90, 116, 181, 13, 170]);
const REGISTER: u64 = u64::from_le_bytes([211, 124, 67, 15, 211, 194, 178, 240]);
const SETTLE: u64 = u64::from_le_bytes([175, 42, 185, 87, 144, 131, 102, 212]);
const REFUND: u64 = u64::from_le_bytes([2, 96, 183, 251, 63, 208, 46, 46]);
const RECLAIM_PAYMENT: u64 = u64::from_le_bytes([156, 254, 153, 58, 0, 240, 211, 180]);
const WITHDRAW: u64 = u64::from_le_bytes([183, 18, 70, 156, 148, 109, 161, 34]);
const PAY_COMMUNITY: u64 = u64::from_le_bytes([127, 87, 199, 185, 36, 12, 151, 251]);
const PAY_COMMUNITY_TOKEN: u64 = u64::from_le_bytes([206, 62, 106, 62, 34, 11, 67, 158]);
const REFUSE_COMMUNITY: u64 = u64::from_le_bytes([245, 251, 194, 22, 3, 102, 93, 20]);
const RELEASE_COMMUNITY: u64 = u64::from_le_bytes([55, 44, 125, 92, 22, 115, 166, 161]);
const CLAIM_COMMUNITY: u64 = u64::from_le_bytes([173, 149, 181, 224, 83, 48, 122, 68]);

pub fn dispatch(input: &Input) -> Result<()> {
    match input.discriminator() {
        INITIALIZE => initialize::initialize(input),
        SET_AUTHORITIES => authorities::set_authorities(input),
        PROPOSE_ADMIN => authorities::propose_admin(input),
        ACCEPT_ADMIN => authorities::accept_admin(input),
        REGISTER => register::register(input),
        SETTLE => decide_payment::settle(input),
        REFUND => decide_payment::refund(input),
        RECLAIM_PAYMENT => decide_payment::reclaim_payment(input),
        WITHDRAW => withdraw::withdraw(input),
        PAY_COMMUNITY => pay_community::pay_community(input),
        PAY_COMMUNITY_TOKEN => pay_community::pay_community_token(input),
        REFUSE_COMMUNITY => decide_community::refuse_community(input),
        RELEASE_COMMUNITY => decide_community::release_community(input),
        CLAIM_COMMUNITY => claim_community::claim_community(input),
        EVENT => event::receive(input),
        _ => Err(Error::InvalidInstruction),
    }
}
