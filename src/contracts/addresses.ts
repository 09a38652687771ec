/** Name of one of our contracts. The registrar is a Solana program. */
export type ContractName =
  | 'Hub'
  | 'Spoke'
  | 'CommunityPayments'
  | 'AirdropDistributor'
  | 'EnsResolver'
  | 'registrar'

/** Addresses by network label ("1", "8453", …). A label is missing where the contract is not deployed. */
export type DeployedAddresses<A extends string = `0x${string}`> = Readonly<Record<string, A>>

/**
 * Contract addresses of the public deployments, as in contracts/versions.json. No public deployment exists yet. The
 * addresses of your own deployment are in your chains file.
 */
export const addresses: {
  readonly [C in ContractName]: C extends 'registrar'
    ? DeployedAddresses<string>
    : DeployedAddresses
} = {
  Hub: {},
  Spoke: {},
  CommunityPayments: {},
  AirdropDistributor: {},
  EnsResolver: {},
  registrar: {},
}
