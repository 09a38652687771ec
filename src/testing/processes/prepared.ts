/**
 * Setup that a test run prepares once for all PostgreSQL servers that it starts. This module imports nothing, so that
 * it loads fast.
 */
export interface SharedPostgresSetup {
  /** Path of a data directory to copy for each server. Created by initdb on first use. */
  readonly template: string
  /** Additional settings of each server (`-c name=value`). */
  readonly settings: Readonly<Record<string, string>>
}

let sharedPostgresSetup: SharedPostgresSetup | undefined

/**
 * Sets the setup of the PostgreSQL servers that this process starts later. A copy of the template takes a third of
 * initdb's time.
 */
export function setSharedPostgresSetup(common: SharedPostgresSetup): void {
  sharedPostgresSetup = common
}

export const getSharedPostgresSetup = (): SharedPostgresSetup | undefined => sharedPostgresSetup
