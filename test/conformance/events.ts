import assert from 'node:assert/strict'
import { z } from 'zod'
import { address, clusterId } from './objects.js'
import { fieldRows, type Row, row } from './row.js'
import { NotChecked, ok, registration, type Target } from './target.js'

/** Sections 4.9, 6, and the parts of 8 about the feed. */

const PATHS = { v1: '/v1/events', v01: '/v0.1/events' } as const
type Version = keyof typeof PATHS
const FEED_REFRESH_MS = 60_000

interface Item {
  timestamp: number
  from: string
  [field: string]: unknown
}

const page = async (
  target: Target,
  version: Version,
  query = '',
): Promise<{ items: Item[]; nextPage?: string }> =>
  ok(await target.get(`${PATHS[version]}?${query}`))

/** The first items of a feed. @throws NotChecked where there are too few */
async function firstItems(target: Target, version: Version, count: number): Promise<Item[]> {
  const { items } = await page(target, version, `limit=${count}`)
  if (items.length < count) throw new NotChecked(`the feed has fewer than ${count} events`)
  return items
}

async function itemOf(target: Target, version: Version, kind: string, is: string): Promise<Item> {
  const { items } = await page(target, version, 'limit=1000')
  const item = items.find((one) => one[kind] === is)
  if (!item) throw new NotChecked(`the first page of the feed has no event of type ${is}`)
  return item
}

const dataOf = (version: Version, kind: string, is: string) => async (target: Target) =>
  (await itemOf(target, version, kind, is)).data as Record<string, unknown>

async function checkNextPage(target: Target, version: Version): Promise<void> {
  const three = await firstItems(target, version, 3)
  const first = await page(target, version, 'limit=2')
  const rest = await page(
    target,
    version,
    `limit=1&nextPage=${first.nextPage}&fromTimestamp=99999999999999`,
  )
  assert.deepEqual([...first.items, ...rest.items], three)
}

async function checkLimit(target: Target, version: Version): Promise<void> {
  assert.equal((await firstItems(target, version, 2)).length, 2)
  assert.equal((await target.get(`${PATHS[version]}?limit=0`)).status, 400)
}

async function checkOrder(target: Target, version: Version, parameter: string): Promise<void> {
  const oldest = await firstItems(target, version, 2)
  assert.deepEqual((await page(target, version, `limit=2&${parameter}=oldest`)).items, oldest)
  const { items } = await page(target, version, `limit=2&${parameter}=newest`)
  assert.ok(
    items[0]!.timestamp >= items[1]!.timestamp && items[0]!.timestamp >= oldest[1]!.timestamp,
  )
}

async function checkSince(target: Target, version: Version): Promise<void> {
  const [newest] = (await page(target, version, 'limit=1&sortBy=newest')).items
  if (!newest) throw new NotChecked('the feed is empty')
  const { items } = await page(target, version, `fromTimestamp=${newest.timestamp}`)
  assert.ok(items.length > 0 && items.every(({ timestamp }) => timestamp >= newest.timestamp))
}

async function checkDefault(target: Target, version: Version, rows: number): Promise<void> {
  await firstItems(target, version, rows + 1).catch((error) => {
    // a page can't exceed the default limit, but its token shows that there are more items
    if (!(error instanceof NotChecked)) throw error
  })
  const { items, nextPage } = await page(target, version)
  if (items.length < rows && !nextPage)
    throw new NotChecked(`the feed has fewer than ${rows} events`)
  assert.equal(items.length, rows)
}

const integer = z.int().min(0)
const eventV01 = ['register', 'updateWallet', 'removeWallet'] as const

export const eventRows: readonly Row[] = [
  row('4.9', 'GET /v1/events', async (target) => {
    assert.ok(Array.isArray((await page(target, 'v1')).items))
  }),
  row('4.9', 'GET /v0.1/events', async (target) => {
    const reply = await target.get(PATHS.v01)
    assert.ok(Array.isArray(ok(reply).items))
    assert.match(reply.headers.get('deprecation') ?? '', /^@\d+$/)
  }),
  row('6.1 query', 'nextPage', (target) => checkNextPage(target, 'v1')),
  row('6.1 query', 'limit', (target) => checkLimit(target, 'v1')),
  row('6.1 query', 'from', async (target) => {
    const [first] = await firstItems(target, 'v1', 1)
    const { items } = await page(target, 'v1', `from=${first!.from}`)
    assert.ok(items.length > 0 && items.every(({ from }) => from === first!.from))
  }),
  row('6.1 query', 'orderBy', (target) => checkOrder(target, 'v1', 'orderBy')),
  row('6.1 query', 'fromTimestamp', (target) => checkSince(target, 'v1')),
  ...fieldRows('6.1 event', (target) => itemOf(target, 'v1', 'type', 'ADD_WALLET'), {
    id: z.string().min(1),
    type: z.literal('ADD_WALLET'),
    from: address,
    data: z.looseObject({}),
    isTestnet: z.boolean(),
    timestamp: integer.min(10 ** 12),
  }),
  ...fieldRows('6.1 ADD_WALLET', dataOf('v1', 'type', 'ADD_WALLET'), {
    name: z.string(),
    address: z.string(),
    cluster_id: clusterId,
    is_verified: z.boolean(),
    is_backed_up: z.boolean(),
  }),
  ...fieldRows('6.1 REGISTER_NAME', dataOf('v1', 'type', 'REGISTER_NAME'), {
    name: z.string(),
    wei_amount: z.string().regex(/^\d+$/),
  }),
  row('6.2 query', 'fromTimestamp', (target) => checkSince(target, 'v01')),
  row('6.2 query', 'nextPage', (target) => checkNextPage(target, 'v01')),
  row('6.2 query', 'sortBy', (target) => checkOrder(target, 'v01', 'sortBy')),
  row('6.2 query', 'limit', (target) => checkLimit(target, 'v01')),
  ...fieldRows('6.2 event', (target) => itemOf(target, 'v01', 'eventType', 'register'), {
    eventType: z.enum(eventV01),
    clusterId: integer,
    bytes32Address: z.string().regex(/^0x[0-9a-f]{64}$/),
    address: z.string(),
    addressType: z.enum(['evm', 'solana']),
    data: z.looseObject({}),
    timestamp: integer.max(10 ** 11),
  }),
  ...fieldRows('6.2 register', dataOf('v01', 'eventType', 'register'), {
    name: z.string(),
    weiAmount: z.number().min(0),
  }),
  ...fieldRows('6.2 updateWallet', dataOf('v01', 'eventType', 'updateWallet'), {
    name: z.string(),
    isVerified: z.literal([0, 1]),
  }),
  row('8', 'default rows per page (v1)', (target) => checkDefault(target, 'v1', 500)),
  row('8', 'default rows per page (v0.1)', (target) => checkDefault(target, 'v01', 1_000)),
  row('8', 'refresh interval of the event feed', async (target) => {
    const { name } = await registration(target)
    const finalMs = Date.now()
    for (;;) {
      const { items } = await page(target, 'v01', 'sortBy=newest')
      if (items.some(({ data }) => (data as { name?: string } | null)?.name === name)) break
      assert.ok(
        Date.now() - finalMs < FEED_REFRESH_MS,
        'a final registration is not in the feed after a minute',
      )
    }
  }),
]
