/**
 * What a test run prepares once for all PostgreSQL servers that it starts. The file imports nothing, so that it loads
 * fast.
 */
export interface PreparedPostgres {
  /** A data directory to copy. Created on first use. */
  readonly template: string
  /** Additional `-c name=value` settings. */
  readonly settings: Readonly<Record<string, string>>
}

let prepared: PreparedPostgres | undefined

/**
 * Sets the template and the settings of servers that start later. A copy of the template takes a third of initdb's
 * time.
 */
export function preparePostgres(common: PreparedPostgres): void {
  prepared = common
}

export const preparedPostgres = (): PreparedPostgres | undefined => prepared
