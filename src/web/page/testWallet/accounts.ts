import type { PayerAddressType } from '../../../registry/families.js'

/** The accounts of one type in the test wallet: a row of the table in `index.ts`. */
export interface TestWalletAccounts {
  /** Addresses of the accounts. Empty where the local world has no chain for them. */
  readonly addresses: readonly string[]
  /** Account that is selected in a new tab. */
  readonly first: string
  /** Announces the wallet to the pages. @param chosen returns the selected account */
  announce(chosen: () => string): void
}

export const TEST_WALLET_NAME = 'Local test wallet'
export const TEST_WALLET_ICON =
  'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><path fill="%2396520f" d="M0 0h8v8H0z"/><circle cx="4" cy="4" r="2" fill="white"/></svg>'

/** The test wallet's accounts by address type, inserted by the build. All local worlds have the same accounts. */
declare const ACCOUNTS: Readonly<Record<PayerAddressType, unknown>>

/** The test wallet's accounts of an address type, in the local world that serves the page. */
export const testWalletAccounts = <Account>(type: PayerAddressType): readonly Account[] =>
  ACCOUNTS[type] as readonly Account[]

/** Calls a node (JSON-RPC 2.0). @throws Error with the node's message, and its code and data */
export async function askTestNode(
  rpcUrl: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const { result, error } = await (await fetch(rpcUrl, { method: 'POST', headers, body })).json()
  if (error) throw Object.assign(new Error(error.message), error)
  return result
}

/**
 * Settings of a chain family's chains (`TestWalletChainFamily` in src/web/page.ts), which the daemon writes into the page.
 * Undefined for a family without settings.
 */
export const testWalletChainSettings = (type: PayerAddressType): unknown =>
  JSON.parse(document.querySelector<HTMLMetaElement>('meta[name=test-wallet]')!.content)[type]
