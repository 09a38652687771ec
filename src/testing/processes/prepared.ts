/** What tests prepare once a run for all PostgreSQL servers that they start. Without imports, so that it costs nothing. */
export interface PreparedPostgres {
  /** A data directory that others are copied from; created on first use. */
  readonly template: string
  /** Additional `-c name=value` settings. */
  readonly settings: Readonly<Record<string, string>>
}

let prepared: PreparedPostgres | undefined

/** A copy of a template takes a third of initdb's time. */
export function preparePostgres(common: PreparedPostgres): void {
  prepared = common
}

export const preparedPostgres = (): PreparedPostgres | undefined => prepared
