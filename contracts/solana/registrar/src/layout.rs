//! Accounts and events, as borsh writes them: fields in order, little-endian, without padding (held below).
use core::mem::size_of;

use crate::account::Account;
use crate::address::{self, Address, Word, PAYMENT_SEED, STATE_SEED, TREASURY_SEED};
use crate::error::{require, Error, Result};
use crate::syscalls::Bytes;

/// What an account's data or an event begins with: the first 8 bytes of sha256("account:<Name>") or ("event:<Name>").
pub trait Discriminated {
    const DISCRIMINATOR: u64;
}

/// The program's one state account, at the address of seed "state".
#[repr(C)]
pub struct State {
    pub discriminator: u64,
    /// Names the other authorities, and its own successor.
    pub admin_authority: Address,
    /// Who becomes the admin authority by accepting; zero: nobody.
    pub proposed_admin: Address,
    /// Decides payments.
    pub relay_authority: Address,
    /// Signs `withdraw`.
    pub treasury_authority: Address,
    /// Payments so far; the first one has number 1.
    pub sequence: u64,
    /// Lamports that were settled and not withdrawn.
    pub kept_lamports: u64,
    /// Lamports of payments that are not decided.
    pub held_lamports: u64,
    /// Payments for names of communities so far; the first one has number 1.
    pub community_sequence: u64,
    /// How long after a payment its payer may take it back.
    pub reclaim_seconds: u64,
    pub bump: u8,
    pub treasury_bump: u8,
    pub event_bump: u8,
    pub reserved: [u8; 5],
}

/// The account that holds all lamports paid, at the address of seed "treasury".
#[repr(C)]
pub struct Treasury {
    pub discriminator: u64,
}

/// A payment that is not decided yet, at the address of seeds "payment", payer, quote id.
#[repr(C)]
pub struct Payment {
    pub discriminator: u64,
    pub payer: Address,
    pub quote_id: Word,
    pub lamports: u64,
    pub sequence: u64,
    /// Unix time, seconds: the payer's to take from then on.
    pub reclaimable_at: i64,
    pub bump: u8,
    pub reserved: [u8; 7],
}

#[repr(C)]
pub struct RegistrationPaid {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub quote_id: Word,
    pub name: Word,
    /// u128, little-endian.
    pub amount_wei: [u64; 2],
    pub lamports: u64,
    pub expires_at: i64,
    pub referral: Word,
    pub reclaimable_at: i64,
}

/// The lamports are kept.
#[repr(C)]
pub struct PaymentSettled {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub quote_id: Word,
}

/// The lamports went back, by the relay authority's word.
#[repr(C)]
pub struct PaymentRefunded {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub quote_id: Word,
    pub lamports: u64,
}

/// The lamports went back, because nobody had decided in time.
#[repr(C)]
pub struct PaymentReclaimed {
    pub discriminator: u64,
    pub sequence: u64,
    pub payer: Address,
    pub quote_id: Word,
    pub lamports: u64,
}

const _: () = assert!(size_of::<State>() == 184 && size_of::<Treasury>() == 8 && size_of::<Payment>() == 104);
const _: () = assert!(size_of::<RegistrationPaid>() == 184 && size_of::<PaymentSettled>() == 80);
const _: () = assert!(size_of::<PaymentRefunded>() == 88 && size_of::<PaymentReclaimed>() == 88);

macro_rules! discriminators {
    ($($name:ident = $bytes:expr;)*) => {
        $(impl $crate::layout::Discriminated for $name {
            const DISCRIMINATOR: u64 = u64::from_le_bytes($bytes);
        })*
    };
}
pub(crate) use discriminators;

discriminators! {
    State = [216, 146, 107, 94, 104, 75, 182, 177];
    Treasury = [238, 239, 123, 238, 89, 1, 168, 253];
    Payment = [227, 231, 51, 26, 244, 88, 4, 148];
    RegistrationPaid = [17, 19, 37, 119, 246, 83, 53, 207];
    PaymentSettled = [158, 182, 152, 76, 105, 23, 232, 135];
    PaymentRefunded = [197, 178, 204, 105, 247, 64, 159, 4];
    PaymentReclaimed = [77, 155, 10, 64, 62, 20, 16, 93];
}

/// The data of an account of this program, as a `T`.
pub fn load<T: Discriminated>(account: Account, program: &Address, missing: Error) -> Result<&'static mut T> {
    require(account.is_owned_by(program), missing)?;
    require(account.data_len() == size_of::<T>() as u64, Error::InvalidAccountData)?;
    require(unsafe { *(account.data() as *const u64) } == T::DISCRIMINATOR, Error::InvalidAccountData)?;
    Ok(unsafe { &mut *(account.data() as *mut T) })
}

impl State {
    /// The state, to be changed.
    pub fn load(account: Account, program: &Address) -> Result<&'static mut State> {
        account.require_writable()?;
        Self::find(account, program)
    }

    /// The state, to be read: instructions that leave it alone need not wait for each other.
    pub fn read(account: Account, program: &Address) -> Result<&'static State> {
        Ok(Self::find(account, program)?)
    }

    #[inline(never)]
    fn find(account: Account, program: &Address) -> Result<&'static mut State> {
        let state: &mut State = load(account, program, Error::WrongOwner)?;
        account.require_address(&address::create(&[STATE_SEED, Bytes::of(&state.bump)], program)?)?;
        Ok(state)
    }

    #[inline(never)]
    pub fn require_treasury(&self, account: Account, program: &Address) -> Result<()> {
        account.require_writable()?;
        load::<Treasury>(account, program, Error::WrongOwner)?;
        account.require_address(&address::create(&[TREASURY_SEED, Bytes::of(&self.treasury_bump)], program)?)
    }

    pub fn require_relay(&self, authority: Account) -> Result<()> {
        require_authority(authority, &self.relay_authority)
    }
}

/// Checks that it is this authority that signs.
pub fn require_authority(account: Account, expected: &Address) -> Result<()> {
    account.require_signer()?;
    require(account.address().is(expected), Error::WrongAuthority)
}

impl Payment {
    /// The payment of this number, where it is not decided.
    #[inline(never)]
    pub fn load(account: Account, sequence: u64, program: &Address) -> Result<&'static Payment> {
        account.require_writable()?;
        let payment: &mut Payment = load(account, program, Error::PaymentNotHeld)?;
        let seeds = [PAYMENT_SEED, payment.payer.bytes(), payment.quote_id.bytes(), Bytes::of(&payment.bump)];
        account.require_address(&address::create(&seeds, program)?)?;
        require(payment.sequence == sequence, Error::PaymentNotHeld)?;
        Ok(payment)
    }
}

/// Checks that this is who paid, to get what is left of an account.
pub fn require_payer(account: Account, payer: &Address) -> Result<()> {
    account.require_writable()?;
    require(account.address().is(payer), Error::WrongPayer)
}
