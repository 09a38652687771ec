import {
  type Abi,
  type Address,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  hexToBytes,
  pad,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import {
  testSmartWalletAbi,
  testSmartWalletBytecode,
} from '../../../contracts/evm/artifacts/test-doubles/TestSmartWallet.js'
import {
  testTokenAbi,
  testTokenBytecode,
} from '../../../contracts/evm/artifacts/test-doubles/TestToken.js'
import {
  airdropDistributorAbi,
  airdropDistributorBytecode,
} from '../../../src/chains/evm/contracts/index.js'
import { packTreePages, proofFromPages } from '../../../src/db/airdrop/pages.js'
import { claimPermissionTypedData } from '../../../src/registry/airdrop/permission.js'
import { airdropLeaf, buildAirdropTree } from '../../../src/registry/airdrop/tree.js'
import { toHex } from '../../../src/registry/primitives/bytes.js'
import { startChain } from './chain.js'
import { word } from './hub.js'

const CHAIN_ID = 31_337
const AIRDROP_S = 86_400n

export interface Claim {
  index: bigint
  account: Hex
  amount: bigint
  proof: readonly Hex[]
}

export interface Permission {
  index: bigint
  account: Hex
  to: Address
  deadlineS: bigint
}

/**
 * A distributor with all the tokens it is to give out: to EVM accounts at even indexes, the last one a smart wallet,
 * and to Solana accounts at odd ones.
 */
export async function startDistributorWorld(allocations = 40) {
  const chain = await startChain(CHAIN_ID)
  const [owner, anybody, bob] = chain.accounts as [Address, Address, Address]
  const operator = privateKeyToAccount(generatePrivateKey())
  const keys = Array.from({ length: Math.ceil(allocations / 2) - 1 }, () =>
    privateKeyToAccount(generatePrivateKey()),
  )
  const [walletOwner] = keys as [PrivateKeyAccount]
  const wallet = await chain.deploy(
    encodeDeployData({
      abi: testSmartWalletAbi,
      bytecode: testSmartWalletBytecode,
      args: [walletOwner.address],
    }),
  )
  const evmAccounts = [...keys.map(({ address }) => address), wallet]
  for (const address of evmAccounts) await chain.impersonate(address)
  const claims = plant(
    Array.from({ length: allocations }, (_, i) => ({
      account:
        i % 2 === 0 ? word(evmAccounts[i / 2]!) : pad(`0x${i + 10}`, { size: 32, dir: 'right' }),
      amount: 1_000n + BigInt(i),
    })),
  )
  const total = claims.claims.reduce((sum, { amount }) => sum + amount, 0n)

  const token = await chain.deploy(
    encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode }),
  )
  const endsAt = (await chain.publicClient.getBlock()).timestamp + AIRDROP_S
  const deployment = (signer: Address, end = endsAt) =>
    encodeDeployData({
      abi: airdropDistributorAbi,
      bytecode: airdropDistributorBytecode,
      args: [token, claims.root, end, owner, signer],
    })
  const distributor = await chain.deploy(deployment(operator.address))
  const mint = encodeFunctionData({
    abi: testTokenAbi,
    functionName: 'mint',
    args: [distributor, total],
  })
  await chain.succeed({ from: owner, to: token, data: mint })

  const call = (functionName: string, args: readonly unknown[], from: Address = anybody) => ({
    from,
    to: distributor,
    data: encodeFunctionData<Abi, string>({ abi: airdropDistributorAbi, functionName, args }),
  })
  const sign = (
    permission: Permission,
    changes: { chainId?: number; distributor?: Address } = {},
    by = operator,
  ) =>
    by.signTypedData(
      claimPermissionTypedData({
        chainId: CHAIN_ID,
        distributor,
        ...permission,
        account: Buffer.from(hexToBytes(permission.account)),
        ...changes,
      }),
    )

  return {
    ...chain,
    owner,
    anybody,
    alice: walletOwner.address,
    bob,
    operator,
    token,
    distributor,
    deployment,
    endsAt,
    total,
    claims: claims.claims,
    call,
    sign,
    /** Keys of the EVM allocations but the last, which belongs to `wallet`, a contract that the first key signs for. */
    keys,
    wallet,
    claimTx: ({ index, account, amount, proof }: Claim, from = ownerOf(account)) =>
      call('claim', [index, account, amount, proof], from),
    claimToTx: ({ index, account, amount, proof }: Claim, to: Address, from = ownerOf(account)) =>
      call('claimTo', [index, account, amount, proof, to], from),
    claimForTx: (
      { index, account, amount, proof }: Claim,
      to: Address,
      deadlineS: bigint,
      signature: Hex,
    ) => call('claimFor', [index, account, amount, proof, to, deadlineS, signature]),
    reasonOf: (tx: Parameters<typeof chain.revertOf>[0]) =>
      chain.revertOf(tx, airdropDistributorAbi),
    tokensOf: (account: Address) =>
      chain.publicClient.readContract({
        address: token,
        abi: testTokenAbi,
        functionName: 'balanceOf',
        args: [account],
      }),
    isClaimed: (index: bigint) =>
      chain.publicClient.readContract({
        address: distributor,
        abi: airdropDistributorAbi,
        functionName: 'isClaimed',
        args: [index],
      }),
  }
}

/** The tree of allocations as the service builds it, with the proof of each allocation from the tree's pages. */
function plant(allocations: readonly { account: Hex; amount: bigint }[]) {
  const leaves = allocations.map(({ account, amount }, i) =>
    airdropLeaf(BigInt(i), Buffer.from(hexToBytes(account)), amount),
  )
  const { nodes, positions } = buildAirdropTree(leaves)
  const pages = packTreePages(nodes)
  const claims = allocations.map(
    (allocation, i): Claim => ({
      ...allocation,
      index: BigInt(i),
      proof: proofFromPages(pages, positions[i]!).map(toHex),
    }),
  )
  return { root: toHex(nodes[0]!), claims }
}

/** EVM account of an allocation. */
export const ownerOf = (account: Hex): Address => getAddress(`0x${account.slice(26)}`)

export const isEvm = (account: Hex): boolean => BigInt(account) >> 160n === 0n

/** Claims by a transaction's logs: `[index, account, amount, to]`. */
export const claimedIn = (receipt: TransactionReceipt) =>
  parseEventLogs({ abi: airdropDistributorAbi, eventName: 'Claimed', logs: receipt.logs }).map(
    ({ args }) => [args.index, args.account, args.amount, args.to],
  )
