import { ChainUnavailableError, type Hex, isPaymentChainPort } from '../../chains/chain.js'
import { createEvmChain, createEvmChainRpc, type EvmChain } from '../../chains/evm/chain.js'
import { readTokenBalance } from '../../chains/evm/community/port.js'
import { createSigningAccount } from '../../chains/evm/relayerAccount.js'
import {
  contractsWithRunningHash,
  hasRecordHashFunction,
} from '../../chains/evm/runningHash/hashes.js'
import { createTokenBalancePort } from '../../chains/requirementInputs.js'
import type { EvmRpc } from '../../chains/rpc/evm.js'
import { type ChainConfig, ConfigError } from '../../config/index.js'
import { readGenesisHash, registerChain, requireSameHub } from '../../db/chains/chains.js'
import { storePaymentsContract } from '../../db/outbox/contract.js'
import { createAirdropWorker } from '../../indexer/airdrops.js'
import { createEvmIndexerWorker } from '../../indexer/evm/worker.js'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import type { Logger } from '../../ops/logger/logger.js'
import { withTimeout } from '../../ops/waiting.js'
import { EVM } from '../../registry/families.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { createEvmRelayerChain } from '../../relayer/evmRelayer.js'
import { relayPlanOf } from '../../relayer/targets.js'
import { createNameProofWorker } from '../proof.js'
import { checkEvmChains } from './evmChecks.js'
import {
  type ChainOpeningContext,
  createRpcFaultLogger,
  type DaemonChainFamily,
  type OpenedChain,
} from './family.js'

/** How long a start waits for the genesis hash of a chain, ms. */
const GENESIS_TIMEOUT_MS = 5_000

/**
 * Opens a configured EVM chain. Most chains are opened without a call of their nodes, which may be unavailable: the
 * chain's worker reads the genesis hash later. Two kinds of chain are asked for it here: the hub of a new
 * configuration, and a local chain, whose launcher may have created it anew.
 * @throws ChainMismatchError, also for another hub; ConfigError for contracts without a running hash where the chains
 * file names no `trust`; WrongChainError where the chain is asked
 */
export async function openEvmChain(
  config: ChainConfig,
  ctx: ChainOpeningContext,
): Promise<OpenedEvmChain> {
  const { pool, log } = ctx
  const { network, label, chainId, contract, communityPayments, startBlock, local, role } = config
  if (config.watchOnly && !config.trust)
    throw new ConfigError(
      `Chain "${label}" is watched, and contracts of others keep no running hash of their logs: say "trust": "compared" (two nodes have to give the same) or "trusted" (one is enough) in the chains file.`,
    )
  const stored = await readGenesisHash(pool, network, label)
  const known = config.genesisHash ? fromHex(config.genesisHash) : stored
  const rpc = createEvmChainRpc(
    known ? { ...config, genesisHash: toHex(known) } : config,
    createRpcFaultLogger(label, ctx),
  )
  const register = (genesisHash: Buffer | null) =>
    registerChain(pool, {
      network,
      label,
      instance: '',
      family: EVM.key,
      chainId,
      genesisHash,
      contract: fromHex(contract),
      startBlock,
    })
  // a genesis hash that is not configured is stored permanently, so a quorum of nodes has to report it
  const readGenesis = () => (known ? rpc.genesisHash() : rpc.quorum(() => rpc.genesisHash()))
  const isAskedNow = local || (role === 'hub' && !stored)
  const genesis = isAskedNow ? await genesisHashInTime(readGenesis(), label, log) : null
  const row = await register(genesis ? fromHex(genesis) : known)
  if (role === 'hub') await requireSameHub(pool, row)
  if (genesis) await nullIfUnavailable(requireRunningHash(rpc, config))
  await storePaymentsContract(pool, row, communityPayments ? fromHex(communityPayments) : null)
  // only logged here: the process that leads the indexing raises the alarm
  if (row.halted) log.warn({ network, chain: label, reason: row.halted }, 'the chain is halted')
  let isIdentified = genesis !== null
  const identify = async (): Promise<void> => {
    if (!isIdentified) {
      await register(fromHex(await readGenesis()))
      await nullIfUnavailable(requireRunningHash(rpc, config))
    }
    isIdentified = true
  }
  const chain = createEvmChain({ config, chain: row.chain, rpc })
  return {
    evm: chain,
    port: chain.forStrangers(),
    nodes: () => rpc.health(),
    label,
    pollMs: config.pollMs,
    balances: createTokenBalancePort(rpc.forUse('judge'), readTokenBalance),
    watch: (leader, reporting) => [
      createEvmIndexerWorker(leader, { row, chain, identify }, reporting),
      createAirdropWorker(leader, chain),
    ],
    ...(role === 'hub' && { proof: createNameProofWorker(pool, chain.forUse('judge')) }),
  }
}

/**
 * Answer of a chain's nodes. Null for a ChainUnavailableError: the chain's worker will report the outage.
 * @throws other errors
 */
const nullIfUnavailable = <T>(request: Promise<T>): Promise<T | null> =>
  fallbackOnExpectedError(request, (error) => error instanceof ChainUnavailableError, null)

/**
 * Checks that the chain's contracts keep `recordHash`, a running hash of their logs. Decides by the contracts' code,
 * since a failed read of the hash proves nothing.
 * @throws ConfigError for a contract without a running hash; ChainUnavailableError
 */
async function requireRunningHash(rpc: EvmRpc, config: ChainConfig): Promise<void> {
  for (const { kind, address } of contractsWithRunningHash(config)) {
    const code = await rpc.quorum((call) => call<Hex>('eth_getCode', [address, 'latest']))
    if (code !== '0x' && !hasRecordHashFunction(code))
      throw new ConfigError(
        `The ${kind} contract ${address} of chain "${config.label}" keeps no running hash of its logs: it is older, or not ours. Say "trust": "compared" (two nodes have to give the same) or "trusted" (one is enough) in the chains file.`,
      )
  }
}

/** Genesis hash that a chain's nodes report. Null where they do not answer in time. @throws WrongChainError */
async function genesisHashInTime(
  request: Promise<Hex>,
  label: string,
  log: Logger,
): Promise<Hex | null> {
  const genesis = await withTimeout(GENESIS_TIMEOUT_MS, nullIfUnavailable(request), null)
  if (genesis === null)
    log.warn({ chain: label }, 'the chain does not answer: it is identified when it does')
  return genesis
}

interface OpenedEvmChain extends OpenedChain {
  evm: EvmChain
}

const isEvmChain = (opened: OpenedChain): opened is OpenedEvmChain => 'evm' in opened

/** The hub of a network among the opened chains; undefined where its hub is not opened. */
export const findHubChain = (opened: readonly OpenedChain[], network: string) =>
  opened.filter(isEvmChain).find(({ evm }) => evm.network === network && evm.role === 'hub')?.evm

/** The daemon's code for EVM chains: hubs and spokes. */
export const evmFamily: DaemonChainFamily = {
  examine: checkEvmChains,
  testWallet({ chains }) {
    const known = chains.map(({ chainId, rpcUrls }) => ({ chainId, rpcUrl: rpcUrls[0]! }))
    return {
      key: EVM.addressType,
      chains: known,
      rpcUrls: known.map(({ rpcUrl }) => rpcUrl),
    }
  },
  async open({ chains }, ctx) {
    const opened: OpenedChain[] = []
    for (const chain of chains) opened.push(await openEvmChain(chain, ctx))
    return opened
  },
  relay(opened, { relayerKey: key, deliveries }, network) {
    const { targets, problem } = relayPlanOf(
      opened.filter(isEvmChain).map(({ evm }) => evm.forUse('relay')),
      opened.some(({ port }) => isPaymentChainPort(port)),
    )
    const account = key ? createSigningAccount(key) : null
    const settings = deliveries[network]
    return {
      sources: targets.map((target) => createEvmRelayerChain(target, { account, settings })),
      hasKey: key !== undefined,
      keyFrom: 'RELAYER_PRIVATE_KEY, RELAYER_KEYSTORE or RELAYER_SIGNER_URL',
      problem,
    }
  },
}
