import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Abi,
  createPublicClient,
  createTestClient,
  createWalletClient,
  encodeFunctionData,
  type Hex,
  hashMessage,
  hashTypedData,
  http,
  pad,
  parseEther,
  serializeErc6492Signature,
  zeroAddress,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/** The compiled contracts of Safe 1.5.0, as npm has them. */
const require = createRequire(import.meta.url)
const artifactOf = (path: string): { abi: Abi; deployedBytecode: Hex } =>
  JSON.parse(
    readFileSync(
      require.resolve(
        `@safe-global/safe-smart-account/build/artifacts/contracts/${path}/${path.split('/').at(-1)!.replace('.sol', '')}.json`,
      ),
      'utf8',
    ),
  )
const SAFE = artifactOf('Safe.sol')
const FACTORY = artifactOf('proxies/SafeProxyFactory.sol')
const HANDLER = artifactOf('handler/CompatibilityFallbackHandler.sol')
const SIGN_MESSAGE = artifactOf('libraries/SignMessageLib.sol')

/** Public address of the factory, which the list of known factories has. The others have any address here. */
const AT = {
  factory: '0x14f2982d601c9458f93bd70b218933a6f8165e7b',
  safe: `0x${'5a'.repeat(20)}`,
  handler: `0x${'5b'.repeat(20)}`,
  signMessage: `0x${'5c'.repeat(20)}`,
} as const

/** A Safe of one owner at first, with the same address on every chain that has Safe's contracts. */
export interface Safe {
  address: Hex
  owner: PrivateKeyAccount
  /** The call of the factory that deploys it. */
  deployment: { factory: Hex; data: Hex }
}

/** Safe's contracts on an anvil. */
export async function startSafes(rpcUrl: string) {
  const transport = http(rpcUrl, { retryCount: 0 })
  const test = createTestClient({ mode: 'anvil', transport })
  const chain = createPublicClient({ transport, pollingInterval: 10, cacheTime: 0 })
  const chainId = await chain.getChainId()
  for (const [address, { deployedBytecode }] of [
    [AT.factory, FACTORY],
    [AT.safe, SAFE],
    [AT.handler, HANDLER],
    [AT.signMessage, SIGN_MESSAGE],
  ] as const)
    await test.setCode({ address, bytecode: deployedBytecode })

  const send = async (account: PrivateKeyAccount, to: Hex, data: Hex): Promise<void> => {
    await test.setBalance({ address: account.address, value: parseEther('1') })
    const hash = await createWalletClient({ account, transport }).sendTransaction({
      chain: null,
      to,
      data,
    })
    const { status } = await chain.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`a transaction to ${to} was reverted`)
  }

  /** r: the owner who approved on chain, or who sends the transaction, s: unused, v: 1 */
  const approvalOf = ({ address }: PrivateKeyAccount): Hex => `${pad(address)}${'0'.repeat(64)}01`
  const messageOf = (address: Hex, message: string) => ({
    domain: { chainId, verifyingContract: address },
    types: { SafeMessage: [{ name: 'message', type: 'bytes' }] },
    primaryType: 'SafeMessage' as const,
    message: { message: hashMessage(message) },
  })

  /** Executes a call as the Safe, by the account of one of its owners. */
  const execute = (
    { address }: Safe,
    by: PrivateKeyAccount,
    to: Hex,
    data: Hex,
    operation: 'call' | 'delegatecall' = 'call',
  ): Promise<void> => {
    const args = [
      to,
      0n,
      data,
      operation === 'call' ? 0 : 1,
      ...[0n, 0n, 0n, zeroAddress, zeroAddress, approvalOf(by)],
    ]
    return send(
      by,
      address,
      encodeFunctionData({ abi: SAFE.abi, functionName: 'execTransaction', args }),
    )
  }

  return {
    /** A Safe that is not deployed yet. */
    async plan(owner: PrivateKeyAccount, salt = 0n): Promise<Safe> {
      const initializer = encodeFunctionData({
        abi: SAFE.abi,
        functionName: 'setup',
        args: [
          ...[[owner.address], 1n, zeroAddress, '0x', AT.handler, zeroAddress, 0n, zeroAddress],
        ],
      })
      const call = {
        abi: FACTORY.abi,
        functionName: 'createProxyWithNonce',
        args: [AT.safe, initializer, salt],
      }
      const { result } = await chain.simulateContract({ address: AT.factory, ...call })
      const deployment = { factory: AT.factory, data: encodeFunctionData(call) }
      return { address: (result as Hex).toLowerCase() as Hex, owner, deployment }
    },
    deploy: ({ owner, deployment }: Safe) => send(owner, deployment.factory, deployment.data),
    /** Replaces the only owner. */
    replaceOwner(safe: Safe, owner: PrivateKeyAccount): Promise<void> {
      const first: Hex = `0x${'1'.padStart(40, '0')}`
      const args = [first, safe.owner.address, owner.address]
      const data = encodeFunctionData({ abi: SAFE.abi, functionName: 'swapOwner', args })
      return execute(safe, safe.owner, safe.address, data)
    },
    /** Approves a message on the chain: the empty signature is valid for it then. */
    approve(safe: Safe, message: string): Promise<void> {
      const args = [hashMessage(message)]
      const data = encodeFunctionData({ abi: SIGN_MESSAGE.abi, functionName: 'signMessage', args })
      return execute(safe, safe.owner, AT.signMessage, data, 'delegatecall')
    },
    /** An owner's approval of a message on the chain, not the Safe's. @returns the signature that is valid for it then */
    async approveAsOwner({ address, owner }: Safe, message: string): Promise<Hex> {
      const hash = hashTypedData(messageOf(address, message))
      const call = { abi: SAFE.abi, functionName: 'approveHash', args: [hash] }
      await send(owner, address, encodeFunctionData(call))
      return approvalOf(owner)
    },
    /** Signature of one owner over a message, as this chain's Safe accepts it (ERC-1271). */
    sign: ({ address }: Pick<Safe, 'address'>, by: PrivateKeyAccount, message: string) =>
      by.signTypedData(messageOf(address, message)),
    /** Puts other code at a Safe's address. */
    setCode: ({ address }: Safe, bytecode: Hex) => test.setCode({ address, bytecode }),
    hasCode: async ({ address }: Safe): Promise<boolean> =>
      (await chain.getCode({ address })) !== undefined,
  }
}

/** Wraps a signature with the deployment of its wallet (ERC-6492). */
export const wrapSignature = (signature: Hex, { factory, data }: Safe['deployment']): Hex =>
  serializeErc6492Signature({ address: factory, data, signature })
