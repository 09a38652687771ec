import { PublicKey } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { initialize } from '../../src/chains/solana/admin.js'
import { changed, createSolanaWorld, RECLAIM_SECONDS, type SolanaWorld, termsOf } from './support/solana.js'
import { callsOf, LAMPORTS, reads, type SolanaCalls } from './support/solanaCalls.js'
import { accepted, type Calls } from './support/solanaCommunity.js'

let world: SolanaWorld
let calls: SolanaCalls
beforeEach(() => {
  world = createSolanaWorld()
  calls = callsOf(world)
})

const ok = (...sent: Calls) => accepted(world, ...sent)
const refused = (...sent: Calls) => world.send(...sent).error

describe('initialize', () => {
  let fresh: SolanaWorld
  beforeEach(() => {
    fresh = createSolanaWorld({ isInitialized: false })
  })
  const call = (by: PublicKey, reclaimSeconds = RECLAIM_SECONDS) =>
    initialize(fresh.registrar, by, { ...termsOf(fresh.keys), reclaimSeconds })

  it('is the upgrade authority’s, once', () => {
    const { deployer, stranger, admin, relay, treasurer } = fresh.keys
    expect(fresh.send(call(stranger)).error).toBe('NotUpgradeAuthority')
    fresh.give(fresh.registrar.state, 1n) // in the way of nobody
    expect(fresh.send(call(deployer)).error).toBeUndefined()
    const named = { adminAuthority: admin, proposedAdmin: null, relayAuthority: relay, treasuryAuthority: treasurer }
    const counts = { sequence: 0n, communitySequence: 0n, keptLamports: 0n, heldLamports: 0n }
    expect(fresh.stateOf()).toEqual({ ...named, ...counts, reclaimSeconds: RECLAIM_SECONDS })
    expect(fresh.send(call(deployer)).error).toBe('AlreadyInitialized')
  })

  it('takes no other program’s upgrade authority', () => {
    const { stranger } = fresh.keys
    const { programData } = fresh.addForeignProgram(stranger)
    const at = call(stranger).keys.findIndex(({ pubkey }) => pubkey.equals(fresh.programData))
    const foreign = changed(call(stranger), { keys: (keys) => keys.with(at, reads(programData)) })
    expect(fresh.send(foreign).error).toBe('WrongAddress')
  })

  it('takes no program data that is none', () => {
    const { deployer } = fresh.keys
    const { owner, lamports, data } = fresh.accountOf(fresh.programData)!
    const set = (by: PublicKey, bytes: Buffer) => fresh.setAccount(fresh.programData, by, lamports, bytes)
    set(deployer, data)
    expect(fresh.send(call(deployer)).error).toBe('WrongOwner')
    const loader = new PublicKey(owner)
    set(loader, data.subarray(0, 44))
    expect(fresh.send(call(deployer)).error).toBe('InvalidAccountData')
    const other = Buffer.from(data)
    other[0] = 2
    set(loader, other)
    expect(fresh.send(call(deployer)).error).toBe('InvalidAccountData')
    const final = Buffer.from(data)
    final[12] = 0
    set(loader, final)
    expect(fresh.send(call(deployer)).error).toBe('NotUpgradeAuthority')
  })

  it.each([
    ['a second less than a day', 86_399n, 'ReclaimOutOfRange'],
    ['a day', 86_400n, undefined],
    ['30 days', 30n * 86_400n, undefined],
    ['a second more than 30 days', 30n * 86_400n + 1n, 'ReclaimOutOfRange'],
    ['for ever', (1n << 64n) - 1n, 'ReclaimOutOfRange'],
  ])('sets the time until payers may take back: %s', (_, seconds, error) => {
    expect(fresh.send(call(fresh.keys.deployer, seconds)).error).toBe(error)
    if (error === undefined) expect(fresh.stateOf().reclaimSeconds).toBe(seconds)
  })
})

describe('the admin authority', () => {
  it('names the others, without the upgrade key', () => {
    const { stranger, bob, deployer, relay, treasurer, admin } = world.keys
    ok(calls.register('a'), calls.register('b'))
    for (const by of [stranger, deployer, relay, treasurer])
      expect(refused(calls.setAuthorities(stranger, bob, by))).toBe('WrongAuthority')
    ok(calls.setAuthorities(stranger, bob))
    expect(refused(calls.settle({ a: 1n }))).toBe('WrongAuthority')
    ok(world.registrar.settle(stranger, [calls.keyOf('a', 1n)]))
    expect(refused(calls.withdraw(1n))).toBe('WrongAuthority')
    const { relayAuthority, treasuryAuthority, adminAuthority, keptLamports } = world.stateOf()
    expect([relayAuthority, treasuryAuthority, adminAuthority]).toEqual([stranger, bob, admin])
    expect(keptLamports).toBe(LAMPORTS)
  })

  it('hands over in two steps', () => {
    const { bob, stranger, admin, relay } = world.keys
    expect(refused(calls.acceptAdmin(bob))).toBe('WrongAuthority')
    expect(refused(calls.proposeAdmin(bob, relay))).toBe('WrongAuthority')
    ok(calls.proposeAdmin(bob))
    expect(world.stateOf()).toMatchObject({ adminAuthority: admin, proposedAdmin: bob })
    expect(refused(calls.acceptAdmin(stranger))).toBe('WrongAuthority')
    expect(refused(calls.setAuthorities(bob, bob, bob))).toBe('WrongAuthority')
    ok(calls.acceptAdmin(bob))
    expect(world.stateOf()).toMatchObject({ adminAuthority: bob, proposedAdmin: null })
    expect(refused(calls.proposeAdmin(admin))).toBe('WrongAuthority')
    expect(refused(calls.acceptAdmin(bob))).toBe('WrongAuthority')
    ok(calls.setAuthorities(relay, relay, bob))
  })

  it('takes a proposal back, and proposes nobody', () => {
    const { bob } = world.keys
    ok(calls.proposeAdmin(bob))
    ok(calls.proposeAdmin(PublicKey.default))
    expect(refused(calls.acceptAdmin(bob))).toBe('WrongAuthority')
    expect(refused(calls.acceptAdmin(PublicKey.default))).toBe('WrongAuthority')
  })
})
