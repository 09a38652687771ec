import { NETWORKS, type Network } from '../../registry/primitives/network.js'

export interface NetworkOptions {
  testnet?: boolean
  mainnet?: boolean
}

/** The networks that a command means: both, unless it names some. */
export function networksOf({ testnet, mainnet }: NetworkOptions): readonly Network[] {
  const chosen = NETWORKS.filter((network) => (network === 'testnet' ? testnet : mainnet))
  return chosen.length > 0 ? chosen : NETWORKS
}

export const printJson = (value: unknown): void => console.log(JSON.stringify(value, null, 2))
