import { Keypair, PublicKey, SystemProgram, Transaction } from '@solana/web3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { createSolanaRpc } from '../rpc/solana.js'
import { createRegistrarClient } from './registrar.js'
import { createSolanaSigner, priceOfComputeUnit, transactionErrorName } from './signer.js'

describe('a transaction by a node that gives no advice', () => {
  const UNSUPPORTED = { code: -32_601, message: 'Method not found' }

  /** A signer whose node answers these methods, and no others. */
  const signerOf = async (answers: Record<string, unknown>) => {
    const url = await serveInTest(async (request, response) => {
      const { id, method } = JSON.parse(await bodyOf(request)) as { id: number; method: string }
      const result = answers[method]
      const error = result === undefined ? UNSUPPORTED : undefined
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result, error }))
    })
    return createSolanaSigner({
      rpc: createSolanaRpc({ rpcUrls: [url] }),
      registrar: createRegistrarClient(SystemProgram.programId.toBase58()),
      commitment: 'confirmed',
      secretKey: Keypair.generate().secretKey,
      maxUnitPrice: 1_000,
    })
  }
  const ANSWERS = {
    getGenesisHash: 'ours',
    getEpochInfo: { absoluteSlot: 5, blockHeight: 5 },
    getLatestBlockhash: {
      value: { blockhash: PublicKey.unique().toBase58(), lastValidBlockHeight: 150 },
    },
  }
  /** Compute units that a transaction asks for, and their price. */
  const boundsOf = (raw: string) => {
    const { instructions } = Transaction.from(Buffer.from(raw, 'base64'))
    return {
      units: instructions[0]!.data.readUInt32LE(1),
      microLamports: Number(instructions[1]!.data.readBigUInt64LE(1)),
    }
  }

  it('asks for the units of a full batch, at no price at first', async () => {
    const signer = await signerOf(ANSWERS)
    const { raw } = await signer.sign('settle', [], 0)
    expect(boundsOf(raw)).toEqual({ units: 200_000, microLamports: 0 })
    expect(boundsOf((await signer.sign('settle', [], 1)).raw).microLamports).toBe(1_000)
  })

  it.each([
    ['a simulation that fails', { value: { err: 'AccountNotFound' } }, 1_400_000],
    ['a simulation without a count', { value: { err: null } }, 200_000],
    ['a simulation', { value: { err: null, unitsConsumed: 1_000 } }, 1_100],
  ])('takes %s', async (_, simulateTransaction, units) => {
    const signer = await signerOf({ ...ANSWERS, simulateTransaction })
    expect(boundsOf((await signer.sign('settle', [], 0)).raw).units).toBe(units)
  })
})

describe('the price of a compute unit', () => {
  it.each([
    [700, 0, 700],
    [700, 1, 2_000],
    [700, 2, 4_000],
    [700, 3, 8_000],
    [0, 0, 0],
    [0, 1, 2_000],
    [0, 2, 4_000],
    [5_000, 0, 5_000],
    [5_000, 1, 10_000],
    [5_000, 2, 20_000],
  ])(
    'is the usual one at first, then twice that of the attempt before, from a thousandth of a lamport on: of %d, attempt %d',
    (usual, attempt, price) => {
      expect(priceOfComputeUnit(usual, attempt, 10 ** 9)).toBe(price)
    },
  )

  it('never exceeds the cap, at any number of attempts', () => {
    fc.assert(
      fc.property(fc.nat(10 ** 9), fc.nat(10_000), fc.nat(10 ** 6), (usual, attempt, max) => {
        const price = priceOfComputeUnit(usual, attempt, max)
        expect(price).toBeLessThanOrEqual(max)
        expect(price).toBeGreaterThanOrEqual(Math.min(usual, max))
      }),
    )
  })
})

describe('the name of a transaction’s error', () => {
  it.each([
    ['BlockhashNotFound', 'blockhash_not_found'],
    [{ InstructionError: [0, { Custom: 6015 }] }, 'payment_not_held'],
    [{ InstructionError: [0, { Custom: 6009 }] }, 'wrong_authority'],
    [{ InstructionError: [1, { Custom: 77 }] }, 'custom_77'],
    [{ InstructionError: [0, 'InvalidAccountData'] }, 'invalid_account_data'],
    [{ InsufficientFundsForRent: { account_index: 0 } }, 'insufficient_funds_for_rent'],
    [null, 'failed'],
    [{}, 'failed'],
    [`https://node.example/${'k'.repeat(200)}`, /^[a-z0-9_]{1,60}$/],
  ])('of %j', (err, name) => {
    if (typeof name === 'string') expect(transactionErrorName(err)).toBe(name)
    else expect(transactionErrorName(err)).toMatch(name)
  })
})
