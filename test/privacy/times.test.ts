import { zeroAddress } from 'viem'
import { beforeAll, expect, it } from 'vitest'
import { encodeChange } from '../../src/registry/journal/change.js'
import { bid, randomAddress, START_MS, useApi } from '../api/support.js'
import { callOf, lookupOf, testEns } from '../support/ens.js'
import { bytesOf } from './observedApi.js'

/** Wallets of a cluster in private, and in public. */
const WALLETS = 50
/** Requests of each of the two kinds per round, sent alternately. */
const SAMPLES = 80
const WARM_UP = 20
/** Probability that a request of one kind is slower than one of the other: four standard deviations around a half. */
const EVEN = { low: 0.3, high: 0.7 }
/** Other load on the machine may favour one kind for a while, but hardly the same kind three times. */
const ROUNDS = 3
/** Number of elements in a request that takes several. */
const FOLD = 1_000
const ADDR = callOf('addr(bytes32)')

const hidden = Array.from({ length: WALLETS }, randomAddress)

const world = useApi(testEns())
beforeAll(async () => {
  for (const name of ['secretive', 'plain']) {
    const owner = randomAddress()
    await world.append('mainnet', [bid({ from: owner, name })])
    const add = (addresses: readonly string[], isPrivate: boolean) => {
      const wallets = addresses.map((address, i) => ({
        address: bytesOf(address),
        name: `${isPrivate}-${i}`,
        isPrivate,
      }))
      const body = encodeChange({ kind: 'add_wallets', actor: bytesOf(owner), wallets })
      return world.append('mainnet', [
        { kind: 'add_wallets', position: null, txKey: null, causeMs: START_MS, body },
      ])
    }
    await add(Array.from({ length: WALLETS }, randomAddress), false)
    if (name === 'secretive') await add(hidden, true)
  }
})

/** Share of pairs in which the first kind's sample is slower than the second's (Mann and Whitney's U, as a share). */
function shareSlower(first: readonly number[], second: readonly number[]): number {
  const shareOf = (a: number, b: number) => {
    if (a === b) return 0.5
    return a > b ? 1 : 0
  }
  const slower = first.flatMap((a) => second.map((b) => shareOf(a, b)))
  return slower.reduce((sum: number, one) => sum + one, 0) / slower.length
}

async function sample(path: string, body: unknown): Promise<number> {
  const startedMs = performance.now()
  const answer = await fetch(`${world.url}${path}`, { method: 'POST', body: JSON.stringify(body) })
  await answer.arrayBuffer()
  expect(answer.status).toBe(200)
  return performance.now() - startedMs
}

const ensCall = (name: string) => ({
  sender: zeroAddress,
  data: lookupOf(`${name}.secretive.bundles.eth`, ADDR),
})
const fold = <T>(of: (i: number) => T): T[] => Array.from({ length: FOLD }, (_, i) => of(i))

it.each([
  {
    what: 'names below a cluster with private wallets',
    path: '/v1/names',
    first: fold((i) => ({ name: `secretive/none-${i}` })),
    second: fold((i) => ({ name: `plain/none-${i}` })),
  },
  {
    what: 'one private address',
    path: '/v1/names/address',
    first: fold(() => hidden[0]),
    second: fold(() => `0x${'de'.repeat(20)}`),
  },
  {
    what: 'private addresses',
    path: '/v1/names/address',
    first: fold((i) => hidden[i % WALLETS]),
    second: fold((i) => `0x${(0xde00 + (i % WALLETS)).toString(16).padStart(40, '0')}`),
  },
  {
    what: 'private addresses of a join',
    path: '/v1/wallets',
    first: fold((i) => hidden[i % WALLETS]),
    second: fold((i) => `0x${(0xde00 + (i % WALLETS)).toString(16).padStart(40, '0')}`),
  },
  {
    what: 'a private name of ENS',
    path: '/ens',
    first: ensCall('true-0'),
    second: ensCall('none-0'),
  },
])('$what: a request for it takes no longer than for others', async ({ path, first, second }) => {
  const shares: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const times: [number[], number[]] = [[], []]
    for (let i = 0; i < WARM_UP + SAMPLES; i++) {
      // each kind comes first equally often
      for (const kind of i % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const ms = await sample(path, kind === 0 ? first : second)
        if (i >= WARM_UP) times[kind].push(ms)
      }
    }
    const share = shareSlower(...times)
    shares.push(share)
    if (share >= EVEN.low && share <= EVEN.high) break
  }
  // a leak deviates in every round, in the same direction
  const isSlower = shares.every((share) => share > EVEN.high)
  const isFaster = shares.every((share) => share < EVEN.low)
  expect(
    isSlower || isFaster,
    `slower in ${shares.map((share) => share.toFixed(2)).join(', ')} of the pairs`,
  ).toBe(false)
})
