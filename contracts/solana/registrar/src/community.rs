//! Payments for names of communities: accounts and events, as borsh writes them.
use core::mem::size_of;

use crate::account::Account;
use crate::address::{self, Address, Word, COMMUNITY_NAME_SEED, COMMUNITY_PAYMENT_SEED};
use crate::error::{require, Error, Result};
use crate::layout::load;
use crate::syscalls::Bytes;

/// The token of a payment in SOL.
pub const NATIVE: Address = Address::ZERO;

/// Keeps others off a name that was paid for, until the payment is refused or the name reopened. At the address of seeds
/// "community_name", community, name.
#[repr(C)]
pub struct CommunityName {
    pub discriminator: u64,
    pub community: Word,
    pub name: Word,
    /// Who paid, and gets the account's rent.
    pub payer: Address,
    /// Of the payment.
    pub sequence: u64,
    /// Unix time, seconds: the payment may be refused before, the name reopened from then on.
    pub held_until: i64,
    pub bump: u8,
    pub reserved: [u8; 7],
}

/// A payment whose money is not paid out yet, at the address of seeds "community_payment", community, name, payer. Holds the
/// amount itself where it is in SOL.
#[repr(C)]
pub struct CommunityPayment {
    pub discriminator: u64,
    pub payer: Address,
    /// The mint; zero for SOL.
    pub token: Address,
    /// Base units.
    pub amount: u64,
    pub recipient: Address,
    pub community: Word,
    pub name: Word,
    pub sequence: u64,
    /// Unix time, seconds: refused before, the recipient's from then on.
    pub held_until: i64,
    /// The slot in which it was paid.
    pub slot: u64,
    /// `HELD`, or `REFUSED`: the payer's again.
    pub state: u8,
    pub bump: u8,
    pub reserved: [u8; 6],
}

pub const HELD: u8 = 1;
pub const REFUSED: u8 = 2;

#[repr(C)]
pub struct CommunityPaid {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub token: Address,
    pub amount: u64,
    pub recipient: Address,
    pub community: Word,
    pub name: Word,
    pub referral: Word,
    pub held_until: i64,
}

/// The money is the payer's again, and the name may be paid for.
#[repr(C)]
pub struct CommunityRefused {
    pub discriminator: u64,
    pub sequence: u64,
    pub community: Word,
    pub name: Word,
    pub payer: Address,
    pub token: Address,
    pub amount: u64,
}

/// A payment that was held was paid out to its recipient.
#[repr(C)]
pub struct CommunityReleased {
    pub discriminator: u64,
    pub sequence: u64,
    pub community: Word,
    pub name: Word,
    pub recipient: Address,
    pub token: Address,
    pub amount: u64,
}

/// A payment that was refused was paid back.
#[repr(C)]
pub struct CommunityReturned {
    pub discriminator: u64,
    pub sequence: u64,
    pub community: Word,
    pub name: Word,
    pub payer: Address,
    pub token: Address,
    pub amount: u64,
}

#[repr(C)]
pub struct CommunityReopened {
    pub discriminator: u64,
    pub sequence: u64,
    pub community: Word,
    pub name: Word,
}

const _: () = assert!(size_of::<CommunityName>() == 128 && size_of::<CommunityPayment>() == 208);
const _: () = assert!(size_of::<CommunityPaid>() == 224 && size_of::<CommunityReopened>() == 80);
const _: () = assert!(size_of::<CommunityRefused>() == 152);
const _: () = assert!(size_of::<CommunityReleased>() == 152 && size_of::<CommunityReturned>() == 152);

crate::layout::discriminators! {
    CommunityName = [99, 37, 52, 3, 164, 82, 111, 91];
    CommunityPayment = [213, 244, 53, 157, 146, 70, 221, 7];
    CommunityPaid = [163, 170, 87, 252, 42, 38, 165, 251];
    CommunityRefused = [238, 168, 37, 119, 58, 13, 142, 6];
    CommunityReleased = [59, 51, 91, 217, 156, 159, 109, 168];
    CommunityReturned = [251, 24, 68, 143, 58, 165, 174, 254];
    CommunityReopened = [244, 95, 84, 240, 10, 168, 86, 87];
}

impl CommunityName {
    /// A name that was paid for, to be changed.
    #[inline(never)]
    pub fn load(account: Account, program: &Address) -> Result<&'static mut CommunityName> {
        account.require_writable()?;
        let name: &mut CommunityName = load(account, program, Error::NoCommunityPayment)?;
        let seeds = [COMMUNITY_NAME_SEED, name.community.bytes(), name.name.bytes(), Bytes::of(&name.bump)];
        account.require_address(&address::create(&seeds, program)?)?;
        Ok(name)
    }
}

impl CommunityPayment {
    /// A payment whose money is not paid out yet, to be changed.
    #[inline(never)]
    pub fn load(account: Account, program: &Address) -> Result<&'static mut CommunityPayment> {
        account.require_writable()?;
        let payment: &mut CommunityPayment = load(account, program, Error::CommunityPaymentNotHeld)?;
        let seeds = [
            COMMUNITY_PAYMENT_SEED,
            payment.community.bytes(),
            payment.name.bytes(),
            payment.payer.bytes(),
            Bytes::of(&payment.bump),
        ];
        account.require_address(&address::create(&seeds, program)?)?;
        Ok(payment)
    }

    /// Checks that this is who paid.
    pub fn require_payer(&self, account: Account) -> Result<()> {
        account.require_writable()?;
        require(account.address().is(&self.payer), Error::WrongPayer)
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
