import type { ServiceInfo } from '../../facts.js'

const infoText = document.querySelector<HTMLMetaElement>('meta[name=service]')?.content

/** Data about the service, which the service wrote into this page. */
export const serviceInfo: ServiceInfo = {
  ens: {},
  networks: ['mainnet', 'testnet'],
  isLocal: false,
  ...(JSON.parse(infoText ?? '{}') as Partial<ServiceInfo>),
}
