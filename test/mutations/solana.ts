import { type Mutation, ofContract } from './mutation.js'

const OWN = ['test/contracts/solana.test.ts']
const AUTHORITIES = ['test/contracts/solana-authorities.test.ts']
const ACCOUNTS = ['test/contracts/solana-accounts.test.ts']
const COMMUNITY = ['test/contracts/solana-community.test.ts']
const TOKENS = ['test/contracts/solana-community-token.test.ts']

type Changes = Parameters<typeof ofContract>[2]

const of = (source: string, files: readonly string[], changes: Changes): Mutation[] =>
  ofContract(`contracts/solana/registrar/src/${source}.rs`, files, changes)

/** Broken builds of the Solana program. */
export const SOLANA: readonly Mutation[] = [
  ...of('instructions/initialize', AUTHORITIES, [
    [
      'another program’s upgrade authority initializes',
      '    program_data.require_address(&expected)?;\n',
      '    let _ = expected;\n',
    ],
    [
      'program data may be anybody’s',
      '    require(program_data.is_owned_by(&UPGRADEABLE_LOADER), Error::WrongOwner)?;\n',
      '',
    ],
    [
      'program data of any length is read',
      '    require(program_data.data_len() >= PROGRAM_DATA_HEADER_BYTES, Error::InvalidAccountData)?;\n',
      '    let _ = PROGRAM_DATA_HEADER_BYTES;\n',
    ],
    [
      'a buffer counts as program data',
      '    require(tag == PROGRAM_DATA_TAG, Error::InvalidAccountData)?;\n',
      '    let _ = (tag, PROGRAM_DATA_TAG);\n',
    ],
    ['a final program has an upgrade authority', 'has_authority == 1 && signer', 'has_authority <= 1 && signer'],
    [
      'anybody initializes',
      'has_authority == 1 && signer.address().is(&authority)',
      'has_authority == 1 && !authority.is(&Address::ZERO)',
    ],
    ['payers wait for ever', '    require(is_in_range, Error::ReclaimOutOfRange)?;\n', '    let _ = is_in_range;\n'],
    [
      'the program is initialized twice',
      '    require(!account.is_owned_by(program), Error::AlreadyInitialized)?;\n',
      '',
    ],
  ]),
  ...of('instructions/initialize', OWN, [
    ['the treasury has no spare rent', 'SPARE_RENTS: u64 = 9', 'SPARE_RENTS: u64 = 0'],
  ]),
  ...of('instructions/initialize', ACCOUNTS, [
    ['an upgrade authority need not sign', '    signer.require_signer()?;\n', '', 'refuses an account without'],
  ]),
  ...of('instructions/authorities', AUTHORITIES, [
    [
      'an admin is replaced in one step',
      'load_for_admin(input)?.proposed_admin = *proposed',
      'load_for_admin(input)?.admin_authority = *proposed',
    ],
    [
      'anybody accepts to be the admin',
      '    require_authority(proposed, &state.proposed_admin)?;\n',
      '    proposed.require_signer()?;\n',
    ],
    [
      'a proposal of nobody is accepted',
      '    require(!state.proposed_admin.is(&Word::ZERO), Error::WrongAuthority)?;\n',
      '',
    ],
    ['a proposal is accepted for ever', '    state.proposed_admin = Word::ZERO;\n', ''],
    ['anybody names authorities', 'require_authority(admin, &state.admin_authority)', 'admin.require_signer()'],
  ]),
  ...of('instructions/register', OWN, [
    ['an expired quote is paid', '    require(now <= quote.expires_at, Error::QuoteExpired)?;\n', ''],
    ['a quote expires a second early', 'now <= quote.expires_at', 'now < quote.expires_at'],
    ['nothing is paid', '    require(quote.lamports > 0, Error::ZeroLamports)?;\n', ''],
    [
      'a quote is paid twice',
      '    require(!payment_account.is_owned_by(input.program), Error::QuoteAlreadyPaid)?;\n',
      '',
    ],
    ['no lamports move', '    system::transfer(payer, treasury, quote.lamports);\n', ''],
    [
      'what is held is not counted',
      '    state.held_lamports = treasury::add(state.held_lamports, quote.lamports)?;\n',
      '',
    ],
  ]),
  ...of('instructions/decide_payment', OWN, [
    [
      'settled money is kept twice',
      'treasury::add(state.kept_lamports, payment.lamports)?',
      'treasury::add(state.kept_lamports, payment.lamports + payment.lamports)?',
    ],
    ['a settled payment stays', '            account.close(payer)?;\n', ''],
    [
      'settled money stays held',
      '            state.held_lamports = treasury::subtract(state.held_lamports, payment.lamports)?;\n',
      '',
    ],
    [
      'a payer takes back at once',
      '    require(system::clock().unix_timestamp >= payment.reclaimable_at, Error::NotReclaimable)?;\n',
      '',
    ],
    [
      'a payer takes back a second late',
      'unix_timestamp >= payment.reclaimable_at',
      'unix_timestamp > payment.reclaimable_at',
    ],
    ['money goes back to anybody', '        require_payer(payer, &payment.payer)?;\n        self', '        self'],
    [
      'money that goes back stays held',
      '        self.state.held_lamports = treasury::subtract(self.state.held_lamports, payment.lamports)?;\n',
      '',
    ],
  ]),
  ...of('instructions/decide_payment', ACCOUNTS, [
    ['anybody takes back', '    payer.require_signer()?;\n', '', 'refuses an account without'],
    [
      'payments to settle lack their payers',
      '    let log = Log::open(state, [event_authority, this], input.program)?;\n    require(pairs.len() == 2 * sequences.len(), Error::WrongAccountCount)?;\n',
      '    let log = Log::open(state, [event_authority, this], input.program)?;\n',
      'refuses an account too many',
    ],
  ]),
  ...of('treasury', OWN, [
    [
      'the treasury pays what it holds for others',
      '    require(treasury.lamports() >= add(state.kept_lamports, state.held_lamports)?, Error::TreasuryShort)',
      '    let _ = state;\n    Ok(())',
    ],
  ]),
  ...of('instructions/withdraw', OWN, [
    [
      'what is held is withdrawn',
      'state.kept_lamports.checked_sub(lamports).ok_or(Error::InsufficientKept)?',
      'state.kept_lamports.saturating_sub(lamports)',
    ],
    [
      'money is withdrawn into the program',
      '    require(!destination.is_owned_by(input.program), Error::InvalidDestination)?;\n',
      '',
    ],
  ]),
  ...of('instructions/withdraw', ACCOUNTS, [
    [
      'anybody withdraws',
      '    require_authority(authority, &state.treasury_authority)?;\n',
      '    authority.require_signer()?;\n',
      'refuses another account',
    ],
  ]),
  ...of('layout', OWN, [
    [
      'a late settlement hits a later payment',
      '        require(payment.sequence == sequence, Error::PaymentNotHeld)?;\n',
      '        let _ = sequence;\n',
    ],
  ]),
  ...of('layout', ACCOUNTS, [
    [
      'anybody relays',
      'require_authority(authority, &self.relay_authority)',
      'authority.require_signer()',
      'refuses another account',
    ],
    [
      'an authority need not sign',
      '    account.require_signer()?;\n    require(account',
      '    require(account',
      'refuses an account without',
    ],
    [
      'a look-alike is the state',
      '    require(account.is_owned_by(program), missing)?;\n',
      '    let _ = (program, missing);\n',
      'is one by owner',
    ],
    [
      'a payment of another kind is read',
      '    require(account.data_len() == size_of::<T>() as u64, Error::InvalidAccountData)?;\n    require(unsafe { *(account.data() as *const u64) } == T::DISCRIMINATOR, Error::InvalidAccountData)?;\n',
      '',
      'is one by owner',
    ],
    [
      'a payment may lie anywhere',
      '        account.require_address(&address::create(&seeds, program)?)?;\n        require(payment.sequence',
      '        require(payment.sequence',
      'is one by owner',
    ],
    [
      'the treasury may be another account',
      '        account.require_address(&address::create(&[TREASURY_SEED, Bytes::of(&self.treasury_bump)], program)?)',
      '        Ok(())',
      'refuses another account',
    ],
  ]),
  ...of('event', OWN, [
    [
      'anybody logs events',
      '    require(authority.address().is(&expected), Error::WrongAddress)',
      '    let _ = expected;\n    Ok(())',
    ],
    ['events need no signature', '    authority.require_signer()?;\n', ''],
  ]),
  ...of('instructions/pay_community', COMMUNITY, [
    ['a malformed community is paid for', '    require_name(&terms.community)?;\n', ''],
    ['nothing is paid for a community name', '    require(terms.amount > 0, Error::ZeroAmount)?;\n', ''],
    ['a number is used twice', '    require(!account.is_owned_by(program), Error::NumberInUse)?;\n', ''],
    [
      'a payment of a community is reclaimable at once',
      'now.checked_add(state.reclaim_seconds as i64).ok_or(Error::Overflow)?',
      'now',
    ],
  ]),
  ...of('instructions/pay_community', TOKENS, [
    ['tokens are taken from anybody', '    token::require_token_account(source, mint, payer.address())?;\n', ''],
    [
      'decimals are not compared',
      '    require(token::decimals_of(mint)? == decimals, Error::WrongDecimals)?;\n',
      '    let _ = decimals;\n',
    ],
  ]),
  ...of('instructions/decide_community', COMMUNITY, [
    [
      'a refusal pays the recipient',
      'let due_to = if decision.outcome == REFUSED {',
      'let due_to = if decision.outcome != REFUSED {',
    ],
    [
      'a decided payment is decided again',
      '    require(payment.state == HELD, Error::CommunityPaymentNotHeld)?;\n',
      '    let _ = HELD;\n',
    ],
    ['anybody is paid', '    require(to.address().is(due_to), Error::WrongBeneficiary)?;\n', '    let _ = due_to;\n'],
    ['anybody decides', '    state.require_relay(authority)?;\n', '    authority.require_signer()?;\n'],
    [
      'a recipient below its rent stops the batch',
      '        let is_paid = can_take(to, lamports);\n',
      '        let is_paid = lamports > 0 || can_take(to, lamports);\n',
    ],
  ]),
  ...of('instructions/decide_community', TOKENS, [
    [
      'a frozen account stops a refusal',
      'let is_paid = token::is_open(destination, mint, to.address()) && token',
      'let is_paid = to.lamports() > 0 || token::is_open(destination, mint, to.address()) && token',
    ],
    ['a frozen vault stops a refusal', ' && token::is_open(vault, mint, vault.address())', ''],
    ['tokens go to any account', '    token::require_associated(destination, mint, to.address())?;\n', ''],
    ['a payment is paid in another token', '    require(payment.token.is(mint.address()), Error::WrongToken)?;\n', ''],
  ]),
  ...of('instructions/claim_community', COMMUNITY, [
    ['a payer claims what is not due', '    require(is_due, Error::NotReclaimable)?;\n', '    let _ = is_due;\n'],
    ['anybody claims', '    require(owner.address().is(due_to), Error::WrongBeneficiary)?;\n', '    let _ = due_to;\n'],
    [
      'a payer claims what was released',
      'payment.state == RELEASED {',
      'payment.state == HELD + RELEASED {',
      'waits for a recipient',
    ],
    ['the rent goes to anybody', '    require_payer(payer, &payment.payer)?;\n', ''],
  ]),
  ...of('instructions/claim_community', ACCOUNTS, [
    ['nobody signs a claim', '    owner.require_signer()?;\n', '', 'refuses an account without'],
  ]),
  ...of('instructions/claim_community', TOKENS, [
    [
      'tokens are claimed into anybody’s account',
      '    token::require_token_account(destination, mint, owner.address())?;\n',
      '',
    ],
  ]),
  ...of('token', TOKENS, [
    ['Token-2022 is taken', 'mint.is_owned_by(&TOKEN_PROGRAM) && mint.data_len()', 'mint.data_len()'],
    ['a vault may be any account', '    vault.require_address(&expected)?;\n', '    let _ = expected;\n'],
    ['an account of another token is open', 'one.mint.is(mint.address()) && one.owner', 'one.owner'],
    ['somebody else’s account is open', ' && one.owner.is(owner)', ''],
  ]),
]
