import { type Abi, type Address, type ContractFunctionArgs, encodeFunctionData, type Hex } from 'viem'
import { testWalletAbi, testWalletBytecode } from '../../../contracts/evm/artifacts/test-doubles/TestWallet.js'
import type { Chain } from './chain.js'

/** Modes of a TestWallet that receives money; 0 accepts. */
export const REFUSE = 1
export const BURN_GAS = 2
export const RETURN_BOMB = 3
/** Calls back whenever money comes. */
export const GREEDY = 5

type WalletFunction = 'execute' | 'setMode' | 'setCallBack'
type WalletArguments<name extends WalletFunction> = ContractFunctionArgs<
  typeof testWalletAbi,
  'nonpayable' | 'payable',
  name
>

/** Deploys a smart wallet that acts on `target` and takes money as configured. */
export async function startWallet(
  chain: Pick<Chain, 'deploy' | 'succeed' | 'accounts'>,
  target: Address,
  deployer?: Address,
) {
  const address = await chain.deploy(testWalletBytecode, deployer)
  const from = chain.accounts[9]!

  function encode<const name extends WalletFunction>(
    functionName: name,
    args: WalletArguments<name> & readonly unknown[],
  ): Hex {
    const call: { abi: Abi; functionName: string; args: readonly unknown[] } = {
      abi: testWalletAbi,
      functionName,
      args,
    }
    return encodeFunctionData(call)
  }

  return {
    address,
    encode,
    call: <const name extends WalletFunction>(functionName: name, args: WalletArguments<name> & readonly unknown[]) =>
      chain.succeed({ from, to: address, data: encode(functionName, args) }),
    /** The wallet calls its target, with value that comes along. */
    execute: (data: Hex, value = 0n) =>
      chain.succeed({ from, to: address, data: encode('execute', [target, data]), value }),
  }
}
