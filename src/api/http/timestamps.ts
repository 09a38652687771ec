/** `YYYY-MM-DD HH:MM:SS+00`: timestamps of clusters and wallets. */
export const secondsText = (ms: number): string => `${stamp(ms).slice(0, 19)}+00`

/** `YYYY-MM-DD HH:MM:SS.mmm+00`: timestamps of owner records and statuses. */
export const millisecondsText = (ms: number): string => `${stamp(ms).slice(0, 23)}+00`

const stamp = (ms: number): string => new Date(ms).toISOString().replace('T', ' ')
