import { encodeFunctionData, type Hex, parseEther, zeroAddress, zeroHash } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { encodePlaceBids } from '../../../src/chains/evm/calldata.js'
import { communityPaymentsAbi } from '../../../src/chains/evm/contracts/index.js'
import { nameToWord } from '../../../src/registry/primitives/name.js'
import { walletOf } from '../../../src/testing/chains/localChain.js'
import { until } from '../../../src/testing/index.js'
import { ask, signIn } from '../../../src/testing/signIn.js'
import { operatorAccount } from '../../../src/testing/world.js'
import type { ChaosChain, ChaosWorld } from './world.js'

/** Name of the community in which wallets pay for names on every chain. */
export const COMMUNITY = 'club'
export const PRICE_WEI = parseEther('0.002')
const BID_WEI = parseEther('0.01')
const RECIPIENT = operatorAccount('treasurer').address

/** Registers the name of the community and sets its prices, before any disruption. */
export async function setUpCommunity({ stack, chains, hub }: ChaosWorld, privateKey: Hex, owner: PrivateKeyAccount) {
  const tx = await walletOf(hub, hub.chainId, owner).sendTransaction({
    to: hub.contract,
    data: encodePlaceBids([{ name: COMMUNITY, amountWei: BID_WEI }], null),
    value: BID_WEI,
  })
  await until.status(stack, tx, 'finalized')
  const prices = chains.map(({ label }) => ({
    ...{ network: label, token: 'native', amount: PRICE_WEI.toString(), recipient: RECIPIENT },
  }))
  await ask(stack.api, `/v1/communities/${COMMUNITY}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${await signIn(stack, privateKey)}` },
    body: JSON.stringify({ prices }),
  })
}

/** Terms of a payment that wallets agree on, which strangers change. */
interface Terms {
  token?: Hex
  recipient?: Hex
  community?: string
}

/** A payment for a name below the community. */
export const paymentFor = (
  { payments }: ChaosChain,
  name: string,
  amountWei: bigint,
  { token = zeroAddress, recipient = RECIPIENT, community = COMMUNITY }: Terms = {},
) => ({
  to: payments,
  data: encodeFunctionData({
    abi: communityPaymentsAbi,
    functionName: 'placeBid',
    args: [
      {
        ...{ token, amount: amountWei, paymentRecipient: recipient },
        ...{ communityName: wordOf(community), walletName: wordOf(name), referralAddress: zeroHash },
      },
    ],
  }),
  value: token === zeroAddress ? amountWei : 0n,
  gas: 500_000n,
})

/** Whether a payment is in the coin and to the account that the community asks for. */
export const isAsAsked = (payment: { token: Hex; recipient: Hex; community: string; amount: bigint }): boolean =>
  payment.token === zeroAddress &&
  payment.recipient.toLowerCase() === RECIPIENT.toLowerCase() &&
  payment.community === COMMUNITY &&
  payment.amount >= PRICE_WEI

const wordOf = (name: string): Hex => `0x${nameToWord(name).toString('hex')}`
