import type { PrivateKeyAccount } from 'viem/accounts'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, describe, expect, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import type { Network } from '../../src/registry/primitives/network.js'
import { createLocalWalletClient, fundAddresses } from '../../src/testing/chains/localClients.js'
import { until } from '../../src/testing/index.js'
import { limitsOf, startApi } from '../api/support.js'
import { loadRows } from '../support/airdrop.js'
import { freshName, hubOf, world } from '../support/world.js'
import { ROWS } from './index.js'
import { run } from './row.js'
import { SPECIFICATION } from './specification.js'
import { createTarget, type Target } from './target.js'

const key = ({ section, row }: { section: string; row: string }) => `${section} ${row}`

describe('the suite', () => {
  it('has every row of the specification once', () => {
    const listed = Object.entries(SPECIFICATION).flatMap(([section, rows]) =>
      rows.map((row) => key({ section, row })),
    )
    expect(ROWS.map(key).sort()).toEqual(listed.sort())
  })

  it('waits for a short rate limit, and not for a limit that lasts longer than a run', async () => {
    const key = { perSecond: 500, burst: 3_000 }
    const asked = async (perSecond: number) => {
      const limited = await startApi({
        limits: limitsOf(20, { key, address: { perSecond, burst: 20 } }),
      })
      const target = createTarget({ url: limited.url, testnet: false })
      const replies = await Promise.all(
        Array.from({ length: 30 }, () => target.get('/v1/networks')),
      )
      await limited.stop()
      return replies.filter(({ status }) => status === 200).length
    }
    expect(await asked(20)).toBe(30)
    expect(await asked(0.001)).toBe(20)
  })
})

/** The shared world as a deployment, with a funded wallet. */
async function targetOf(network: Network): Promise<Target> {
  const { hub } = world().networks[network]
  const privateKey = generatePrivateKey()
  const account = privateKeyToAccount(privateKey)
  await fundAddresses(hub, [account.address])
  const { finalized, lost, pending, bridging } = world().seeds[network]!.tx
  return createTarget({
    url: world().api,
    testnet: network === 'testnet',
    transactions: {
      finalized,
      lost_bid: lost,
      pending,
      bridging: bridging!,
      invalid: await withdrawal(network, account),
    },
    airdrop: await airdropFor(network, account),
    write: { privateKey, rpcUrl: hub.rpcUrl, label: hub.network },
  })
}

/** A community with an airdrop for this wallet. */
async function airdropFor(network: Network, { address }: PrivateKeyAccount): Promise<string> {
  const pool = createPool({ url: world().databaseUrl, max: 1, applicationName: 'conformance' })
  const community = freshName('drop')
  const others = Array.from(
    { length: 5 },
    (_, i) => `0x${(0xfed00 + i).toString(16).padStart(40, '0')}`,
  )
  const rows = [address, ...others].map((account) => ({ address: account, amount: 5n }))
  await loadRows(pool, rows, { network, community, label: hubOf(network).network })
  await pool.end()
  return community
}

/** A transaction that is not a registration. */
async function withdrawal(network: Network, account: PrivateKeyAccount) {
  const { rpcUrl, chainId } = hubOf(network)
  const tx = await createLocalWalletClient({ rpcUrl, chainId }, account).sendTransaction({
    to: account.address,
    value: 1n,
  })
  await until.status(world(), tx, 'invalid', { testnet: network === 'testnet' })
  return tx
}

/** Rows whose data this world does not have: logged, without a test. */
const TOO_FEW_EVENTS = ['8 default rows per page (v1)', '8 default rows per page (v0.1)']
const NEEDS_SOLANA = ['4.4 POST /v1/names/register/solana']
/** Rows of v0.1's communities, which are only on the testnet. */
const NEEDS_TESTNET = SPECIFICATION['7']!.filter((code) => code !== 'testnet_only').map(
  (code) => `7 ${code}`,
)

describe.each(['mainnet', 'testnet'] as const)('%s', (network) => {
  const lacking = [
    ...TOO_FEW_EVENTS,
    ...(world().networks[network].solana ? [] : NEEDS_SOLANA),
    ...(network === 'testnet' ? [] : NEEDS_TESTNET),
  ]
  const checked = ROWS.filter((row) => !lacking.includes(key(row)))
  let target: Promise<Target> | undefined

  it.each(checked.map((row) => [key(row), row] as const))('%s', async (_name, row) => {
    target ??= targetOf(network)
    expect(await run(row, await target)).toEqual({
      section: row.section,
      row: row.row,
      outcome: 'passed',
    })
  })

  afterAll(() => {
    for (const name of lacking) console.info(`not checked on ${network}: ${name}`)
  })
})
