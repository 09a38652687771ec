import { isDeepStrictEqual } from 'node:util'
import { erc20Abi, type Hex } from 'viem'
import { isoTimestamp } from '../../api/http/timestamps.js'
import { createEvmChainRpc } from '../../chains/evm/chain.js'
import { airdropDistributorAbi } from '../../chains/evm/contracts/index.js'
import {
  createContractReader,
  encodeContractCall,
  isContract,
} from '../../chains/evm/contracts/read.js'
import { buildDistributorCreation, DEPLOYMENT_PROXY } from '../../chains/evm/deployment/creation.js'
import type { DeploymentStep } from '../../chains/evm/deployment/item.js'
import {
  type DeploymentChain,
  findDeploymentBlock,
  waitForNextNonce,
} from '../../chains/evm/deployment/send.js'
import type { RpcCall } from '../../chains/rpc/evm.js'
import {
  type Airdrop,
  AirdropError,
  alreadyClaimedText,
  findAirdrop,
} from '../../db/airdrop/airdrops.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { printFields } from '../output.js'
import {
  type SigningOptions,
  sendDeploymentSteps,
  signingAccountOfOptions,
} from '../signing/signing.js'
import { requireConfiguredChain } from '../values.js'
import {
  type DistributorTermsOptions,
  describeAirdrop,
  distributorConstructorArguments,
  storeAirdropDistributor,
  withAirdrop,
} from './airdrop.js'

type DeployCommand = DistributorTermsOptions & SigningOptions & { fund?: boolean }

/**
 * `clusterd airdrop deploy`: deploys the distributor of a loaded airdrop at the address that its terms determine, and
 * records it. With `--fund` the signer sends the airdrop's whole total to a distributor that has none of its tokens and
 * has paid no claim. A second run skips steps that are done.
 * @throws Error with one sentence
 */
export async function deployDistributor(name: string, command: DeployCommand): Promise<void> {
  await withAirdrop(name, command, async (pool, airdrop) => {
    const { encoded, constructor: args } = distributorConstructorArguments(airdrop, command)
    if (!encoded)
      throw new Error('Say --token and --ends-at: the distributor is constructed with both.')
    const config = requireConfiguredChain(airdrop.label)
    const chain = { ...config, rpc: createEvmChainRpc(config) }
    const made = buildDistributorCreation(encoded)
    const account = signingAccountOfOptions(command)
    const terms = {
      made,
      token: args.token!,
      endsAtS: args.endsAt!,
      funds: command.fund === true,
      funder: account?.address ?? null,
    }
    assertNoOtherDistributor(airdrop, terms)
    const plan = async (): Promise<DeploymentStep[]> => {
      // a pending transaction of an earlier run would be planned again, and the distributor funded twice
      if (
        account &&
        (terms.funds || !(await chain.rpc.onOneNode((ask) => isContract(ask, made.address))))
      )
        await waitForNextNonce(chain, account.address)
      const stored = await findAirdrop(pool, airdrop.network, airdrop.community)
      if (!stored?.merkleRoot.equals(airdrop.merkleRoot)) throw new Error(STEPS_CHANGED_TEXT)
      assertNoOtherDistributor(stored, terms)
      return remainingSteps(chain, stored, terms)
    }
    const steps = await plan()
    const chains = new Map([[chain.label, chain]])
    const owners = new Map([[chain.label, args.owner!]])
    // another run may have sent the steps while this one waited for the operator's answer
    const recheck = async (): Promise<void> => {
      if (!isDeepStrictEqual(await plan(), steps)) throw new Error(STEPS_CHANGED_TEXT)
    }
    const context = { chains, owners, account, recheck }
    if (steps.length > 0 && !(await sendDeploymentSteps(steps, context, command))) return
    const fromBlock = (await findDeploymentBlock(chain, made.address)) ?? config.startBlock
    const { now } = await storeAirdropDistributor(pool, airdrop, fromHex(made.address), fromBlock)
    printFields(describeAirdrop(now), command.json)
  })
}

const STEPS_CHANGED_TEXT = 'Nothing was sent, because the steps changed meanwhile: run this again.'

/** The distributor to deploy, and how to fund it. */
interface DistributorPlan {
  made: ReturnType<typeof buildDistributorCreation>
  token: Hex
  /** End of the airdrop, Unix time in seconds. */
  endsAtS: number
  /** True with `--fund`. */
  funds: boolean
  /** The account that sends the tokens; null where no key signs, as with `--unsigned`. */
  funder: Hex | null
}

/**
 * Checks that the planned distributor may replace the recorded one.
 * @throws Error where another distributor is recorded, and either claims were made there or `--fund` would fund a
 * second one
 */
function assertNoOtherDistributor(airdrop: Airdrop, { made, funds }: DistributorPlan): void {
  const recorded = airdrop.distributor && toHex(airdrop.distributor)
  if (!recorded || recorded === made.address.toLowerCase()) return
  if (airdrop.claimed.seen > 0)
    throw new AirdropError(alreadyClaimedText(airdrop, 'its distributor stays'))
  if (funds)
    throw new Error(
      `${recorded} is recorded, and these terms make ${made.address}: check --token, --ends-at, --owner and AIRDROP_OPERATOR_PRIVATE_KEY, or record it first without --fund.`,
    )
}

/**
 * Remaining steps to deploy a distributor and to fund it.
 * @throws Error where the token is no contract, or the airdrop has ended while its distributor is not deployed
 * or `--fund` is given; errors of `isUnfunded`
 */
async function remainingSteps(
  deployment: DeploymentChain,
  airdrop: Airdrop,
  plan: DistributorPlan,
): Promise<DeploymentStep[]> {
  const { label: chain, rpc } = deployment
  const { made, token, endsAtS, funds } = plan
  if (!(await rpc.onOneNode((ask) => isContract(ask, token))))
    throw new Error(`Chain "${chain}" has no contract at ${token}: name the token's address there.`)
  const [isDeployed, { timestamp }] = await rpc.onOneNode((ask) =>
    Promise.all([
      isContract(ask, made.address),
      ask<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false]),
    ]),
  )
  if (endsAtS <= Number(timestamp)) {
    const end = isoTimestamp(endsAtS * 1_000)
    if (!isDeployed) throw new Error(`--ends-at ${end} has passed: name a later time.`)
    if (funds) throw new Error(`The airdrop has ended (${end}): leave --fund out.`)
  }
  const common = { chain, by: null, value: 0n }
  const deploying: DeploymentStep = {
    ...common,
    to: DEPLOYMENT_PROXY,
    data: made.data,
    does: `deploys the distributor of ${airdrop.community} at ${made.address}`,
  }
  const { total } = airdrop
  const funding: DeploymentStep = {
    ...common,
    to: token,
    data: encodeContractCall(erc20Abi, 'transfer', [made.address, total]),
    does: `sends it ${total} of the token ${token}`,
  }
  const needsFunding = funds && (await isUnfunded(deployment, airdrop, plan))
  return [...(isDeployed ? [] : [deploying]), ...(needsFunding ? [funding] : [])]
}

/**
 * True if a distributor has none of its tokens, false if it has all of them.
 * @throws Error where it may have a part of them or has paid claims, and where the funder does not have the tokens
 */
async function isUnfunded(
  { label, rpc }: DeploymentChain,
  { total, claimed }: Airdrop,
  { made, token, funder }: DistributorPlan,
): Promise<boolean> {
  const balanceOf = (ask: RpcCall, holder: Hex) =>
    createContractReader(ask, token, erc20Abi)('balanceOf', [holder])
  // a node that is behind would have the distributor funded twice, and a node that lies would hide that tokens are missing
  const states = await rpc.onEveryNode(async (ask) => {
    const balance = await balanceOf(ask, made.address)
    const read = createContractReader(ask, made.address, airdropDistributorAbi)
    return {
      balance,
      isClaimed: (await isContract(ask, made.address)) && (await read('isClaimed', [0n])),
    }
  }, rpc.needed)
  const balances = states.map(({ balance }) => balance)
  const isEmpty = balances.every((balance) => balance === 0n)
  const isWhole = balances.filter((balance) => balance >= total).length >= rpc.needed
  // a distributor that paid everything is as empty as a new one, and the indexer may not have seen its claims yet
  const isPaidOut = isEmpty && states.some(({ isClaimed }) => isClaimed)
  if (claimed.seen > 0 || isPaidOut || (!isEmpty && !isWhole))
    throw new Error(
      `By the nodes of chain "${label}" the distributor ${made.address} has ${[...new Set(balances)].join(' or ')} of the token ${token}, and ${isPaidOut ? 'has paid claims' : `${claimed.seen} of its claims were seen`}: send what is missing of ${total} by hand, and leave --fund out.`,
    )
  if (!isEmpty) return false
  const stock = funder && (await rpc.onOneNode((ask) => balanceOf(ask, funder)))
  if (stock !== null && stock < total)
    throw new Error(
      `${funder} has ${stock} of the token ${token} on chain "${label}", and the distributor needs ${total}: send it the rest, then run this again.`,
    )
  return true
}
