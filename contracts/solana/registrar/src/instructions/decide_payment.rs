use crate::account::Account;
use crate::address::Address;
use crate::error::{require, Error, Result};
use crate::event::Log;
use crate::input::Input;
use crate::layout::{
    require_payer, Discriminated, Payment, PaymentReclaimed, PaymentRefunded, PaymentSettled, State,
};
use crate::system;
use crate::treasury;

/// The payments' lamports are kept; their accounts end, with the rent to the payers. The data names the payments'
/// sequences: what comes late can't hit a later payment under the same quote.
///
/// Accounts: relay authority (signer), state (w), event authority, program, then of each payment: payment (w), payer
/// (w).
#[inline(never)]
pub fn settle(input: &Input) -> Result<()> {
    let sequences = input.sequences()?;
    let &[authority, state, event_authority, this, ref pairs @ ..] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let state = State::load(state, input.program)?;
    state.require_relay(authority)?;
    let log = Log::open(state, [event_authority, this], input.program)?;
    require(pairs.len() == 2 * sequences.len(), Error::WrongAccountCount)?;
    for (pair, &sequence) in pairs.chunks_exact(2).zip(sequences) {
        let sequence = u64::from_le_bytes(sequence);
        if let &[account, payer] = pair {
            let payment = Payment::load(account, sequence, input.program)?;
            require_payer(payer, &payment.payer)?;
            state.held_lamports = treasury::subtract(state.held_lamports, payment.lamports)?;
            state.kept_lamports = treasury::add(state.kept_lamports, payment.lamports)?;
            let &Payment { payer: paid_by, quote_id, .. } = payment;
            let discriminator = PaymentSettled::DISCRIMINATOR;
            log.emit(PaymentSettled { discriminator, sequence, payer: paid_by, quote_id });
            account.close(payer)?;
        }
    }
    Ok(())
}

/// The payments' lamports and their accounts' rent go back to who paid.
///
/// Accounts: relay authority (signer), state (w), treasury (w), event authority, program, then of each payment: payment
/// (w), payer (w).
#[inline(never)]
pub fn refund(input: &Input) -> Result<()> {
    let sequences = input.sequences()?;
    let &[authority, state, treasury, event_authority, this, ref pairs @ ..] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let state = State::load(state, input.program)?;
    state.require_relay(authority)?;
    let mut till = Till::open(state, treasury, [event_authority, this], input.program)?;
    require(pairs.len() == 2 * sequences.len(), Error::WrongAccountCount)?;
    for (pair, &sequence) in pairs.chunks_exact(2).zip(sequences) {
        let sequence = u64::from_le_bytes(sequence);
        if let &[account, payer] = pair {
            let payment = Payment::load(account, sequence, input.program)?;
            let &Payment { payer: paid_by, quote_id, lamports, .. } = payment;
            let discriminator = PaymentRefunded::DISCRIMINATOR;
            till.log.emit(PaymentRefunded { discriminator, sequence, payer: paid_by, quote_id, lamports });
            till.pay_back(account, payer, payment)?;
        }
    }
    Ok(())
}

/// The payer takes back what nobody has decided in time: whoever relays can be gone for good.
///
/// Accounts: payer (signer, writable), state (w), treasury (w), payment (w), event authority, program.
#[inline(never)]
pub fn reclaim_payment(input: &Input) -> Result<()> {
    let &sequence: &u64 = input.fields()?;
    let &[payer, state, treasury, account, event_authority, this] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    payer.require_signer()?;
    let state = State::load(state, input.program)?;
    let mut till = Till::open(state, treasury, [event_authority, this], input.program)?;
    let payment = Payment::load(account, sequence, input.program)?;
    require(system::clock().unix_timestamp >= payment.reclaimable_at, Error::NotReclaimable)?;
    let &Payment { payer: paid_by, quote_id, lamports, .. } = payment;
    let discriminator = PaymentReclaimed::DISCRIMINATOR;
    till.log.emit(PaymentReclaimed { discriminator, sequence, payer: paid_by, quote_id, lamports });
    till.pay_back(account, payer, payment)
}

/// What it takes to pay back.
struct Till<'a> {
    state: &'a mut State,
    treasury: Account,
    log: Log<'a>,
}

impl<'a> Till<'a> {
    fn open(state: &'a mut State, treasury: Account, log: [Account; 2], program: &'a Address) -> Result<Till<'a>> {
        state.require_treasury(treasury, program)?;
        let log = Log::open(state, log, program)?;
        Ok(Till { state, treasury, log })
    }

    #[inline(never)]
    fn pay_back(&mut self, account: Account, payer: Account, payment: &Payment) -> Result<()> {
        require_payer(payer, &payment.payer)?;
        self.state.held_lamports = treasury::subtract(self.state.held_lamports, payment.lamports)?;
        treasury::pay_out(self.treasury, payer, payment.lamports, self.state)?;
        account.close(payer)
    }
}
