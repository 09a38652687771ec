/** Timestamp of clusters and wallets: `YYYY-MM-DD HH:MM:SS+00`. */
export const timestampToSecond = (ms: number): string => `${isoWithSpace(ms).slice(0, 19)}+00`

/** Timestamp of owner records and statuses: `YYYY-MM-DD HH:MM:SS.mmm+00`. */
export const timestampToMillisecond = (ms: number): string => `${isoWithSpace(ms).slice(0, 23)}+00`

const isoWithSpace = (ms: number): string => isoTimestamp(ms).replace('T', ' ')

/**
 * Timestamp (ISO 8601) of signed messages, and of responses other than clusters, wallets, owner records and statuses:
 * `YYYY-MM-DDTHH:MM:SS.mmmZ`.
 */
export const isoTimestamp = (ms: number): string => new Date(ms).toISOString()
