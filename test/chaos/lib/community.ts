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

/** A payment for a name below the community. */
export const paymentFor = ({ payments }: ChaosChain, name: string, amountWei: bigint) => ({
  to: payments,
  data: encodeFunctionData({
    abi: communityPaymentsAbi,
    functionName: 'placeBid',
    args: [
      {
        token: zeroAddress,
        amount: amountWei,
        paymentRecipient: RECIPIENT,
        communityName: wordOf(COMMUNITY),
        walletName: wordOf(name),
        referralAddress: zeroHash,
      },
    ],
  }),
  value: amountWei,
  gas: 500_000n,
})

const wordOf = (name: string): Hex => `0x${nameToWord(name).toString('hex')}`
