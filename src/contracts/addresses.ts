/** A contract of ours; the registrar is a program. */
export type ContractName =
  | 'Hub'
  | 'Spoke'
  | 'CommunityPayments'
  | 'AirdropDistributor'
  | 'EnsResolver'
  | 'registrar'

/** Addresses by network label; a label is missing where the contract is not deployed. */
export type DeployedAddresses<A extends string = `0x${string}`> = Readonly<Record<string, A>>

/** Public deployments, as contracts/versions.json records them: none yet. Yours stand in your chains file. */
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
