import fc from 'fast-check'
import { createPublicClient, getAddress, type Hex, http, keccak256, zeroAddress } from 'viem'
import { describe, expect, test, vi } from 'vitest'
import { ensResolverAbi } from '../../contracts/evm/artifacts/EnsResolver.js'
import type { EnsAnswer } from '../../src/ens/answer.js'
import { ensKey, nextEnsKey, signedAnswer, strangersKey } from '../support/ens.js'
import { useWorld } from '../support/useWorld.js'
import { freshEach } from './support/chain.js'
import { encode, RETURNED, startEnsWorld, URLS } from './support/ens.js'

const RUNS = Math.ceil(Number(process.env.FUZZ_CALLS ?? 400) / 2)
/** Longest validity of an answer. */
const LONGEST_S = 3_600
const OTHER: Hex = `0x${'0e'.repeat(20)}`

const world = useWorld(() => startEnsWorld())
freshEach(() => world)

describe('the resolver', () => {
  test('sends clients to the gateway with the whole call, and returns the signed result', async () => {
    const { resolver, lookup, answer, chain, rpcUrl } = world
    const request = vi.fn(() => signedAnswer(answer))
    const client = createPublicClient({ chain, transport: http(rpcUrl), ccipRead: { request } })
    expect((await client.call({ to: resolver, data: lookup })).data).toBe(RETURNED)
    expect(request).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ data: lookup, sender: getAddress(resolver), urls: URLS }),
    )
    // ERC-165 and ENSIP-10
    const read = {
      address: resolver,
      abi: ensResolverAbi,
      functionName: 'supportsInterface',
    } as const
    for (const [id, has] of [
      ['0x01ffc9a7', true],
      ['0x9061b923', true],
      ['0xffffffff', false],
    ] as const)
      expect(await client.readContract({ ...read, args: [id] })).toBe(has)
  })

  test('has a separate error for each mistake', async () => {
    const { answer } = world
    const { parentSettings } = answer
    const refusal = async (wrong: Partial<EnsAnswer>, how = {}) =>
      world.reasonOf(world.proof(await signedAnswer({ ...answer, ...wrong }, how)))
    expect(await refusal({ parentSettings: { ...parentSettings, chainId: 1 } })).toBe('OtherChain')
    expect(await refusal({ parentSettings: { ...parentSettings, resolver: OTHER } })).toBe(
      'OtherResolver',
    )
    expect(await refusal({ request: keccak256('0x01') })).toBe('OtherRequest')
    expect(await refusal({ expiresS: 1 })).toBe('AnswerExpired')
    expect(await refusal({ expiresS: answer.expiresS + LONGEST_S })).toBe('ExpiresTooLate')
    expect(await refusal({}, { by: strangersKey })).toBe('BadSignature')
    // signed for another chain, resolver, request, time or result than stated
    for (const over of [
      { parentSettings: { ...parentSettings, chainId: 1 } },
      { parentSettings: { ...parentSettings, resolver: OTHER } },
      { request: keccak256('0x01') },
      { expiresS: answer.expiresS + 1 },
      { result: OTHER },
    ])
      expect(await refusal({}, { over: { ...answer, ...over } })).toBe('BadSignature')
    const tx = world.proof(await signedAnswer(answer))
    expect(await world.statusAt(BigInt(answer.expiresS), tx)).toBe('success')
    expect(await world.statusAt(BigInt(answer.expiresS) + 1n, tx)).toBe('reverted')
  })

  test.each([
    ['an hour', LONGEST_S, 'success'],
    ['an hour and a second', LONGEST_S + 1, 'reverted'],
    ['285 million years', Number.MAX_SAFE_INTEGER - 2 ** 40, 'reverted'],
  ])('of an answer that counts for %s', async (_, seconds, status) => {
    const { timestamp } = await world.publicClient.getBlock()
    const now = Number(timestamp) + 10
    const response = await signedAnswer({ ...world.answer, expiresS: now + seconds })
    expect(await world.statusAt(BigInt(now), world.proof(response))).toBe(status)
  })

  test('shows clients the longest validity', async () => {
    const read = { address: world.resolver, abi: ensResolverAbi } as const
    const longest = world.publicClient.readContract({ ...read, functionName: 'MAX_VALID_SECONDS' })
    expect(await longest).toBe(BigInt(LONGEST_S))
  })
})

describe('the owner', () => {
  const counts = async (by: typeof ensKey) =>
    (await world.reasonOf(world.proof(await signedAnswer(world.answer, { by })))) === undefined

  test('replaces the signer while answers of both are valid', async () => {
    expect(await counts(nextEnsKey)).toBe(false)
    const { logs } = await world.succeed(world.set(1n, nextEnsKey.address))
    expect(logs).toHaveLength(1)
    expect([await counts(ensKey), await counts(nextEnsKey)]).toEqual([true, true])
    await world.succeed(world.set(0n, zeroAddress))
    expect([await counts(ensKey), await counts(nextEnsKey)]).toEqual([false, true])
    expect((await world.send(world.set(2n, nextEnsKey.address))).status).toBe('reverted')
  })

  test('is the only one to set signers and URLs, and hands over in two steps', async () => {
    const { owner, anybody, tx } = world
    const urls = encode('setUrls', [[URLS[1]!]])
    for (const one of [world.set(0n, anybody, anybody), tx(urls)])
      expect(await world.reasonOf(one)).toBe('OwnableUnauthorizedAccount')
    expect(await world.reasonOf(tx(encode('renounceOwnership', []), owner))).toBe('OwnerRequired')
    await world.succeed(tx(encode('transferOwnership', [anybody]), owner))
    expect(await world.reasonOf(tx(urls))).toBe('OwnableUnauthorizedAccount')
    await world.succeed(tx(encode('acceptOwnership', [])))
    expect((await world.succeed(tx(urls))).logs).toHaveLength(1)
    const read = { address: world.resolver, abi: ensResolverAbi, functionName: 'urls' } as const
    expect(await world.publicClient.readContract({ ...read, args: [0n] })).toBe(URLS[1])
    await expect(world.publicClient.readContract({ ...read, args: [1n] })).rejects.toThrow()
  })
})

test('no changed answer is accepted, and only the signed result is returned', async () => {
  const good = await signedAnswer(world.answer)
  const bytes = fc
    .uint8Array({ maxLength: 400 })
    .map((all): Hex => `0x${Buffer.from(all).toString('hex')}`)
  const flipped = fc.nat(good.length - 3).map((at): Hex => {
    const digit = (Number.parseInt(good[at + 2]!, 16) ^ 1).toString(16)
    return `0x${good.slice(2, at + 2)}${digit}${good.slice(at + 3)}`
  })
  const cut = fc.nat(good.length / 2 - 2).map((size): Hex => `0x${good.slice(2, 2 + 2 * size)}`)
  const property = fc.asyncProperty(
    fc.oneof(bytes, flipped, cut),
    fc.oneof(bytes, fc.constant(undefined)),
    async (response, extra) => {
      const read = await world.read(response, extra).catch(() => 'refused')
      // no signature covers the result's padding and the bytes after it
      expect(read === 'refused' || read === RETURNED, `${response} ${extra}`).toBe(true)
    },
  )
  await fc.assert(property, { numRuns: RUNS })
}, 600_000)
