import type { Address, Hex } from 'viem'
import {
  testWalletAbi,
  testWalletBytecode,
} from '../../../contracts/evm/artifacts/test-doubles/TestWallet.js'
import { type Chain, callsOf } from './chain.js'

/** Modes of a TestWallet that receives money; 0 accepts. */
export const REFUSE = 1
export const BURN_GAS = 2
export const RETURN_BOMB = 3
/** Calls back whenever money comes. */
export const GREEDY = 5

const encode = callsOf(testWalletAbi)

/** Deploys a smart wallet that acts on `target` and takes money as configured. */
export async function startWallet(
  chain: Pick<Chain, 'deploy' | 'succeed' | 'accounts'>,
  target: Address,
  deployer?: Address,
) {
  const address = await chain.deploy(testWalletBytecode, deployer)
  const from = chain.accounts[9]!

  return {
    address,
    call: (...of: Parameters<typeof encode>) =>
      chain.succeed({ from, to: address, data: encode(...of) }),
    /** The wallet calls its target, with value that comes along. */
    execute: (data: Hex, value = 0n) =>
      chain.succeed({ from, to: address, data: encode('execute', [target, data]), value }),
  }
}
