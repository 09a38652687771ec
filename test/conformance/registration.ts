import assert from 'node:assert/strict'
import { quoteV01 } from './objects.js'
import { type Row, row } from './row.js'
import {
  freshAddress,
  freshName,
  NotChecked,
  ok,
  registration,
  sampleOf,
  type Target,
} from './target.js'

/** Sections 3, 4.3, 4.4, and the parts of 8 about registering. */

const UNKNOWN_TX = `0x${'5a'.repeat(32)}`
const DEFAULT_WEI = 10n ** 16n
/** A Solana key that nobody has. */
const SOLANA_SENDER = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'

const STATES = ['not_found', 'pending', 'bridging', 'invalid', 'lost_bid', 'finalized'] as const

async function knownTx(target: Target, state: (typeof STATES)[number]): Promise<string> {
  if (state === 'not_found') return UNKNOWN_TX
  const given = target.options.transactions?.[state]
  if (given) return given
  if (state === 'finalized' && target.options.write) return (await registration(target)).tx
  throw new NotChecked(`no transaction with this status was named: --tx ${state}=0x…`)
}

const stateRows = STATES.map((state) =>
  row('3', state, async (target) => {
    const tx = await knownTx(target, state)
    for (const path of ['/v1/names/register/tx', '/v0.1/register/tx']) {
      const answer = ok(await target.get(`${path}/${tx}`))
      assert.deepEqual([answer.tx, answer.status], [tx, state])
    }
  }),
)

/** Requests a quote with one field changed. */
async function quoteWith(target: Target, change: object) {
  const { network } = await quoteV01(target)
  const body = { network, sender: freshAddress(), names: [{ name: freshName() }], ...change }
  return target.post('/v0.1/register', body)
}

const refused = (reply: { status: number; text: string }) =>
  assert.equal(reply.status, 400, reply.text)

/** Values of a quote's fields that have to be refused. */
const REFUSED = {
  network: [undefined, 'no such network'],
  sender: [undefined, 'junk'],
  names: [undefined, [], [{ name: 'not a name' }], [{ name: freshName(), bidAmountWei: 'junk' }]],
}

export const registrationRows: readonly Row[] = [
  ...stateRows,
  row('4.3', 'GET /v0.1/register/check/:name', async (target) => {
    const { name } = await sampleOf(target)
    const free = freshName()
    assert.deepEqual(ok(await target.get(`/v0.1/register/check/${name}`)), {
      name,
      isAvailable: false,
    })
    assert.deepEqual(ok(await target.get(`/v0.1/register/check/${free}`)), {
      name: free,
      isAvailable: true,
    })
  }),
  row('4.3', 'POST /v0.1/register/check', async (target) => {
    const { name } = await sampleOf(target)
    const free = freshName()
    assert.deepEqual(ok(await target.post('/v0.1/register/check', [free, name])), [
      { name: free, isAvailable: true },
      { name, isAvailable: false },
    ])
  }),
  row('4.3', 'POST /v0.1/register', async (target) => {
    const { quote, names } = await quoteV01(target)
    assert.equal(quote.names[0].name, names[0]?.name)
    assert.ok(BigInt(quote.transactionData.value) >= BigInt(quote.registrationFee))
  }),
  row('4.3', 'GET /v0.1/register/tx/:tx', async (target) => {
    const answer = ok(await target.get(`/v0.1/register/tx/${UNKNOWN_TX}`))
    assert.deepEqual(answer, { tx: UNKNOWN_TX, status: 'not_found' })
  }),
  ...Object.entries(REFUSED).map(([field, values]) =>
    row('4.3', field, async (target) => {
      for (const value of values) refused(await quoteWith(target, { [field]: value }))
    }),
  ),
  row('4.3', 'referralAddress', async (target) => {
    const referrer = freshAddress()
    const { transactionData } = ok(await quoteWith(target, { referralAddress: referrer }))
    assert.ok(transactionData.data.toLowerCase().includes(referrer.slice(2)))
    refused(await quoteWith(target, { referralAddress: 'junk' }))
  }),
  row('4.4', 'POST /v1/names/register/check', async (target) => {
    const { name } = await sampleOf(target)
    const free = freshName()
    const answers = ok(await target.post('/v1/names/register/check', [name, free]))
    assert.deepEqual(
      answers.map((one: { name: string; isAvailable: boolean }) => [one.name, one.isAvailable]),
      [
        [name, false],
        [free, true],
      ],
    )
  }),
  row('4.4', 'POST /v1/names/register/evm', async (target) => {
    const { network } = await quoteV01(target)
    const asked = {
      network,
      sender: freshAddress(),
      names: [{ name: freshName(), amountWei: '30000000000000000' }],
    }
    const quote = ok(await target.post('/v1/names/register/evm', asked))
    assert.deepEqual([quote.type, quote.names[0].amountWei], ['evm', '30000000000000000'])
    const { name } = await sampleOf(target)
    const taken = await target.post('/v1/names/register/evm', { ...asked, names: [{ name }] })
    assert.deepEqual(
      [taken.status, taken.body.error, taken.body.names],
      [409, 'names_unavailable', [name]],
    )
  }),
  row('4.4', 'POST /v1/names/register/solana', async (target) => {
    const asked = { network: 'solana', sender: SOLANA_SENDER, names: [{ name: freshName() }] }
    const reply = await target.post('/v1/names/register/solana', asked)
    if (reply.body?.error === 'unsupported_network')
      throw new NotChecked('the deployment has no Solana')
    const quote = ok(reply)
    assert.deepEqual(
      [quote.type, quote.gasToken],
      ['solana', { symbol: 'SOL', decimals: 'lamports' }],
    )
    assert.equal(quote.transactionData.length, 1)
  }),
  row('4.4', 'GET /v1/names/register/tx/:tx', async (target) => {
    const answer = ok(await target.get(`/v1/names/register/tx/${UNKNOWN_TX}`))
    assert.deepEqual([answer.tx, answer.status], [UNKNOWN_TX, 'not_found'])
    refused(await target.get('/v1/names/register/tx/junk'))
  }),
  row('8', 'default registration amount', async (target) => {
    const { network } = await quoteV01(target)
    const asked = { network, sender: freshAddress(), names: [{ name: freshName() }] }
    const [quoted] = ok(await target.post('/v1/names/register/evm', asked)).names
    if (BigInt(quoted.amountWei) > DEFAULT_WEI)
      throw new NotChecked('the deployment’s least amount is above 0.01 ETH')
    assert.equal(quoted.amountWei, String(DEFAULT_WEI))
  }),
  row('8', 'transaction status scope', async (target) => {
    const { tx, name, second } = await registration(target)
    const { status, names } = ok(await target.get(`/v1/names/register/tx/${tx}`))
    assert.equal(status, 'finalized')
    assert.deepEqual(
      names.map((one: { name: string }) => one.name),
      [name, second],
    )
  }),
]
