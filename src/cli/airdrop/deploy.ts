import { erc20Abi, type Hex } from 'viem'
import { isoTimestamp } from '../../api/http/timestamps.js'
import { createEvmChainRpc } from '../../chains/evm/chain.js'
import { createContractReader, encodeContractCall } from '../../chains/evm/contracts/read.js'
import { buildDistributorCreation, DEPLOYMENT_PROXY } from '../../chains/evm/deployment/creation.js'
import type { DeploymentStep } from '../../chains/evm/deployment/item.js'
import { type DeploymentChain, findDeploymentBlock } from '../../chains/evm/deployment/send.js'
import type { Airdrop } from '../../db/airdrop/airdrops.js'
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
    const chain = { label: airdrop.label, chainId: config.chainId, rpc: createEvmChainRpc(config) }
    const made = buildDistributorCreation(encoded)
    const account = signingAccountOfOptions(command)
    const steps = await stepsFor(chain, airdrop, {
      made,
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
  token: Hex
  /** End of the airdrop, Unix time in seconds. */
  endsAtS: number
  funds: boolean
  /** The account that sends the tokens, null where the steps are printed for another signer. */
  funder: Hex | null
}

/**
 * Tokens that a distributor with this balance needs to pay the whole airdrop, base units; zero or less for none.
 * @throws Error once accounts have claimed: their tokens have left the distributor and must not be sent twice
 */
export function missingTokens(
  { community, total, claimed }: Pick<Airdrop, 'community' | 'total' | 'claimed'>,
  balance: bigint,
): bigint {
  if (claimed.seen > 0)
    throw new Error(
      `--fund: ${claimed.seen} of the airdrop of "${community}" are claimed already, so nothing says what the distributor still needs: leave --fund out, and send by hand what is missing.`,
    )
  return total - balance
}

/**
 * Remaining steps to deploy a distributor and to fund it.
 * @throws Error where the token is no contract, the end has passed, or the funder does not have the missing tokens
 */
async function stepsFor(
  { label: chain, rpc }: DeploymentChain,
  airdrop: Airdrop,
  { made, token, endsAtS, funds, funder }: FundingPlan,
): Promise<DeploymentStep[]> {
  const tokenCode = await rpc.onOneNode((ask) => ask<Hex>('eth_getCode', [token, 'latest']))
  if (tokenCode === '0x')
    throw new Error(`Chain "${chain}" has no contract at ${token}: name the token's address there.`)
  const [code, balance, stock, { timestamp }] = await rpc.onOneNode((ask) => {
    const balanceOf = (holder: Hex) =>
      createContractReader(ask, token, erc20Abi)('balanceOf', [holder])
    return Promise.all([
      ask<Hex>('eth_getCode', [made.address, 'latest']),
      balanceOf(made.address),
      funder && balanceOf(funder),
      ask<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false]),
    ])
  })
  const isDeployed = code !== '0x'
  if ((funds || !isDeployed) && endsAtS <= Number(timestamp))
    throw new Error(`--ends-at ${isoTimestamp(endsAtS * 1_000)} has passed: name a later time.`)
  const common = { chain, by: null, value: 0n }
  const deploying: DeploymentStep = {
    ...common,
    to: DEPLOYMENT_PROXY,
    data: made.data,
    does: `deploys the distributor of ${airdrop.community} at ${made.address}`,
  }
  const lacking = funds ? missingTokens(airdrop, balance) : 0n
  if (stock !== null && stock < lacking)
    throw new Error(
      `${funder} has ${stock} of the token ${token} on chain "${chain}", and the distributor needs ${lacking}: send it the rest, then run this again.`,
    )
  const funding: DeploymentStep = {
    ...common,
    to: token,
    data: encodeContractCall(erc20Abi, 'transfer', [made.address, lacking]),
    does: `sends it ${lacking} of the token ${token}`,
  }
  return [...(isDeployed ? [] : [deploying]), ...(lacking > 0n ? [funding] : [])]
}
