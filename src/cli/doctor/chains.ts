import { formatEther, type Hex, isAddressEqual, parseAbi } from 'viem'
import { createChainRpc, createEvmChain } from '../../chains/evm/chain.js'
import { readContract } from '../../chains/evm/contracts/read.js'
import { relayerAccount } from '../../chains/evm/relayerAccount.js'
import type { Rpc } from '../../chains/rpc/evm.js'
import { createRates } from '../../chains/solana/rates.js'
import type { ChainConfig, Config } from '../../config/index.js'
import { findChain } from '../../db/journal/chains.js'
import { listSigners } from '../../db/outbox/signers.js'
import { signerStats } from '../../db/outbox/stats.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import { DAY_MS, LOW_RUNWAY_MS } from '../../relayer/report/problems.js'
import { withPoolAt } from '../database.js'
import { bad, check, type Finding, ok, type Result, warn } from './finding.js'

/** Parts of LayerZero's OApp and endpoint. */
const OAPP = parseAbi(['function peers(uint32 eid) view returns (bytes32)', 'function eid() view returns (uint32)'])
const ROLES = parseAbi(['function relayer() view returns (address)'])
/** A head older than this many times a slow chain's block is stuck. */
const OLD_HEAD_MS = 5 * 60_000
/** Time after which a database that says nothing is left out. */
const SILENCE_MS = 5_000
/** Below this a relayer pays for few deliveries. */
const LOW_BALANCE_WEI = 10n ** 16n

/** Checks of every EVM chain: each RPC URL by itself, contracts, connections of the bridge, and the relayer's money. */
export async function chainFindings(config: Config): Promise<Finding[]> {
  const spent = await spentLastDay(config)
  const findings = await Promise.all(config.chains.map((chain) => findingsOf(chain, config, spent)))
  return findings.flat()
}

/** Wei that the relayer spent in a day, by the chains' labels; nothing where the database does not answer. */
const spentLastDay = ({ databaseDirectUrl }: Config): Promise<ReadonlyMap<string, bigint>> =>
  withPoolAt(databaseDirectUrl, { command: 'doctor', max: 1, silenceLimitMs: SILENCE_MS }, async (pool) => {
    const spent = new Map<string, bigint>()
    for (const { network, label, signer } of await listSigners(pool, NETWORKS)) {
      const row = await findChain(pool, network, label)
      if (row) spent.set(label, (await signerStats(pool, row, signer, Date.now())).spentLastDayWei)
    }
    return spent
  }).catch(() => new Map())

async function findingsOf(chain: ChainConfig, config: Config, spent: ReadonlyMap<string, bigint>): Promise<Finding[]> {
  const about = `chain ${chain.label}`
  const urls = await Promise.all(chain.rpcUrls.map((url) => urlFinding(`${about}, ${new URL(url).host}`, chain, url)))
  if (urls.every(({ level }) => level === 'bad')) return urls
  const rpc = createChainRpc(chain)
  const contracts = { contract: chain.contract, payments: chain.communityPayments, endpoint: chain.endpoint }
  const checks = Object.entries(contracts).flatMap(([what, address]) =>
    address ? [codeFinding(`${about}, ${what === 'contract' ? chain.role : what}`, rpc, address as Hex)] : [],
  )
  const hub = config.chains.find(({ network, role }) => network === chain.network && role === 'hub')
  if (chain.endpoint && chain.eid) checks.push(endpointFinding(`${about}, endpoint id`, rpc, chain))
  if (hub && chain.role === 'spoke' && chain.eid && hub.eid) checks.push(...peerFindings(about, rpc, chain, hub))
  const feeds = chain.role === 'hub' ? config.solana[chain.network]?.feeds : undefined
  if (feeds) {
    const advice = 'Correct `feeds`, or wait for the feed: no quotes on Solana meanwhile.'
    checks.push(check(`${about}, price feeds`, advice, () => createRates(rpc, feeds)().then(() => ok('fresh'))))
  }
  if (config.relayerKey && (chain.role === 'hub' || chain.communityPayments)) {
    const { address } = relayerAccount(config.relayerKey)
    const spentWei = spent.get(chain.label) ?? 0n
    checks.push(balanceFinding(`${about}, relayer`, { rpc, chain, address, spentWei }))
    const obeying = { hub: chain.role === 'hub' ? chain.contract : undefined, payments: chain.communityPayments }
    for (const [what, contract] of Object.entries(obeying))
      if (contract && !chain.watchOnly)
        checks.push(roleFinding(`${about}, relayer of the ${what}`, rpc, contract, address))
  }
  return [...urls, ...(await Promise.all(checks))]
}

/** Tells whether a URL serves this chain, and its head is fresh. */
const urlFinding = (about: string, chain: ChainConfig, url: string): Promise<Finding> =>
  check(about, 'Correct `rpcUrls`, or see that node.', async () => {
    const rpc = createChainRpc({ ...chain, rpcUrls: [url] })
    const { latest, confirmed } = await createEvmChain({ config: chain, chain: 0, rpc }).heads()
    const ageMs = Date.now() - latest.timestampMs
    if (ageMs > OLD_HEAD_MS && !chain.local)
      return bad(`the head is ${Math.round(ageMs / 60_000)} min old`, 'The node is stuck or syncing: use another.')
    return ok(`block ${latest.number}, confirmed ${Math.max(0, confirmed)}`)
  })

const codeFinding = (about: string, rpc: Rpc, address: Hex): Promise<Finding> =>
  check(about, 'See the RPC URLs.', async () => {
    const code = await rpc.call<Hex>('eth_getCode', [address, 'latest'])
    return code === '0x' ? bad(`${address} has no code`, 'Correct the address in the chains file.') : ok(address)
  })

const endpointFinding = (about: string, rpc: Rpc, { endpoint, eid }: ChainConfig): Promise<Finding> =>
  check(about, 'Correct `endpoint` and `eid`.', async () => {
    const found = await readContract(rpc.call, endpoint as Hex, { abi: OAPP, functionName: 'eid' })
    return found === eid ? ok(`${eid}`) : bad(`the endpoint's is ${found}, not ${eid}`, 'Correct `eid`.')
  })

/** Tells whether hub and spoke name each other as peers: LayerZero carries no packet else. */
function peerFindings(about: string, rpc: Rpc, spoke: ChainConfig, hub: ChainConfig): Promise<Finding>[] {
  const peer = async (at: Rpc, contract: string, eid: number, expected: string): Promise<Result> => {
    const found = await readContract(at.call, contract as Hex, { abi: OAPP, functionName: 'peers', args: [eid] })
    return found.endsWith(expected.slice(2).toLowerCase())
      ? ok(expected)
      : bad(`is ${found}`, `setPeer(${eid}, ${expected}), by the owner of ${contract}.`)
  }
  const advice = 'See the RPC URLs and the contract.'
  return [
    check(`${about}, its peer`, advice, () => peer(rpc, spoke.contract, hub.eid!, hub.contract)),
    check(`${about}, the hub's peer`, advice, () =>
      peer(createChainRpc(hub), hub.contract, spoke.eid!, spoke.contract),
    ),
  ]
}

/** Tells whether a contract obeys the relayer's key. */
const roleFinding = (about: string, rpc: Rpc, contract: Hex, address: Hex): Promise<Finding> =>
  check(about, 'See the RPC URLs and the contract.', async () => {
    const found = await readContract(rpc.call, contract, { abi: ROLES, functionName: 'relayer' })
    return isAddressEqual(found, address)
      ? ok(address)
      : bad(
          `is ${found}, not ${address}`,
          `Give the daemon that key, or setRelayer(${address}), by the owner of ${contract}.`,
        )
  })

interface Balance {
  rpc: Rpc
  chain: ChainConfig
  address: Hex
  /** In the last 24 hours. */
  spentWei: bigint
}

const balanceFinding = (about: string, { rpc, chain, address, spentWei }: Balance): Promise<Finding> =>
  check(about, 'See the RPC URLs.', async () => {
    const wei = BigInt(await rpc.call<Hex>('eth_getBalance', [address, 'latest']))
    const days = spentWei === 0n ? null : Number(wei) / Number(spentWei)
    const lasts = days === null ? '' : `, lasts ${days > 365 ? 'over a year' : `${Math.floor(days)} days`}`
    const found = `${address} has ${formatEther(wei)} ${chain.gasToken.symbol}${lasts}`
    const isLow = wei < LOW_BALANCE_WEI || (days !== null && days * DAY_MS < LOW_RUNWAY_MS)
    return isLow && !chain.local ? warn(found, `Send it ${chain.gasToken.symbol}: it pays for deliveries.`) : ok(found)
  })
