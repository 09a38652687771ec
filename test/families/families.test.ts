import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { runDoctorCommand } from '../../src/cli/doctor/doctor.js'
import type { DaemonChainFamily } from '../../src/daemon/families/family.js'
import { CHAIN_FAMILIES } from '../../src/daemon/families/index.js'
import { StepTimeoutError, type Worker } from '../../src/ops/worker.js'
import { printed } from '../support/cli.js'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { useFolder } from '../support/folder.js'
import { startHubWorld } from '../support/hubWorld.js'
import { useWorld } from '../support/useWorld.js'
import { ledgerFamily } from './ledger/family.js'
import { type Order, startLedger } from './ledger/server.js'

const TOKEN_KEY = `0x${'5b'.repeat(32)}`
const DEADLINE = { timeout: 30_000, interval: 100 }

const folder = useFolder()
const world = useWorld(startHubWorld)
const ledger = useWorld(startLedger)
const daemon = useWorld(() => startDaemon())
let payer: string
beforeAll(async () => {
  payer = world.wallet(1).address.toLowerCase()
  // the hub is caught up once its head is confirmed
  await vi.waitFor(async () => expect((await check('ann')).status).toBe(200), DEADLINE)
})

/** A daemon whose list of families has the ledger in addition to the product's families. */
function startDaemon(...more: DaemonChainFamily[]): Promise<TestDaemon> {
  const hub = { ...world.section, pollMs: 100 }
  const env = {
    QUOTE_KEY: `0x${'07'.repeat(32)}`,
    RELAYER_PRIVATE_KEY: world.wallet(9).privateKey,
  }
  return startTestDaemon(world.postgres.url, { chains: [hub] }, env, undefined, [
    ...CHAIN_FAMILIES,
    ledgerFamily(ledger.url),
    ...more,
  ])
}

async function get(path: string): Promise<Record<string, unknown>> {
  // one block for each request, so that sent transactions become confirmed
  await world.test.mine({ blocks: 1 })
  return (await (await fetch(`${daemon.api}${path}`)).json()) as Record<string, unknown>
}

const post = (url: string, body: unknown) =>
  fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json' },
  })

async function check(name: string) {
  await world.test.mine({ blocks: 1 })
  return post(`${daemon.api}/v1/names/register/check`, [name])
}

const quote = (body: object) => post(`${daemon.api}/v1/names/register/ledger`, body)

async function orderFor(name: string): Promise<Order> {
  const response = await quote({ network: 'ledger', sender: payer, names: [{ name }] })
  return ((await response.json()) as { orders: [Order] }).orders[0]
}

async function pay(order: Order): Promise<string> {
  const response = await post(`${ledger.url}/pay`, order)
  return ((await response.json()) as { id: string }).id
}

describe('a chain family that is added by a row', () => {
  it('is among the networks that take registrations', async () => {
    expect(await get('/v1/networks')).toContainEqual({
      network: 'ledger',
      name: 'Ledger',
      isTestnet: false,
      chainId: null,
      role: 'spoke',
      gasToken: { symbol: 'LDG', decimals: 6 },
      canRegister: true,
      contract: 'ledger',
      rpcUrls: [],
      explorer: null,
    })
  })

  it('is checked by `clusterd doctor`', async () => {
    const file = join(folder, 'chains.json')
    writeFileSync(file, JSON.stringify({ chains: [world.section] }))
    const env = { DATABASE_URL: world.postgres.url, CLUSTERD_CHAINS: file, TOKEN_KEY }
    const families = [...CHAIN_FAMILIES, ledgerFamily(ledger.url)]
    const printedText = await printed(env, () => runDoctorCommand({ json: true }, families))
    expect(JSON.parse(printedText)).toContainEqual({
      about: 'the ledger',
      level: 'ok',
      found: expect.stringMatching(/^height \d+$/),
    })
  })

  it('quotes in its own coin, for its own chains and addresses', async () => {
    const asked = { network: 'ledger', sender: payer, names: [{ name: 'ann' }] }
    expect(await (await quote(asked)).json()).toMatchObject({
      type: 'ledger',
      gasToken: { symbol: 'LDG', decimals: 6 },
      registrationFee: '10000',
      names: [{ name: 'ann', amountWei: '10000000000000000', amount: '10000' }],
      orders: [{ payer, name: 'ann', units: '10000' }],
    })
    expect(await (await quote({ ...asked, network: '1' })).json()).toMatchObject({
      error: 'unsupported_network',
      message: expect.stringContaining('; ledger (mainnet) at /v1/names/register/ledger.'),
    })
    const solana = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T'
    expect(await (await quote({ ...asked, sender: solana })).json()).toMatchObject({
      error: 'invalid_sender',
    })
  })

  it('registers a name: a payment there is delivered at the hub', async () => {
    const id = await pay(await orderFor('ledger-name'))
    const status = () => get(`/v1/names/register/tx/${id}`)
    await expect.poll(status, DEADLINE).toMatchObject({
      tx: id,
      status: 'finalized',
      names: [{ name: 'ledger-name', outcome: 'won' }],
    })
    expect(await get(`/v1/names/owner/address/${payer}`)).toMatchObject([
      { name: 'ledger-name', owner: payer },
    ])
    expect(await get(`/v1/refunds/${payer}`)).toMatchObject({ type: 'evm', unavailable: [] })
  })

  it('loses a name that a bid has won meanwhile', async () => {
    const order = await orderFor('taken-name')
    await world.bid(2, ['taken-name'])
    const id = await pay(order)
    const status = async () => (await get(`/v1/names/register/tx/${id}`)).status
    await expect.poll(status, DEADLINE).toBe('lost_bid')
  })

  it('delivers no payment whose terms were not quoted', async () => {
    const order = await orderFor('cheap-name')
    const id = await pay({ ...order, units: '1' })
    expect(await get(`/v1/names/register/tx/${id}`)).toMatchObject({ tx: id })
    const status = () => get(`/v1/names/register/tx/${id}`)
    await expect
      .poll(status, DEADLINE)
      .toMatchObject({ status: 'invalid', reason: 'quote_mismatch' })
  })

  it('is refused at the start with the program of another family', async () => {
    const tally = ledgerFamily(ledger.url, { key: 'tally', label: 'tally' })
    await expect(startDaemon(tally)).rejects.toThrow(
      /as "ledger", and "tally" has the same two: name the program of "tally" and its genesis\.$/,
    )
  })

  it('is watched as any other chain: status, metrics and the overview name it', async () => {
    await expect
      .poll(async () => (await daemon.status()).chains, DEADLINE)
      .toContainEqual(
        expect.objectContaining({ network: 'mainnet', label: 'ledger', problem: null }),
      )
    expect(await daemon.metric('clusterd_chain_caught_up')).toContain(
      'clusterd_chain_caught_up{network="mainnet",chain="ledger"} 1',
    )
    const { chains } = (await get('/v1/overview')) as { chains?: { network: string }[] }
    expect(chains?.map(({ network }) => network)).toEqual(['1', 'ledger'])
  })
})

describe('a process that does not index', () => {
  const host = 'wrong.example'
  let isWrong = false
  let proofs = 0
  const proof: Worker = {
    name: 'the proof of the names',
    fields: { network: 'mainnet' },
    pollMs: 10,
    async step() {
      proofs += 1
      if (proofs === 1) throw new StepTimeoutError('a step of the proof has not ended for 300 s')
      return 'idle'
    },
  }
  const wrong = (): DaemonChainFamily => {
    const family = ledgerFamily(ledger.url)
    const node = { host, requests: 1, errors: 0, latencyMs: 1, restMs: 0, head: null }
    const nodes = () => [{ use: 'api', nodes: [{ ...node, isWrong }] }]
    const open: DaemonChainFamily['open'] = async (...args) =>
      (await family.open(...args)).map((chain) => ({ ...chain, nodes, proof }))
    return { ...family, open }
  }
  const startApiOnly = () => {
    const env = { ROLES: 'api', QUOTE_KEY: `0x${'07'.repeat(32)}` }
    const families = [...CHAIN_FAMILIES, wrong()]
    const file = { chains: [world.section] }
    return startTestDaemon(world.postgres.url, file, env, undefined, families)
  }
  const linesOf = (one: TestDaemon) => one.warnings().map((line) => JSON.parse(line))

  it('says at its start that a chain is halted, without an alarm of its own', async () => {
    const halt = (to: string | null) =>
      world.pool.query("UPDATE chains SET halted = $1 WHERE label = '1'", [to])
    await halt('a mix-up')
    const api = await startApiOnly()
    await halt(null)
    await api.stop()
    const [line] = linesOf(api).filter(({ reason }) => reason === 'a mix-up')
    expect(line).toMatchObject({ level: 40, network: 'mainnet', chain: '1' })
    expect(line).not.toHaveProperty('alarm')
  })

  it('starts the proof of mirrored names again after a step that hung, and says so', async () => {
    proofs = 0
    const api = await startApiOnly()
    await vi.waitFor(() => expect(proofs).toBeGreaterThan(1), DEADLINE)
    await api.stop()
    const text = /^the proof of the names stopped/
    const [line, ...more] = linesOf(api).filter(({ msg }) => text.test(msg))
    expect([line.level, line.network, more]).toEqual([50, 'mainnet', []])
  })

  it('logs an alarm that begins just before its end', async () => {
    const api = await startApiOnly()
    isWrong = true
    await api.stop()
    const raised = linesOf(api).filter(({ alarm }) => alarm !== undefined)
    expect(raised).toMatchObject([{ alarm: 'ClusterdRpcWrongChain', subject: host }])
  })
})
