import { EvmRelayer, type EvmRelayerOptions } from './evmRelayer.js'
import type { RelayerChain } from './run.js'
import type { RelayTarget } from './targets.js'

export const evmRelayerChain = (
  target: RelayTarget,
  { account, settings }: Pick<EvmRelayerOptions, 'account' | 'settings'>,
): RelayerChain => ({
  label: target.at.label,
  followsOthers: false,
  worker({ network, optionsAt, show }) {
    const { label: chain, config } = target.at
    const name = 'the relayer'
    const fields = { network, chain }
    const relayer = new EvmRelayer({
      ...optionsAt({ name, ...fields }),
      ...target,
      account,
      settings,
    })
    show(relayer.state)
    return { name, fields, pollMs: config.pollMs, step: (_, alive) => relayer.step(alive) }
  },
})
