//! The runtime's functions that this program calls, and the C layouts they take (agave, `solana-define-syscall`).
use crate::address::Address;

/// A slice as C passes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    address: *const u8,
    length: u64,
}

// Points at constants only, where it is shared.
unsafe impl Sync for Bytes {}

impl Bytes {
    pub const fn of_str(text: &'static str) -> Bytes {
        Bytes { address: text.as_ptr(), length: text.len() as u64 }
    }

    /// The bytes of a value, valid as long as the value is. `T` must have no padding.
    pub const fn of<T>(value: &T) -> Bytes {
        Bytes { address: value as *const T as *const u8, length: core::mem::size_of::<T>() as u64 }
    }
}

#[repr(C)]
pub struct Instruction {
    pub program: *const Address,
    pub accounts: *const AccountMeta,
    pub accounts_len: u64,
    pub data: Bytes,
}

#[repr(C)]
pub struct AccountMeta {
    pub address: *const Address,
    pub is_writable: bool,
    pub is_signer: bool,
}

#[repr(C)]
pub struct AccountInfo {
    pub address: *const Address,
    pub lamports: *const u64,
    pub data_len: u64,
    pub data: *const u8,
    pub owner: *const Address,
    pub rent_epoch: u64,
    pub is_signer: bool,
    pub is_writable: bool,
    pub is_executable: bool,
}

/// The seeds of one address that signs.
#[repr(C)]
pub struct SignerSeeds {
    pub seeds: *const Bytes,
    pub length: u64,
}

#[repr(C)]
pub struct Clock {
    pub slot: u64,
    pub epoch_start_timestamp: i64,
    pub epoch: u64,
    pub leader_schedule_epoch: u64,
    pub unix_timestamp: i64,
}

#[repr(C)]
pub struct Rent {
    pub lamports_per_byte: u64,
    /// An IEEE 754 double.
    pub exemption_threshold_bits: u64,
    pub burn_percent: u8,
}

extern "C" {
    pub fn abort() -> !;
    pub fn sol_get_clock_sysvar(clock: *mut Clock) -> u64;
    pub fn sol_get_rent_sysvar(rent: *mut Rent) -> u64;
    pub fn sol_create_program_address(
        seeds: *const Bytes,
        seeds_len: u64,
        program: *const Address,
        address: *mut Address,
    ) -> u64;
    pub fn sol_try_find_program_address(
        seeds: *const Bytes,
        seeds_len: u64,
        program: *const Address,
        address: *mut Address,
        bump: *mut u8,
    ) -> u64;
    pub fn sol_invoke_signed_c(
        instruction: *const Instruction,
        accounts: *const AccountInfo,
        accounts_len: u64,
        signers: *const SignerSeeds,
        signers_len: u64,
    ) -> u64;
}
