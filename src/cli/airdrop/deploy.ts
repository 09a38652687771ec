import { erc20Abi, type Hex } from 'viem'
import { isoTimestamp } from '../../api/http/timestamps.js'
import { createEvmChainRpc } from '../../chains/evm/chain.js'
import { createContractReader, encodeContractCall } from '../../chains/evm/contracts/read.js'
import { buildDistributorCreation, DEPLOYMENT_PROXY } from '../../chains/evm/deployment/creation.js'
import type { DeploymentStep } from '../../chains/evm/deployment/item.js'
import {
  type DeploymentChain,
  findDeploymentBlock,
  waitUntilNoTransactionPending,
} from '../../chains/evm/deployment/send.js'
import type { RpcCall } from '../../chains/rpc/evm.js'
import type { Airdrop } from '../../db/airdrop/airdrops.js'
import { readClaimedAmount } from '../../db/airdrop/claims.js'
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
 * records it. With `--fund` the signer sends the tokens that the distributor still needs. A second run skips steps
 * that are done.
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
    // a pending transaction of an earlier run would be planned again, and the distributor funded twice
    if (account) await waitUntilNoTransactionPending(chain, account.address)
    const { network, airdrop: id } = airdrop
    const steps = await stepsFor(chain, airdrop, {
      made,
      claimed: (await readClaimedAmount(pool, network, id))!,
      token: args.token!,
      endsAtS: args.endsAt!,
      funds: command.fund === true,
      funder: account?.address ?? null,
    })
    const chains = new Map([[chain.label, chain]])
    const owners = new Map([[chain.label, args.owner!]])
    const way = { chains, owners, account }
    if (steps.length > 0 && !(await sendDeploymentSteps(steps, way, command))) return
    const fromBlock = (await findDeploymentBlock(chain, made.address)) ?? config.startBlock
    const address = Buffer.from(made.address.slice(2), 'hex')
    const { now } = await storeAirdropDistributor(pool, airdrop, address, fromBlock)
    printFields(describeAirdrop(now), command.json)
  })
}

interface FundingPlan {
  made: ReturnType<typeof buildDistributorCreation>
  /** What the distributor has paid out, base units of the token. */
  claimed: bigint
  token: Hex
  /** End of the airdrop, Unix time in seconds. */
  endsAtS: number
  funds: boolean
  /** The account that sends the tokens, null where the steps are printed for another signer. */
  funder: Hex | null
}

/**
 * Remaining steps to deploy a distributor and to fund it.
 * @throws Error where the token is no contract, the end has passed, or the funder does not have the missing tokens
 */
async function stepsFor(
  { label: chain, rpc }: DeploymentChain,
  { community, total }: Airdrop,
  { made, claimed, token, endsAtS, funds, funder }: FundingPlan,
): Promise<DeploymentStep[]> {
  const tokenCode = await rpc.onOneNode((ask) => ask<Hex>('eth_getCode', [token, 'latest']))
  if (tokenCode === '0x')
    throw new Error(`Chain "${chain}" has no contract at ${token}: name the token's address there.`)
  const balanceOf = (ask: RpcCall, holder: Hex) =>
    createContractReader(ask, token, erc20Abi)('balanceOf', [holder])
  const [code, stock, { timestamp }] = await rpc.onOneNode((ask) =>
    Promise.all([
      ask<Hex>('eth_getCode', [made.address, 'latest']),
      funder && balanceOf(ask, funder),
      ask<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false]),
    ]),
  )
  // a node that is behind would have the distributor funded twice
  const balances = await rpc.onEveryNode((ask) => balanceOf(ask, made.address), rpc.needed)
  const balance = balances.reduce((most, one) => (one > most ? one : most))
  const isDeployed = code !== '0x'
  if ((funds || !isDeployed) && endsAtS <= Number(timestamp))
    throw new Error(`--ends-at ${isoTimestamp(endsAtS * 1_000)} has passed: name a later time.`)
  const common = { chain, by: null, value: 0n }
  const deploying: DeploymentStep = {
    ...common,
    to: DEPLOYMENT_PROXY,
    data: made.data,
    does: `deploys the distributor of ${community} at ${made.address}`,
  }
  const lacking = total - balance - claimed
  if (funds && stock !== null && stock < lacking)
    throw new Error(
      `${funder} has ${stock} of the token ${token} on chain "${chain}", and the distributor needs ${lacking}: send it the rest, then run this again.`,
    )
  const funding: DeploymentStep = {
    ...common,
    to: token,
    data: encodeContractCall(erc20Abi, 'transfer', [made.address, lacking]),
    does: `sends it ${lacking} of the token ${token}`,
  }
  return [...(isDeployed ? [] : [deploying]), ...(funds && lacking > 0n ? [funding] : [])]
}
