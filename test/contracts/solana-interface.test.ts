import { readFileSync } from 'node:fs'
import { Keypair, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { findStalePrograms } from '../../scripts/build-solana.js'
import { registrarCoder } from '../../src/chains/solana/registrar.js'
import { createSolanaWorld, RECLAIM_SECONDS, type SolanaWorld } from './support/solana.js'
import { callsOf, LAMPORTS, PAYMENT_BYTES, reads, TREASURY_BYTES } from './support/solanaCalls.js'
import { accepted, COMMUNITY_PAYMENT_BYTES, communityOf } from './support/solanaCommunity.js'

/** Program, IDL and TypeScript agree. The other tests use each instruction, error and event through the same IDL. */

describe('the interface', () => {
  it('reads the accounts as the program writes them, to the last byte', () => {
    const world = createSolanaWorld()
    const calls = callsOf(world)
    expect(world.send(calls.register()).error).toBeUndefined()
    const { state, treasury } = world.registrar
    const club = communityOf(world)
    expect(world.send(club.pay()).error).toBeUndefined()
    const accounts = {
      State: [state, 184],
      Treasury: [treasury, TREASURY_BYTES],
      Payment: [calls.paymentAt(), PAYMENT_BYTES],
      CommunityPayment: [
        club.program.paymentAccount({ payer: world.keys.alice, number: 1n }),
        COMMUNITY_PAYMENT_BYTES,
      ],
    } as const
    for (const [name, [address, bytes]] of Object.entries(accounts)) {
      const { data } = world.accountOf(address)!
      expect(data.length, name).toBe(bytes)
      expect(registrarCoder.accounts.decode<object>(name, data), name).toBeDefined()
    }
    const raw = registrarCoder.accounts.decode('State', world.accountOf(state)!.data)
    const find = (seed: string) =>
      PublicKey.findProgramAddressSync([Buffer.from(seed)], world.programId)[1]
    const bumps = ['state', 'treasury', '__event_authority'].map(find)
    expect([raw.bump, raw.treasury_bump, raw.event_bump]).toEqual(bumps)
  })
})

describe('the built programs', () => {
  it('match their sources', () => {
    expect(findStalePrograms()).toEqual([])
  })
})

describe('through another program', () => {
  const CALLER = readFileSync(
    new URL('../../contracts/solana/test-doubles/caller/caller.so', import.meta.url),
  )

  function deployCaller(world: SolanaWorld) {
    const program = Keypair.generate().publicKey
    world.addProgram(program, CALLER)
    const [vault, bump] = PublicKey.findProgramAddressSync([Buffer.from('vault')], program)
    /** `vault` signs inside the call, as a multisig's vault does. */
    const wrap = ({ keys, data, programId }: TransactionInstruction): TransactionInstruction =>
      new TransactionInstruction({
        programId: program,
        keys: [
          reads(programId),
          ...keys.map((meta) => ({
            ...meta,
            isSigner: meta.isSigner && !meta.pubkey.equals(vault),
          })),
        ],
        data: Buffer.concat([
          Buffer.of(bump, ...keys.map(({ isSigner }) => Number(isSigner))),
          data,
        ]),
      })
    return { program, vault, wrap }
  }

  it('a wallet pays', () => {
    const world = createSolanaWorld()
    const { wrap } = deployCaller(world)
    const [event] = accepted(world, wrap(callsOf(world).register()))
    expect([event?.name, event?.data.payer]).toEqual([
      'RegistrationPaid',
      world.keys.alice.toBase58(),
    ])
  })

  it('a multisig’s vault pays and is paid back', () => {
    const world = createSolanaWorld()
    const { vault, wrap } = deployCaller(world)
    const before = 10n ** 12n
    world.give(vault, before)
    const { registrar, keys } = world
    const calls = callsOf(world)
    const register = calls.register('q', { payer: vault.toBytes() }, vault)
    expect(world.send(wrap(register)).error).toBeUndefined()
    expect(world.balanceOf(vault)).toBe(before - LAMPORTS - world.rentOf(PAYMENT_BYTES))
    expect(world.stateOf()).toMatchObject({ sequence: 1n, heldLamports: LAMPORTS })
    const refund = registrar.refund(keys.relay, [calls.keyOf('q', 1n, vault)])
    expect(world.send(refund).error).toBeUndefined()
    expect(world.balanceOf(vault)).toBe(before)
  })

  it('it pays for a name of a community, and is paid back', () => {
    const world = createSolanaWorld()
    const { vault, wrap } = deployCaller(world)
    const before = 10n ** 12n
    world.give(vault, before)
    const { pay, refuse, claim, paid } = communityOf(world)
    accepted(world, wrap(pay(1n, { payer: vault })), wrap(pay(2n, { payer: vault })))
    const first = paid(1n, { payer: vault })
    const second = paid(2n, { payer: vault })
    accepted(world, refuse(first))
    world.at(RECLAIM_SECONDS)
    accepted(world, wrap(claim(vault, second)))
    expect(world.balanceOf(vault)).toBe(before)
  })

  it('a vault has no authority of another, and nobody else signs for a wallet', () => {
    const world = createSolanaWorld()
    const { vault, wrap } = deployCaller(world)
    const calls = callsOf(world)
    expect(world.send(calls.register()).error).toBeUndefined()
    const stolen = world.registrar.refund(vault, [calls.keyOf()])
    expect(world.send(wrap(stolen)).error).toBe('WrongAuthority')
    const unsigned = wrap(calls.register('r'))
    const keys = unsigned.keys.map((meta) => ({ ...meta, isSigner: false }))
    expect(world.send(new TransactionInstruction({ ...unsigned, keys })).error).toBe('runtime')
    expect(world.stateOf().sequence).toBe(1n)
  })
})
