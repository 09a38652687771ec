/** A contract of ours; the registrar is the program on Solana. */
export type ContractName = 'Hub' | 'Spoke' | 'CommunityPayments' | 'AirdropDistributor' | 'registrar'

/** Addresses by network label; a label is missing where the contract is not deployed. */
export type DeployedAddresses = Readonly<Record<string, string>>

/** Public deployments, as contracts/versions.json records them: none yet. Yours stand in your chains file. */
export const addresses: Readonly<Record<ContractName, DeployedAddresses>> = {
  Hub: {},
  Spoke: {},
  CommunityPayments: {},
  AirdropDistributor: {},
  registrar: {},
}
