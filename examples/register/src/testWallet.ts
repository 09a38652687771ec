import type { Chain } from 'viem'
import type { CreateConnectorFn } from 'wagmi'
import { mock } from 'wagmi/connectors'

/** An account that every node of the local world has unlocked, and on every chain of it has money. */
const ACCOUNT = '0xa0Ee7A142d267C1f36714E4a8F75612F20a79720'

const isLocal = ({ rpcUrls }: Chain) =>
  rpcUrls.default.http.some((url) => new URL(url).hostname === '127.0.0.1')

/** The test wallet, where all chains are of the local world. Else none. */
export const testWalletsFor = (chains: readonly Chain[]): CreateConnectorFn[] =>
  chains.every(isLocal)
    ? [(config) => ({ ...mock({ accounts: [ACCOUNT] })(config), name: 'Local test wallet' })]
    : []
