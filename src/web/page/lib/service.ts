import type { ServiceFacts } from '../../facts.js'

const stated = document.querySelector<HTMLMetaElement>('meta[name=service]')?.content

/** Facts of this service, which it writes into its pages. */
export const service: ServiceFacts = {
  ens: {},
  networks: ['mainnet', 'testnet'],
  isLocal: false,
  ...(JSON.parse(stated ?? '{}') as Partial<ServiceFacts>),
}
