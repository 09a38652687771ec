import { formatEther, type Hex, isAddressEqual, parseAbi } from 'viem'
import { createEvmChain, createEvmChainRpc } from '../../chains/evm/chain.js'
import { createContractReader, isContract } from '../../chains/evm/contracts/read.js'
import { createSigningAccount } from '../../chains/evm/relayerAccount.js'
import { initialRunningHashes } from '../../chains/evm/runningHash/hashes.js'
import { readAgreedRunningHashesOrNull } from '../../chains/evm/runningHash/prove.js'
import type { EvmRpc } from '../../chains/rpc/evm.js'
import type { ChainConfig, Config } from '../../config/index.js'
import {
  type DoctorCheckResult,
  type DoctorFinding,
  failureResult,
  okResult,
  runDoctorCheck,
  warningResult,
} from '../../ops/finding.js'

const CONTRACT_ROLES_ABI = parseAbi([
  'function relayer() view returns (address)',
  'function owner() view returns (address)',
])
/** Age from which a chain's newest block means that the node is stuck or syncing. */
const OLD_HEAD_MS = 5 * 60_000
/** Balance below which a relayer can pay for only a few deliveries. */
const LOW_BALANCE_WEI = 10n ** 16n

type EvmCheckConfig = Pick<Config, 'chains' | 'relayerKey'>

/** Checks of every EVM chain: each RPC URL, the code, the hub's owner, the relayer's roles and balance. */
export async function checkEvmChains(config: EvmCheckConfig): Promise<DoctorFinding[]> {
  const findings = await Promise.all(config.chains.map((chain) => checkEvmChain(chain, config)))
  return findings.flat()
}

async function checkEvmChain(chain: ChainConfig, config: EvmCheckConfig): Promise<DoctorFinding[]> {
  const about = `chain ${chain.label}`
  const urls = await Promise.all(
    chain.rpcUrls.map((url) => checkRpcUrl(`${about}, ${new URL(url).host}`, chain, url)),
  )
  if (chain.watchOnly && !chain.trust)
    urls.push({
      about: `${about}, trust`,
      ...failureResult('is watched, and names no trust', 'Say "trust": "compared" or "trusted".'),
    })
  if (chain.rpcUrls.length < 3 && !chain.local)
    urls.push({ about: `${about}, RPC URLs`, ...fewUrlsResult(chain.rpcUrls.length) })
  const rpc = createEvmChainRpc(chain)
  const contracts = {
    contract: chain.contract,
    payments: chain.communityPayments,
    endpoint: chain.endpoint,
  }
  const checks = Object.entries(contracts).flatMap(([what, address]) =>
    address
      ? [
          checkContractCode(
            `${about}, ${what === 'contract' ? chain.role : what}`,
            rpc,
            address as Hex,
          ),
        ]
      : [],
  )
  if (chain.role === 'hub' && !chain.local && !chain.watchOnly)
    checks.push(checkHubOwner(`${about}, owner of the hub`, rpc, chain))
  if (config.relayerKey && (chain.role === 'hub' || chain.communityPayments)) {
    const { address } = createSigningAccount(config.relayerKey)
    checks.push(checkRelayerBalance(`${about}, relayer`, rpc, chain, address))
    const contractsOfRelayer = {
      hub: chain.role === 'hub' ? chain.contract : undefined,
      payments: chain.communityPayments,
    }
    for (const [what, contract] of Object.entries(contractsOfRelayer))
      if (contract && !chain.watchOnly)
        checks.push(checkRelayerRole(`${about}, relayer of the ${what}`, rpc, contract, address))
  }
  return [...urls, ...(await Promise.all(checks))]
}

async function checkRpcUrl(about: string, chain: ChainConfig, url: string): Promise<DoctorFinding> {
  const finding = await runDoctorCheck(about, 'Correct `rpcUrls`, or see that node.', async () => {
    const rpc = createEvmChainRpc({ ...chain, rpcUrls: [url] })
    const port = createEvmChain({ config: chain, chain: 0, rpc })
    const { latest, confirmed } = await port.heads()
    const ageMs = Date.now() - latest.timestampMs
    if (ageMs > OLD_HEAD_MS && !chain.local)
      return failureResult(
        `the head is ${Math.round(ageMs / 60_000)} min old`,
        'The node is stuck or syncing: use another.',
      )
    const heights = `block ${latest.number}, confirmed ${Math.max(0, confirmed)}`
    const isProvable =
      initialRunningHashes(chain).length === 0 ||
      (await readAgreedRunningHashesOrNull(port, latest))
    return isProvable
      ? okResult(heights)
      : warningResult(
          `${heights}; does not answer recordHash() of its newest block`,
          'It proves nothing and counts as silent: use another node.',
        )
  })
  return { ...finding, isNode: true }
}

/** Result for fewer than three RPC URLs. Two nodes have to agree, so of three, one may be unavailable. */
const fewUrlsResult = (count: number): DoctorCheckResult =>
  count === 1
    ? warningResult(
        'one node decides without a second',
        'Name three `rpcUrls` of different providers.',
      )
    : warningResult(
        'both nodes have to answer: one that is away stops what is confirmed',
        'Name a third of `rpcUrls`: two of three suffice.',
      )

const checkContractCode = (about: string, rpc: EvmRpc, address: Hex): Promise<DoctorFinding> =>
  runDoctorCheck(about, 'See the RPC URLs.', async () => {
    const code = await rpc.call<Hex>('eth_getCode', [address, 'latest'])
    return code === '0x'
      ? failureResult(`${address} has no code`, 'Correct the address in the chains file.')
      : okResult(address)
  })

/** Checks that a contract gives its relayer role to our key. */
const checkRelayerRole = (
  about: string,
  rpc: EvmRpc,
  contract: Hex,
  address: Hex,
): Promise<DoctorFinding> =>
  runDoctorCheck(about, 'See the RPC URLs and the contract.', async () => {
    const relayer = await createContractReader(rpc.call, contract, CONTRACT_ROLES_ABI)('relayer')
    return isAddressEqual(relayer, address)
      ? okResult(address)
      : failureResult(
          `is ${relayer}, not ${address}`,
          `Give the daemon that key, or setRelayer(${address}), by the owner of ${contract}.`,
        )
  })

/**
 * Checks on the mainnet that a contract, such as a multisig, owns the hub: the owner sets peers and verifiers, so a
 * single key must not control the credits in the hub.
 */
const checkHubOwner = (about: string, rpc: EvmRpc, { contract, network }: ChainConfig) =>
  runDoctorCheck(about, 'See the RPC URLs and the contract.', async () => {
    const owner = await createContractReader(rpc.call, contract, CONTRACT_ROLES_ABI)('owner')
    if (await isContract(rpc.call, owner)) return okResult(`${owner}, a contract`)
    const text = `${owner} is a plain account`
    return network === 'mainnet'
      ? failureResult(
          `${text}: one stolen key reaches every credit`,
          `Hand the hub to a timelock whose proposer is a multisig: transferOwnership, then acceptOwnership by the timelock (docs/run/security.md).`,
        )
      : okResult(text)
  })

const checkRelayerBalance = (
  about: string,
  rpc: EvmRpc,
  chain: ChainConfig,
  address: Hex,
): Promise<DoctorFinding> =>
  runDoctorCheck(about, 'See the RPC URLs.', async () => {
    const wei = BigInt(await rpc.call<Hex>('eth_getBalance', [address, 'latest']))
    const { symbol } = chain.gasToken
    const balance = `${address} has ${formatEther(wei)} ${symbol}`
    if (wei >= LOW_BALANCE_WEI || chain.local) return okResult(balance)
    return warningResult(balance, `Send it ${symbol}: it pays for deliveries.`)
  })
