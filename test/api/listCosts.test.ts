import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeSampleList } from '../../src/api/http/sampleRequests.js'
import { setDistributor } from '../../src/db/airdrop/airdrops.js'
import { insertConfirmedCredits } from '../../src/db/bridge/credits.js'
import { type CommunityChange, encodeChange } from '../../src/registry/journal/change.js'
import { parseAddress } from '../../src/registry/primitives/address.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { loadRows, storedOf } from '../support/airdrop.js'
import { PAYMENTS, TOKEN } from './communityApi.js'
import { BATCH_ENTRIES } from './longLists.js'
import { type Member, memberOf } from './members.js'
import { MOST_PER_UNIT, ProcessorTime, type Sent } from './processorTime.js'
import { bid, freshName, limitsOf, randomAddress, randomHash, START_MS, useApi } from './support.js'
import { solanaAccount } from './wallets.js'

/**
 * A unit is processor time, also where the caller or a stranger made the answer's list as long as it gets. As in
 * costs.test.ts, a request takes at most three times a look-up's time per unit.
 */

const WALLETS = 1_000
const PAYOUTS = 500
const HIDDEN = 3_000
/** Bids that a transaction of 16.7 million gas (EIP-7825) can make, through a contract. */
const BIDS = 4_700

/** More recipients than signatures are kept of, in communities of `PAYOUTS` each. */
const CROWDED = 3
/** Callers whose claims no earlier request has signed. */
const CALLERS = 6

const operator = generatePrivateKey()
const relayer = privateKeyToAccount(generatePrivateKey())
let turn = 0
const signedInTurn: number[] = []

const world = useApi({
  limits: limitsOf(1e9),
  airdropOperatorKey: operator,
  releaseSigner: () => {
    signedInTurn.push(turn)
    return relayer.signMessage({ message: 'a release' })
  },
  configs: (configs) => configs.map((config) => ({ ...config, communityPayments: PAYMENTS })),
})
const community = freshName()
const club = freshName()
const crowded = makeSampleList(CROWDED, freshName)
const tx = randomHash()
const lostTx = randomHash()
let owner: Member
const callers: Member[] = []
let processors: ProcessorTime

/** A bundle of the largest size, of EVM and Solana wallets, each with an allocation. */
async function fillBundle(): Promise<void> {
  const id = await owner.create()
  const addresses = [
    ...callers.map(({ address }) => address),
    ...makeSampleList(WALLETS - 1 - CALLERS, (i) =>
      i % 2 === 0 ? randomAddress() : solanaAccount().address,
    ),
  ]
  await world.pool.query(
    `INSERT INTO wallets (network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq)
     SELECT 0, c.serial, a, 'w' || i, true, false, false, c.created_seq, c.created_seq
     FROM clusters c, unnest($2::bytea[]) WITH ORDINALITY AS u(a, i) WHERE c.network = 0 AND c.id = $1`,
    [fromHex(id), addresses.map(storedOf)],
  )
  const rows = [owner.address, ...addresses].map((address) => ({ address, amount: 10n ** 18n }))
  await loadRows(world.pool, rows, { community })
  await setDistributor(world.pool, 'mainnet', community, {
    label: '1',
    distributor: fromHex(randomAddress()),
    token: fromHex(TOKEN),
    endsAtS: Math.floor(Date.now() / 1_000) + 1_000_000,
    fromBlock: 1,
  })
}

/**
 * Held payments of a community. @param recipient SQL of the recipient of payment `i`
 * @param first number of the first payment
 */
const fillPayouts = (of: string, recipient: string, first: number) =>
  world.pool.query(
    `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, name, paid_ms,
       community_word, community, recipient, number, reclaimable_ms)
     SELECT 0, sha256(i::text::bytea), 2, 1, 2, sha256(i::text::bytea), i, i, '\\x01' || substr(sha256(i::text::bytea), 1, 20),
       'native', i, $1, 'n' || i, i, $2, $3, ${recipient}, i, i
     FROM generate_series($4::int, $4 + ${PAYOUTS - 1}) i`,
    [nameToWord('n'), nameToWord(of), of, first],
  )

/** Bids of one transaction that lost, and the credits that the hub gave for them. */
async function fillTransaction(): Promise<void> {
  const from = randomAddress()
  const lost = makeSampleList(BIDS, (i) =>
    bid({ from, name: community, tx, block: 200, logIndex: 2 * i }),
  )
  for (let i = 0; i < BIDS; i += BATCH_ENTRIES)
    await world.append('mainnet', lost.slice(i, i + BATCH_ENTRIES))
  const credit = { block: 200, txHash: fromHex(tx), wallet: storedOf(from), eid: 0, amountWei: 2n }
  const credits = makeSampleList(BIDS, (i) => ({ ...credit, logIndex: 2 * i + 1 }))
  await insertConfirmedCredits(world.pool, 'mainnet', credits)

  const names = makeSampleList(100, freshName)
  const bidsFor = (hash: typeof tx, block: number) =>
    names.map((name, i) => bid({ from, name, tx: hash, block, logIndex: i }))
  await world.append('mainnet', [...bidsFor(randomHash(), 300), ...bidsFor(lostTx, 301)])
}

/** Entries that v0.1 does not show, as the newest of the feed. */
async function hideEntries(): Promise<void> {
  const { bytes: actor } = parseAddress(owner.address) as Exclude<
    ReturnType<typeof parseAddress>,
    string
  >
  const changes = makeSampleList(
    HIDDEN,
    (): CommunityChange => ({
      kind: 'register_community_name',
      actor,
      community,
      name: freshName(),
      wallet: actor,
      met: null,
      isAssigned: false,
    }),
  )
  const signed = { position: null, txKey: null, causeMs: START_MS + 9_000 }
  await world.append(
    'mainnet',
    changes.map((change) => ({ kind: change.kind, ...signed, body: encodeChange(change) })),
  )
}

beforeAll(async () => {
  owner = await memberOf(world)
  for (let i = 0; i < CALLERS; i++) callers.push(await memberOf(world))
  for (const name of [community, club, ...crowded]) {
    await world.append('mainnet', [bid({ from: owner.address, name })])
    expect((await owner.call('PUT', `/v1/communities/${name}`, {})).status).toBe(200)
  }
  await hideEntries()
  await fillBundle()
  const ownRecipient = "'0x' || encode(substr(sha256(i::text::bytea), 1, 20), 'hex')"
  await fillPayouts(community, ownRecipient, 1)
  await fillPayouts(club, `'0x${'11'.repeat(20)}'`, PAYOUTS + 1)
  for (const [i, name] of crowded.entries())
    await fillPayouts(name, ownRecipient, (i + 2) * PAYOUTS + 1)
  await fillTransaction()
  await world.pool.query('ANALYZE')
  processors = new ProcessorTime(world)
}, 120_000)
afterAll(() => processors.stop())

it.each<[string, () => Sent]>([
  [
    'claims of a bundle of 1,000 wallets',
    () => ({ method: 'GET', path: `/v1/airdrop/claim/${community}`, headers: owner.headers }),
  ],
  [
    'claims of 500 accounts of Solana that are not signed yet',
    () => {
      const caller = callers.pop()!
      return { method: 'GET', path: `/v1/airdrop/claim/${community}`, headers: caller.headers }
    },
  ],
  [
    '500 payouts that are not signed any more',
    () => {
      crowded.push(crowded.shift()!)
      return { method: 'GET', path: `/v1/communities/${crowded[0]}/payouts` }
    },
  ],
  [
    '500 payouts of a community to 500 recipients',
    () => ({ method: 'GET', path: `/v1/communities/${community}/payouts` }),
  ],
  [
    '500 payouts of a community to one recipient',
    () => ({ method: 'GET', path: `/v1/communities/${club}/payouts` }),
  ],
  [
    'the status of thousands of bids',
    () => ({ method: 'GET', path: `/v1/names/register/tx/${tx}` }),
  ],
  [
    'the status of thousands of bids in v0.1',
    () => ({ method: 'GET', path: `/v0.1/register/tx/${tx}` }),
  ],
  [
    'the status of 100 bids for names that are taken',
    () => ({ method: 'GET', path: `/v1/names/register/tx/${lostTx}` }),
  ],
  [
    'a page of one event of v0.1 behind thousands of hidden ones',
    () => ({ method: 'GET', path: '/v0.1/events?limit=1&orderBy=newest' }),
  ],
])('the units of %s pay for its processor time', async (what, sent) => {
  const { statuses, ratio } = await processors.ratioOf(sent)
  expect(statuses).toEqual([200])
  expect(ratio, what).toBeLessThan(MOST_PER_UNIT)
})

it('signs the payouts of one request in many turns of the event loop', async () => {
  signedInTurn.length = 0
  let isCounting = true
  const count = () => {
    turn += 1
    if (isCounting) setImmediate(count)
  }
  count()
  crowded.push(crowded.shift()!)
  const { status, body } = await world.get(`/v1/communities/${crowded[0]}/payouts`)
  isCounting = false
  expect([status, body.payouts.length, signedInTurn.length]).toEqual([200, PAYOUTS, PAYOUTS])
  const ofTurn = new Map<number, number>()
  for (const one of signedInTurn) ofTurn.set(one, (ofTurn.get(one) ?? 0) + 1)
  expect(Math.max(...ofTurn.values())).toBeLessThanOrEqual(4)
})
