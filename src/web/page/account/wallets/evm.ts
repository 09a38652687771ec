import { bytesToHex } from '../../../../client/bytes.js'
import { pause } from '../../../../client/time.js'
import { PAYER_ADDRESS_TYPE_NAMES } from '../../../../registry/families.js'
import {
  type BrowserWallet,
  type PageWalletKind,
  RevertedError,
  refusalText,
  unpayableChainError,
  utf8Bytes,
  withWalletTimeout,
} from './kind.js'

/** EVM wallets. They announce themselves by EIP-6963. */
export const evmWalletKind: PageWalletKind = {
  name: PAYER_ADDRESS_TYPE_NAMES.evm,
  foundBy: 'EIP-6963',
  discover(onWallet) {
    window.addEventListener('eip6963:announceProvider', (event) => {
      const announced = (event as CustomEvent<ProviderAnnouncement | null>).detail
      if (announced?.info && announced.provider)
        onWallet(createEvmWallet(announced.info, announced.provider))
    })
    window.dispatchEvent(new Event('eip6963:requestProvider'))
  },
}

/**
 * Gas added to the estimate. A bid that loses to another one after the estimate needs 27,000 more gas than a bid that
 * wins (contracts/evm/gas.json).
 */
const SPARE_GAS = 30_000n
/** Time limit of an estimate, ms. Some wallets never answer one, and the visitor waits for the wallet's window. */
const ESTIMATE_LIMIT_MS = 3_000

/** Provider object of an EVM wallet (EIP-1193). */
interface Provider {
  request(args: { method: string; params?: unknown }): Promise<unknown>
}

interface TransactionReceipt {
  status: string
  blockNumber: string
}

interface ProviderAnnouncement {
  info: { uuid: string; name: string; icon: string; rdns: string }
  provider: Provider
}

function createEvmWallet(
  { uuid, name, icon, rdns }: ProviderAnnouncement['info'],
  source: Provider,
): BrowserWallet {
  const provider: Provider = { request: (request) => withWalletTimeout(source.request(request)) }
  return {
    id: `evm:${rdns}`,
    name,
    icon,
    type: 'evm',
    source: uuid || source,
    async connect() {
      const accounts = (await provider.request({ method: 'eth_requestAccounts' })) as
        | string[]
        | null
      const address = accounts?.[0]
      if (!address) throw new Error(`${name} gave no account.`)
      return {
        type: 'evm',
        address: address.toLowerCase(),
        chainId: () => readChainId(provider),
        sign: (message) =>
          provider.request({
            method: 'personal_sign',
            params: [bytesToHex(utf8Bytes(message)), address],
          }) as Promise<string>,
        async send({ chainId }, transaction) {
          if (chainId === null || typeof transaction === 'string') throw unpayableChainError()
          await switchChain(provider, chainId)
          const { to, data, value } = transaction
          const call = {
            from: address,
            to,
            data,
            value: hexQuantity(value),
            chainId: hexQuantity(chainId),
          }
          // a wallet that can't estimate says why when it is asked to send
          const estimate = provider.request({ method: 'eth_estimateGas', params: [call] })
          const gas = await Promise.race([
            estimate.then(
              (units) => hexQuantity(BigInt(units as string) + SPARE_GAS),
              () => undefined,
            ),
            pause(ESTIMATE_LIMIT_MS),
          ])
          const request = { method: 'eth_sendTransaction', params: [gas ? { ...call, gas } : call] }
          const sent = Promise.resolve(source.request(request)).then((hash) => {
            if (typeof hash !== 'string' || hash === '')
              throw new Error(`${name} has not sent the transaction.`)
            return hash
          })
          return withWalletTimeout(sent, sent)
        },
        async isExecuted(tx) {
          const ask = <T>(method: string, ...params: unknown[]) =>
            provider.request({ method, params }) as Promise<T>
          const receipt = await ask<TransactionReceipt | null>('eth_getTransactionReceipt', tx)
          if (receipt?.status !== '0x0') return receipt !== null
          // the receipt has no revert reason, so repeat the call at the receipt's block to get the reason
          const sent = await ask<Record<string, unknown>>('eth_getTransactionByHash', tx)
          const { from, to, value, input: data } = sent
          const reason = await ask('eth_call', { from, to, value, data }, receipt.blockNumber).then(
            () => null,
            refusalText,
          )
          throw new RevertedError(reason ?? 'The chain has reverted the transaction.')
        },
      }
    },
  }
}

const hexQuantity = (value: bigint | number): string => `0x${value.toString(16)}`

const readChainId = async (provider: Provider): Promise<number> =>
  Number(await provider.request({ method: 'eth_chainId' }))

async function switchChain(provider: Provider, chainId: number): Promise<void> {
  if ((await readChainId(provider)) === chainId) return
  await provider.request({
    method: 'wallet_switchEthereumChain',
    params: [{ chainId: hexQuantity(chainId) }],
  })
  // a wallet that has not switched could send the money on another chain
  if ((await readChainId(provider)) !== chainId)
    throw new Error(`The wallet has not switched to chain ${chainId}.`)
}
