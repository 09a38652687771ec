import { type Hex, parseAbi } from 'viem'
import { createChainRpc, createEvmChain } from '../../chains/evm/chain.js'
import { readContract } from '../../chains/evm/contracts/read.js'
import { relayerAccount } from '../../chains/evm/relayerAccount.js'
import type { Rpc } from '../../chains/rpc/evm.js'
import { createRates } from '../../chains/solana/rates.js'
import type { ChainConfig, Config } from '../../config/index.js'
import { bad, check, type Finding, ok, type Result, warn } from './finding.js'

/** Parts of LayerZero's OApp and endpoint. */
const OAPP = parseAbi(['function peers(uint32 eid) view returns (bytes32)', 'function eid() view returns (uint32)'])
/** A head older than this many times a slow chain's block is stuck. */
const OLD_HEAD_MS = 5 * 60_000
/** Below this a relayer pays for few deliveries. */
const LOW_BALANCE_WEI = 10n ** 16n
const ETHER = 1e18

/** Checks of every EVM chain: each RPC URL by itself, contracts, connections of the bridge, and the relayer's money. */
export async function chainFindings(config: Config): Promise<Finding[]> {
  const findings = await Promise.all(config.chains.map((chain) => findingsOf(chain, config)))
  return findings.flat()
}

async function findingsOf(chain: ChainConfig, config: Config): Promise<Finding[]> {
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
  if (config.relayerKey && (chain.role === 'hub' || chain.communityPayments))
    checks.push(balanceFinding(`${about}, relayer`, rpc, chain, relayerAccount(config.relayerKey).address))
  return [...urls, ...(await Promise.all(checks))]
}

/** Whether a URL serves this chain, and its head is fresh. */
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

/** Whether hub and spoke name each other as peers: LayerZero carries no packet else. */
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

const balanceFinding = (about: string, rpc: Rpc, { gasToken, local }: ChainConfig, address: Hex): Promise<Finding> =>
  check(about, 'See the RPC URLs.', async () => {
    const wei = BigInt(await rpc.call<Hex>('eth_getBalance', [address, 'latest']))
    const found = `${address} has ${Number(wei) / ETHER} ${gasToken.symbol}`
    return wei < LOW_BALANCE_WEI && !local
      ? warn(found, `Send it ${gasToken.symbol}: it pays for deliveries.`)
      : ok(found)
  })
