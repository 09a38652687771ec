import type { Step } from '../../chains/evm/deployment/item.js'

const BUILDER_VERSION = '1.18.0'

/**
 * A batch as the Safe Transaction Builder imports it (its file format, version 1.0): each call as plain data, in order,
 * executed by the Safe as one transaction.
 * @param safe who has to sign; the app warns where another Safe imports it
 */
export function safeBatch(chainId: number, safe: string, steps: readonly Step[], createdAtMs: number) {
  return {
    version: '1.0',
    chainId: String(chainId),
    createdAt: createdAtMs,
    meta: {
      name: `clusterd, chain ${chainId}`,
      description: steps.map(({ does }) => does).join('; '),
      txBuilderVersion: BUILDER_VERSION,
      createdFromSafeAddress: safe,
      createdFromOwnerAddress: '',
    },
    transactions: steps.map(({ to, value, data }) => ({
      ...{ to, value: String(value), data },
      contractMethod: null,
      contractInputsValues: null,
    })),
  }
}
