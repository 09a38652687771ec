use core::mem::MaybeUninit;

use crate::account::Account;
use crate::address::Address;
use crate::error::{require, Error, Result};

/// The runtime's own limit of accounts that a transaction may lock.
const MAX_ACCOUNTS: usize = 64;
/// Discriminator, number of sequences u32.
const SEQUENCES_OFFSET: usize = 12;
const NOT_A_DUPLICATE: u8 = 0xff;
/// What the loader puts around an account's data: flags to data length, room to grow, rent epoch.
const AROUND_DATA_BYTES: u64 = 88 + 10_240 + 8;

/// One call of the program.
pub struct Input<'a> {
    pub program: &'a Address,
    pub accounts: &'a [Account],
    /// Instruction data; aligned to 8 bytes.
    pub data: &'a [u8],
}

impl Input<'_> {
    /// The instruction's discriminator, 0 when there is none (no instruction of ours has 0).
    pub fn discriminator(&self) -> u64 {
        if self.data.len() < 8 {
            return 0;
        }
        unsafe { *(self.data.as_ptr() as *const u64) }
    }

    /// The fields after the discriminator, which have to be exactly a `T`: any bit pattern, 8-byte alignment, no
    /// padding.
    pub fn fields<T>(&self) -> Result<&T> {
        require(self.data.len() == 8 + core::mem::size_of::<T>(), Error::InvalidInstruction)?;
        Ok(unsafe { &*(self.data.as_ptr().add(8) as *const T) })
    }

    /// The same with one byte behind the fields.
    pub fn fields_and_byte<T>(&self) -> Result<(&T, u8)> {
        let without = Input { data: &self.data[..self.data.len().saturating_sub(1)], ..*self };
        let fields = without.fields::<T>()?;
        Ok((unsafe { &*(fields as *const T) }, self.data[self.data.len() - 1]))
    }

    /// The fields where they are one list of sequences: borsh's Vec<u64>, of at least one. They lie unaligned.
    pub fn sequences(&self) -> Result<&[[u8; 8]]> {
        require(self.data.len() > SEQUENCES_OFFSET, Error::InvalidInstruction)?;
        let count = unsafe { (self.data.as_ptr().add(8) as *const u32).read_unaligned() } as usize;
        require(self.data.len() - SEQUENCES_OFFSET == 8 * count, Error::InvalidInstruction)?;
        Ok(unsafe { core::slice::from_raw_parts(self.data.as_ptr().add(SEQUENCES_OFFSET) as *const [u8; 8], count) })
    }
}

/// Reads what the loader serialised: number of accounts u64, each account (a duplicate: index of the first u8 and 7
/// bytes), data length u64, data, program id.
///
/// # Safety
/// `start` has to be the loader's input.
pub unsafe fn read(start: *mut u8, run: fn(&Input) -> Result<()>) -> Result<()> {
    let count = *(start as *const u64) as usize;
    require(count <= MAX_ACCOUNTS, Error::WrongAccountCount)?;
    let mut accounts = [const { MaybeUninit::<Account>::uninit() }; MAX_ACCOUNTS];
    let mut at = start.add(8);
    for index in 0..count {
        let marker = *at;
        if marker == NOT_A_DUPLICATE {
            let account = Account::at(at);
            accounts[index].write(account);
            let aligned_len = account.data_len().wrapping_add(7) & !7;
            at = at.add(aligned_len.wrapping_add(AROUND_DATA_BYTES) as usize);
        } else {
            require((marker as usize) < index, Error::InvalidInstruction)?;
            accounts[index] = accounts[marker as usize];
            at = at.add(8);
        }
    }
    let data_len = *(at as *const u64) as usize;
    let data = at.add(8);
    run(&Input {
        program: &*(data.add(data_len) as *const Address),
        accounts: core::slice::from_raw_parts(accounts.as_ptr() as *const Account, count),
        data: core::slice::from_raw_parts(data, data_len),
    })
}
