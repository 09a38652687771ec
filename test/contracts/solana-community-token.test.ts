import { Keypair, PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import type { NumberedPayment } from '../../src/chains/solana/community/program.js'
import {
  associatedTokenAddress,
  createTokenAccountInstruction,
  TOKEN_PROGRAM,
} from '../../src/chains/solana/tokens.js'
import {
  changed,
  createSolanaWorld,
  RECLAIM_SECONDS,
  RICH_LAMPORTS,
  type SolanaWorld,
} from './support/solana.js'
import { writes } from './support/solanaCalls.js'
import {
  AMOUNT,
  accepted,
  type Calls,
  type CommunityCalls,
  communityOf,
  RICH_TOKENS,
  stockTokens,
  TOKEN_2022,
  TOKEN_ACCOUNT_BYTES,
} from './support/solanaCommunity.js'

let world: SolanaWorld
let club: CommunityCalls
const mint = Keypair.generate().publicKey
const otherMint = Keypair.generate().publicKey
/** Alice's associated token account. */
let source: PublicKey
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
  source = stockTokens(world, club, mint, otherMint)
})

const ok = (...calls: Calls) => accepted(world, ...calls)
const refused = (...calls: Calls) => world.send(...calls).error
const inTokens = (number = 1n, change: Partial<NumberedPayment> = {}) =>
  club.paid(number, { token: mint, ...change })
const inVault = () => club.tokensAt(club.program.vault(mint))

describe('pay_community_token', () => {
  it('holds the tokens in a vault that its first payer creates, even if it already has lamports', () => {
    const { alice } = world.keys
    world.give(club.program.vault(mint), 1n)
    ok(club.payToken(mint))
    expect([club.tokensAt(source), inVault()]).toEqual([RICH_TOKENS - AMOUNT, AMOUNT])
    expect(club.paymentAt()).toMatchObject({
      token: mint,
      amount: AMOUNT,
      sequence: 1n,
      state: 'held',
    })
    const before = world.balanceOf(alice)
    ok(club.payToken(mint, 2n))
    expect(before - world.balanceOf(alice)).toBe(club.rent())
    expect(inVault()).toBe(2n * AMOUNT)
  })

  const others = (of: PublicKey) => associatedTokenAddress(world.keys.stranger, of)
  /** Allows alice to move tokens of the stranger, which still do not belong to her. */
  function approve(): void {
    const { owner, lamports, data } = world.accountOf(others(mint))!
    data.writeUInt32LE(1, 72)
    data.set(world.keys.alice.toBytes(), 76)
    data.writeBigUInt64LE(RICH_TOKENS, 121)
    world.setAccount(others(mint), new PublicKey(owner), lamports, data)
  }
  const own = (of: PublicKey) => associatedTokenAddress(world.keys.alice, of)
  /** Clears a byte of an account. */
  function clear(account: PublicKey, at: number): void {
    const { lamports, data } = world.accountOf(account)!
    world.setAccount(account, TOKEN_PROGRAM, lamports, data.fill(0, at, at + 1))
  }
  const pay = (change?: Parameters<CommunityCalls['payToken']>[2], of = mint) =>
    club.payToken(of, 1n, change)

  it.each<[string, string, () => TransactionInstruction, (() => unknown)?]>([
    [
      'a token of another program',
      'UnsupportedToken',
      pay,
      () => club.setMint(mint, 6, TOKEN_2022),
    ],
    ['an account as its token', 'UnsupportedToken', () => pay({ source }, source)],
    ['no account as its token', 'UnsupportedToken', () => pay({ source }, PublicKey.default)],
    ['a token not initialized', 'UnsupportedToken', pay, () => clear(mint, 45)],
    ['other decimals', 'WrongDecimals', () => pay({ decimals: 9 })],
    ['no decimals', 'WrongDecimals', () => pay({ decimals: 0 })],
    ['tokens of another', 'WrongTokenOwner', () => pay({ source: others(mint) }), approve],
    ['another token', 'WrongTokenMint', () => pay({ source: own(otherMint) })],
    ['a token as its account', 'NotATokenAccount', () => pay({ source: mint })],
    ['an account not initialized', 'NotATokenAccount', pay, () => clear(source, 108)],
    [
      'an account of another program',
      'NotATokenAccount',
      pay,
      () => world.setAccount(source, world.keys.stranger, 10n ** 9n, world.accountOf(source)!.data),
    ],
    ['more than there is', 'runtime', () => pay({ amount: RICH_TOKENS + 1n })],
    ['nothing', 'ZeroAmount', () => pay({ amount: 0n })],
    [
      'what is frozen',
      'runtime',
      pay,
      () => club.giveTokens(world.keys.alice, mint, RICH_TOKENS, 'frozen'),
    ],
  ])('takes no payment of %s: %s', (_, error, call, spoil) => {
    spoil?.()
    expect(refused(call())).toBe(error)
    expect(world.accountOf(club.program.vault(mint))).toBeUndefined()
  })
})

describe('refuse_community of tokens', () => {
  beforeEach(() => {
    ok(club.payToken(mint))
  })

  it.each([
    ['is frozen', () => club.giveTokens(world.keys.alice, mint, 0n, 'frozen')],
    ['is gone', () => world.setAccount(source, PublicKey.default, 0n, Buffer.alloc(0))],
    [
      'belongs to somebody else by now',
      () => club.setTokenAccount(source, world.keys.bob, mint, 0n),
    ],
    [
      'was closed and holds another token',
      () => club.setTokenAccount(source, world.keys.alice, otherMint, 0n),
    ],
    [
      'is another program’s',
      () => world.setAccount(source, world.keys.bob, 10n ** 9n, Buffer.alloc(165, 1)),
    ],
  ])('can’t be stopped: where the payer’s account %s, the payer collects', (_, spoil) => {
    const { alice, bob } = world.keys
    spoil()
    const [event] = ok(club.refuse(inTokens()))
    expect(event?.data).toMatchObject({ amount: String(AMOUNT), paid: '0' })
    expect([club.paymentAt()?.state, inVault()]).toEqual(['refused', AMOUNT])
    for (const call of [club.refuse(inTokens()), club.release(inTokens())])
      expect(refused(call)).toBe('CommunityPaymentNotHeld')
    const other = club.setTokenAccount(Keypair.generate().publicKey, alice, mint, 0n)
    expect(refused(club.claim(bob, inTokens(), other))).toBe('WrongBeneficiary')
    const [collected] = ok(club.claim(alice, inTokens(), other))
    const data = {
      sequence: '1',
      beneficiary: alice.toBase58(),
      token: mint.toBase58(),
      amount: String(AMOUNT),
    }
    expect(collected).toEqual({ name: 'CommunityCollected', data })
    expect([club.tokensAt(other), inVault()]).toEqual([AMOUNT, 0n])
  })

  it('can’t be stopped by a freeze of the vault', () => {
    const vault = club.program.vault(mint)
    club.setTokenAccount(vault, vault, mint, AMOUNT, 'frozen')
    ok(club.refuse(inTokens()))
    expect(refused(club.claim(world.keys.alice, inTokens()))).toBe('runtime')
    club.setTokenAccount(vault, vault, mint, AMOUNT)
    ok(club.claim(world.keys.alice, inTokens()))
    expect(club.tokensAt(source)).toBe(RICH_TOKENS)
  })

  it('accepts only the payment’s own accounts', () => {
    const { bob } = world.keys
    club.giveTokens(bob, mint)
    expect(refused(club.refuse(club.paid(1n)))).toBe('WrongAccountCount')
    expect(refused(club.refuse(inTokens(1n, { token: otherMint })))).toBe('WrongToken')
    const call = club.refuse(inTokens())
    const put = (at: number, account: PublicKey) =>
      refused(changed(call, { keys: (keys) => keys.with(keys.length + at, writes(account)) }))
    expect(put(-1, associatedTokenAddress(bob, mint))).toBe('NotAssociatedAccount')
    expect(
      put(-1, club.setTokenAccount(Keypair.generate().publicKey, world.keys.alice, mint, 0n)),
    ).toBe('NotAssociatedAccount')
    expect(put(-2, source)).toBe('WrongAddress')
    expect(put(-3, otherMint)).toBe('WrongToken')
  })
})

describe('release_community of tokens', () => {
  beforeEach(() => {
    ok(club.payToken(mint))
  })

  it('pays into the recipient’s associated account', () => {
    const { alice, bob, stranger } = world.keys
    ok(createTokenAccountInstruction(stranger, bob, mint), club.release(inTokens()))
    expect([club.tokensAt(associatedTokenAddress(bob, mint)), inVault()]).toEqual([AMOUNT, 0n])
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - world.rentOf(TOKEN_ACCOUNT_BYTES))
    expect(refused(club.release(inTokens()))).toBe('CommunityPaymentNotHeld')
  })

  it('makes the money collectable where the recipient can’t receive yet, and delays nothing else', () => {
    const { bob, alice } = world.keys
    ok(club.pay(2n))
    const events = ok(club.release(inTokens(), club.paid(2n)))
    expect(events.map(({ data }) => data.paid)).toEqual(['0', String(AMOUNT)])
    expect(club.paymentAt()?.state).toBe('released')
    world.at(RECLAIM_SECONDS)
    expect(refused(club.claim(alice, inTokens()))).toBe('WrongBeneficiary')
    const theirs = club.setTokenAccount(Keypair.generate().publicKey, alice, mint, 0n)
    expect(refused(club.claim(bob, inTokens(), theirs))).toBe('WrongTokenOwner')
    const wrong = club.setTokenAccount(Keypair.generate().publicKey, bob, otherMint, 0n)
    expect(refused(club.claim(bob, inTokens(), wrong))).toBe('WrongTokenMint')
    expect(refused(club.claim(bob, inTokens(), club.program.vault(mint)))).toBe('WrongTokenOwner')
    club.giveTokens(bob, mint, 0n)
    ok(club.claim(bob, inTokens()))
    expect(club.tokensAt(associatedTokenAddress(bob, mint))).toBe(AMOUNT)
  })
})

describe('claim_community of tokens', () => {
  it('pays the payer back, into any account of the payer’s, once nobody has decided in time', () => {
    const { alice } = world.keys
    ok(club.payToken(mint), club.pay(2n))
    expect(refused(club.claim(alice, inTokens()))).toBe('NotReclaimable')
    world.at(RECLAIM_SECONDS)
    expect(refused(club.claim(alice, club.paid(1n)))).toBe('WrongAccountCount')
    expect(refused(club.claim(alice, inTokens(1n, { token: otherMint })))).toBe('WrongToken')
    expect(refused(club.claim(alice, inTokens(2n)))).toBe('WrongAccountCount')
    const [event] = ok(club.claim(alice, inTokens()))
    expect(event?.name).toBe('CommunityReclaimed')
    expect([club.tokensAt(source), inVault()]).toEqual([RICH_TOKENS, 0n])
  })
})
