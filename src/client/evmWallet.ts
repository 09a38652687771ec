import type { Signer } from './signer.js'

/** An account of viem, or a wallet client with one. */
export interface EvmWallet {
  address?: string
  account?: { address: string } | undefined
  // a method, not a property: methods are compared bivariantly, so viem's types are assignable
  signMessage(args: { message: string; account: never }): Promise<string>
}

/** The signer of any wallet that has no other family's form. @throws TypeError for a wallet without an account */
export function evmSigner(wallet: object): Signer {
  const evm = wallet as EvmWallet
  const account = evm.account ?? evm
  if (account.address === undefined) throw new TypeError('The wallet has no account.')
  return {
    wallet: account.address,
    sign: (message) => evm.signMessage({ message, account: account as never }),
  }
}
