import type { ServiceFacts } from '../../facts.js'

const stated = document.querySelector<HTMLMetaElement>('meta[name=service]')?.content

/** Data about the service, which the service wrote into this page. */
export const serviceFacts: ServiceFacts = {
  ens: {},
  networks: ['mainnet', 'testnet'],
  isLocal: false,
  ...(JSON.parse(stated ?? '{}') as Partial<ServiceFacts>),
}
