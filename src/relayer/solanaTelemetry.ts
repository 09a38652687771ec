import { formatUnits } from 'viem'
import { LOW_BALANCE_LAMPORTS } from '../ops/alarms.js'
import type { RelayerTelemetry } from './relayerTelemetry.js'

const SOL_DECIMALS = 9
/** Rent of an account without data, lamports. Fees must leave the authority at least this much. */
export const RENT_LAMPORTS = 890_880n

/**
 * Metrics, problems and paying account of relayers on Solana, whose transactions are valid until their blockhash
 * expires.
 */
export const SOLANA_TELEMETRY: RelayerTelemetry = {
  gauges: [
    {
      name: 'clusterd_relay_authority_lamports',
      help: 'Balance of the relay authority on Solana',
      value: ({ balance }) => (balance === null ? null : Number(balance)),
    },
  ],
  problems: ({ balance }) =>
    balance !== null && isLow(balance)
      ? [
          {
            alarm: 'ClusterdRelayAuthorityRunsDry',
            text: `${balance} lamports are left`,
            stopsJobs: balance <= RENT_LAMPORTS,
          },
        ]
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
