import { formatUnits } from 'viem'
import { LOW_BALANCE_LAMPORTS } from '../ops/alarms.js'
import type { RelayerTelemetry } from './relayerTelemetry.js'

const SOL_DECIMALS = 9

/**
 * Metrics, problems and paying account of relayers on Solana, whose transactions are valid until their blockhash
 * expires.
 */
export const SOLANA_TELEMETRY: RelayerTelemetry = {
  gauges: [
    {
      name: 'clusterd_relay_authority_lamports',
      help: 'Balance of the relay authority on Solana',
      per: 'network',
      read: ({ balance }) => (balance === null ? null : Number(balance)),
    },
  ],
  problems: ({ balance }) =>
    balance !== null && isLow(balance)
      ? [{ alarm: 'ClusterdRelayAuthorityRunsDry', text: `${balance} lamports are left` }]
      : [],
  account: (_, balance) => ({
    account: 'relay authority',
    balance: formatUnits(balance, SOL_DECIMALS),
    signedToday: null,
    lastsDays: null,
    isLow: isLow(balance),
  }),
}

const isLow = (lamports: bigint): boolean => lamports < LOW_BALANCE_LAMPORTS
