import { formatUnits, type Hex, zeroAddress } from 'viem'
import { createEvmChainRpc } from '../../chains/evm/chain.js'
import { communityPaymentsAbi, hubAbi } from '../../chains/evm/contracts/index.js'
import { createContractReader } from '../../chains/evm/contracts/read.js'
import { compareNetworkDeployment } from '../../chains/evm/deployment/compare.js'
import { desiredContracts } from '../../chains/evm/deployment/creation.js'
import {
  type ComparedSetting,
  DEPLOYMENT_STEP_ORDER,
  deploymentStepsOf,
} from '../../chains/evm/deployment/item.js'
import { findDeploymentBlock, waitForNextNonce } from '../../chains/evm/deployment/send.js'
import { desiredChainDeployments } from '../../config/desired.js'
import {
  addChainFields,
  ConfigError,
  chainPresetOf,
  evmChainLabelsOf,
  readDraftChainsFile,
  readEnvironment,
} from '../../config/index.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { colourText, printJson } from '../output.js'
import {
  type SigningOptions,
  sendDeploymentSteps,
  signingAccountOfOptions,
} from '../signing/signing.js'
import { type NetworkOptions, networkOfOptions } from '../values.js'
import { openEnsDeployment } from './ens.js'

type ContractOptions = NetworkOptions & { ens?: string }
type OpenedDeployment = ReturnType<typeof openDeployment>

/**
 * Reads the desired contracts of the network that the options name, and opens its chains. Default: the only network
 * with a `deployment` in the chains file, else the first chain's network. With `ens`: reads only the desired resolver
 * of this ENS name, and opens its chain.
 * @throws ConfigError
 */
function openDeployment({ testnet, mainnet, ens }: ContractOptions) {
  const draft = readDraftChainsFile(readEnvironment().chainsFile)
  if (ens) return openEnsDeployment(draft, ens)
  const described = NETWORKS.filter((one) => draft.deployment[one] !== undefined)
  if (!testnet && !mainnet && described.length > 1)
    throw new ConfigError('The chains file deploys both networks: say --mainnet or --testnet.')
  // where no network has a `deployment`, `desiredChainDeployments` throws an error that names the network
  const inUse = described[0] ?? draft.chains[0]!.network
  const network: Network = networkOfOptions({ testnet, mainnet }) ?? inUse
  const configs = new Map(draft.chains.map((chain) => [chain.label, chain]))
  const desired = desiredChainDeployments(draft, network)
  const chains = new Map(
    desired.map(({ label }) => {
      const config = configs.get(label)!
      return [label, { ...config, rpc: createEvmChainRpc(config) }]
    }),
  )
  const desiredEids = desired.map(({ eid }) => eid)
  const known = evmChainLabelsOf(network).map((label) => chainPresetOf(label)!.eid)
  const strangeEids = known.filter((eid) => !desiredEids.includes(eid))
  return {
    desired,
    chains,
    owners: new Map(desired.map(({ label, owner }) => [label, owner])),
    compare: () =>
      compareNetworkDeployment(
        desired,
        (label, read) => chains.get(label)!.rpc.onOneNode(read),
        strangeEids,
      ),
  }
}

/**
 * `clusterd contracts status`: compares each desired setting of the contracts with the chain, and prints the result.
 * Exits with 1 where a setting differs.
 */
export const showContractStatus = (options: ContractOptions & { json?: boolean }): Promise<void> =>
  printComparison(openDeployment(options), options)

async function printComparison(
  opened: OpenedDeployment,
  { json, write }: { json?: boolean; write?: boolean } = {},
): Promise<void> {
  const items = await opened.compare()
  if (items.some(({ isRight }) => !isRight)) process.exitCode = 1
  if (json)
    return printJson(
      items.map(({ step, rank: _, ...item }) => ({
        ...item,
        ...(step && { by: step.by ?? 'anybody', does: step.does }),
      })),
    )
  for (const { chain, about, wanted, found, isRight, step, advice } of items) {
    const sign = isRight ? colourText('green', 'ok  ') : colourText('bold', 'DIFF')
    console.log(`${sign}  ${chain}, ${about}: ${isRight ? found : `${found}, wanted ${wanted}`}`)
    if (step) console.log(`        ${colourText('dim', `${step.by ?? 'anybody'} ${step.does}`)}`)
    if (advice) console.log(`        ${colourText('dim', advice)}`)
  }
  const wrong = items.filter(({ isRight }) => !isRight).length
  console.log(`\n${items.length - wrong} as desired, ${wrong} not`)
  if (!opened.desired) return
  const missing = await printMoneyAndMissingFields(opened, items)
  if (!write || missing.size === 0) return
  const { chainsFile } = readEnvironment()
  addChainFields(chainsFile, missing)
  console.log(`Written to ${chainsFile}.`)
}

/**
 * Prints the money of the deployed contracts, and the fields that the chains file does not have yet.
 * @returns the missing fields by chain label, without chains that miss `contract` and whose deployment block is not
 * known
 */
async function printMoneyAndMissingFields(
  { desired, chains }: Exclude<OpenedDeployment, { desired: null }>,
  items: readonly ComparedSetting[],
): Promise<ReadonlyMap<string, object>> {
  const missing = new Map<string, object>()
  for (const one of desired) {
    const chain = chains.get(one.label)!
    const { call } = chain.rpc
    const coins = (wei: bigint) => `${formatUnits(wei, 18)} ${chain.gasToken.symbol}`
    const fields: Record<string, unknown> = {}
    for (const { what, field, address } of desiredContracts(one, desired[0]!.eid)) {
      if (
        !items.some(
          ({ chain, about, isRight }) => chain === one.label && isRight && about.endsWith(address),
        )
      )
        continue
      if (one[field] === null) fields[field] = address
      if (what === 'hub') {
        const read = createContractReader(call, address, hubAbi)
        const [kept, owed] = await Promise.all([read('kept'), read('owed')])
        console.log(`chain ${one.label}, hub: keeps ${coins(kept)}, owes ${coins(owed)} to bidders`)
      } else if (what === 'payments') {
        const read = createContractReader(call, address, communityPaymentsAbi)
        const [owed, count] = await read('totalsOf', [zeroAddress])
        console.log(`chain ${one.label}, payments: holds ${coins(owed)} of ${count} payments`)
      }
    }
    if (Object.keys(fields).length === 0) continue
    const startBlock =
      'contract' in fields ? await findDeploymentBlock(chain, fields.contract as Hex) : null
    if (startBlock) fields.startBlock = startBlock
    console.log(`Missing in the chains file for chain ${one.label}: ${JSON.stringify(fields)}`)
    // without a startBlock the chain would be read from block 0 on
    if ('contract' in fields && !startBlock)
      console.log(
        'Its startBlock is the block of the deployment, of which the node has no state any more: add both by hand.',
      )
    else missing.set(one.label, fields)
  }
  return missing
}

/**
 * `clusterd contracts deploy`: deploys the missing contracts and sends a transaction for each setting that differs from
 * the chains file, as far as the given key may sign.
 * @throws Error with one sentence where no transaction can deploy a contract, such as with a wrong endpoint, or a key
 * is missing; ConfigError
 */
export async function deployContracts(
  options: ContractOptions & SigningOptions & { write?: boolean },
): Promise<void> {
  const opened = openDeployment(options)
  const account = signingAccountOfOptions(options)
  // wait for pending transactions of an earlier run, so that their steps are not planned again
  if (account)
    await Promise.all(
      [...opened.chains.values()].map((chain) => waitForNextNonce(chain, account.address)),
    )
  const items = await opened.compare()
  const stuck = items.find(
    ({ rank, isRight, step }) => rank === DEPLOYMENT_STEP_ORDER.deploy && !isRight && !step,
  )
  if (stuck)
    throw new Error(`Chain "${stuck.chain}", ${stuck.about}: ${stuck.found}. ${stuck.advice}`)
  const steps = deploymentStepsOf(items)
  if (steps.length > 0 && !(await sendDeploymentSteps(steps, { ...opened, account }, options)))
    return
  if (steps.length === 0) console.log('Nothing to send.')
  if (!options.unsigned) await printComparison(opened, { write: options.write ?? false })
}
