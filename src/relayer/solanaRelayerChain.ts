import type { SolanaSigner } from '../chains/solana/signer.js'
import { SOLANA } from '../registry/families.js'
import type { RelayerChain, RelayerWorkerContext } from './run.js'
import { SolanaRelayer, type SolanaRelayerOptions } from './solanaRelayer.js'

interface SolanaPayerOptions extends Pick<SolanaRelayerOptions, 'signer' | 'releaseAfterMs'> {
  pollMs: number
  /**
   * Returns the program's chain number. Calls the cluster if it was never reached before.
   * @throws ChainUnavailableError
   */
  open(): Promise<{ chain: number }>
}

/** Opens the relayer at its first step, so that an unavailable cluster does not delay other chains. */
export const solanaRelayerChain = ({ pollMs, ...options }: SolanaPayerOptions): RelayerChain => ({
  label: SOLANA.label,
  followsOthers: true,
  worker(led) {
    const { network, optionsAt, show } = led
    const name = 'the payer'
    let payer: SolanaRelayer | null = null
    const open = async (): Promise<SolanaRelayer> => {
      const { chain } = await options.open()
      await reportAuthority(led, options.signer)
      const opened = new SolanaRelayer({ ...optionsAt({ name, network }), ...options, chain })
      show(opened.state)
      return opened
    }
    return {
      name,
      fields: { network },
      pollMs,
      async step(_, alive) {
        payer ??= await open()
        return payer.step(alive)
      },
    }
  },
})

/** Logs whether the program accepts the signer as its relay authority. A former authority can decide no payment. */
async function reportAuthority(
  { log, network }: RelayerWorkerContext,
  signer: SolanaSigner | null,
): Promise<void> {
  if (!signer)
    return log.info(
      { network },
      "without the relay authority's key payments are neither settled nor refunded",
    )
  const authority = signer.authority.toBase58()
  const obeyed = (await signer.relayAuthority())?.toBase58() ?? null
  if (authority === obeyed) log.info({ network, authority }, 'deciding payments on Solana')
  else
    log.error(
      { network, authority, obeyed },
      "the relay authority's key is not the one that the program obeys",
    )
}
