//! Payments for names of communities: accounts and events, as borsh writes them.
use core::mem::size_of;

use crate::account::Account;
use crate::address::{self, Address, Word, COMMUNITY_SEED};
use crate::error::{require, Error, Result};
use crate::layout::load;
use crate::syscalls::Bytes;

/// The token of a payment in SOL.
pub const NATIVE: Address = Address::ZERO;

/// A payment whose money is not paid out yet, at the address of seeds "community", payer, number. Holds the amount
/// itself where it is in SOL.
#[repr(C)]
pub struct CommunityPayment {
    pub discriminator: u64,
    pub payer: Address,
    /// The payer's own, of its choice.
    pub number: u64,
    /// The mint; zero for SOL.
    pub token: Address,
    /// Base units.
    pub amount: u64,
    pub recipient: Address,
    pub sequence: u64,
    /// Unix time, seconds: the payer's to take from then on, where it is still held.
    pub reclaimable_at: i64,
    /// `HELD`, `REFUSED` or `RELEASED`.
    pub state: u8,
    pub bump: u8,
    pub reserved: [u8; 6],
}

pub const HELD: u8 = 1;
/// The payer's, who couldn't be paid at once.
pub const REFUSED: u8 = 2;
/// The recipient's, who couldn't be paid at once.
pub const RELEASED: u8 = 3;

#[repr(C)]
pub struct CommunityPaid {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub number: u64,
    pub token: Address,
    pub amount: u64,
    pub recipient: Address,
    pub community: Word,
    pub name: Word,
    pub referral: Word,
    pub reclaimable_at: i64,
}

/// By the relay authority's word the money is the payer's again.
#[repr(C)]
pub struct CommunityRefused {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub token: Address,
    pub amount: u64,
    /// What has gone to the payer: the amount, or 0 where it waits.
    pub paid: u64,
}

/// By the relay authority's word the money is the recipient's.
#[repr(C)]
pub struct CommunityReleased {
    pub discriminator: u64,
    pub sequence: u64,
    pub recipient: Address,
    pub token: Address,
    pub amount: u64,
    /// What has gone to the recipient: the amount, or 0 where it waits.
    pub paid: u64,
}

/// The payer took the money back, because nobody had decided in time.
#[repr(C)]
pub struct CommunityReclaimed {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub token: Address,
    pub amount: u64,
}

/// Whose the money was by the relay authority's word has taken it.
#[repr(C)]
pub struct CommunityCollected {
    pub discriminator: u64,
    pub sequence: u64,
    pub beneficiary: Address,
    pub token: Address,
    pub amount: u64,
}

const _: () = assert!(size_of::<CommunityPayment>() == 144 && size_of::<CommunityPaid>() == 232);
const _: () = assert!(size_of::<CommunityRefused>() == 96 && size_of::<CommunityReleased>() == 96);
const _: () = assert!(size_of::<CommunityReclaimed>() == 88 && size_of::<CommunityCollected>() == 88);

crate::layout::discriminators! {
    CommunityPayment = [213, 244, 53, 157, 146, 70, 221, 7];
    CommunityPaid = [163, 170, 87, 252, 42, 38, 165, 251];
    CommunityRefused = [238, 168, 37, 119, 58, 13, 142, 6];
    CommunityReleased = [59, 51, 91, 217, 156, 159, 109, 168];
    CommunityReclaimed = [237, 219, 118, 158, 235, 15, 252, 172];
    CommunityCollected = [54, 218, 140, 170, 154, 180, 70, 128];
}

impl CommunityPayment {
    /// The payment of this sequence, where its money is not paid out yet; to be changed.
    #[inline(never)]
    pub fn load(account: Account, sequence: u64, program: &Address) -> Result<&'static mut CommunityPayment> {
        account.require_writable()?;
        let payment: &mut CommunityPayment = load(account, program, Error::CommunityPaymentNotHeld)?;
        let seeds =
            [COMMUNITY_SEED, payment.payer.bytes(), Bytes::of(&payment.number), Bytes::of(&payment.bump)];
        account.require_address(&address::create(&seeds, program)?)?;
        require(payment.sequence == sequence, Error::CommunityPaymentNotHeld)?;
        Ok(payment)
    }
}

/// 1 to 32 bytes of `[a-z0-9_-]`, then zeros alone.
#[inline(never)]
pub fn require_name(word: &Word) -> Result<()> {
    let bytes = word.as_bytes();
    let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let is_allowed = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    let is_name = length > 0 && bytes[..length].iter().all(is_allowed) && bytes[length..].iter().all(|&byte| byte == 0);
    require(is_name, Error::MalformedName)
}
