import { expect, it } from 'vitest'
import { selectLocalDaemonVariables } from '../../src/config/index.js'

/** Values that differ from the defaults. */
const SET = {
  HOST: '0.0.0.0',
  LOG_LEVEL: 'warn',
  SERVICE_DOMAIN: 'names.example',
  SITE_URL: 'https://names.example',
  DATABASE_POOL: '7',
  SESSION_DAYS: '3',
  WALLET_FACTORIES: `0x${'0a'.repeat(20)}`,
  WEBHOOKS_PRIVATE: 'true',
  LIMIT_ADDRESS: '1/2',
  LIMIT_KEY: '3/4',
  LIMIT_CHANGES_MINUTE: '5',
  LIMIT_CHANGES_DAY: '6',
  LIMIT_CLUSTERS_DAY: '8',
  LIMIT_NAMES_DAY: '9',
  LIMIT_KEYS_DAY: '10',
}

it('the daemon of `clusterd dev` gets its settings from the environment', () => {
  expect(
    selectLocalDaemonVariables({ ...SET, SITE_URL: '', RELAYER_PRIVATE_KEY: '0x', LIMITS: 'off' }),
  ).toEqual(Object.fromEntries(Object.entries(SET).filter(([name]) => name !== 'SITE_URL')))
  expect(selectLocalDaemonVariables(SET)).toEqual(SET)
})
