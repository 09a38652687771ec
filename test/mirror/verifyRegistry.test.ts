import { expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { verifyRegistry } from '../../src/client/verify.js'
import { startHubWorld } from '../support/hubWorld.js'
import { useWorld } from '../support/useWorld.js'
import { type Event, filesOf, key, leavesOf, serving } from './support.js'

const world = useWorld(() => startHubWorld())
const text = new TextDecoder()
const RECORD_HASH = '0xd374cc21'

/** Runs `verifyRegistry` against the hub, for a service whose log has these registrations. */
async function verified(registrations: readonly Event[]) {
  const hub = world.hub
  const { hash, number } = await world.public.getBlock()
  const call = { to: hub, data: RECORD_HASH } as const
  const { data: recordHash } = await world.public.call({ ...call, blockNumber: number })
  const log = filesOf(leavesOf(registrations))
  const proof = {
    network: '1',
    block: Number(number),
    blockHash: hash,
    contracts: [{ address: hub, recordHash }],
    trust: 'proved',
    nodes: 2,
    log: { checkpoint: text.decode(log.files.get('checkpoint')) },
  }
  const ofLog = serving(log)
  const service: typeof fetch = async (input, init) =>
    new URL(String(input)).pathname === '/v1/proof' ? Response.json(proof) : ofLog(input, init)
  const client = new Client({ url: 'http://names.invalid', fetch: service, retries: 0 })
  return verifyRegistry(client, { hub, node: world.public, key })
}

const registered = (from: string, name: string): Event => [
  'REGISTER_NAME',
  { name, wei_amount: '1', cluster_id: `0x${'7'.repeat(64)}` },
  from,
]
const NOBODY = `0x${'0'.repeat(40)}`
const LONG = 'k'.repeat(32)

it('accepts a registration only if the hub has exactly its name and its wallet', async () => {
  await world.bid(1, ['known', LONG])
  const owner = world.wallet(1).address.toLowerCase()
  const other = world.wallet(2).address.toLowerCase()
  const resultOf = (from: string, name: string) =>
    verified([registered(owner, LONG), registered(from, name)]).then(
      ({ head }) => `${head.size} entries`,
      ({ code, message }) => [code, message],
    )
  const refusal = (from: string, name: string) => [
    'registry_mismatch',
    `The hub did not give ${name.replace('\0', '\\u{0000}')} to ${from}.`,
  ]
  expect(await resultOf(owner, 'known')).toBe('3 entries')
  for (const [from, name] of [
    [other, 'known'],
    [owner, 'free'],
    [NOBODY, 'free'],
    ['1'.repeat(32), 'free'],
    ['', 'free'],
    [owner, `${LONG}k`],
    [owner, 'known\0'],
    [`${owner.slice(0, 3)}_${owner.slice(3)}`, 'known'],
  ] as const)
    expect(await resultOf(from, name)).toEqual(refusal(from, name))
})
